"""Safe k-anonymization: sample, generalize by levels that no raw row chose, release the cells that hold k records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.private.safe_delta import design, exact_delta
from hushtable.anonymize.private.safe_levels import WEIGHTS, Candidates
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy import choice
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Approximate, Event, Exponential
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault, require_declared
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Safe(PrivateCore):
    """(epsilon, delta)-differential privacy and k-anonymity over all columns, without any noise in the values.

    Each record is sampled by a coin of its own with probability beta; every column of every record is generalized by a map
    fixed before; a cell of the generalized table is released, with its rows, if it holds at least k sampled records, else
    dropped. One record changes one cell by one, and is hidden by the coins of its k - 1 or more fellows: the exact
    delta is in ``safe_delta``. Li, Qardaji and Su 2012.

    Levels that are not given are chosen by the exponential mechanism on all rows, before and apart from the sample, with
    u = (1 - loss) sum over cells of max(0, n_c - k/beta + 1): a record more never lowers u and raises it by at most 1, so
    the weight exp(epsilon1 u) is epsilon1-DP. The two queries add up: epsilon = epsilon1 + epsilon2, delta = delta*. The coins
    are this mechanism's noise: they come from the system's entropy whatever the seed. Stated for one record added or
    removed; nothing is proven here for a person of several rows, or for records replaced.
    """

    k: int = 0
    """The least number of sampled records in a released cell; 0: the least that the budget allows."""
    beta: float = 0.0
    """The probability with which a record is sampled; 0: that with the smallest k/beta, what a cell needs to survive."""
    levels: tuple[str, ...] = ()
    """Levels of generalization fixed without reading the rows, ``column=level``, 0 the value itself; the others are chosen."""
    selection: float = 0.3
    """The part of epsilon that goes to choosing levels, if any are to be chosen."""

    def __post_init__(self) -> None:
        """K of at least 2 if given, beta and the part of the selection below 1, a level for each named column."""
        named = [text.partition("=")[0] for text in self.levels]
        check_knobs(
            self,
            k=(self.k == 0 or self.k >= 2, "must be at least 2, or 0 to be chosen"),
            beta=(0 <= self.beta < 1, "must lie in (0, 1), or be 0 to be chosen"),
            levels=(all("=" in text for text in self.levels) and len(set(named)) == len(named), "must be column=level, once each"),
            selection=(0 < self.selection < 1, "must lie in (0, 1)"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without a hierarchy that covers their domain, and a budget that no k and beta can keep."""
        candidates = self._candidates(schema)
        if budget is None:
            return Plan(schema=schema, effect=Effect.EDIT_ROWS)
        terms = self._terms(budget, candidates)
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=terms.k, quasi=schema.names)
        caveats = (
            f"a row is a person of a secret sample of {terms.beta:.3g} of the table, and combinations that fewer than about "
            f"{terms.k / terms.beta:.0f} people share are mostly absent: counts are no counts of the population",
        )
        public = ("the hierarchies",)
        return Plan(
            schema=schema, events=terms.events, effect=Effect.EDIT_ROWS, promises=(promise,), public=public, caveats=caveats
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Choose levels on all rows, then sample, generalize and drop; ``rng`` is not needed."""
        if vault.taint is Taint.RAW:
            require_declared(vault.schema, vault.schema.names, vault.step)
        candidates = self._candidates(vault.schema)
        terms = self._terms(vault.paid(), candidates)
        chosen = 0
        if terms.selection:
            table = vault.open(Exponential(terms.selection), "the choice of levels")
            scores = candidates.scores(table, math.ceil(terms.k / terms.beta))
            chosen = choice.exponential(scores, choice.rational(terms.selection) / WEIGHTS, vault.entropy)
        vault.report(0.8)
        levels = dict(zip(vault.schema.names, candidates.nodes[chosen].tolist(), strict=True))
        table = vault.open(terms.release, "the cells of a sample")
        released = _full_cells(_generalized(_sampled(table, terms.beta, vault.entropy), candidates, levels), terms.k)
        return Anonymized(released, terms.summary() | {"levels": levels, "candidates": candidates.count})

    def _candidates(self, schema: Schema) -> Candidates:
        given = {name: level.strip() for name, _, level in (text.partition("=") for text in self.levels)}
        return Candidates.of(schema, given)

    def _terms(self, allowance: Allowance, candidates: Candidates) -> _Terms:
        unit, budget = allowance.unit, allowance.budget
        if unit.relation is not Relation.ADD_REMOVE:
            raise GuaranteeRefused("safe: proven for one record added or removed; ask with --relation add_remove")
        if unit.rows > 1:
            raise GuaranteeRefused(f"safe: proven for persons of one row each, and here one person can change {unit.rows}")
        if budget is None:
            raise GuaranteeRefused("safe: was given no epsilon and delta of its own")
        selection = self.selection * budget.epsilon if candidates.count > 1 else 0.0
        k, beta = design(budget.epsilon - selection, budget.delta, self.k, self.beta)
        return _Terms(k, beta, selection, budget.epsilon - selection)


@dataclass(frozen=True)
class _Terms:
    """The parameters of the mechanism and the price of each of its parts."""

    k: int
    beta: float
    selection: float
    epsilon: float

    @property
    def release(self) -> Event:
        """The price of the cells."""
        return Approximate(self.epsilon, exact_delta(self.k, self.beta, self.epsilon))

    @property
    def events(self) -> tuple[Event, ...]:
        """The choice of levels, if there is one, and the release of the cells."""
        return (Exponential(self.selection), self.release) if self.selection else (self.release,)

    def summary(self) -> dict[str, Any]:
        """For the card."""
        delta = exact_delta(self.k, self.beta, self.epsilon)
        return {"k": self.k, "beta": self.beta, "epsilon_levels": self.selection, "epsilon_cells": self.epsilon, "delta": delta}


def _sampled(table: Table, beta: float, entropy: Entropy) -> Table:
    """Each row by its own coin: a 64-bit word below beta 2^64."""
    return table.take(np.flatnonzero(entropy.words(table.rows) < np.uint64(math.floor(beta * 2.0**64))))


def _generalized(table: Table, candidates: Candidates, levels: dict[str, int]) -> Table:
    ladders = ((ladder, levels[ladder.column.name]) for ladder in candidates.ladders)
    return table.with_columns(*((ladder.at(level), ladder.cells(level, table[ladder.column.name])) for ladder, level in ladders))


def _full_cells(table: Table, k: int) -> Table:
    """The rows whose cell holds at least k."""
    groups, count = table.groups(table.schema.names)
    sizes: Integers = np.bincount(groups, minlength=count)
    return table.take(np.flatnonzero(sizes[groups] >= k))
