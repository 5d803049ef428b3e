"""The hybrid DPCopula as published (Li, Xiong and Jiang 2014): a copula for each part of the table.

The proof fails where the noise of a part is scaled with its true number of records, and where a record that moves from one part
to another changes both although each was given the whole epsilon. The certified twin is the step ``hybrid-copula`` (recipe
``dpcopula-hybrid-certified``).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics.concordance import concordance_present, dense_ranks
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.noise import Entropy, discrete_laplace, laplace_scale
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.margins import Margin
from hushtable.synthesize.copula.parts import PartedCopula, part_columns, part_numbers
from hushtable.synthesize.histogram_cells import sizes_of
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

_WHY = "the width of the noise in a part is read off the part's true size"
GRID = 1 << 24
"""Noise on tau is drawn in whole parts of this."""
COUNTS = 0.1
"""The share of epsilon for the counts of the parts."""

GAPS = (
    "the noise on Kendall's tau in a part is scaled with 4/(n_i + 1), where n_i is the true number of its records: the width of "
    "the noise itself reveals a private number",
    "a record that is replaced may leave one part and enter another, so two parts change, and each was given all of epsilon",
    "4/(n + 1) is the change of tau when a record is added to n; when one of n is replaced it is 4/n",
    "parts without records are left out, so which combinations exist is revealed without noise",
)


@dataclass(frozen=True, kw_only=True)
class PublishedHybrid(Core):
    """The hybrid of Li, Xiong and Jiang 2014: small columns divide the table, and each part gets a DPCopula of its own.

    The counts of the parts, the histograms in them and Kendall's tau of each pair of columns get Laplace noise; a part is
    treated as if its size were public and as if no record could move to another. That is not proven (the gaps are printed), so
    epsilon is infinite; ``hybrid-copula`` is the form that is proven. How epsilon is divided between counts and copulas is our
    choice, the publication does not say.
    """

    epsilon: float = 1.0
    """The epsilon that the publication says the release is protected with."""
    ratio: float = 8.0
    """The epsilon of all margins of a part together, relative to that of its dependence."""
    parts: tuple[str, ...] = ()
    """The columns whose combinations are the parts; when empty, the target and others with fewer than 10 cells."""
    most: int = 16
    """The most parts."""

    def __post_init__(self) -> None:
        """In range."""
        check_knobs(
            self,
            epsilon=(1e-6 <= self.epsilon <= 1e6, "must lie between 1e-6 and 1e6"),
            ratio=(self.ratio > 0, "must be positive"),
            most=(self.most >= 2, "must be at least 2"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted and too many parts; states the claim, and the gaps in its proof."""
        part_columns(schema, self.parts, self.most, "hybrid-copula-published")
        claim = Claim(f"differential privacy with epsilon = {self.epsilon:g}", GAPS)
        caveat = "levels without an order of their own are in their declared order, which means nothing"
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, claims=(claim,), caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> PartedCopula:
        """Part the table and make a copula of each part; ``rng`` is not needed."""
        table = vault.open(Raw(_WHY), _WHY)
        if table.rows < 2:
            raise InputError("a correlation needs at least two rows", where="hybrid-copula-published")
        schema = table.schema
        parts = part_columns(schema, self.parts, self.most, "hybrid-copula-published")
        others = tuple(name for name in schema.names if name not in parts)
        numbers = part_numbers(table, parts)
        cells = int(np.prod(histogram_sizes(schema, parts)))
        sizes, counts = sizes_of(schema.select(others)), np.zeros(cells)
        margins = {name: np.full((cells, size), 1 / size) for name, size in sizes.items()}
        correlations = np.broadcast_to(np.eye(len(others)), (cells, len(others), len(others))).copy()
        present = np.unique(numbers)
        for done, number in enumerate(present, 1):
            part = table.take(np.flatnonzero(numbers == number)).select(others)
            counts[number] = max(0.0, part.rows + float(_laplace(1 / (COUNTS * self.epsilon), 1, vault.entropy)[0]))
            for name in others:
                margins[name][number] = self._margin(part, name, vault.entropy)
            correlations[number] = self._correlation(part, vault.entropy)
            vault.report(done / len(present))
        if not counts.any():
            counts[present] = 1.0
        summary = {"parts_by": list(parts), "noisy_sizes": np.round(counts).astype(int).tolist(), "claimed_epsilon": self.epsilon}
        orders = {name: np.arange(size) for name, size in sizes.items()}
        return PartedCopula(schema, parts, round(counts.sum()), counts / counts.sum(), margins, orders, correlations, summary)

    @property
    def _shares(self) -> tuple[float, float]:
        """Of epsilon: what the margins of a part get together, and its dependence."""
        rest = (1 - COUNTS) * self.epsilon
        return rest * self.ratio / (self.ratio + 1), rest / (self.ratio + 1)

    def _margin(self, part: Table, name: str, entropy: Entropy) -> Floats:
        counts = part.counts((name,)).astype(np.float64)
        return Margin.of(counts + _laplace(len(part.schema) / self._shares[0], len(counts), entropy), float(part.rows)).shares

    def _correlation(self, part: Table, entropy: Entropy) -> Floats:
        ranks = [dense_ranks(part, name, ()) for name in part.schema.names]
        sums = np.array([concordance_present(one, two) for one, two in combinations(ranks, 2)], np.float64)
        tau = sums / max(part.rows * (part.rows - 1) / 2, 1.0)
        scale = len(sums) * 4 / ((part.rows + 1) * self._shares[1])
        noisy = np.clip(tau + _laplace(scale, len(sums), entropy), -1.0, 1.0)
        return from_pairs(np.sin(np.pi / 2 * noisy), len(ranks))


def _laplace(scale: float, count: int, entropy: Entropy) -> Floats:
    """Laplace noise on a grid."""
    return np.asarray(discrete_laplace(laplace_scale(scale * GRID), count, entropy) / GRID) if count else np.empty(0)
