"""Awkward texts and models that must not be loaded, by the command line: it works, or one message says what is wrong."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from tests.language_models import sentence, tiny_causal

pytestmark = pytest.mark.neural
LABEL = "  mood: {kind: category, domain: [good, bad], role: target}\n"
NOTE = "  note: {kind: text}\n"
SECRET = "hushhush"
QUICK = ("steps=1", "length=8", "topics.topics=2", "twin=4", "rate=0.5", "words=0.0")
SCRIPTS = (
    "今天天气很好，我们去公园散步吧。",
    "مرحبا بالعالم، كيف حالك؟",
    "नमस्ते दुनिया",
    "😀🎉👩‍👩‍👧‍👦",
    "\u200b",
    "nai\u0308ve",
    " ",
    "",
)


@pytest.fixture
def make(hush, tmp_path, installed_models):
    """Release rows under a schema by a recipe; code, message, and the rows released."""

    def run(columns: str, rows: list[dict[str, object]], *more: object, recipe="dp-text", model="smollm2"):
        with (tmp_path / "table.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        (tmp_path / "schema.yaml").write_text(f"columns:\n{columns}", encoding="utf-8")
        knobs = [f"model={model}", *QUICK] if recipe == "dp-text" else []
        words = [word for knob in knobs for word in ("--set", knob)]
        asked = ["release", tmp_path / "table.csv", "--schema", tmp_path / "schema.yaml", "--recipe", recipe, "--rows", 20]
        code, out, err = hush(*asked, "--epsilon", 8, "--delta", 1e-5, *words, *more, "--out", tmp_path / "out")
        said = " ".join((out + err).split())
        assert "Traceback" not in said
        assert SECRET not in said
        path = tmp_path / "out" / "data.csv"
        with path.open(encoding="utf-8") if path.exists() else open("/dev/null") as file:
            return code, said, list(csv.DictReader(file))

    return run


def rows_of(count: int, **columns) -> list[dict[str, object]]:
    """Rows of which each column is made by a number and a source of random numbers."""
    rng = np.random.default_rng(1)
    return [{name: column(row, rng) for name, column in columns.items()} for row in range(count)]


def mood(row: int, rng: np.random.Generator) -> str:
    return "good" if rng.random() < 0.6 else "bad"


def said(row: int, rng: np.random.Generator) -> str:
    return f"{sentence(rng)} {SECRET}"


def long(row: int, rng: np.random.Generator) -> str:
    return {0: "x" * 100_000, 1: "word and other " * 7000}.get(row, SCRIPTS[row % len(SCRIPTS)])


PLAIN = rows_of(60, mood=mood, note=said)


@pytest.mark.parametrize(
    ("columns", "rows", "more"),
    [
        pytest.param(LABEL + NOTE, rows_of(60, mood=mood, note=long), (), id="long, empty, and in many scripts"),
        pytest.param(
            LABEL + NOTE + NOTE.replace("note", "reply"),
            rows_of(60, mood=mood, note=lambda row, rng: said(row, rng) if row % 2 else "", reply=said),
            (),
            id="two texts, some missing",
        ),
        pytest.param(NOTE, rows_of(60, note=said), (), id="nothing but text"),
        pytest.param(
            "  who: {kind: key, role: identifier}\n" + LABEL + NOTE,
            rows_of(560, who=lambda row, rng: max(row - 499, 0), mood=mood, note=said),
            ("--person", "who", "--rows-per-person", 3),
            id="one person with very many",
        ),
    ],
)
def test_awkward_texts_are_released(make, columns, rows, more):
    code, message, released = make(columns, rows, *more)
    assert code == 0, message
    assert len(released) == 20
    # What a step says of a column is no caution, whatever the column is called.
    assert "Caution: {" not in message


def test_where_all_texts_are_missing_few_are_written(make):
    code, message, released = make(LABEL + NOTE, rows_of(200, mood=mood, note=lambda row, rng: ""))
    assert code == 0, message
    assert sum(not row["note"] for row in released) >= 15


def spoilt(folder, *faults: str):
    """The folder of a model with such faults."""
    tiny_causal(folder)
    if "remote" in faults:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModelForCausalLM": "evil.Model"}}))
    if "pickle" in faults:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    return folder


def test_models_that_must_not_be_loaded_are_refused_by_name_with_all_faults(make, tmp_path):
    code, message, released = make(LABEL + NOTE, PLAIN, model=spoilt(tmp_path / "odd", "remote", "pickle"))
    assert (code, released) == (2, [])
    assert "odd" in message
    assert "pytorch_model.bin" in message
    assert "auto_map" in message


def cut(path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def other(path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda folder: cut(folder / "model.safetensors"), "model.safetensors is damaged"),
        (lambda folder: cut(folder / "tokenizer.json"), "tokenizer.json is damaged"),
        (lambda folder: other(folder / "tokenizer.json", model=None), "tokenizer.json is damaged"),
        (lambda folder: other(folder / "config.json", model_type="quux"), "config.json describes no network"),
        (lambda folder: other(folder / "config.json", num_attention_heads=7), "config.json describes no network"),
        (lambda folder: other(folder / "config.json", hidden_size=64), "do not fit"),
    ],
)
def test_a_damaged_model_is_refused_by_name(make, tmp_path, damage, why):
    folder = tiny_causal(tmp_path / "odd")
    damage(folder)
    code, message, released = make(LABEL + NOTE, PLAIN, model=folder)
    assert (code, released) == (2, [])
    assert "odd" in message
    assert why in message


@pytest.mark.parametrize(
    ("columns", "rows", "model", "why"),
    [
        (LABEL + NOTE, PLAIN, "", "hush model add"),
        (LABEL + NOTE, PLAIN, "minilm", "causal is needed"),
        (LABEL, rows_of(60, mood=mood), "smollm2", "kind: text"),
        (LABEL + NOTE, [PLAIN[0] | {"mood": "ugly"}, *PLAIN[1:]], "smollm2", "outside the declared domain"),
        (LABEL + NOTE, PLAIN[:1], "smollm2", "only one row"),
    ],
)
def test_what_cannot_be_released_is_said(make, columns, rows, model, why):
    code, message, released = make(columns, rows, model=model)
    assert (code, released) == (2, [])
    assert why in message


def test_a_recipe_that_writes_no_text_says_so(make):
    code, message, released = make(LABEL + NOTE, PLAIN, recipe="mst")
    assert code == 0, message
    assert list(released[0]) == ["mood"]
    assert "free text was left out: note" in message
