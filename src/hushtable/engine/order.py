"""Exact quantiles of numbers that are read a few at a time: counts of ranges, refined until a range holds one number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Floats

DIGIT = 16
"""Bits by which a pass refines: four passes for a number of 64 bits."""
SIGN = np.uint64(1 << 63)


def quantiles(numbers: Callable[[], Iterator[Floats]], shares: Iterable[float]) -> Floats:
    """The present numbers below which these shares of them lie, the lower ones; ``numbers`` makes a pass, NaN where missing."""
    shares = np.fromiter(shares, np.float64)
    prefixes, below = np.zeros(len(shares), np.uint64), np.zeros(len(shares), np.int64)
    ranks: NDArray[np.int64] | None = None
    for shift in range(64 - DIGIT, -1, -DIGIT):
        known = [np.uint64(prefix) for prefix in np.unique(prefixes)]
        counts = {int(prefix): np.zeros(1 << DIGIT, np.int64) for prefix in known}
        for batch in numbers():
            keys = _rising(batch[~np.isnan(batch)])
            for prefix in known:
                inside = keys if ranks is None else keys[keys >> np.uint64(shift + DIGIT) == prefix]
                digits = (inside >> np.uint64(shift)) & np.uint64((1 << DIGIT) - 1)
                counts[int(prefix)] += np.bincount(digits.astype(np.int64), minlength=1 << DIGIT)
        if ranks is None:
            total = int(next(iter(counts.values())).sum()) if counts else 0
            if not total:
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
