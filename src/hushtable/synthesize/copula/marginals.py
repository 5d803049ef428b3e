"""A Gaussian copula from noisy one- and two-way tables alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable.pipeline.step import Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.looks import PrivateCopula, Ties, caveats_of, margin_looks, measured, pieces_of
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Pieces, expected_product, explained
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class PairTables:
    """For each pair of columns the counts of the pairs of groups of their cells, the groups being known already; all, empty or not.

    *What one record can change.* It lies in one cell of each column, hence in one pair of groups for each of the p pairs of
    columns. Where it is added or removed, one count of each table changes by one: L1 = p, L2 = sqrt(p). Where it is
    replaced, two counts of each: L1 = 2p, L2 = sqrt(2p).
    """

    columns: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    """For each column the group of each cell of its histogram."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """For each column the number of groups."""
        return tuple(max(groups) + 1 for groups in self.groups)

    def answer(self, table: Table) -> Integers:
        """Table by table, in the order of ``itertools.combinations``, each row-major."""
        codes = [np.array(g, np.int64)[table.cells(name)] for name, g in zip(self.columns, self.groups, strict=True)]
        pairs = combinations(zip(codes, self.sizes, strict=True), 2)
        return np.concatenate([np.bincount(a * width + b, minlength=height * width) for (a, height), (b, width) in pairs])

    def tables(self, answer: Integers) -> list[Integers]:
        """The tables again."""
        shapes = list(combinations(self.sizes, 2))
        ends = np.cumsum([height * width for height, width in shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(answer, ends[:-1]), shapes, strict=True)]

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once in each."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above."""
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        touched = pairs if relation is Relation.ADD_REMOVE else 2 * pairs
        return float(touched), math.sqrt(touched), touched


@dataclass(frozen=True, kw_only=True)
class MarginalCopula(PrivateCopula):
    """A Gaussian copula whose correlations are read off noisy two-way histograms.

    Adding or removing a row changes one cell of each histogram by one (replacing it, two cells); integer Gaussian noise (Laplace
    when delta is zero) pays for each, and the costs of all columns and pairs of columns add up. Everything after is
    post-processing: the mean product of the normal scores of a pair's cells in its noisy table, and the correlation that
    explains it given the margins. (As published, Pearson's correlation of the scores.) The number of rows is private too, unless
    records are replaced.
    Asghar, Ding, Rakotoarivelo, Mrabet and Kaafar 2020, with ordered levels in place of their one column per level.
    """

    ratio: float = 0.5
    """What all margins together get of the budget, where the two-way tables get 1."""

    cells: int = 12
    """The most cells of a column in a two-way table: neighbours are merged, by the noisy margins, into about equal shares."""

    def __post_init__(self) -> None:
        """At least two cells."""
        self._check(cells=(self.cells >= 2, "must be at least 2"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name."""
        looks = margin_looks(schema, self.anchor, "marginal-copula")
        events = self._events(schema, budget, looks, PairTables(schema.names, ())) if budget is not None else ()
        caveats = caveats_of(schema, self.anchor, "marginal-copula")
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Measure the margins, then all pairs; ``rng`` is not needed."""
        schema, allowance = vault.schema, vault.paid()
        looks = margin_looks(schema, self.anchor, "marginal-copula")
        parts = allowance.split(self._weights(looks))
        rows = public_rows(vault, allowance) if allowance.unit.fixes_rows else None
        found = measured(vault, looks, parts[: len(looks)], rows)
        correlation, noise = np.eye(1), None
        if len(looks) > 1:
            pieces = pieces_of(schema, found.margins, self.cells)
            query = PairTables(schema.names, tuple(tuple(p.groups.tolist()) for p in pieces))
            tables = query.tables(vault.spend(query, parts[-1]))
            of_a_cell = parts[-1].deviation(query, schema) / found.total
            correlation, noise = self._correlation(pieces, [table / found.total for table in tables], of_a_cell)
        vault.report(1.0)
        told = found.told({"ties": str(self.ties)}, noise, "the correlation of a pair of columns")
        return GaussianCopula(schema, round(found.total), Joined(found.margins, correlation), told)

    def _correlation(self, pieces: list[Pieces], tables: list[Floats], noise: float) -> tuple[Floats, float]:
        """The correlation matrix that tables of shares tell, and the median of the noise of a pair's correlation."""
        pairs = list(combinations(pieces, 2))
        products = np.array([a.scores @ t[: a.present, : b.present] @ b.scores for (a, b), t in zip(pairs, tables, strict=True)])
        noises = noise * np.array([np.linalg.norm(a.scores) * np.linalg.norm(b.scores) for a, b in pairs])
        spreads = np.array([a.spread * b.spread for a, b in pairs])
        plain, off = (np.divide(x, spreads, out=np.zeros_like(x), where=spreads > 0) for x in (products, noises))
        if self.ties is Ties.PUBLISHED:
            return from_pairs(np.clip(plain, -1.0, 1.0), len(pieces)), float(np.median(off))
        values, errors = explained(pieces, products, expected_product, noises)
        return from_pairs(values, len(pieces), errors), float(np.median(off))
