"""How surprising texts are to a causal model, in bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.language.nets import Language, padded
from hushtable.table.arrays import Floats, Integers

PART = 16
"""Texts at a time: of memory only."""


@torch.no_grad()
def bits(language: Language, texts: Sequence[str], most: int = 128) -> tuple[Floats, Integers]:
    """For each text the bits that its tokens take, the first behind the mark that ends a text, and its bytes.

    Of a text with more than ``most`` tokens the beginning counts, in bits and in bytes.
    """
    tokens = language.tokens(texts, min(most, language.longest - 1))
    sizes = np.array([len(language.text(own).encode("utf-8", "replace")) for own in tokens], np.int64)
    found = np.zeros(len(texts))
    order = np.argsort([len(own) for own in tokens], kind="stable")
    for start in range(0, len(order), PART):
        part = order[start : start + PART]
        ids, shown = padded([[language.end, *tokens[row]] for row in part], language.end)
        logits = language.net(input_ids=ids, attention_mask=shown.long()).logits[:, :-1].float()
        surprise = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(part), -1)
        found[part] = (surprise * shown[:, 1:]).sum(1).double().numpy(force=True) / np.log(2)
    return found, sizes
