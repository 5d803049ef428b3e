"""The mixture as a fitted model: cells with a weight each, in which the columns are drawn independently of one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.pipeline.step import Arrays, Given, given_arrays
from hushtable.synthesize.histogram_cells import values_of
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NARROW = 1e-3
"""The least spread of a number where a condition asks how likely it is, as a share of its domain."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares, means and spreads in each cell; everything here is post-processing of noisy sums."""

    schema: Schema
    weights: Floats
    """Of the cells; they add up to one."""
    shares: dict[str, Floats]
    """Counted columns: cells by codes."""
    numbers: dict[str, Floats]
    """Other numbers: cells by mean and standard deviation (places in the domain, 0 to 1), and the share that is missing."""
    total: int
    """The number of rows to draw where none is given."""
    summary: dict[str, Any]
    """For the public card."""
    means: bool = False
    """Whether numbers are the mean of their cell, instead of drawn around it."""

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return self.total

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """Cells in their proportions, then each column by itself; ``given`` fixes columns, and cells by how well they fit."""
        rows = self.size if n is None else n
        fixed = given_arrays(self.schema, given, rows)
        one = Table(self.schema.select(fixed), {name: array[:1] for name, array in fixed.items()}) if fixed and rows else None
        cells = _spread(self.weights if one is None else self._fitting(one), rows, rng)
        arrays = {c.name: fixed[c.name] if c.name in fixed else self._draw(Field(c), cells, rng) for c in self.schema}
        return Table(self.schema, arrays)

    def _fitting(self, one: Table) -> Floats:
        """The weights of the cells, for a record of which some columns are known."""
        score = np.log(self.weights + 1e-300)
        for column in one.schema:
            part = Field(column)
            code = int(part.codes(one)[0])
            if part.counted:
                score = score + np.log(self.shares[column.name][:, code] + 1e-300)
                continue
            mean, spread, gone = self.numbers[column.name].T
            if column.is_missing(one[column.name])[0]:
                score = score + np.log(gone + 1e-300)
                continue
            place = (part.encode(one)[0, 0] / STEPS + 1) / 2
            wide = np.maximum(spread, NARROW)
            score = score + np.log(1 - gone + 1e-300) - np.log(wide) - (place - mean) ** 2 / (2 * wide**2)
        likelihood = np.exp(score - score.max())
        return np.asarray(likelihood / likelihood.sum(), dtype=np.float64)

    def _draw(self, part: Field, cells: Integers, rng: np.random.Generator) -> Array:
        name = part.column.name
        if part.counted:
            return values_of(part.column, _codes(self.shares[name], cells, rng))
        mean, spread, gone = self.numbers[name][cells].T
        missing = rng.random(len(cells)) < gone
        if self.means:
            return part.values(mean, missing)
        # Reflected at the ends of the domain, so that no spike grows there.
        place = np.abs(np.mod(mean + spread * rng.normal(size=len(cells)) + 1, 2) - 1)
        return part.values(np.clip(place, 0.0, 1.0), missing)

    def result(self) -> dict[str, Any]:
        """What was chosen, and how wide the noise is."""
        return dict(self.summary)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, numbers of rows, and the arrays by column."""
        values = {
            "schema": self.schema.portable().dump(),
            "total": self.total,
            "summary": self.summary,
            "means": self.means,
        }
        arrays = {f"shares {name}": a for name, a in self.shares.items()} | {f"numbers {n}": a for n, a in self.numbers.items()}
        return values, {"weights": self.weights, **arrays}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        kinds: dict[str, dict[str, Floats]] = {"shares": {}, "numbers": {}}
        for key, array in arrays.items():
            kind, _, name = key.partition(" ")
            if name:
                kinds[kind][name] = array.astype(np.float64)
        return cls(
            Schema.parse(values["schema"]), arrays["weights"].astype(np.float64), kinds["shares"], kinds["numbers"],
            values["total"], values["summary"], values["means"],
        )  # fmt: skip


def _spread(weights: Floats, rows: int, rng: np.random.Generator) -> Integers:
    """Cells in these shares, as evenly as whole rows allow, in random order."""
    heights = np.cumsum(weights / weights.sum())
    places = (rng.random() + np.arange(rows)) / max(rows, 1)
    return rng.permutation(np.minimum(np.searchsorted(heights, places, side="right"), len(weights) - 1))


def _codes(shares: Floats, cells: Integers, rng: np.random.Generator) -> Integers:
    """A code for each row by the shares of its cell: one search in the heights of all cells, laid end to end."""
    width = shares.shape[1]
    heights = np.cumsum(shares, axis=1)
    heights = heights / heights[:, -1:]
    flat = (heights + np.arange(len(shares))[:, None]).ravel()
    codes = np.searchsorted(flat, cells + rng.random(len(cells)), side="right") - cells * width
    last = (shares > 0).cumsum(axis=1).argmax(axis=1)
    return np.asarray(np.clip(codes, 0, last[cells]))
