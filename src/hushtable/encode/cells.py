"""Columns as cells: every level of a category; for numbers, frequent values and bins of several rows.

A number that at least ``least`` rows share is a cell of its own, so that frequent values (40 hours a week, a gain of 0) stay
frequent; the others are pooled, neighbour by neighbour, into bins of at least ``least`` rows and drawn uniformly
from the bin's range, on the column's grid. So a number that fewer rows hold is released by chance only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Bounds, Column


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
        low, high = _pooled(points[~spikes], counts[~spikes], least, alone=not spikes.any())
        low, high = np.concatenate([points[spikes], low]), np.concatenate([points[spikes], high])
        order = np.lexsort((low, low + high))
        return cls(column, low[order], high[order])

    @property
    def count(self) -> int:
        """Number of cells, missing included."""
        return (len(self.low) if self.column.numeric else len(self.column.levels)) + 1

    def hidden(self) -> Column:
        """The column with the ends of its cells as bounds, where its own are observed: those are values of single rows."""
        if not isinstance(self.column.domain, Bounds) or not self.column.observed or not len(self.low):
            return self.column
        ends = np.array([self.low.min(), self.high.max()])
        if (step := self.column.step) is not None:
            ends = step * np.array([np.floor(ends[0] / step + 1e-9), np.ceil(ends[1] / step - 1e-9)])
        # In the form in which the column stores its values (28 * 0.1 is not 2.8, a month has no day), so that draws lie inside.
        low, high = replace(self.column, domain=None).from_floats(ends).tolist()
        return replace(self.column, domain=Bounds(low, high, observed=True))

    def encode(self, array: Array) -> Integers:
        """The cell of each value."""
        missing = self.column.is_missing(array)
        if not self.column.numeric:
            return np.where(missing, self.count - 1, array).astype(np.int64)
        values = np.where(missing, 0.0, array.astype(np.float64))
        spikes = np.flatnonzero(self.low == self.high)
        bins = np.flatnonzero(self.low < self.high)
        cells = np.full(len(values), self.count - 1, np.int64)
        if len(spikes):
            after = np.clip(np.searchsorted(self.low[spikes], values), 0, len(spikes) - 1)
            before = np.maximum(after - 1, 0)
            closer = values - self.low[spikes[before]] < self.low[spikes[after]] - values
            cells = spikes[np.where(closer, before, after)]
        if len(bins):
            at = np.clip(np.searchsorted(self.low[bins], values, side="right") - 1, 0, len(bins) - 1)
            cells = np.where(self.low[cells] == values, cells, bins[at]) if len(spikes) else bins[at]
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
            # The grid points inside the range, each as likely; a range between two of them stands for the nearest.
            first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
            inside = first + np.floor(rng.random(len(at)) * np.maximum(last - first + 1, 1))
            values = step * np.where(last < first, np.round((low + high) / (2 * step)), inside)
        return self.column.from_floats(np.where(missing, np.nan, values))

    def shares(self, array: Array, cells: Integers) -> Floats:
        """For each value, the share of its cell's draws that are this value: 0 for a number that the cell cannot produce.

        A number without a grid counts as equal to those within half a thousandth of the column's range.
        """
        missing = cells == self.count - 1
        if not self.column.numeric or not len(self.low):
            return np.ones(len(cells))
        at = np.where(missing, 0, cells)
        low, high, half = self.low[at], self.high[at], self._step / 2
        inside = (array >= low - half) & (array <= high + half)
        share = np.where(low == high, 1.0, 1 / np.maximum(np.round((high - low) / self._step), 1))
        return np.where(missing, 1.0, np.where(inside, share, 0.0))

    @property
    def values(self) -> float:
        """How many values the column can take, missing included."""
        if not self.column.numeric:
            return float(self.count)
        return (self.column.bounds.high - self.column.bounds.low) / self._step + 2

    @property
    def _step(self) -> float:
        bounds = self.column.bounds
        return self.column.step or (bounds.high - bounds.low) / 1000 or 1.0

    def numbers(self, cells: Integers) -> Floats:
        """Each cell as a number to split on: its middle, or its code; missing lies below everything."""
        if not self.column.numeric:
            return cells.astype(np.float64)
        middle = np.append((self.low + self.high) / 2, np.nan)
        span = float(self.high.max() - self.low.min()) if len(self.low) else 1.0
        middle[-1] = (float(self.low.min()) if len(self.low) else 0.0) - max(span, 1.0)
        return middle[cells]


def _pooled(points: Floats, counts: Integers, least: int, *, alone: bool) -> tuple[Floats, Floats]:
    """Ranges of at least ``least`` rows each for the points that too few rows share.

    Ranges meet halfway between their members, and the outermost ends mirror the range's mean, so that no end is copied
    from a row. Too few points to fill one range are left to the nearest spikes, or, where there is none (``alone``),
    hidden in a range wider than they are.
    """
    if not len(points) or (counts.sum() < least and not alone):
        return np.empty(0), np.empty(0)
    starts = runs(counts, least)
    ends = np.append(starts[1:], len(points)) - 1
    first, final = points[starts], points[ends]
    between = (final[:-1] + first[1:]) / 2
    means = np.add.reduceat(points * counts, starts) / np.add.reduceat(counts, starts)
    low = np.append(2 * means[0] - (between[0] if len(between) else final[0]), between)
    high = np.append(between, 2 * means[-1] - (between[-1] if len(between) else first[-1]))
    if counts.sum() < least:
        margin = max(1.0, float(points[-1] - points[0]))
        return low - margin, high + margin
    return low, np.maximum(high, low)


def runs(counts: Integers, least: int) -> Integers:
    """Where runs of at least ``least`` rows begin; a run closes as soon as it can, what is left over joins the last."""
    starts, rows = [0], 0
    for place, count in enumerate(counts.tolist(), 1):
        rows += count
        if rows >= least and place < len(counts):
            starts.append(place)
            rows = 0
    if rows < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)
