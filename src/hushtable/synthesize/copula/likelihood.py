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
from hushtable.synthesize.copula.normal import Pieces, Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.part_margins import PartMargins, drawn_to_average
from hushtable.synthesize.copula.private_copula import Dependence, PairwiseCopula
from hushtable.synthesize.copula.private_margins import NoisyMargins, pieces_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

STEPS = 1 << 16
"""A correlation of 1, in whole steps."""
FINE = 1 << 10
"""A score of 1, in whole steps."""
LEAST = 10
"""The fewest rows of a block (of an average class), where the number of blocks is not given."""
NOISE, PUBLISHED = 0.01, 0.05
"""The noise of a correlation that the number of blocks is chosen for, where there are rows enough."""
FEW = 3
"""The fewest rows of a class in a block, on average, for correlations of its own."""


@dataclass(frozen=True)
class BlockCorrelations:
    """For each pair of columns the correlation in each block of rows, in whole steps, summed over the blocks.

    Rows are dealt to blocks by an order of their places that does not depend on any record. In a block the correlation of
    two columns is sum(st)/sqrt(sum(ss) sum(tt)), of scores that are known already: a number between -1 and 1, and so it is clipped.

    *What one record can change.* The record that is replaced lies in one block, before and after. So one of the summed numbers
    changes, for each pair of columns, from somewhere in [-STEPS, STEPS] to somewhere there: by 2 STEPS at most; for p
    pairs of columns L1 = 2 p STEPS, L2 = 2 sqrt(p) STEPS. With correlations within the classes of a column it may leave one class
    and enter another, and both change: L1 = 4 p STEPS, L2 = 2 sqrt(2 p) STEPS. All sums are of whole numbers, so no rounding
    carries over from one block to another. (Sample and aggregate: Nissim, Raskhodnikova and Smith 2007; for copulas Li, Xiong
    and Jiang 2014.)
    """

    columns: tuple[str, ...]
    rows: int
    """The number of rows, which is public."""
    blocks: int
    scores: tuple[tuple[int, ...], ...]
    """For each column the score of each cell of its histogram, in steps of 1/FINE; with classes, class after class."""
    key: int
    """Of the pseudo-random order of places; it is drawn without access to the rows."""
    classes: str = ""
    """A column within whose classes the correlations are taken; empty: in all rows of a block."""

    def answer(self, table: Table) -> Integers:
        """In the order of ``itertools.combinations``; class by class."""
        require_rows("blocks of correlations", table, self.rows)
        count = histogram_sizes(table.schema, (self.classes,))[0] if self.classes else 1
        label = table.cells(self.classes) if self.classes else np.zeros(self.rows, np.int64)
        block = np.empty(self.rows, np.int64)
        starts = np.arange(self.blocks) * self.rows // self.blocks
        block[np.random.default_rng(self.key).permutation(self.rows)] = np.repeat(
            np.arange(self.blocks), np.diff(np.append(starts, self.rows))
        )
        group = label * self.blocks + block
        scores = [
            np.array(s, np.int64)[label * (len(s) // count) + table.cells(n)]
            for n, s in zip(self.columns, self.scores, strict=True)
        ]
        roots = [np.sqrt(_summed(s * s, group, count * self.blocks)) for s in scores]
        sums = []
        for one, two in combinations(range(len(scores)), 2):
            products = _summed(scores[one] * scores[two], group, count * self.blocks)
            shares = products / np.maximum(roots[one] * roots[two], 1e-9)
            whole = np.clip(np.round(shares * STEPS), -STEPS, STEPS).astype(np.int64)
            sums.append(whole.reshape(count, self.blocks).sum(axis=1))
        return np.stack(sums, axis=1).ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """Of products of scores, and of correlations in steps."""
        return self.rows * max((STEPS, *(s * s for scores in self.scores for s in scores)))

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("blocks of correlations", relation)
        changed = len(self.columns) * (len(self.columns) - 1) // 2 * (2 if self.classes else 1)
        return 2.0 * STEPS * changed, 2.0 * STEPS * math.sqrt(changed), 0


def _summed(values: Integers, group: Integers, groups: int) -> Floats:
    """The sum of whole numbers in each group. Each is exact below 2^53, and above depends on the rows of its own group alone."""
    return np.asarray(np.bincount(group, values, minlength=groups), np.float64)


@dataclass(frozen=True, kw_only=True)
class LikelihoodCopula(PairwiseCopula):
    """A Gaussian copula from noisy histograms and the average correlation of disjoint blocks of rows, with noise.

    Replacing one record changes one block, hence the average of l blocks by 2/l for each pair of columns (``BlockCorrelations``),
    and a histogram by sqrt(2) in L2. Integer Gaussian noise (Laplace when delta is zero). The scores of the cells come from the
    noisy margins. Rows are dealt to blocks by a key drawn beforehand: from the system, unless a seed is given.
    For one record replaced by another: the number of rows is public. Li, Xiong and Jiang 2014. Few columns and many rows
    suit it: with more pairs of columns the blocks must be more, and small. (They draw correlations to zero; that is undone.)
    """

    NAME: ClassVar[str] = "likelihood-copula"

    blocks: int = 0
    """How many blocks of rows; 0: so many that the noise of a correlation is 0.01 (0.05 with published ties), each of at least 10
    rows."""

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
        blocks = self._blocks(rows, len(schema), part)
        pieces = pieces_of(schema, margins.margins)
        query = BlockCorrelations(schema.names, rows, blocks, tuple(map(whole_scores, pieces)), int(vault.coins(1, rng)[0]))
        averages, noise = self._averages(vault, part, query)
        return Dependence(self._correlation(pieces, averages[0], noise, rows / blocks), noise, {"blocks": blocks})

    def _class_dependence(self, vault: Vault, part: Allowance, margins: PartMargins, rng: np.random.Generator) -> Dependence:
        (given,), counts = margins.parts_by, margins.counts
        rows = round(float(counts.sum()))
        blocks = self._blocks(rows // len(counts), len(margins.others), part)
        pieces = [margins.pieces(k) for k in range(len(counts))]
        scores = tuple(sum(map(whole_scores, of_column), ()) for of_column in zip(*pieces, strict=True))
        query = BlockCorrelations(margins.others, rows, blocks, scores, int(vault.coins(1, rng)[0]), given)
        averages, noise = self._averages(vault, part, query)
        # Where a class has hardly a row in a block, its correlation there is a coin.
        there = [k for k, count in enumerate(counts) if count >= FEW * blocks] or [int(np.argmax(counts))]
        own = {k: self._correlation(pieces[k], averages[k], noise, counts[k] / blocks) for k in there}
        return Dependence(drawn_to_average(own, dict.fromkeys(own, noise), counts), noise, {"blocks": blocks})

    def _blur(self, schema: Schema, part: Allowance, rows: float, classes: int) -> float:
        blocks = self._blocks(round(rows), len(schema) - 1, part)
        return part.deviation(BlockCorrelations(schema.names[1:], 2, 1, (), 0, schema.names[0]), schema) / STEPS / blocks

    def _blocks(self, rows: int, columns: int, part: Allowance) -> int:
        return self.blocks or best_blocks(rows, columns, part, PUBLISHED if self.ties is Ties.PUBLISHED else NOISE)

    def _averages(self, vault: Vault, part: Allowance, query: BlockCorrelations) -> tuple[Floats, float]:
        """For each class the average correlation of each pair, and its noise."""
        pairs = len(query.columns) * (len(query.columns) - 1) // 2
        averages = vault.spend(query, part).reshape(-1, pairs) / STEPS / query.blocks
        return averages, part.deviation(query, vault.schema) / STEPS / query.blocks

    def _correlation(self, pieces: list[Pieces], averages: Floats, noise: float, rows: float) -> Floats:
        """The matrix that explains the average correlations of blocks of so many rows, which are nearer to zero than that of all.

        Of n rows the expected correlation is about r (1 - (1 - r^2)/(2n)) (Olkin and Pratt 1958).
        """
        averages = np.clip(averages, -1.0, 1.0)
        if self.ties is Ties.PUBLISHED:
            return from_pairs(averages, len(pieces))
        averages = averages * (1 + (1 - averages**2) / (2 * max(rows, 1.0)))
        spreads = np.array([one.spread * two.spread for one, two in combinations(pieces, 2)])
        values, errors = latent_correlations(pieces, averages * spreads, expected_product, noise * spreads)
        return from_pairs(values, len(pieces), errors)


def whole_scores(pieces: Pieces) -> tuple[int, ...]:
    """The scores of the cells of a margin in whole steps; a missing value counts as 0."""
    return tuple(np.round(np.append(pieces.scores, 0.0) * FINE).astype(np.int64)[pieces.groups].tolist())


def best_blocks(rows: int, columns: int, allowance: Allowance, noise: float) -> int:
    """So many blocks that noise of this scale suffices, each of ``LEAST`` rows or more.

    The average changes by 2/l for each pair: 2 C(m,2)/(noise epsilon) for Laplace noise, 2 sqrt(C(m,2)/(2 rho))/noise for Gaussian.
    """
    pairs = columns * (columns - 1) / 2
    if allowance.rho is not None:
        wanted = 2 * math.sqrt(pairs / (2 * allowance.rho)) / noise
    else:
        wanted = 2 * pairs / (noise * float(allowance.epsilon or 1.0))
    return max(1, min(math.ceil(wanted), rows // LEAST))
