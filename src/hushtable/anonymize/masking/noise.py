"""Noise masking: numbers moved by random amounts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.transition.ranges import centre, reflect, stretch
from hushtable.errors import PlanError
from hushtable.numerics.matrices import root
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats
from hushtable.table.columns import DAY, Column, Kind
from hushtable.table.schema import Schema

_WHY = "noise masking reads the rows"


class How(StrEnum):
    """How noise enters."""

    ADD = "add"
    MULTIPLY = "multiply"


class Shape(StrEnum):
    """The distribution of the noise."""

    NORMAL = "normal"
    LAPLACE = "laplace"
    UNIFORM = "uniform"


@dataclass(frozen=True, kw_only=True)
class Noise(Core):
    """Numbers and dates with noise added, or multiplied by factors around one.

    Promises nothing: the noise is neither calibrated to a bounded influence of one row nor does it cover all columns, so
    it is no differential privacy whatever its size, and a row stays recognizable by what was left alone. Added noise of
    ``sigma`` standard deviations multiplies a column's variance by 1 + sigma^2; with ``correlated`` it has the
    correlations of the data, which the release then keeps. Factors have mean one (with mean zero, as sometimes printed,
    they would erase the data) and never change a zero. Values keep their grid and their bounds, at which they are
    reflected, so that none pile up there; missing values stay missing.
    Kim 1986; Brand 2002.
    """

    how: How = How.ADD
    """add, or multiply each value by a factor of mean one."""
    sigma: float = 0.1
    """The standard deviation of the noise (of the factors, for multiply)."""
    relative: bool = True
    """Whether an added sigma counts in standard deviations of the column; if not, in its own units, for dates in days."""
    shape: Shape = Shape.NORMAL
    """normal, laplace or uniform."""
    correlated: bool = False
    """Whether noise added to several columns has the correlations of their values; normal only."""
    columns: tuple[str, ...] = ()
    """The columns to mask; all numeric quasi-identifiers when empty."""

    def __post_init__(self) -> None:
        """A finite sigma, and no knob that does not go with the others."""
        adds = self.how is How.ADD
        check_knobs(
            self,
            sigma=(0 < self.sigma < math.inf, "must be positive"),
            relative=(self.relative or adds, "must be true for factors, which are relative to each value"),
            correlated=(not self.correlated or (adds and self.shape is Shape.NORMAL), "is for added normal noise only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers, and dates for multiplication: they have no zero."""
        columns = self._columns(schema)
        caveats = ["added noise is no differential privacy, and hides nobody who can be recognized by the other columns"]
        if self.how is How.MULTIPLY:
            caveats.append("factors never hide a zero, and hide little that is small")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.NOISE_PER_ROW, moves=columns, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Draw noise for every row and column by itself."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = [table.schema[name] for name in self._columns(table.schema)]
        values = np.array([table.floats(column.name) for column in columns]).reshape(len(columns), table.rows)
        noise = self._draw(values.shape, rng)
        if self.correlated:
            noise = root(_correlations(values)) @ noise
        masked = [(column, self._masked(column, v, z)) for column, v, z in zip(columns, values, noise, strict=True)]
        moved = {column.name: _moved(v, column.floats(new)) for (column, new), v in zip(masked, values, strict=True)}
        result = {"how": str(self.how), "sigma": self.sigma, "shape": str(self.shape), "moved": moved}
        return Anonymized(table.with_columns(*masked), result)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        numbers = tuple(name for name in schema.quasi if schema[name].numeric and self._can_mask(schema[name]))
        columns = chosen(schema, self.columns, numbers, "noise", "a number or a date", lambda column: column.numeric)
        dates = [name for name in columns if not self._can_mask(schema[name])]
        if dates:
            raise PlanError(f"noise: {', '.join(dates)} is a date and has no zero to multiply from: add noise instead")
        return columns

    def _can_mask(self, column: Column) -> bool:
        return self.how is How.ADD or column.kind is not Kind.DATE

    def _draw(self, size: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Of variance one."""
        if self.shape is Shape.NORMAL:
            return rng.standard_normal(size)
        if self.shape is Shape.LAPLACE:
            return rng.laplace(0.0, math.sqrt(0.5), size)
        return rng.uniform(-math.sqrt(3), math.sqrt(3), size)

    def _masked(self, column: Column, values: Floats, noise: Floats) -> Array:
        if self.how is How.MULTIPLY:
            # A factor below zero would turn the sign of a value around.
            moved = values * np.abs(1 + self.sigma * noise)
        else:
            if self.relative:
                present = values[~np.isnan(values)]
                unit = float(present.std()) if len(present) else 0.0
            else:
                unit = DAY if column.kind is Kind.DATE else 1.0
            moved = centre(column, values) + self.sigma * unit * noise
        left, right = stretch(column, np.array([column.bounds.low]), np.array([column.bounds.high]))
        return column.from_floats(reflect(moved, left, right))


def _moved(before: Floats, after: Floats) -> float:
    """The share of the present values that are no longer what they were: on a coarse grid small noise rounds away."""
    present = ~np.isnan(before)
    return round(float((before != after)[present].mean()), 3) if present.any() else 0.0


def _correlations(values: Floats) -> Floats:
    """Of the rows of a matrix. A missing value counts as the mean, so that the matrix is one of correlations in any case."""
    centred = np.zeros_like(values)
    for row, out in zip(values, centred, strict=True):
        present = ~np.isnan(row)
        if present.any():
            out[present] = row[present] - row[present].mean()
    lengths = np.sqrt((centred**2).sum(axis=1))
    lengths[lengths == 0] = 1.0
    matrix = (centred @ centred.T) / np.outer(lengths, lengths)
    np.fill_diagonal(matrix, 1.0)
    return matrix
