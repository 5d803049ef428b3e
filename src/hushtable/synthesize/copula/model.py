"""The Gaussian copula as a fitted model: margins joined by correlated normal variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.copula.correlation import strongest
from hushtable.synthesize.copula.margins import FAR, Margin, packed, unpacked
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

TRIES = 16
"""Proposals for each row, where several columns are fixed at once."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Cells drawn by a Gaussian copula: a normal vector with these correlations, cut by each column's margin."""

    margins: dict[str, Margin]
    correlation: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in the order of the matrix."""
        return tuple(self.margins)

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int]) -> dict[str, Integers]:
        """Cells of every column; those that are fixed have their value, and the others are drawn given that."""
        normals = self._normals(rows, rng, fixed)[0]
        return {
            name: np.full(rows, fixed[name]) if name in fixed else margin.from_uniform(ndtr(normals[:, place]))
            for place, (name, margin) in enumerate(self.margins.items())
        }

    def likelihood(self, rng: np.random.Generator, fixed: Mapping[str, int]) -> float:
        """The probability of these cells: exact for one column, by 4,096 proposals for more."""
        held = [name for name in self.names if name in fixed]
        if len(held) <= 1:
            return float(np.prod([self.margins[name].shares[fixed[name]] for name in held]))
        return self._normals(4096 // TRIES, rng, fixed)[1]

    def _normals(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int]) -> tuple[Floats, float]:
        """Normal vectors whose fixed coordinates lie in their pieces, and the probability that they do.

        Fixed coordinates come first, each drawn inside its piece given those before (Geweke, Hajivassiliou and Keane). A
        proposal weighs as much as the pieces it met were likely, and rows are resampled by weight; for one fixed
        column all weigh the same, and the draw is exact.
        """
        first = [place for place, name in enumerate(self.names) if name in fixed]
        order = first + [place for place in range(len(self.names)) if place not in first]
        root = np.linalg.cholesky(self.correlation[np.ix_(order, order)])
        tries = rows * (TRIES if len(first) > 1 else 1)
        steps, weights = np.empty((tries, len(first))), np.ones(tries)
        for k, place in enumerate(first):
            name = self.names[place]
            low, high = np.clip(ndtri(np.array(self.margins[name].interval(fixed[name]))), -FAR, FAR)
            centre, spread = steps[:, :k] @ root[k, :k], root[k, k]
            steps[:, k], chance = _between((low - centre) / spread, (high - centre) / spread, rng)
            weights *= chance
        if len(first) > 1:
            total = weights.sum()
            shares = weights / total if total > 0 else np.full(tries, 1 / max(tries, 1))
            steps = steps[rng.choice(tries, rows, p=shares)] if rows else steps[:0]
        noise = np.concatenate([steps, rng.standard_normal((rows, len(order) - len(first)))], axis=1)
        normals = np.empty((rows, len(order)))
        normals[:, order] = noise @ root.T
        return normals, float(weights.mean()) if tries else 1.0


def _between(low: Floats, high: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A standard normal number between two limits, and the probability of lying there."""
    # In the upper tail the distribution function is 1 for a float: what is above zero is drawn mirrored.
    mirrored = low > 0
    a, b = ndtr(np.where(mirrored, -high, low)), ndtr(np.where(mirrored, -low, high))
    drawn = ndtri(a + rng.random(np.shape(low)) * (b - a))
    drawn = np.clip(np.where(mirrored, -drawn, drawn), np.maximum(low, -1e3), np.minimum(high, 1e3))
    return drawn, np.maximum(b - a, 0.0)


@dataclass(frozen=True, eq=False)
class GaussianCopula:
    """A Gaussian copula with its margins, the number of rows to publish, and a summary for the card of how it was fitted."""

    schema: Schema
    total: int
    joined: Joined
    summary: dict[str, Any]

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return max(2, self.total)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows; ``given`` fixes columns to a value, and the others are drawn given that."""
        rows = self.size if n is None else n
        return table_of(self.schema, self.joined.draw(rows, rng, given_cells(self.schema, given)))

    def result(self) -> dict[str, Any]:
        """How it was measured, and the strongest correlations."""
        return self.summary | {"strongest_correlations": strongest(self.joined.correlation, self.joined.names)}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema and numbers; margins and correlations."""
        values = {"schema": self.schema.portable().dump(), "total": self.total, "summary": self.summary}
        return values, packed(self.joined.margins) | {"correlation": self.joined.correlation}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])
        joined = Joined(unpacked(schema.names, arrays), arrays["correlation"].astype(np.float64))
        return cls(schema, values["total"], joined, values["summary"])
