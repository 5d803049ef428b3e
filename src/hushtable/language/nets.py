"""Checkpoints as networks: loaded from their own folder, without a network connection, code of theirs, or a pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from safetensors import SafetensorError  # noqa: TID253
from safetensors.torch import load_file  # noqa: TID253
from tokenizers import Tokenizer  # noqa: TID253
from torch import Tensor  # noqa: TID253
from torch.nn import Module  # noqa: TID253

from hushtable.errors import InputError
from hushtable.language.models import Checkpoint, Sort
from hushtable.language.words import Vocabulary
from hushtable.learn.loop import one_thread
from hushtable.table.arrays import Floats

PART = 64
"""Texts that are embedded at a time: of memory only."""


@dataclass(frozen=True, eq=False)
class Language:
    """A network and its tokenizer."""

    net: Module
    tokenizer: Tokenizer
    checkpoint: Checkpoint

    @classmethod
    def load(cls, checkpoint: Checkpoint, dtype: torch.dtype = torch.float32) -> Language:
        """From its folder; InputError where weights and configuration do not fit."""
        tokenizer = _tokenizer(checkpoint)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(_net(checkpoint).to(dtype).eval().requires_grad_(False), tokenizer, checkpoint)

    @cached_property
    def end(self) -> int:
        """The token that ends a text."""
        ends = self.checkpoint.config.get("eos_token_id")
        return int(ends[0] if isinstance(ends, list) else ends if ends is not None else 0)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokens by the word that they begin."""
        return Vocabulary.of(self)

    @property
    def longest(self) -> int:
        """The most tokens that it can read at once."""
        return int(self.checkpoint.config.get("max_position_embeddings") or self.checkpoint.config.get("n_positions") or 512)

    def tokens(self, texts: Sequence[str], most: int | None = None) -> list[list[int]]:
        """The tokens of each text, at most ``most`` of each."""
        # Text far beyond what fits is cut before it is split into tokens, however long it is.
        cut = [text if most is None else text[: 16 * most] for text in texts]
        return [encoding.ids[:most] for encoding in self.tokenizer.encode_batch(cut)]

    def text(self, tokens: Sequence[int]) -> str:
        """The text of these tokens."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def embedded(self, texts: Sequence[str], most: int = 128) -> Floats:
        """A unit vector for each text: the mean of the vectors of its tokens (all zero for a text without any).

        An encoder gives them in view of the whole text; of a causal model they are the embeddings that it reads.
        """
        found = np.zeros((len(texts), int(self.checkpoint.config.get("hidden_size", 0) or self.checkpoint.config["n_embd"])))
        tokens = self.tokens(texts, min(most, self.longest))
        order = np.argsort([len(ids) for ids in tokens], kind="stable")
        with torch.no_grad(), one_thread():
            for start in range(0, len(order), PART):
                rows = order[start : start + PART]
                found[rows] = self._means([tokens[row] for row in rows]).numpy(force=True)
        lengths: Floats = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.maximum(lengths, 1e-12)

    def vectors(self, text: str, most: int = 128) -> Floats:
        """The vectors of the tokens of a text as an encoder gives them, each in view of the whole text; none of its marks."""
        encoding = self.tokenizer.encode(text[: 16 * most])
        ids = encoding.ids[: min(most, self.longest)]
        words = [place for place, mark in enumerate(encoding.special_tokens_mask[: len(ids)]) if not mark]
        if not words:
            return np.zeros((0, int(self.checkpoint.config["hidden_size"])))
        with torch.no_grad(), one_thread():
            states = self.net(input_ids=torch.tensor([ids]), attention_mask=torch.ones((1, len(ids)), dtype=torch.int64))
        found: Floats = states.last_hidden_state[0].double().numpy(force=True)[words]
        return found

    def _means(self, tokens: list[list[int]]) -> Tensor:
        ids, shown = padded(tokens, self.end)
        if self.checkpoint.sort is Sort.CAUSAL:
            vectors = self.net.get_input_embeddings()(ids)  # type: ignore[operator]
        else:
            vectors = self.net(input_ids=ids, attention_mask=shown.long()).last_hidden_state
        counts = shown.sum(1, keepdim=True).clamp(min=1)
        means: Tensor = (vectors.float() * shown[:, :, None]).sum(1) / counts
        return means


def padded(tokens: Sequence[Sequence[int]], fill: int, *, left: bool = False) -> tuple[Tensor, Tensor]:
    """Texts x places, filled up behind (or before) each text, and which places hold one of its tokens."""
    longest = max((len(own) for own in tokens), default=0)
    ids = torch.full((len(tokens), max(longest, 1)), fill, dtype=torch.int64)
    shown = torch.zeros(ids.shape, dtype=torch.bool)
    for row, own in enumerate(tokens):
        place = slice(ids.shape[1] - len(own), None) if left else slice(0, len(own))
        ids[row, place] = torch.tensor(own, dtype=torch.int64)
        shown[row, place] = True
    return ids, shown


def _tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    path = checkpoint.folder / "tokenizer.json"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        known = None
    # The library says of a file that it cannot read nothing that could be told from any other error.
    if not isinstance(known, dict) or not isinstance(known.get("model"), dict):
        raise InputError("tokenizer.json is damaged: it is no tokenizer", where=checkpoint.name)
    return Tokenizer.from_file(str(path))


def _built(checkpoint: Checkpoint) -> Any:
    """The network that the configuration describes, without its weights."""
    from huggingface_hub.errors import StrictDataclassError
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

    kind: Any = AutoModelForCausalLM if checkpoint.sort is Sort.CAUSAL else AutoModel
    try:
        return kind.from_config(AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=False))
    except (ValueError, StrictDataclassError):
        raise InputError("config.json describes no network that transformers can build", where=checkpoint.name) from None


def _net(checkpoint: Checkpoint) -> Module:
    made = _built(checkpoint)
    weights: dict[str, Any] = {}
    for path in sorted(checkpoint.folder.glob("*.safetensors")):
        try:
            weights |= load_file(path)
        except SafetensorError:
            raise InputError(f"{path.name} is damaged, or was cut off", where=checkpoint.name) from None
    inner = f"{made.base_model_prefix}."
    if checkpoint.sort is Sort.ENCODER:
        # A checkpoint of an encoder with a head on top names it by its place in there.
        weights = {name.removeprefix(inner): array for name, array in weights.items()}
    try:
        left = made.load_state_dict(weights, strict=False)
    except RuntimeError:
        raise InputError("the weights do not fit the configuration", where=checkpoint.name) from None
    made.tie_weights()
    tied = set(getattr(made, "all_tied_weights_keys", None) or ())
    optional = ("pooler.", "position_ids")
    missing = [name for name in left.missing_keys if name not in tied and not any(part in name for part in optional)]
    if missing:
        raise InputError(f"lacks weights that its configuration asks for, {missing[0]} among them", where=checkpoint.name)
    net: Module = made
    return net
