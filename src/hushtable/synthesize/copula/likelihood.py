"""DPCopula by maximum likelihood: the correlations of many small blocks of rows, averaged with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows, require_fixed_rows, require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.looks import (
    Measured,
    PrivateCopula,
    Ties,
    caveats_of,
    margin_looks,
    measured,
    pieces_of,
)
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import expected_product, explained
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

STEPS = 1 << 16
"""A correlation of 1, in whole steps."""
FINE = 1 << 10
"""A score of 1, in whole steps."""
LEAST = 10
"""The fewest rows of a block, where the number of blocks is not given."""


@dataclass(frozen=True)
class BlockCorrelations:
    """For each pair of columns the correlation in each block of rows, in whole steps, summed over the blocks.

    Rows are dealt to blocks by an order of their places that no record has a say in. In a block the correlation of
    two columns is sum(st)/sqrt(sum(ss) sum(tt)), of scores that are known already: a number between -1 and 1, and so it is clipped.

    *What one record can change.* The record that is replaced lies in one block, before and after. So one of the summed numbers
    changes, for each pair of columns, from somewhere in [-STEPS, STEPS] to somewhere there: by 2 STEPS at most; for p
    pairs of columns L1 = 2 p STEPS, L2 = 2 sqrt(p) STEPS. All sums are of whole numbers, so no rounding carries over from one
    block to another. (Sample and aggregate: Nissim, Raskhodnikova and Smith 2007; for copulas Li, Xiong and Jiang 2014.)
    """

    columns: tuple[str, ...]
    rows: int
    """The number of rows, which is public."""
    blocks: int
    scores: tuple[tuple[int, ...], ...]
    """For each column the score of each cell of its histogram, in steps of 1/FINE."""
    key: int
    """Of the pseudo-random order of places; it is drawn without a look at the rows."""

    def answer(self, table: Table) -> Integers:
        """In the order of ``itertools.combinations``."""
        require_rows("blocks of correlations", table, self.rows)
        order = np.random.default_rng(self.key).permutation(self.rows)
        starts = np.arange(self.blocks) * self.rows // self.blocks
        scores = [np.array(s, np.int64)[table.cells(n)][order] for n, s in zip(self.columns, self.scores, strict=True)]
        roots = [np.sqrt(np.add.reduceat(s * s, starts).astype(np.float64)) for s in scores]
        sums = []
        for one, two in combinations(range(len(scores)), 2):
            products = np.add.reduceat(scores[one] * scores[two], starts)
            shares = products / np.maximum(roots[one] * roots[two], 1e-9)
            sums.append(np.clip(np.round(shares * STEPS), -STEPS, STEPS).astype(np.int64).sum())
        return np.array(sums, np.int64)

    def largest(self, schema: Schema, rows: int) -> int:
        """Of products of scores, and of correlations in steps."""
        return self.rows * max((STEPS, *(s * s for scores in self.scores for s in scores)))

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("blocks of correlations", relation)
        pairs = len(self.columns) * (len(self.columns) - 1) // 2
        return 2.0 * STEPS * pairs, 2.0 * STEPS * math.sqrt(pairs), 0


@dataclass(frozen=True, kw_only=True)
class LikelihoodCopula(PrivateCopula):
    """A Gaussian copula from noisy histograms and the average correlation of disjoint blocks of rows, with noise.

    Replacing one record changes one block, hence the average of l blocks by 2/l for each pair of columns (``BlockCorrelations``),
    and a histogram by sqrt(2) in L2. Integer Gaussian noise (Laplace when delta is zero). The scores of the cells come from the
    noisy margins. Rows are dealt to blocks by a key drawn beforehand: from the system, unless a seed is given.
    For one record replaced by another: the number of rows is public. Li, Xiong and Jiang 2014. Few columns and many rows
    suit it: with more pairs of columns the blocks must be more, and small, and small blocks draw correlations to zero.
    """

    blocks: int = 0
    """How many; 0: so many that the noise of a correlation is 0.05 (as published), but of 10 rows at least."""

    def __post_init__(self) -> None:
        """Not fewer than none."""
        self._check(blocks=(self.blocks >= 0, "must be positive, or 0 to be chosen"))

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, and any other relation than one record replaced by another."""
        looks = margin_looks(schema, self.anchor, "likelihood-copula")
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows("likelihood-copula", budget)
            # The price does not depend on the number of rows or blocks: the sum over blocks changes by the same.
            events = self._events(schema, budget, looks, BlockCorrelations(schema.names, 2, 1, (), 0))
        caveats = caveats_of(schema, self.anchor, "likelihood-copula")
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Measure the margins, then the blocks; ``rng`` is needed for the key of a reproducible run only."""
        schema, allowance = vault.schema, vault.paid()
        require_fixed_rows("likelihood-copula", allowance)
        looks = margin_looks(schema, self.anchor, "likelihood-copula")
        rows = public_rows(vault, allowance)
        if rows < 2:
            raise InputError("a correlation needs at least two rows", where="likelihood-copula")
        if self.blocks > rows:
            raise InputError(f"there are fewer rows ({rows}) than blocks", where="likelihood-copula.blocks")
        parts = allowance.split(self._weights(looks))
        found = measured(vault, looks, parts[: len(looks)], rows)
        correlation, noise, blocks = np.eye(1), None, 0
        if len(looks) > 1:
            blocks = self.blocks or best_blocks(rows, len(schema), parts[-1])
            key = int(vault.coins(1, rng)[0])
            query = BlockCorrelations(schema.names, rows, blocks, _whole_scores(schema, found), key)
            averages = vault.spend(query, parts[-1]) / STEPS / blocks
            noise = parts[-1].deviation(query, schema) / STEPS / blocks
            correlation = self._correlation(schema, found, averages, noise)
        vault.report(1.0)
        told = found.told({"ties": str(self.ties), "blocks": blocks}, noise, "the correlation of a pair of columns")
        return GaussianCopula(schema, rows, Joined(found.margins, correlation), told)

    def _correlation(self, schema: Schema, found: Measured, averages: Floats, noise: float) -> Floats:
        if self.ties is Ties.PUBLISHED:
            return from_pairs(np.clip(averages, -1.0, 1.0), len(schema))
        pieces = pieces_of(schema, found.margins)
        spreads = np.array([one.spread * two.spread for one, two in combinations(pieces, 2)])
        values, errors = explained(pieces, averages * spreads, expected_product, noise * spreads)
        return from_pairs(values, len(schema), errors)


def _whole_scores(schema: Schema, found: Measured) -> tuple[tuple[int, ...], ...]:
    """The scores of the cells in whole steps; a missing value counts as 0."""
    whole = [np.round(np.append(p.scores, 0.0) * FINE).astype(np.int64)[p.groups] for p in pieces_of(schema, found.margins)]
    return tuple(tuple(scores.tolist()) for scores in whole)


def best_blocks(rows: int, columns: int, allowance: Allowance) -> int:
    """So many that noise of scale 0.05 suffices: C(m,2)/(0.025 epsilon) for Laplace noise, its root for Gaussian noise."""
    pairs = columns * (columns - 1) / 2
    if allowance.rho is not None:
        wanted = math.sqrt(pairs / (2 * allowance.rho)) / 0.025
    else:
        wanted = pairs / (0.025 * float(allowance.epsilon or 1.0))
    return max(1, min(math.ceil(wanted), rows // LEAST))
