"""The vine copula as a fitted model, private or not: a regular vine and a distribution function for each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given, given_arrays
from hushtable.synthesize.copula.vine_fit import draw_vine
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BATCH = 20_000
"""Rows that are drawn at once where a condition has to be met."""
TRIES = 10
"""How many batches at most."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A distribution function that climbs at single values, as the column codes them."""

    values: Array
    ends: Floats
    """How high it stands from each value on; the last is 1."""

    @classmethod
    def of(cls, values: Array, shares: Floats) -> Self:
        """From weights of the values, none negative; equal weights where all are zero."""
        climbed = np.cumsum(shares if shares.sum() > 0 else np.ones(len(shares)))
        return cls(values, climbed / climbed[-1])

    def places(self, numbers: Floats) -> Integers:
        """The first value at which it stands as high as each number."""
        return np.minimum(np.searchsorted(self.ends, numbers, side="left"), len(self.ends) - 1)


@dataclass(frozen=True, eq=False)
class VineModel:
    """Columns that a vine joins, and columns that stand alone."""

    schema: Schema
    columns: Mapping[str, Steps]
    joined: tuple[str, ...]
    """The columns of the vine, in its order."""
    vine: str
    """As pyvinecopulib writes it; empty where there is none."""
    total: int
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return self.total

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows; under a condition, those of many that meet it."""
        rows = self.size if n is None else n
        if not given:
            return self._table(self._draw(rows, rng))
        return self._table(self._meeting(rows, rng, given))

    def result(self) -> dict[str, Any]:
        """What was chosen."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The schema, the vine as text, and the distribution functions."""
        values = {
            "schema": self.schema.portable().dump(), "joined": list(self.joined), "vine": self.vine, "total": self.total,
            "summary": self.summary,
        }  # fmt: skip
        arrays: Arrays = {f"values {name}": steps.values for name, steps in self.columns.items()}
        return values, arrays | {f"ends {name}": steps.ends for name, steps in self.columns.items()}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])
        columns = {
            c.name: Steps(arrays[f"values {c.name}"].astype(c.dtype), arrays[f"ends {c.name}"].astype(np.float64)) for c in schema
        }
        return cls(schema, columns, tuple(values["joined"]), values["vine"], values["total"], values["summary"])

    def _draw(self, rows: int, rng: np.random.Generator) -> dict[str, Integers]:
        """For each column, places in its distribution function."""
        even = {name: rng.random(rows) for name in self.schema.names}
        if self.vine and rows:
            numbers = draw_vine(self.vine, np.column_stack([even[name] for name in self.joined]))
            even |= {name: numbers[:, i] for i, name in enumerate(self.joined)}
        return {name: self.columns[name].places(numbers) for name, numbers in even.items()}

    def _meeting(self, rows: int, rng: np.random.Generator, given: Given) -> dict[str, Integers]:
        wanted = given_arrays(self.schema, given, 1)
        there = {name: self.columns[name].values == value[0] for name, value in wanted.items()}
        batches: list[dict[str, Integers]] = []
        count = 0
        for _ in range(TRIES if all(flags.any() for flags in there.values()) else 0):
            drawn = self._draw(BATCH, rng)
            meets = np.logical_and.reduce([there[name][drawn[name]] for name in wanted])
            batches.append({name: places[meets] for name, places in drawn.items()})
            count += int(meets.sum())
            if count >= rows:
                break
        if not count:
            raise InputError(f"the model draws no row with these values of {', '.join(wanted)}", where="given")
        # Where too few rows meet the condition, some are used more than once.
        picked = np.arange(rows) if count >= rows else rng.integers(0, count, rows)
        return {name: np.concatenate([part[name] for part in batches])[picked] for name in self.schema.names}

    def _table(self, places: Mapping[str, Integers]) -> Table:
        return Table(self.schema, {c.name: self.columns[c.name].values[places[c.name]] for c in self.schema})
