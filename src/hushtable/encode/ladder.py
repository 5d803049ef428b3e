"""The bounds of a number or date, learnt from noisy counts on a public ladder of ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.query import Ladder
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats
from hushtable.table.columns import Bounds, Column, Kind

CLOSER = 64
"""The ranges of the second query of a number."""
_POWERS, _FINEST = 52, -30
_YEARS = (1800, 2201)
PARTS = (3.0, 1.0)
"""The parts of the budget of a number that its two queries get."""
_CHANCE = 0.01
"""The probability that noise makes any range of an empty ladder seem to hold rows."""
_SEEN = 0.1
"""A range with this share of the rows must stand out, or the ladder says nothing."""
_FEW = 0.01
"""The share of the rows that may lie beyond a bound."""
_BEYOND = 2
"""The most ranges of powers of two taken in beyond those that stand out, on either side; one decade."""
_NEAR = 3
"""Ranges of powers of two after which a number may as well begin at zero: it is an eighth of the whole away at most."""
_TOGETHER = 4.4
"""Standard deviations of the noise from which on all ranges up to the end together are taken to hold rows."""


@dataclass(frozen=True)
class LearntBounds:
    """Learnt bounds, and about how many rows the column has."""

    bounds: Bounds
    rows: float


def bounds_of(vault: Vault, column: Column, part: Allowance) -> LearntBounds | int:
    """Two queries: on the public ladder, to find where rows are, then on equal ranges of that, to leave out what is empty.

    Where the noise drowns the ladder: about how many rows it would need.
    """
    first, second = part.split(PARTS)
    unit = column.step if column.step is not None else 2.0**_FINEST
    rungs = decades() if column.kind is Kind.DATE else unit * _powers(_POWERS if column.step is not None else _POWERS - _FINEST)
    counts, missing, spread = _climb(vault, column, first, rungs)
    # Standard deviations that noise exceeds in any of so many ranges with a small probability only (a union bound).
    odds = math.log(2 * len(counts) / _CHANCE)
    sure = (math.sqrt(2 * odds) if first.noise is Noise.GAUSSIAN else odds / math.sqrt(2)) * spread
    held = np.flatnonzero(counts > sure)
    below, above = (int(held[0]), int(held[-1]) + 1) if len(held) else (0, 1)
    rows, needed = float(counts[below:above].sum()), sure
    drowned = not len(held) or _SEEN * rows < sure
    if not drowned:
        zero = None if column.kind is Kind.DATE else int(np.searchsorted(rungs, 0.0))
        below, above = _together(counts, spread, (below, above))
        unseen = _TOGETHER * spread * math.sqrt(len(counts) / 2)
        # Many zeros say nothing about the other values, which may be anywhere and together unseen.
        drowned = (below, above) == (zero, (zero or 0) + 1) and unseen > _SEEN * rows
        needed = unseen if drowned else sure
        below, above = _beside(counts, spread, (below, above), rows, zero)
        outside = np.append(counts[:below], counts[above:])
        drowned = drowned or float(outside.sum()) > max(2 * spread * math.sqrt(len(outside)), _SEEN * rows)
    low, high = float(rungs[below]), float(rungs[above])
    # In whole units: an edge between two of them would put values outside their own range.
    finer = low + unit * np.unique(np.round(np.linspace(0.0, float(round((high - low) / unit)), CLOSER + 1)))
    if drowned:
        _climb(vault, column, second, finer)
        # Rows may also be many and lie in too many ranges: then it takes more than there are.
        return math.ceil(float(f"{max(needed / _SEEN, 2 * float(counts.sum()), 1.0):.1e}"))
    counts, _, spread = _climb(vault, column, second, finer)
    below, above = (_while_empty(ordered, spread, rows) for ordered in (counts, counts[::-1]))
    below, above = (below, above) if below + above < len(counts) else (0, 0)
    bounds = _written(column, float(finer[below]), float(finer[len(counts) - above]) - unit)
    return LearntBounds(bounds, rows + max(missing, 0.0))


def _climb(vault: Vault, column: Column, part: Allowance, rungs: Floats) -> tuple[Floats, float, float]:
    """Noisy counts between the rungs, that of missing values, and the standard deviation of the noise.

    What lies below the first rung or above the last counts with the outermost ranges.
    """
    query = Ladder(column.name, tuple(rungs[1:-1].tolist()))
    counts = vault.spend(query, part).astype(np.float64)
    return counts[:-1], float(counts[-1]), part.deviation(query, vault.schema)


def _together(counts: Floats, spread: float, held: tuple[int, int]) -> tuple[int, int]:
    """The ranges that stand out, and those from which on all others up to the end together do."""
    least = _TOGETHER * spread * np.sqrt(np.arange(1, len(counts) + 1))
    below, above = (np.flatnonzero(np.cumsum(ordered) > least)[:1].tolist() for ordered in (counts, counts[::-1]))
    return min([held[0], *below]), max([held[1], *(len(counts) - place for place in above)])


def _beside(counts: Floats, spread: float, held: tuple[int, int], rows: float, zero: int | None) -> tuple[int, int]:
    """These ranges, and those beside them that may hold more than a few rows without standing out.

    ``zero`` is the range of 0, which is not passed: no number becomes negative, or positive, because of the noise.
    """
    below, above = held
    first, last = 0, len(counts)
    if zero is not None and below >= zero:
        first = zero
    elif zero is not None and above <= zero + 1:
        last = zero + 1
    few = _FEW * rows
    for _ in range(_BEYOND if zero is not None else 1):
        if below > first and counts[below - 1] + 2 * spread > few:
            below -= 1
        if above < last and counts[above] + 2 * spread > few:
            above += 1
    # All ranges from here to zero together are but a small part of those that are held.
    if above - below >= _NEAR:
        if first and counts[first:below].sum() + 2 * spread * math.sqrt(below - first) > few:
            below = first
        elif last < len(counts) and counts[above:last].sum() + 2 * spread * math.sqrt(last - above) > few:
            above = last
    return below, above


def _while_empty(counts: Floats, spread: float, rows: float) -> int:
    """How many ranges to leave out from the front: as long as they surely hold few rows. A bound too wide does little harm."""
    seen = np.maximum.accumulate(np.cumsum(counts)).clip(0.0)
    most = seen + spread * np.sqrt(np.arange(1, len(counts) + 1))
    return int(np.flatnonzero(most <= _FEW * rows).max(initial=-1)) + 1


def _powers(most: int) -> Floats:
    """Where ranges of whole numbers meet: {0}, {1}, {2, 3}, {4, ..., 7} and so on, and the same below zero."""
    up = 2.0 ** np.arange(most + 1)
    return np.concatenate([1 - up[::-1], up])


def decades() -> Floats:
    """Where the ranges of dates meet."""
    return np.array([datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(*_YEARS, 10)])


def _written(column: Column, low: float, high: float) -> Bounds:
    """Bounds as the column writes its values."""
    if column.kind is not Kind.REAL:
        return Bounds(int(low), max(int(high), int(low)))
    if column.decimals is not None:
        low, high = round(low, column.decimals), round(high, column.decimals)
    return Bounds(low, max(low, high))
