"""DPCopula by maximum likelihood: the correlations of many small blocks of rows, averaged with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.errors import InputError
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.query import Query
from hushtable.privacy.rows import require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.normal import Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.private_copula import Dependence, PairwiseCopula
from hushtable.synthesize.copula.private_margins import NoisyMargins, pieces_of
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

    Rows are dealt to blocks by an order of their places that does not depend on any record. In a block the correlation of
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
    """Of the pseudo-random order of places; it is drawn without access to the rows."""

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
class LikelihoodCopula(PairwiseCopula):
    """A Gaussian copula from noisy histograms and the average correlation of disjoint blocks of rows, with noise.

    Replacing one record changes one block, hence the average of l blocks by 2/l for each pair of columns (``BlockCorrelations``),
    and a histogram by sqrt(2) in L2. Integer Gaussian noise (Laplace when delta is zero). The scores of the cells come from the
    noisy margins. Rows are dealt to blocks by a key drawn beforehand: from the system, unless a seed is given.
    For one record replaced by another: the number of rows is public. Li, Xiong and Jiang 2014. Few columns and many rows
    suit it: with more pairs of columns the blocks must be more, and small, and small blocks draw correlations to zero.
    """

    NAME: ClassVar[str] = "likelihood-copula"

    blocks: int = 0
    """How many blocks of rows; 0: so many that the noise of a correlation is 0.05 (as published), each of at least 10 rows."""

    def __post_init__(self) -> None:
        """Not fewer than none."""
        self._check(blocks=(self.blocks >= 0, "must be positive, or 0 to be chosen"))

    def _require_rows(self, rows: int) -> None:
        super()._require_rows(rows)
        if self.blocks > rows:
            raise InputError(f"there are fewer rows ({rows}) than blocks", where=f"{self.NAME}.blocks")

    def _priced(self, schema: Schema) -> Query:
        # The price does not depend on the number of rows or blocks: the sum over blocks changes by the same.
        return BlockCorrelations(schema.names, 2, 1, (), 0)

    def _alone(self) -> Dependence:
        return Dependence(np.eye(1), more={"blocks": 0})

    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        schema, rows = vault.schema, round(margins.total)
        blocks = self.blocks or best_blocks(rows, len(schema), part)
        key = int(vault.coins(1, rng)[0])
        # The scores of the cells in whole steps; a missing value counts as 0.
        whole = [np.round(np.append(p.scores, 0.0) * FINE).astype(np.int64)[p.groups] for p in pieces_of(schema, margins.margins)]
        query = BlockCorrelations(schema.names, rows, blocks, tuple(tuple(scores.tolist()) for scores in whole), key)
        averages = vault.spend(query, part) / STEPS / blocks
        noise = part.deviation(query, schema) / STEPS / blocks
        return Dependence(self._correlation(schema, margins, averages, noise), noise, {"blocks": blocks})

    def _correlation(self, schema: Schema, margins: NoisyMargins, averages: Floats, noise: float) -> Floats:
        if self.ties is Ties.PUBLISHED:
            return from_pairs(np.clip(averages, -1.0, 1.0), len(schema))
        pieces = pieces_of(schema, margins.margins)
        spreads = np.array([one.spread * two.spread for one, two in combinations(pieces, 2)])
        values, errors = latent_correlations(pieces, averages * spreads, expected_product, noise * spreads)
        return from_pairs(values, len(schema), errors)


def best_blocks(rows: int, columns: int, allowance: Allowance) -> int:
    """So many that noise of scale 0.05 suffices: C(m,2)/(0.025 epsilon) for Laplace noise, its root for Gaussian noise."""
    pairs = columns * (columns - 1) / 2
    if allowance.rho is not None:
        wanted = math.sqrt(pairs / (2 * allowance.rho)) / 0.025
    else:
        wanted = pairs / (0.025 * float(allowance.epsilon or 1.0))
    return max(1, min(math.ceil(wanted), rows // LEAST))
