"""How the cells of a column lie on disk: in as few bytes as its domain needs, so that a pass over many rows reads little.

A coded column and a number between bounds are stored as the number of their cell, missing last, which is what a histogram counts;
everything else as it is in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.errors import PlanError
from hushtable.table.arrays import Array
from hushtable.table.columns import FREE, MISSING_CODE, MISSING_INTEGER, Bounds, Column, Kind

Cells = Mapping[str, Array]
"""Some rows at a time: of each column what is stored of them."""
WIDEST = 2**32 - 2
"""More cells than this are stored as they are in memory."""


@dataclass(frozen=True)
class Packing:
    """How the cells of one column are stored."""

    column: Column

    @cached_property
    def cells(self) -> int | None:
        """How many cells there are without the missing one, where cells are stored; None where values are."""
        column = self.column
        if column.coded:
            return len(column.levels)
        if column.kind in (Kind.INTEGER, Kind.DATE) and isinstance(column.domain, Bounds):
            wide = int(column.domain.high) - int(column.domain.low) + 1
            return wide if wide <= WIDEST else None
        return None

    @cached_property
    def dtype(self) -> np.dtype[np.generic]:
        """Of what is stored."""
        if self.column.kind in FREE and not self.column.generalized:
            raise PlanError(f"column {self.column.name}: free text is not stored by cells")
        return np.dtype(self.column.dtype) if self.cells is None else np.min_scalar_type(self.cells)

    @cached_property
    def _low(self) -> int:
        domain = self.column.domain
        return int(domain.low) if isinstance(domain, Bounds) else 0

    def pack(self, array: Array) -> Array:
        """What is stored of values as they are in memory."""
        if self.cells is None:
            return array.astype(self.dtype, copy=False)
        missing = self.column.is_missing(array)
        return np.where(missing, self.cells, array - self._low if self._low else array).astype(self.dtype)

    def unpack(self, stored: Array) -> Array:
        """The values as they are in memory."""
        if self.cells is None:
            return stored
        values = stored.astype(self.column.dtype) + self.column.dtype.type(self._low)
        values[stored == self.cells] = MISSING_INTEGER if self.column.numeric else MISSING_CODE
        return np.asarray(values)
