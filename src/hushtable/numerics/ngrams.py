"""Interpolated Kneser-Ney models of texts of numbers: words or bytes, of any order (Chen and Goodman 1999).

The chance of a number after those before it is its discounted count there, plus what the discounts left, which is given to the
model of one number less; below the highest order a count is of the different numbers before. The last model of all is uniform, so
nothing is impossible, and the chances of all numbers and of the end of a text add up to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hushtable.table.arrays import Floats, Integers, Mask

DISCOUNT = 0.75
"""What is taken from every count: one value for all, which is near the best for most texts."""


class _Level(NamedTuple):
    """The runs of one length, each with its code: the number of the run before it times the size, plus its last number."""

    codes: Integers
    counts: Floats
    totals: Floats
    """By the run before: the sum of the counts of what follows."""
    kinds: Floats
    """By the run before: how many different numbers follow."""


@dataclass(frozen=True, eq=False)
class Ngrams:
    """A model of texts of numbers."""

    size: int
    """Numbers that there are, the end and the beginning of a text among them."""
    levels: tuple[_Level, ...]

    @classmethod
    def fit(cls, texts: Sequence[Integers], alphabet: int, order: int = 3) -> Ngrams:
        """Of texts of numbers from 0 to ``alphabet`` - 1, by the ``order`` - 1 numbers before each."""
        size = alphabet + 2
        tokens, inside, _ = _joined(texts, alphabet, order)
        runs = []
        context, contexts = np.zeros(len(tokens), np.int64), 1
        for _ in range(order):
            codes, first, ids = np.unique(context * size + tokens, return_index=True, return_inverse=True)
            runs.append((codes, first[inside[first]], ids, contexts))
            context, contexts = np.concatenate([np.zeros(1, np.int64), ids])[: len(ids)], len(codes)
        levels = []
        for at, (codes, _, ids, contexts) in enumerate(runs):
            counted = inside if at == order - 1 else runs[at + 1][1]
            counts = np.bincount(ids[counted], minlength=len(codes)).astype(np.float64)
            before = codes // size
            totals, kinds = (_sums(before, weights, contexts) for weights in (counts, (counts > 0).astype(np.float64)))
            levels.append(_Level(codes, counts, totals, kinds))
        return cls(size, tuple(levels))

    def bits(self, texts: Sequence[Integers]) -> Floats:
        """For each text the negative binary logarithm of its probability, its end included."""
        tokens, inside, text = _joined(texts, self.size - 2, len(self.levels))
        chance = np.full(len(tokens), 1 / (self.size - 1))
        context = np.zeros(len(tokens), np.int64)
        for level in self.levels:
            known = (context >= 0) & (context < len(level.totals))
            at = np.where(known, context, 0)
            total = np.where(known, level.totals[at], 0.0) if len(level.totals) else np.zeros(len(tokens))
            code = at * self.size + tokens
            place = np.minimum(np.searchsorted(level.codes, code), max(0, len(level.codes) - 1))
            found = known & (level.codes[place] == code) if len(level.codes) else np.zeros(len(tokens), bool)
            seen = total > 0
            counts, kinds = level.counts[place[seen]] * found[seen], level.kinds[at[seen]]
            chance[seen] = (np.maximum(counts - DISCOUNT, 0) + DISCOUNT * kinds * chance[seen]) / total[seen]
            context = np.concatenate([np.full(1, -1), np.where(found, place, -1)])[: len(tokens)]
        return _sums(text[inside], -np.log2(chance[inside]), len(texts))


def _sums(groups: Integers, weights: Floats, count: int) -> Floats:
    return np.bincount(groups, weights, minlength=count).astype(np.float64)


def _joined(texts: Sequence[Integers], alphabet: int, order: int) -> tuple[Integers, Mask, Integers]:
    """All texts in a row, each after ``order`` - 1 beginnings and before its end; which are no beginnings; and whose each is."""
    lengths = np.array([len(text) for text in texts], np.int64) + order
    ends = np.cumsum(lengths) - 1
    tokens = np.full(int(lengths.sum()), alphabet + 1, np.int64)
    text = np.repeat(np.arange(len(texts)), lengths)
    inside = np.arange(len(tokens)) - np.repeat(ends + 1 - lengths, lengths) >= order - 1
    tokens[ends] = alphabet
    own = inside.copy()
    own[ends] = False
    if own.any():
        tokens[own] = np.concatenate([part for part in texts if len(part)])
    return tokens, inside, text
