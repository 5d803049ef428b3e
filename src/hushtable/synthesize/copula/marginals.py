"""A Gaussian copula from noisy one- and two-way tables alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.query import Query
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.normal import Pieces, Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.private_copula import Dependence, PairwiseCopula
from hushtable.synthesize.copula.private_margins import NoisyMargins, pieces_of
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
        """The answer as one table for each pair."""
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
class MarginalCopula(PairwiseCopula):
    """A Gaussian copula whose correlations are estimated from noisy two-way histograms.

    Adding or removing a row changes one cell of each histogram by one (replacing it, two cells); integer Gaussian noise (Laplace
    when delta is zero) pays for each, and the costs of all columns and pairs of columns add up. Everything after is
    post-processing: the mean product of the normal scores of a pair's cells in its noisy table, and the correlation that
    explains it given the margins. (As published, Pearson's correlation of the scores.) The number of rows is private too, unless
    records are replaced.
    Asghar, Ding, Rakotoarivelo, Mrabet and Kaafar 2020, with ordered levels in place of their one column per level.
    """

    NAME: ClassVar[str] = "marginal-copula"
    FIXED_ROWS: ClassVar[bool] = False

    ratio: float = 0.5
    """The budget of all margins together, relative to that of the two-way tables."""

    cells: int = 12
    """The most cells of a column in a two-way table: neighbours are merged, by the noisy margins, into about equal shares."""

    def __post_init__(self) -> None:
        """At least two cells."""
        self._check(cells=(self.cells >= 2, "must be at least 2"))

    def _priced(self, schema: Schema) -> Query:
        return PairTables(schema.names, ())

    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        schema = vault.schema
        pieces = pieces_of(schema, margins.margins, self.cells)
        query = PairTables(schema.names, tuple(tuple(p.groups.tolist()) for p in pieces))
        tables = query.tables(vault.spend(query, part))
        of_a_cell = part.deviation(query, schema) / margins.total
        return self._correlation(pieces, [table / margins.total for table in tables], of_a_cell)

    def _correlation(self, pieces: list[Pieces], tables: list[Floats], noise: float) -> Dependence:
        """The correlation matrix that explains tables of shares, and the median of the noise of a pair's correlation."""
        pairs = list(combinations(pieces, 2))
        products = np.array([a.scores @ t[: a.present, : b.present] @ b.scores for (a, b), t in zip(pairs, tables, strict=True)])
        noises = noise * np.array([np.linalg.norm(a.scores) * np.linalg.norm(b.scores) for a, b in pairs])
        spreads = np.array([a.spread * b.spread for a, b in pairs])
        plain, off = (np.divide(x, spreads, out=np.zeros_like(x), where=spreads > 0) for x in (products, noises))
        if self.ties is Ties.PUBLISHED:
            return Dependence(from_pairs(np.clip(plain, -1.0, 1.0), len(pieces)), float(np.median(off)))
        values, errors = latent_correlations(pieces, products, expected_product, noises)
        return Dependence(from_pairs(values, len(pieces), errors), float(np.median(off)))
