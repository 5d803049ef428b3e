"""DPCopula by Kendall's tau: noisy margins, noisy tau-a of all pairs of columns, a Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows, require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.looks import PrivateCopula, Ties, caveats_of, margin_looks, measured, pieces_of
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Pieces, expected_tau, explained
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema


@dataclass(frozen=True, kw_only=True)
class KendallCopula(PrivateCopula):
    """A Gaussian copula from noisy histograms and Kendall's tau-a with noise.

    Replacing one record changes a histogram by sqrt(2) in L2 and the concordant less the discordant pairs of rows, for all p pairs
    of columns together, by 2 (n - 1) sqrt(p) (``Concordance``): 4 sqrt(p)/n for tau-a. Both get integer Gaussian noise (Laplace
    when delta is zero, where the L1 changes count). The order of nominal levels is read off noisy tables before tau is asked
    for. The rest is post-processing: the correlation that explains each tau given the margins (as published,
    sin(pi tau/2), which equal values draw towards zero), the nearest correlation matrix, and the draws.
    For one record replaced by another: the number of rows is public. Li, Xiong and Jiang 2014, whose sensitivity
    4/(n + 1) is put right and whose one-by-one Laplace noise is replaced by one look at all pairs.
    """

    def __post_init__(self) -> None:
        """Positive shares."""
        self._check()

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, and any other relation than one record replaced by another."""
        looks = margin_looks(schema, self.anchor, "kendall-copula")
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows("kendall-copula", budget)
            # The price does not depend on the number of rows, which a plan does not know: the noise grows with the change.
            events = self._events(schema, budget, looks, Concordance(schema.names, 2))
        caveats = caveats_of(schema, self.anchor, "kendall-copula")
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Measure the margins, then all taus at once; ``rng`` is not needed."""
        schema, allowance = vault.schema, vault.paid()
        require_fixed_rows("kendall-copula", allowance)
        looks = margin_looks(schema, self.anchor, "kendall-copula")
        rows = public_rows(vault, allowance)
        if rows < 2:
            raise InputError("a correlation needs at least two rows", where="kendall-copula")
        parts = allowance.split(self._weights(looks))
        found = measured(vault, looks, parts[: len(looks)], rows)
        correlation, noise = np.eye(1), None
        if len(looks) > 1:
            ranks = tuple(tuple(found.margins[c.name].ranks[: len(c.levels)].tolist()) if c.coded else () for c in schema)
            query = Concordance(schema.names, rows, ranks)
            pairs = rows * (rows - 1) / 2
            tau = vault.spend(query, parts[-1]) / pairs
            noise = parts[-1].deviation(query, schema) / pairs
            correlation = correlation_of(pieces_of(schema, found.margins), tau, noise, self.ties)
        vault.report(1.0)
        told = found.told({"ties": str(self.ties)}, noise, "Kendall's tau of a pair of columns")
        return GaussianCopula(schema, rows, Joined(found.margins, correlation), told)


def correlation_of(pieces: list[Pieces], tau: Floats, noise: float, ties: Ties) -> Floats:
    """The correlation matrix that the taus of all pairs tell."""
    if ties is Ties.PUBLISHED:
        return from_pairs(np.sin(np.pi / 2 * np.clip(tau, -1.0, 1.0)), len(pieces))
    values, errors = explained(pieces, tau, expected_tau, noise)
    return from_pairs(values, len(pieces), errors)
