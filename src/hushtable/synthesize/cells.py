"""Columns as cells: every level of a category, and for numbers their spikes and bins of several rows.

A number that at least ``least`` rows share is a cell of its own, so that spikes (40 hours a week, a gain of 0) stay
spikes; the others are pooled, neighbour by neighbour, into bins of at least ``least`` rows and drawn back uniformly
from the bin's range, on the column's grid. So no number that fewer rows hold is repeated as such.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.table.columns import Array, Bounds, Column, Kind

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of one column: codes of a category, or ranges [low, high] of a number (equal for a spike). Missing is last."""

    column: Column
    low: Floats
    high: Floats

    @classmethod
    def of(cls, column: Column, array: Array, least: int) -> Grid:
        """Cells for a column as it is."""
        if not column.numeric:
            return cls(column, np.empty(0), np.empty(0))
        values = column.floats(array)
        points, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        spikes = counts >= least
        rare = np.flatnonzero(~spikes)
        low, high = _pooled(points, counts, rare, least)
        low, high = np.concatenate([points[spikes], low]), np.concatenate([points[spikes], high])
        order = np.lexsort((low, low + high))
        return cls(column, low[order], high[order])

    @property
    def count(self) -> int:
        """Number of cells, missing included."""
        return (len(self.low) if self.column.numeric else len(self.column.levels)) + 1

    def hidden(self) -> Column:
        """The column without its observed extremes: they are somebody's values, and the cells do not reach them."""
        if not isinstance(self.column.domain, Bounds) or not self.column.observed or not len(self.low):
            return self.column
        low, high = float(self.low.min()), float(self.high.max())
        if self.column.step is not None:
            low, high = np.floor(low / self.column.step) * self.column.step, np.ceil(high / self.column.step) * self.column.step
        whole = self.column.kind is not Kind.REAL
        return replace(self.column, domain=Bounds(int(low) if whole else low, int(high) if whole else high, observed=True))

    def encode(self, array: Array) -> Integers:
        """The cell of each value."""
        missing = self.column.is_missing(array)
        if not self.column.numeric:
            return np.where(missing, self.count - 1, array).astype(np.int64)
        values = np.where(missing, 0.0, array.astype(np.float64))
        spikes = np.flatnonzero(self.low == self.high)
        bins = np.flatnonzero(self.low < self.high)
        cells = np.full(len(values), self.count - 1, np.int64)
        if len(bins):
            at = np.clip(np.searchsorted(self.low[bins], values, side="right") - 1, 0, len(bins) - 1)
            cells = bins[at]
        if len(spikes):
            at = np.clip(np.searchsorted(self.low[spikes], values), 0, len(spikes) - 1)
            hit = self.low[spikes[at]] == values
            cells = np.where(hit | (len(bins) == 0), spikes[at], cells)
        return np.where(missing, self.count - 1, cells)

    def decode(self, cells: Integers, rng: np.random.Generator) -> Array:
        """A value from each cell."""
        missing = cells == self.count - 1
        if not self.column.numeric:
            return np.where(missing, -1, cells).astype(np.int32)
        at = np.where(missing, 0, cells)
        if not len(self.low):
            return self.column.from_floats(np.full(len(cells), np.nan))
        low, high, step = self.low[at], self.high[at], self.column.step
        if step is None:
            values = low + rng.random(len(at)) * (high - low)
        else:
            values = low + step * np.floor(rng.random(len(at)) * (np.round((high - low) / step) + 1))
        return self.column.from_floats(np.where(missing, np.nan, values))

    def numbers(self, cells: Integers) -> Floats:
        """Each cell as a number to split on: its middle, or its code; missing lies below everything."""
        if not self.column.numeric:
            return cells.astype(np.float64)
        middle = np.append((self.low + self.high) / 2, np.nan)
        span = float(self.high.max() - self.low.min()) if len(self.low) else 1.0
        middle[-1] = (float(self.low.min()) if len(self.low) else 0.0) - max(span, 1.0)
        return middle[cells]


def _pooled(points: Floats, counts: Integers, rare: Integers, least: int) -> tuple[Floats, Floats]:
    """Ranges of at least ``least`` rows each for the points that too few rows share.

    Ranges meet halfway between their members, and the outermost ends mirror the range's mean, so that no end is
    anybody's value.
    """
    if not len(rare):
        return np.empty(0), np.empty(0)
    starts = _runs(counts[rare], least)
    ends = np.append(starts[1:], len(rare)) - 1
    first, final = points[rare[starts]], points[rare[ends]]
    if counts[rare].sum() < least:
        # Too few to hide among themselves: their range takes in the neighbours.
        around = points[max(rare[0] - 1, 0) : rare[-1] + 2]
        return around[:1] - (len(around) == 1), around[-1:] + (len(around) == 1)
    between = (final[:-1] + first[1:]) / 2
    weights = np.add.reduceat(counts[rare], starts)
    means = np.add.reduceat(points[rare] * counts[rare], starts) / weights
    low = np.append(2 * means[0] - (between[0] if len(between) else final[0]), between)
    high = np.append(between, 2 * means[-1] - (between[-1] if len(between) else first[-1]))
    return low, np.maximum(high, low)


def _runs(counts: Integers, least: int) -> Integers:
    """Where runs of at least ``least`` rows begin; a run closes as soon as it can, what is left over joins the last."""
    starts, held = [0], 0
    for place, count in enumerate(counts.tolist(), 1):
        held += count
        if held >= least and place < len(counts):
            starts.append(place)
            held = 0
    if held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)
