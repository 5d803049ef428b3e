"""Exact quantiles of numbers that are read a few at a time: counts of ranges, refined until a range holds one number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Floats, Integers
from hushtable.table.rows import Columns
from hushtable.table.table import Table

DIGIT = 16
"""Bits by which a pass refines: four passes for a number of 64 bits."""
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class Digits:
    """How many present numbers have each next digit, of those that begin with one of some prefixes."""

    name: str
    prefixes: tuple[int, ...]
    shift: int
    additive: ClassVar[bool] = True

    @property
    def reads(self) -> Columns:
        """One column."""
        return (self.name,)

    def answer(self, table: Table) -> Integers:
        """A row of counts for each prefix."""
        numbers = table.floats(self.name)
        keys = _rising(numbers[~np.isnan(numbers)])
        digits = ((keys >> np.uint64(self.shift)) & np.uint64((1 << DIGIT) - 1)).astype(np.int64)
        if self.shift + DIGIT == 64:
            return np.bincount(digits, minlength=1 << DIGIT)[None]
        above = keys >> np.uint64(self.shift + DIGIT)
        return np.stack([np.bincount(digits[above == np.uint64(prefix)], minlength=1 << DIGIT) for prefix in self.prefixes])


def quantiles(fold: Callable[[Digits], Integers], name: str, shares: Iterable[float]) -> Floats:
    """The present numbers below which these shares of them lie, the lower ones; ``fold`` adds up over all rows."""
    shares = np.fromiter(shares, np.float64)
    prefixes, below = np.zeros(len(shares), np.uint64), np.zeros(len(shares), np.int64)
    ranks: Integers | None = None
    for shift in range(64 - DIGIT, -1, -DIGIT):
        known = tuple(map(int, np.unique(prefixes)))
        if not known:
            break
        counts = dict(zip(known, fold(Digits(name, known, shift)), strict=True))
        if ranks is None:
            if not (total := int(counts[0].sum())):
                return np.full(len(shares), np.nan)
            ranks = np.floor((total - 1) * shares).astype(np.int64)
        for i, prefix in enumerate(prefixes):
            up_to = below[i] + np.cumsum(counts[int(prefix)])
            digit = int(np.searchsorted(up_to, ranks[i], side="right"))
            below[i] = up_to[digit - 1] if digit else below[i]
            prefixes[i] = (prefix << np.uint64(DIGIT)) | np.uint64(digit)
    return _numbers(prefixes)


def _rising(numbers: Floats) -> NDArray[np.uint64]:
    """Whole numbers in the order of the floats."""
    bits = (numbers + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _numbers(keys: NDArray[np.uint64]) -> Floats:
    return np.where(keys & SIGN, keys & ~SIGN, ~keys).view(np.float64)
