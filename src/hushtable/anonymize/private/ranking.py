"""Individual ranking: the sorted values of each column in noisy blocks, and rows drawn from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Any, Self

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr

from hushtable.anonymize.private.ranking_queries import RankSums
from hushtable.errors import InputError
from hushtable.numerics.integers import GRID, Axes, axes_of, block_sizes, writable
from hushtable.numerics.matrices import root
from hushtable.numerics.simplex import on_simplex, present
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, check_knobs, chosen, given_arrays
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query, Ranges, Total
from hushtable.privacy.rows import public_rows, require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ABSENT = 0.1
"""What the count of missing values gets of the budget, where a column's block means get 1."""
TOGETHER = 0.25
"""What the dependence gets of the budget for each column that takes part in it."""


class Dependence(StrEnum):
    """How columns depend on one another in the rows that are drawn."""

    NONE = "none"
    GAUSS = "gauss"


@dataclass(frozen=True, kw_only=True)
class Ranking(PrivateCore):
    """Synthetic rows from the noisy block means of each sorted column: differential privacy with little noise per column.

    A number or a date is sorted by itself and averaged in blocks of k. Replacing one record changes the whole
    list of block means of a column by width/k in L1 (``RankSums``), so the noise does not grow with the number of blocks.
    The list is a quantile function (made monotone afterwards, which is free). Categories and ordinals get noisy histograms. How
    the ordered columns depend on one another is modelled by Kendall's tau-a with noise and a Gaussian copula, or not at all. Values
    are never put back to the rows they came from: the rank of a record is not protected by any of this.
    For one record replaced by another: the number of rows is public.
    Sanchez, Domingo-Ferrer, Martinez and Soria-Comas 2016; Li, Xiong and Jiang 2014 for the copula.
    """

    k: int = 0
    """Records in a block; 0: chosen from the number of rows and the budget, for evenly spread values."""
    columns: tuple[str, ...] = ()
    """The columns to release, all when empty; the others are left out."""
    dependence: Dependence = Dependence.GAUSS
    """none: columns are drawn independently; gauss: numbers, dates, ordinals and categories of two levels by a Gaussian copula."""

    def __post_init__(self) -> None:
        """K is positive if given."""
        check_knobs(self, k=(self.k >= 0, "must be positive, or 0 to be chosen"))

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, and any other relation than one record replaced by another."""
        columns = self._columns(schema)
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows("ranking", budget)
            # The price does not depend on the number of rows, which a plan does not know: the noise grows with the change.
            asked = self._asked(schema.select(columns), budget, 2)
            events = (budget.event(Total(), schema), *(part.event(query, schema) for query, part in asked))
        caveats = [
            "the spikes of a number (a value that many share) are smeared over its neighbours",
            "missing values fall anywhere, whatever the other values of a row are",
        ]
        joined = self._joined(schema.select(columns))
        alone = [name for name in columns if name not in joined]
        if alone:
            caveats.append(f"drawn independently of all other columns: {', '.join(alone)}")
        return Plan(schema=schema.select(columns), events=events, effect=Effect.GENERATE, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Ranked:
        """Measure the margins, then the dependence."""
        allowance = vault.paid()
        require_fixed_rows("ranking", allowance)
        schema = vault.schema.select(self._columns(vault.schema))
        rows = public_rows(vault, allowance)
        if rows < 2:
            raise InputError("ranking needs at least two rows", where="ranking")
        asked = self._asked(schema, allowance, rows)
        margins: dict[str, Margin] = {}
        together = np.empty(0, np.int64)
        for number, (query, part) in enumerate(asked, 1):
            noisy = vault.spend(query, part)
            name = query.columns[0]
            if isinstance(query, RankSums):
                margins[name] = Margin(noisy / block_sizes(rows, query.k) / GRID, 0.0, query.k)
            elif isinstance(query, Ranges):
                counts = present(schema[name], noisy, part.deviation(query, schema))
                margins[name] = replace(margins[name], absent=float(np.clip(counts[-1] / rows, 0.0, 1.0)))
            elif isinstance(query, Histogram):
                counts = present(schema[name], noisy, part.deviation(query, schema))
                margins[name] = Margin.of_counts(counts, rows, schema[name])
            else:
                together = noisy
            vault.report(number / len(asked))
        joined = self._joined(schema)
        tau = {pair: 2 * s / (rows * (rows - 1)) for pair, s in zip(combinations(joined, 2), together.tolist(), strict=True)}
        return Ranked(schema, rows, margins, _correlation(tau, schema, margins))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return chosen(schema, self.columns, schema.names, "ranking", "a column with declared bounds or levels", writable)

    def _joined(self, schema: Schema) -> tuple[str, ...]:
        """The columns of the copula: those with an order, and categories of two levels."""
        if self.dependence is Dependence.NONE:
            return ()
        joined = tuple(a.column.name for a in axes_of(schema, schema.names) if a.ordered or len(a.column.levels) == 2)
        return joined if len(joined) > 1 else ()

    def _asked(self, schema: Schema, allowance: Allowance, rows: int) -> list[tuple[Query, Allowance]]:
        """The queries, each with its part of the allowance."""
        plans: list[tuple[Query, float]] = []
        for column in schema:
            if not column.numeric:
                plans.append((Histogram((column.name,)), 1.0))
                continue
            plans.append((RankSums(column.name, 1, rows), 1.0))
            if not column.required:
                plans.append((Ranges(column.name, (column.bounds.low, column.bounds.high)), ABSENT))
        if joined := self._joined(schema):
            plans.append((Concordance(joined, rows), TOGETHER * len(joined)))
        parts = allowance.split([weight for _, weight in plans])
        return [(self._in_blocks(query, part, rows), part) for (query, _), part in zip(plans, parts, strict=True)]

    def _in_blocks(self, query: Query, part: Allowance, rows: int) -> Query:
        if not isinstance(query, RankSums):
            return query
        return RankSums(query.column, min(self.k or best_k(rows, part), rows), rows)


def best_k(rows: int, allowance: Allowance) -> int:
    """The k with the least error for evenly spread values: the noise of a mean, width/k, and the spread in a block, k/n width.

    1/(2 rho k^2) + (k/n)^2/12 is least at k^4 = 6 n^2/rho (Laplace: 24 n^2/epsilon^2). All of that is public.
    """
    if allowance.rho is not None:
        fourth = 6 * rows**2 / allowance.rho
    else:
        assert allowance.epsilon is not None
        fourth = 24 * rows**2 / allowance.epsilon**2
    k: float = fourth**0.25
    return max(1, round(k))


@dataclass(frozen=True, eq=False)
class Margin:
    """One column: the means of the blocks of its sorted values (in units of its width), or the shares of its levels."""

    numbers: Floats
    absent: float = 0.0
    """The share of missing values."""
    k: int = 0
    """Records in a block, missing values at the upper end; 0 for shares."""

    @classmethod
    def of_counts(cls, noisy: Floats, rows: int, column: Column) -> Self:
        """From a noisy histogram, missing last."""
        shares = on_simplex(noisy, float(rows)) / rows
        present = shares if column.required else shares[:-1]
        total = float(present.sum())
        return cls(present / total if total > 0 else np.full(len(present), 1 / len(present)), float(np.clip(1 - total, 0, 1)))

    @property
    def untied(self) -> float:
        """The share of pairs of values that are different; all of them, as far as block means can say."""
        return 1.0 if self.k else float(1 - (self.numbers**2).sum())

    def draw(self, axes: Axes, ranks: Floats, coins: Floats, rows: int) -> Array:
        """The value at each rank (0 to 1), missing where the coin (0 to 1) says so."""
        missing = coins < self.absent
        if not self.k:
            codes = np.minimum(np.searchsorted(np.cumsum(self.numbers), ranks, side="right"), len(self.numbers) - 1)
            return np.where(missing, -1, codes).astype(np.int32)
        places, means = self._quantiles(rows)
        return axes.value(np.interp(ranks, places, means), missing)

    def _quantiles(self, rows: int) -> tuple[Floats, Floats]:
        """Points of the quantile function of the present values, rising.

        A block at the end may hold missing values, which count as the upper end of the domain: they are taken out of its mean.
        """
        sizes, present = block_sizes(rows, self.k), max(1 - self.absent, 1 / rows)
        ends = np.cumsum(sizes) / rows
        starts = ends - sizes / rows
        there = np.clip((present - starts) / (ends - starts), 0.0, 1.0)
        used = (there > 0.1) | (np.arange(len(sizes)) == 0)
        alone = (self.numbers[used] - (1 - there[used])) / there[used]
        means = np.clip(isotonic_regression(alone, weights=sizes[used] * there[used]).x, 0.0, 1.0)
        places = (starts + there * (ends - starts) / 2)[used] / present
        if len(means) == 1:
            return places, means
        # Half a block on to either side, as steep as the last step.
        first = means[0] - (means[1] - means[0]) * places[0] / (places[1] - places[0])
        last = means[-1] + (means[-1] - means[-2]) * (1 - places[-1]) / (places[-1] - places[-2])
        return np.concatenate([[0.0], places, [1.0]]), np.clip(np.concatenate([[first], means, [last]]), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A margin for each column, and the correlations of the normal scores of their ranks."""

    schema: Schema
    rows: int
    margins: dict[str, Margin]
    correlation: Floats

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as there were; ``given`` fixes columns to values, whatever the others are."""
        count = self.rows if n is None else n
        arrays = given_arrays(self.schema, given, count)
        ranks = ndtr(rng.standard_normal((count, len(self.schema))) @ root(self.correlation).T)
        for column, rank in zip(self.schema, ranks.T, strict=True):
            if column.name not in arrays:
                arrays[column.name] = self.margins[column.name].draw(Axes(column), rank, rng.random(count), self.rows)
        return Table(self.schema, arrays)

    def result(self) -> dict[str, Any]:
        """The sizes of the blocks: a function of the plan and the public number of rows."""
        return {"k": {name: margin.k for name, margin in self.margins.items() if margin.k}}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, numbers and margins."""
        margins = {name: [margin.absent, margin.k] for name, margin in self.margins.items()}
        values = {"schema": self.schema.portable().dump(), "rows": self.rows, "margins": margins}
        arrays: Arrays = {f"margin {name}": margin.numbers for name, margin in self.margins.items()}
        arrays["correlation"] = self.correlation
        return values, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        margins = {
            name: Margin(arrays[f"margin {name}"].astype(np.float64), absent, k) for name, (absent, k) in values["margins"].items()
        }
        return cls(Schema.parse(values["schema"]), values["rows"], margins, arrays["correlation"].astype(np.float64))


def _correlation(tau: dict[tuple[str, str], float], schema: Schema, margins: dict[str, Margin]) -> Floats:
    """Of the normal scores: sin(pi/2 tau) of each pair, then the nearest thing that is a correlation matrix.

    Tau-a counts pairs of rows with missing or equal values as neither; the margins, which are released, say how many
    those are (where missing values fall anywhere).
    """
    matrix = np.eye(len(schema))
    for pair, value in tau.items():
        i, j = (schema.names.index(name) for name in pair)
        one, two = (margins[name] for name in pair)
        value /= max(np.sqrt(one.untied * two.untied) * ((1 - one.absent) * (1 - two.absent)) ** 2, 1e-3)
        matrix[i, j] = matrix[j, i] = np.sin(np.pi / 2 * np.clip(value, -1.0, 1.0))
    values, vectors = np.linalg.eigh(matrix)
    positive = vectors * np.maximum(values, 1e-6) @ vectors.T
    spread = np.sqrt(np.diag(positive))
    return np.asarray(positive / np.outer(spread, spread))
