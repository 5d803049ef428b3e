"""What all private Gaussian copulas share: their knobs, and for those of all pairs of columns the plan and the fit.

A method that adds one (``kendall``, ``likelihood``, ``marginals``) says what is asked of the pairs, and which correlations follow.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query
from hushtable.privacy.rows import public_rows, require_fixed_rows, rows_event
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Ties
from hushtable.synthesize.copula.private_margins import NoisyMargins, caveats_of, margin_queries, measure_margins
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema


@dataclass(frozen=True, kw_only=True)
class PrivateCopula(PrivateCore):
    """Knobs that the private copulas share."""

    ratio: float = 1.0
    """The budget of all margins together, relative to that of the dependence (as published: 8)."""
    ties: Ties = Ties.CORRECTED
    """corrected: the correlation that explains what was measured, given the margins; published: as if no values were equal."""
    anchor: str = ""
    """The column by whose average the levels of nominal categories are ordered, measured together with their margins; the target of
    the schema when empty (if it has at most 8 cells); "-" leaves them in their declared order."""

    def _check(self, **more: tuple[bool, str]) -> None:
        """One InputError for all knobs that are out of range, those of a subclass among them."""
        check_knobs(self, ratio=(self.ratio > 0, "must be positive"), **more)


@dataclass(frozen=True, eq=False)
class Dependence:
    """The correlations of all pairs of columns, as estimated from one noisy answer."""

    correlation: Floats
    noise: float | None = None
    """Of what was measured of a pair of columns; None where there is no pair."""
    more: dict[str, Any] = field(default_factory=dict)
    """For the card."""


@dataclass(frozen=True, kw_only=True)
class PairwiseCopula(PrivateCopula):
    """A Gaussian copula from noisy margins and one noisy answer about all pairs of columns."""

    NAME: ClassVar[str]
    """Of the step."""
    MEASURED: ClassVar[str] = "the correlation of a pair of columns"
    """What the answer is about."""
    FIXED_ROWS: ClassVar[bool] = True
    """Whether it is proven for one record replaced by another only, the number of rows being public."""

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE if self.FIXED_ROWS else Relation.ADD_REMOVE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted and, where the number of rows must be public, any relation but replacement."""
        queries = margin_queries(schema, self.anchor, self.NAME)
        events: tuple[Event, ...] = ()
        if budget is not None:
            if self.FIXED_ROWS:
                require_fixed_rows(self.NAME, budget)
            asked: list[Query] = [*queries, *([self._priced(schema)] if len(queries) > 1 else [])]
            parts = budget.split(self._weights(queries))
            events = (*rows_event(budget, schema), *(part.event(query, schema) for query, part in zip(asked, parts, strict=True)))
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=caveats_of(schema, self.anchor, self.NAME))

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Measure the margins, then all pairs of columns at once."""
        schema, allowance = vault.schema, vault.paid()
        if self.FIXED_ROWS:
            require_fixed_rows(self.NAME, allowance)
        queries = margin_queries(schema, self.anchor, self.NAME)
        rows = public_rows(vault, allowance) if allowance.unit.fixes_rows else None
        if self.FIXED_ROWS:
            self._require_rows(rows or 0)
        parts = allowance.split(self._weights(queries))
        margins = measure_margins(vault, queries, parts[: len(queries)], rows)
        dependence = self._dependence(vault, parts[-1], margins, rng) if len(queries) > 1 else self._alone()
        vault.report(1.0)
        summary = margins.summary({"ties": str(self.ties), **dependence.more}, dependence.noise, self.MEASURED)
        return GaussianCopula(schema, round(margins.total), Joined(margins.margins, dependence.correlation), summary)

    def _weights(self, queries: list[Histogram]) -> list[float]:
        """The parts of the budget: each margin, then the dependence if there is any."""
        weights = [self.ratio / len(queries)] * len(queries)
        return [*weights, 1.0] if len(queries) > 1 else weights

    def _require_rows(self, rows: int) -> None:
        if rows < 2:
            raise InputError("a correlation needs at least two rows", where=self.NAME)

    def _alone(self) -> Dependence:
        """Of a table with one column."""
        return Dependence(np.eye(1))

    @abstractmethod
    def _priced(self, schema: Schema) -> Query:
        """A query that costs what the real one will; that one depends on noisy margins, which a plan does not know."""

    @abstractmethod
    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        """Ask about all pairs of columns once, and estimate their correlations."""
