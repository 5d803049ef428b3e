"""A Gaussian copula from noisy one- and two-way tables alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.pipeline.step import Reads
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.query import Query
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.normal import Pieces, Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.part_margins import PartMargins, drawn_to_average
from hushtable.synthesize.copula.private_copula import Dependence, PairwiseCopula
from hushtable.synthesize.copula.private_margins import NoisyMargins, pieces_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes


@dataclass(frozen=True)
class PairTables:
    """For each pair of columns the counts of the pairs of groups of their cells, the groups being known already; all, empty or not.

    With classes there are as many tables as all columns, that of the classes among them, have pairs: the pairs of the others are
    counted in turn, and some of them twice or more. So the answer costs the same with classes and without, in any currency.

    *What one record can change.* It lies in one class and in one cell of each column, hence in one pair of groups of each of the
    p tables. Where it is added or removed, one count of each table changes by one: L1 = p, L2 = sqrt(p). Where it is
    replaced, two counts of each: L1 = 2p, L2 = sqrt(2p).
    """

    additive: ClassVar[bool] = True
    columns: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    """For each column the group of each cell of its histogram; with classes, class after class."""
    classes: str = ""
    """A column whose classes have a table each for every pair of the others; empty: one for all."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns, and that of the classes."""
        return (*self.columns, self.classes) if self.classes else self.columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """For each column the number of groups."""
        return tuple(max(groups) + 1 for groups in self.groups)

    @property
    def turns(self) -> Integers:
        """For each table the pair that it counts, in the order of ``itertools.combinations``."""
        return np.arange(math.comb(len(self.columns) + bool(self.classes), 2)) % max(math.comb(len(self.columns), 2), 1)

    def answer(self, table: Table) -> Integers:
        """Table by table, each row-major; with classes, class by class in each."""
        number = table.cells(self.classes) if self.classes else np.zeros(table.rows, np.int64)
        count = histogram_sizes(table.schema, (self.classes,))[0] if self.classes else 1
        codes = [
            np.array(g, np.int64)[number * (len(g) // count) + table.cells(name)]
            for name, g in zip(self.columns, self.groups, strict=True)
        ]
        pairs = combinations(zip(codes, self.sizes, strict=True), 2)
        counted = [np.bincount((number * h + a) * w + b, minlength=count * h * w) for (a, h), (b, w) in pairs]
        return np.concatenate([counted[pair] for pair in self.turns])

    def tables(self, answer: Integers) -> list[Floats]:
        """The answer as one array for each pair, the mean of its tables: classes by groups by groups."""
        shapes, turns = list(combinations(self.sizes, 2)), self.turns
        cells = np.array([math.prod(shapes[pair]) for pair in turns])
        count = len(answer) // cells.sum()
        parts = np.split(answer, np.cumsum(count * cells)[:-1])
        return [
            np.mean([parts[place] for place in np.flatnonzero(turns == pair)], axis=0).reshape(count, *shape)
            for pair, shape in enumerate(shapes)
        ]

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once in each."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above."""
        touched = len(self.turns) * (1 if relation is Relation.ADD_REMOVE else 2)
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

    def _reads(self, schema: Schema, budget: Allowance | None) -> Reads:
        return Reads.COUNTS

    def _priced(self, schema: Schema) -> Query:
        return PairTables(schema.names, ())

    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        schema = vault.schema
        pieces = pieces_of(schema, margins.margins, self.cells)
        query = PairTables(schema.names, tuple(tuple(p.groups.tolist()) for p in pieces))
        tables = query.tables(vault.spend(query, part))
        of_a_cell = part.deviation(query, schema) / margins.total
        return self._correlation(pieces, [table[0] / margins.total for table in tables], of_a_cell)

    def _class_dependence(self, vault: Vault, part: Allowance, margins: PartMargins, rng: np.random.Generator) -> Dependence:
        (given,), counts = margins.parts_by, margins.counts
        pieces = [margins.pieces(k, self.cells) for k in range(len(counts))]
        groups = tuple(tuple(np.concatenate([p.groups for p in of_column]).tolist()) for of_column in zip(*pieces, strict=True))
        query = PairTables(margins.others, groups, given)
        tables = query.tables(vault.spend(query, part))
        noise = part.deviation(query, vault.schema) / np.sqrt(np.bincount(query.turns))
        there = [k for k, count in enumerate(counts) if count > noise.max()] or [int(np.argmax(counts))]
        found = {k: self._correlation(pieces[k], [t[k] / counts[k] for t in tables], noise / counts[k]) for k in there}
        noises = {k: dependence.noise or 0.0 for k, dependence in found.items()}
        matrices = drawn_to_average({k: dependence.correlation for k, dependence in found.items()}, noises, counts)
        return Dependence(matrices, float(np.mean(list(noises.values()))))

    def _blur(self, schema: Schema, part: Allowance, rows: float, classes: int) -> float:
        # The scores of so many groups, each with about the same share, are as long as the root of their number.
        return part.deviation(PairTables(schema.names[1:], ()), schema) * self.cells / max(rows, 1.0)

    def _correlation(self, pieces: list[Pieces], tables: list[Floats], noise: float | Floats) -> Dependence:
        """The correlation matrix that explains tables of shares, ``noise`` in each cell, and the median noise of a pair's."""
        pairs = list(combinations(pieces, 2))
        products = np.array([a.scores @ t[: a.present, : b.present] @ b.scores for (a, b), t in zip(pairs, tables, strict=True)])
        noises = noise * np.array([np.linalg.norm(a.scores) * np.linalg.norm(b.scores) for a, b in pairs])
        spreads = np.array([a.spread * b.spread for a, b in pairs])
        plain, off = (np.divide(x, spreads, out=np.zeros_like(x), where=spreads > 0) for x in (products, noises))
        if self.ties is Ties.PUBLISHED:
            return Dependence(from_pairs(np.clip(plain, -1.0, 1.0), len(pieces)), float(np.median(off)))
        values, errors = latent_correlations(pieces, products, expected_product, noises)
        return Dependence(from_pairs(values, len(pieces), errors), float(np.median(off)))
