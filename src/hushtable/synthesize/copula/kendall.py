"""DPCopula by Kendall's tau: noisy margins, noisy tau-a of all pairs of columns, a Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.numerics.concordance import pairs_fit
from hushtable.pipeline.step import Reads, reads_places
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.query import Query
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.part_concordance import PartConcordance, correlation_of, part_correlations
from hushtable.synthesize.copula.part_margins import PartMargins
from hushtable.synthesize.copula.private_copula import Dependence, PairwiseCopula
from hushtable.synthesize.copula.private_margins import NoisyMargins, pieces_of
from hushtable.table.schema import Schema
from hushtable.table.table import histogram_sizes

LEAST = 200
"""The least noisy count of a class with correlations of its own."""


@dataclass(frozen=True, kw_only=True)
class KendallCopula(PairwiseCopula):
    """A Gaussian copula from noisy histograms and Kendall's tau-a with noise.

    Replacing one record changes a histogram by sqrt(2) in L2 and the concordant less the discordant pairs of rows, for all p pairs
    of columns together, by 2 (n - 1) sqrt(p) (``Concordance``): 4 sqrt(p)/n for tau-a. Both get integer Gaussian noise (Laplace
    when delta is zero, where the L1 changes count). The order of nominal levels is taken from noisy tables before tau is asked
    for. The rest is post-processing: the correlation that explains each tau given the margins (as published,
    sin(pi tau/2), which equal values draw towards zero), the nearest correlation matrix, and the draws.
    For one record replaced by another: the number of rows is public. Li, Xiong and Jiang 2014, whose sensitivity
    4/(n + 1) is corrected and whose one-by-one Laplace noise is replaced by one query about all pairs.
    """

    NAME: ClassVar[str] = "kendall-copula"
    MEASURED: ClassVar[str] = "Kendall's tau of a pair of columns"

    def __post_init__(self) -> None:
        """Positive shares."""
        self._check()

    def _reads(self, schema: Schema, budget: Allowance | None) -> Reads:
        given = self._class_column(schema)
        classes = histogram_sizes(schema, (given,))[0] if given else 1
        return reads_places(budget) if pairs_fit(schema, classes) else Reads.MEMORY

    def _priced(self, schema: Schema) -> Query:
        # The price does not depend on the number of rows, which a plan does not know: the noise grows with the change.
        return Concordance(schema.names, 2)

    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        schema, rows = vault.schema, round(margins.total)
        ranks = tuple(tuple(margins.margins[c.name].ranks[: len(c.levels)].tolist()) if c.coded else () for c in schema)
        query = Concordance(schema.names, rows, ranks)
        pairs = rows * (rows - 1) / 2
        tau = vault.spend(query, part) / pairs
        noise = part.deviation(query, schema) / pairs
        return Dependence(correlation_of(pieces_of(schema, margins.margins), tau, noise, self.ties), noise)

    def _class_dependence(self, vault: Vault, part: Allowance, margins: PartMargins, rng: np.random.Generator) -> Dependence:
        rows, key = round(float(margins.counts.sum())), int(vault.coins(1, rng)[0])
        matrices, more = part_correlations(vault, part, margins, (rows, LEAST, margins.noise), self.ties, key)
        return Dependence(matrices, None, more)

    def _blur(self, schema: Schema, part: Allowance, rows: float, classes: int) -> float:
        count = max(round(rows), 2)
        query = PartConcordance(schema.names, len(schema) - 1, count * classes, (count,) * classes, (1,) * classes, (), 0)
        return part.deviation(query, schema) / (count * (count - 1) / 2)
