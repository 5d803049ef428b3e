"""Sampling: only some of the rows are released, or passed on to the next step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.people import records
from hushtable.errors import PlanError
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Transform
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Scheme, Vault
from hushtable.table.arrays import Integers, Mask
from hushtable.table.schema import Schema
from hushtable.table.table import Table


class Method(StrEnum):
    """How rows are picked."""

    POISSON = "poisson"
    RANDOM = "random"
    STRATIFIED = "stratified"


@dataclass(frozen=True, kw_only=True)
class Sample(Core):
    """A random sample: a share beta of the rows.

    By itself it promises nothing: the sampled rows are released as they are. After k-anonymization it leaves a
    k-map (nobody knows who was sampled), or ceil(beta k)-anonymity when every class is sampled by itself. Before a
    differentially private core a Poisson sample amplifies: eps becomes ln(1 + beta (e^eps - 1)).
    Balle, Barthe and Gaboardi 2018; Li, Qardaji and Su 2012.
    """

    beta: float = 0.5
    """The share of rows that stay."""
    method: Method = Method.POISSON
    """poisson: each row by its own coin; random: floor(beta n) rows, at least one; stratified: ceil(beta n) of every stratum, where
    people hold several rows as many of its persons, each with all their rows there."""
    by: tuple[str, ...] = ()
    """The columns whose values make the strata; the quasi-identifiers (so: the equivalence classes) when empty."""

    def __post_init__(self) -> None:
        """Beta in (0, 1]; strata only where they are used."""
        check_knobs(
            self,
            beta=(0 < self.beta <= 1, "must lie in (0, 1]"),
            by=(not self.by or self.method is Method.STRATIFIED, "is for stratified sampling only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses strata that do not exist."""
        strata = self._strata(schema)
        classes = self.method is Method.STRATIFIED and set(schema.quasi) <= set(strata)
        scheme = {Method.POISSON: Scheme.POISSON, Method.RANDOM: Scheme.FIXED}.get(self.method, Scheme.OTHER)
        effect = Effect.SAMPLE_CLASSES if classes else Effect.SAMPLE
        events = (Transform("sampling"),)
        return Plan(schema=schema, events=events, effect=effect, beta=self.beta, strata=strata if classes else (), samples=scheme)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Draw the sample, from the system's entropy unless the run is seeded."""
        table = vault.open(Transform("sampling"), "sampling")
        coins = vault.coins(table.rows, rng)
        drawn = self._pick(table, coins)
        return Anonymized(table.take(np.flatnonzero(drawn)), {"beta": self.beta, "method": str(self.method)})

    def _strata(self, schema: Schema) -> tuple[str, ...]:
        unknown = [name for name in self.by if name not in schema]
        if unknown:
            raise PlanError(f"sample: there is no column {', '.join(unknown)} to make strata of")
        if self.method is Method.STRATIFIED and not (self.by or schema.quasi):
            raise PlanError("sample: strata need columns: name them in 'by', or give columns the role 'quasi'")
        return self.by or schema.quasi

    def _pick(self, table: Table, coins: NDArray[np.uint64]) -> Mask:
        if self.method is Method.POISSON:
            # coin < beta * 2^64, exactly for any float beta
            limit = math.floor(self.beta * 2.0**64)
            return np.ones(table.rows, bool) if limit >= 2**64 else coins < np.uint64(limit)
        if self.method is Method.RANDOM:
            return _few(np.zeros(table.rows, np.int64), np.array([max(1, math.floor(self.beta * table.rows + 1e-9))]), coins)
        # A class keeps its share of k persons only if persons are drawn, not rows.
        strata = self._strata(table.schema)
        first, place = records(table, strata)
        groups = table.groups(strata)[0][first]
        wanted = np.ceil(self.beta * np.bincount(groups) - 1e-9).astype(np.int64)
        return _few(groups, wanted, coins[first])[place]


def _few(groups: Integers, wanted: Integers, coins: NDArray[np.uint64]) -> Mask:
    """So many members of each group, those with the smallest coins."""
    order = np.lexsort((coins, groups))
    sizes = np.bincount(groups)
    place = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    drawn = np.zeros(len(groups), bool)
    drawn[order[place < wanted[groups[order]]]] = True
    return drawn
