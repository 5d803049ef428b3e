"""The hybrid DPCopula in a form that is proven: a copula for each part of the table, every query with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics.concordance import pairs_fit
from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Plan, Reads, reads_places
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query, Total
from hushtable.privacy.rows import public_rows, require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.margins import nominal
from hushtable.synthesize.copula.part_concordance import PartConcordance, part_correlations
from hushtable.synthesize.copula.part_margins import measure_parts, order_of, part_histograms
from hushtable.synthesize.copula.parts import PartedCopula, part_columns
from hushtable.synthesize.copula.private_copula import PrivateCopula
from hushtable.synthesize.copula.private_margins import CAVEATS, order_caveat
from hushtable.synthesize.histogram_cells import MEAN, require_counted, sizes_of
from hushtable.synthesize.marginal.measurement import Measurement, without_missing
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import histogram_sizes

NAME = "hybrid-copula"
COUNTS = 0.5
"""The budget of the counts of the parts, relative to that of the dependence."""
ROWS = 10_000
"""The number of rows that the number of parts is chosen for, unless the schema declares one."""
WRONG = 0.1
"""The share of the rows that the noise may put into wrong cells, where the number of parts is chosen."""
CELLS = 16
"""The cells of a column that the number of parts is chosen for: how many bins a number gets is not known to a plan."""
PARTS = 64
"""The most parts that are chosen."""


@dataclass(frozen=True, kw_only=True)
class HybridCopula(PrivateCopula):
    """A Gaussian copula for each combination of some small columns, from noisy counts, margins and concordances.

    Replacing a record changes the counts of the parts, and the joint histogram of parts and a column, by sqrt(2) in L2 each; the
    concordances within parts as ``PartConcordance`` says. It reads a part's first records only, about as many as the part has
    for sure by its noisy count, because how many there are is not public. Parts whose noisy count is too small for that take the
    average correlations of the others. Rows are ordered by a key drawn beforehand. Integer Gaussian noise (Laplace when delta is
    zero).
    For one record replaced by another: the number of rows is public.
    After the hybrid of Li, Xiong and Jiang 2014, whose noise is scaled with the true size of each part.
    """

    parts: tuple[str, ...] = ()
    """The columns whose combinations are the parts; when empty, the target and others with fewer than 10 cells."""
    most: int = 0
    """The most parts; 0: as many as the budget and the declared size of the table (else 10,000 rows) are worth, between the
    number of classes of the target and 64."""
    least: int = 200
    """The least noisy count of a part with correlations of its own."""

    def __post_init__(self) -> None:
        """In range."""
        self._check(
            most=(self.most == 0 or self.most >= 2, "must be at least 2, or 0 to be chosen"),
            least=(self.least >= 2, "must be at least 2"),
        )

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, too many parts, and any other relation than one record replaced by another."""
        parts, others = self._columns(schema, budget)
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows(NAME, budget)
            queries: list[Query] = [*part_histograms(parts, others)]
            if len(others) > 1:
                # The price does not depend on caps and weights, which a plan does not know: the noise grows with the change.
                queries.append(PartConcordance((*others, *parts), len(others), 2, (2, 2), (1, 1), (), 0))
            shares = budget.split(self._shares(others))
            events = (budget.event(Total(), schema), *(p.event(q, schema) for q, p in zip(queries, shares, strict=True)))
        ordered = order_caveat([name for name in others if nominal(schema[name])], order_of(schema, self.anchor, NAME, parts))
        fits = len(others) < 2 or pairs_fit(schema.select(others), math.prod(histogram_sizes(schema, parts)))
        reads = reads_places(budget) if fits else Reads.MEMORY
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=CAVEATS + ordered, reads=reads)

    def fit(self, vault: Vault, rng: np.random.Generator) -> PartedCopula:
        """Count the parts, measure the margins in them, then the concordances."""
        schema, allowance = vault.schema, vault.paid()
        require_fixed_rows(NAME, allowance)
        parts, others = self._columns(schema, allowance)
        rows = public_rows(vault, allowance)
        if rows < 2:
            raise InputError("a correlation needs at least two rows", where=NAME)
        shares = allowance.split(self._shares(others))
        noise = shares[0].deviation(Histogram(parts), schema)
        counted = vault.spend(Histogram(parts), shares[0]).astype(np.float64).reshape(histogram_sizes(schema, parts))
        for (name,) in without_missing(schema, [Measurement(parts, counted.copy(), noise)]):
            np.moveaxis(counted, parts.index(name), -1)[..., -1] = -1e15
        counts = on_simplex(counted.ravel(), float(rows))
        of_columns = dict(zip(others, shares[1:], strict=False))
        margins = measure_parts(vault, parts, of_columns, counts, order_of(schema, self.anchor, NAME, parts))
        correlations = np.repeat(np.eye(len(others))[None], len(counts), axis=0)
        summary: dict[str, Any] = {"parts_by": list(parts), "noisy_sizes": [round(float(c)) for c in counts]}
        summary |= {"noise_of_a_size": round(noise, 2), "noise_of_a_cell": round(margins.noise, 2)}
        if len(others) > 1:
            key = int(vault.coins(1, rng)[0])
            correlations, more = part_correlations(vault, shares[-1], margins, (rows, self.least, noise), self.ties, key)
            summary |= more
        vault.report(1.0)
        return PartedCopula(schema, parts, rows, counts / counts.sum(), margins.shares, margins.orders, correlations, summary)

    def _columns(self, schema: Schema, budget: Allowance | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns whose combinations are the parts, and the others: a function of the schema and of the budget alone."""
        require_counted(schema, NAME)
        most = self.most or (best_parts(schema, budget, self.ratio) if budget is not None else PARTS)
        parts = part_columns(schema, self.parts, most, NAME)
        return parts, tuple(name for name in schema.names if name not in parts)

    def _shares(self, others: tuple[str, ...]) -> list[float]:
        shares = [COUNTS] + [self.ratio / len(others)] * len(others)
        return [*shares, 1.0] if len(others) > 1 else shares


def best_parts(schema: Schema, budget: Allowance, ratio: float) -> int:
    """So many parts that the noise of the margins in them puts about a tenth of the rows into wrong cells. Public.

    With noise of s rows in each of K cells of a column, that is MEAN s K/2 rows for each part; but at least as many as the target
    (else the smallest column) has cells.
    """
    sizes = sizes_of(schema)
    each = budget.split([COUNTS, *[ratio / len(schema)] * len(schema), 1.0])[1]
    noise = each.deviation(Histogram(schema.names[:1]), schema)
    worth = WRONG * (schema.size or ROWS) / (MEAN / 2 * noise * CELLS)
    fewest = min((sizes[n] for n in schema.role(Role.TARGET)), default=min((s for s in sizes.values() if s > 1), default=2))
    return int(max(fewest, 2, min(worth, PARTS)))
