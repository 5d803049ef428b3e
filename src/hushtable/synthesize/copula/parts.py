"""A copula for each part of the table, the parts being the combinations of some small columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.step import Arrays, Given, chosen
from hushtable.synthesize.copula.margins import Margin
from hushtable.synthesize.copula.model import Joined
from hushtable.synthesize.histogram_cells import given_cells, require_counted, sizes_of, table_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

SMALL = 10
"""Columns with fewer cells than this are small (as published)."""


def part_columns(schema: Schema, names: tuple[str, ...], most: int, step: str) -> tuple[str, ...]:
    """The columns whose combinations are the parts: those named, or small ones, the target first, then the smallest.

    PlanError where there are none, where they leave no other column, or where they make more parts than ``most``.
    """
    require_counted(schema, step)
    if len(schema) == 1:
        raise PlanError(f"{step}: it needs two columns, one that divides the table and one to be drawn; take 'independent'")
    sizes = sizes_of(schema)
    small = sorted(
        (c.name for c in schema if 1 < sizes[c.name] < SMALL), key=lambda name: (schema[name].role is not Role.TARGET, sizes[name])
    )
    picked: list[str] = []
    for name in small:
        if np.prod([sizes[n] for n in [*picked, name]]) <= most and len(picked) + 1 < len(schema):
            picked.append(name)
    if not names and not picked:
        raise PlanError(
            f"{step}: no column has 2 to {min(SMALL - 1, most)} cells to divide the table by; name some, "
            "or take the recipe dpcopula-kendall"
        )
    columns = chosen(schema, names, tuple(picked), step, "a column of few cells")
    if len(columns) == len(schema):
        raise PlanError(f"{step}: {', '.join(columns)} leave no other column to be drawn in a part; name fewer")
    count = int(np.prod([float(sizes[name]) for name in columns]))
    if count > most:
        raise PlanError(f"{step}: {', '.join(columns)} make {count} parts, more than {most}; name fewer columns, or raise 'most'")
    return tuple(name for name in schema.names if name in columns)


def part_numbers(table: Table, parts: tuple[str, ...]) -> Integers:
    """The part of each row, row-major over the columns."""
    cells = [table.cells(name) for name in parts]
    return np.asarray(np.ravel_multi_index(cells, histogram_sizes(table.schema, parts)), np.int64)


@dataclass(frozen=True, eq=False)
class PartedCopula:
    """The shares of the parts, and for each of them the margins and correlations of the other columns."""

    schema: Schema
    parts_by: tuple[str, ...]
    total: int
    shares: Floats
    """Of the parts."""
    margins: dict[str, Floats]
    """For each other column: parts by cells."""
    orders: dict[str, Integers]
    correlations: Floats
    """For each part a matrix."""
    summary: dict[str, Any]

    def part(self, number: int) -> Joined:
        """The copula of one part."""
        margins = {name: Margin(shares[number], self.orders[name]) for name, shares in self.margins.items()}
        return Joined(margins, self.correlations[number])

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return max(2, self.total)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows; ``given`` fixes columns to a value, and parts and the other columns are drawn given that."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        weights = self._weights(rng, fixed)
        numbers = rng.choice(len(weights), rows, p=weights)
        sizes = histogram_sizes(self.schema, self.parts_by)
        cells = dict(zip(self.parts_by, np.unravel_index(numbers, sizes), strict=True))
        cells |= {name: np.zeros(rows, np.int64) for name in self.margins}
        inner = {name: cell for name, cell in fixed.items() if name in self.margins}
        for number in np.unique(numbers):
            held = np.flatnonzero(numbers == number)
            for name, drawn in self.part(int(number)).draw(len(held), rng, inner).items():
                cells[name][held] = drawn
        return table_of(self.schema, {name: np.asarray(array, np.int64) for name, array in cells.items()})

    def _weights(self, rng: np.random.Generator, fixed: Mapping[str, int]) -> Floats:
        """The probability of each part, given the cells that are fixed."""
        places = np.unravel_index(np.arange(len(self.shares)), histogram_sizes(self.schema, self.parts_by))
        fits = np.ones(len(self.shares))
        for name, place in zip(self.parts_by, places, strict=True):
            if name in fixed:
                fits *= place == fixed[name]
        inner = {name: cell for name, cell in fixed.items() if name in self.margins}
        weights = self.shares * fits
        if inner:
            weights = weights * [self.part(k).likelihood(rng, inner) if weights[k] > 0 else 0.0 for k in range(len(weights))]
        # A part to which the noise has left no share may still be asked for: then the parts that fit are equally likely.
        if weights.sum() <= 0:
            weights = self.shares * fits
        if weights.sum() <= 0:
            weights = fits
        return np.asarray(weights / weights.sum())

    def result(self) -> dict[str, Any]:
        """How it was measured."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema and numbers; shares, margins and correlations."""
        values = {
            "schema": self.schema.portable().dump(),
            "parts_by": list(self.parts_by),
            "total": self.total,
            "summary": self.summary,
        }
        arrays: Arrays = {"shares": self.shares, "correlations": self.correlations}
        arrays |= {f"margins {name}": shares for name, shares in self.margins.items()}
        return values, arrays | {f"order {name}": order for name, order in self.orders.items()}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema, parts_by = Schema.parse(values["schema"]), tuple(values["parts_by"])
        others = [name for name in schema.names if name not in parts_by]
        margins = {name: arrays[f"margins {name}"].astype(np.float64) for name in others}
        orders = {name: arrays[f"order {name}"].astype(np.int64) for name in others}
        shares, correlations = (arrays[name].astype(np.float64) for name in ("shares", "correlations"))
        return cls(schema, parts_by, values["total"], shares, margins, orders, correlations, values["summary"])
