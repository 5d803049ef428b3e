"""Generalized cells as arrays: the values between two ends, or a set of levels; each value as likely as any other.

This is the reading of ``evidence.reading.ordinary``, taken exactly where that one draws: an interval is cut at the bounds of
the domain, ``*`` is any value of it, and neither is ever a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.table.arrays import Floats, Mask
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Bounds, Cells, Column, Levels


@dataclass(frozen=True, eq=False)
class Spans:
    """Cells of a column of numbers or dates: their least and greatest value, and the grid the values between them lie on."""

    low: Floats
    high: Floats
    step: float | None

    @classmethod
    def of(cls, cells: tuple[Cell, ...], plain: Column) -> Spans:
        """``plain`` is the column of single values that the cells generalize."""
        ends = np.array([_ends(cell, plain.bounds) for cell in cells]).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], plain.step)

    @property
    def middle(self) -> Floats:
        """The mean of each cell's values."""
        return (self.low + self.high) / 2

    def share(self, low: float, high: float) -> Floats:
        """The share of each cell's values that lie between two ends, both included."""
        if self.step is None:
            width = self.high - self.low
            inside = np.minimum(self.high, high) - np.maximum(self.low, low)
            point = (self.low >= low) & (self.low <= high)
            return np.where(width > 0, np.clip(inside, 0, None) / np.where(width > 0, width, 1.0), point)
        points = np.round((self.high - self.low) / self.step) + 1
        # An end that lies on the grid but for the rounding of floats lies on it.
        first = np.maximum(np.ceil((low - self.low) / self.step - 1e-6), 0)
        last = np.minimum(np.floor((high - self.low) / self.step + 1e-6), points - 1)
        return np.asarray(np.clip(last - first + 1, 0, None) / points, dtype=np.float64)


def members(cells: tuple[Cell, ...], plain: Column) -> Mask:
    """Cells of a column of levels: for each cell (row) and level (column), whether the cell may be it."""
    levels = plain.levels
    index = {level: code for code, level in enumerate(levels)}
    allowed = np.zeros((len(cells), len(levels)), bool)
    for cell, row in zip(cells, allowed, strict=True):
        if isinstance(cell.span, frozenset):
            row[[index[level] for level in cell.span if level in index]] = True
        if not row.any():
            row[:] = True
    return allowed


def penalties(column: Column, domain: Column) -> Floats:
    """The normalized certainty penalty of each cell of a released column (Xu et al. 2006; Ghinita et al. 2007).

    Numbers: the width of the interval over that of the domain. Levels: how many the set holds over how many there are, and 0
    for a single one. ``*``: 1. ``domain`` is the column of the real rows.
    """
    if not isinstance(column.domain, Cells):
        return np.zeros(0)
    return np.array([_penalty(cell, domain.base) for cell in column.domain.cells], np.float64)


def _penalty(cell: Cell, domain: Levels | Bounds | None) -> float:
    if cell.span is None:
        return 1.0
    if isinstance(cell.span, frozenset):
        size = len(domain.levels) if isinstance(domain, Levels) else 1
        return 0.0 if len(cell.span) < 2 else min(1.0, len(cell.span) / size)
    if not isinstance(domain, Bounds):
        return 0.0
    low, high = _ends(cell, domain)
    return min(1.0, (high - low) / (domain.high - domain.low)) if domain.high > domain.low else 0.0


def _ends(cell: Cell, bounds: Bounds) -> tuple[float, float]:
    if not isinstance(cell.span, Interval):
        return float(bounds.low), float(bounds.high)
    low, high = max(cell.span.low, bounds.low), min(cell.span.high, bounds.high)
    if low > high:
        low = high = min(max(cell.span.low, bounds.low), bounds.high)
    return float(low), float(high)
