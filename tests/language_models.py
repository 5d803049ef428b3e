"""Tiny checkpoints of language models, made in a second from generated public sentences: no weights have to be at hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

PLACES = ("ward", "clinic", "office", "kitchen", "garden", "station", "school", "market")
THINGS = ("letter", "machine", "window", "ticket", "lamp", "train", "table", "report")
GOOD = ("good", "bright", "warm", "kind", "fine", "quick", "clean", "calm")
BAD = ("bad", "dark", "cold", "rude", "broken", "slow", "dirty", "loud")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def sentence(rng: np.random.Generator, good: bool | None = None) -> str:
    """A generated sentence, of the asked or of either mood."""
    words = (GOOD if rng.random() < 0.5 else BAD) if good is None else GOOD if good else BAD
    thing, place = THINGS[rng.integers(len(THINGS))], PLACES[rng.integers(len(PLACES))]
    first, second = (words[rng.integers(len(words))] for _ in range(2))
    return f"the {thing} in the {place} was {first} and {second}"


@cache
def sentences(count: int = 400, seed: int = 0) -> tuple[str, ...]:
    """Public sentences."""
    rng = np.random.default_rng(seed)
    return tuple(sentence(rng) for _ in range(count))


def tiny_encoder(folder: Path, *, layers: int = 3, width: int = 32, seed: int = 0) -> Path:
    """The folder of a BERT encoder with random weights, and a WordPiece tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = _tokenizer(SPECIAL, masked=True)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=64, initializer_range=0.2,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _saved(BertModel(config, add_pooling_layer=False), tokenizer, folder)


def tiny_causal(folder: Path, *, layers: int = 2, width: int = 32, spread: float = 0.02, seed: int = 0) -> Path:
    """The folder of a Llama model that writes text, with random weights, and a tokenizer of whole words and characters.

    Adapters alone cannot make it sure of a token unless the ``spread`` of its weights is large.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(("<|end|>", "[UNK]"), masked=False)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=2 * width, max_position_embeddings=128, tie_word_embeddings=True,
        bos_token_id=0, eos_token_id=0, pad_token_id=0, initializer_range=spread,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _saved(LlamaForCausalLM(config), tokenizer, folder)


def _tokenizer(special: tuple[str, ...], *, masked: bool) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    if not masked:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(sentences(), trainer)
        return tokenizer
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        sentences(), trainers.WordPieceTrainer(vocab_size=200, special_tokens=list(special), show_progress=False)
    )
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=marks
    )
    return tokenizer


def _saved(net: Any, tokenizer: Any, folder: Path) -> Path:
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    net.config.architectures = [type(net).__name__]
    net.config.save_pretrained(folder)
    tied = getattr(net, "all_tied_weights_keys", None) or ()
    save_file(
        {name: array.contiguous() for name, array in net.state_dict().items() if name not in tied}, folder / "model.safetensors"
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def labelled(rows: int = 300, seed: int = 1) -> Table:
    """Notes whose mood can be read off their words; some are missing, empty, endless or in another script, and one has no mood."""
    rng = np.random.default_rng(seed)
    moods = (rng.random(rows) < 0.5).astype(np.int32)
    texts: list[str | None] = [sentence(rng, bool(mood)) for mood in moods]
    odd = (None, "", "日本語 😀", "word " * 3000)
    texts[: len(odd)] = odd[:rows]
    moods[:1] = -1
    schema = Schema(
        (
            Column(name="note", kind=Kind.TEXT),
            Column(name="mood", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("bad", "good"))),
            Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99)),
        )
    )
    plain = Table(schema.without_text(), {"mood": moods, "age": rng.integers(0, 100, rows)})
    return plain.with_text(schema["note"], texts[:rows]).select(schema.names)
