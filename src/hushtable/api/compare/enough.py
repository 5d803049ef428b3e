"""How many control rows are enough to show that attacks gain less than a limit: with few rows no release can show it."""

from __future__ import annotations

import math

from hushtable.api.compare.cell import WorstGain
from hushtable.evidence.confidence import gain, observed

MOST = 1e12
"""Rows beyond which nobody would count."""


def upper_bound(inside: float, outside: float, rows: float) -> float:
    """The upper bound of what an attack gains that succeeds at these rates on so many people of either side."""
    return gain(observed(inside * rows, rows), observed(outside * rows, rows)).high


def least_bound(worst: WorstGain) -> float:
    """The upper bound that the attack with the largest one would have here if it gained nothing."""
    outside = worst.outside or 0.0
    return upper_bound(outside, outside, _rows(outside + worst.measured, outside, worst.widest))


def rows_needed(worst: WorstGain, limit: float, control: int) -> int:
    """With how many control rows that bound would lie below the limit if the attack gained nothing, to two digits that count.

    What it gained by chance is then taken to shrink as chance does: the largest of many bounds is of an attack that was lucky.
    """
    outside = worst.outside or 0.0
    today = _rows(outside + worst.measured, outside, worst.widest)
    low, high = 0.0, math.log(MOST)
    for _ in range(80):
        middle = (low + high) / 2
        rows = math.exp(middle)
        lucky = max(worst.measured, 0.0) * math.sqrt(today / rows)
        low, high = (middle, high) if upper_bound(min(outside + lucky, 1.0), outside, rows) >= limit else (low, middle)
    needed = control * math.exp(high) / today
    unit = 10.0 ** max(0, math.floor(math.log10(max(needed, 1.0))) - 1)
    return int(math.ceil(needed / unit) * unit)


def _rows(inside: float, outside: float, bound: float) -> float:
    """How many rows of either side give this upper bound: it falls with their number."""
    low, high = 0.0, math.log(MOST)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_bound(min(max(inside, 0.0), 1.0), outside, math.exp(middle)) > bound else (low, middle)
    return math.exp(high)
