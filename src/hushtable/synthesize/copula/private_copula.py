"""What all private Gaussian copulas share: their knobs, and for those of all pairs of columns the plan and the fit.

A method that adds one (``kendall``, ``likelihood``, ``marginals``) says what is asked of the pairs, and which correlations follow.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query
from hushtable.privacy.rows import public_rows, require_fixed_rows, rows_event
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Ties
from hushtable.synthesize.copula.part_margins import PartMargins, calm, class_column, class_counts, measure_parts, order_of
from hushtable.synthesize.copula.parts import PartedCopula
from hushtable.synthesize.copula.private_margins import NO_ANCHOR, NoisyMargins, caveats_of, margin_queries, measure_margins
from hushtable.synthesize.histogram_cells import require_counted
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

BLUR = 0.3
"""Classes get copulas of their own where the noise of a pair's correlation is at most so large in an average class."""


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
    """A matrix, or one for each class."""
    noise: float | None = None
    """Of what was measured of a pair of columns; None where there is no pair."""
    more: dict[str, Any] = field(default_factory=dict)
    """For the card."""


@dataclass(frozen=True, kw_only=True)
class PairwiseCopula(PrivateCopula):
    """A Gaussian copula from noisy margins and one noisy answer about all pairs of columns; or one for each class.

    Where the budget allows it, margins and correlations are those of the classes of one column: each margin is then measured
    together with it, and all pairs within the classes. The queries are as many and cost the same, so that the plan does
    not depend on the choice; and the choice follows from the noise, the declared domains and the noisy number of rows.
    """

    NAME: ClassVar[str]
    """Of the step."""
    MEASURED: ClassVar[str] = "the correlation of a pair of columns"
    """What the answer is about."""
    FIXED_ROWS: ClassVar[bool] = True
    """Whether it is proven for one record replaced by another only, the number of rows being public."""

    classes: str = ""
    """The column with a copula of its own for each class; when empty, the target if it has at most 8 cells and the noise is small
    beside the rows of a class; "-": one copula for all rows."""

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE if self.FIXED_ROWS else Relation.ADD_REMOVE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted and, where the number of rows must be public, any relation but replacement."""
        queries = self._margins(schema)
        events: tuple[Event, ...] = ()
        if budget is not None:
            if self.FIXED_ROWS:
                require_fixed_rows(self.NAME, budget)
            asked: list[Query] = [*queries, *([self._priced(schema)] if len(queries) > 1 else [])]
            parts = budget.split(self._weights(queries))
            events = (*rows_event(budget, schema), *(part.event(query, schema) for query, part in zip(asked, parts, strict=True)))
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE, caveats=caveats_of(schema, self.anchor, self.NAME),
            reads=self._reads(schema, budget),
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula | PartedCopula:
        """Measure the margins, then all pairs of columns at once."""
        schema, allowance = vault.schema, vault.paid()
        if self.FIXED_ROWS:
            require_fixed_rows(self.NAME, allowance)
        queries = self._margins(schema)
        rows = public_rows(vault, allowance) if allowance.unit.fixes_rows else None
        if self.FIXED_ROWS:
            self._require_rows(rows or 0)
        parts = allowance.split(self._weights(queries))
        given, known = self._class_column(schema), {}
        if given:
            known[given] = vault.spend(queries[0], parts[0])
            noise = parts[0].deviation(queries[0], schema)
            counts = class_counts(schema[given], known[given], noise, rows)
            clear = calm(schema, given, counts, noise)
            if self.classes or (clear and self._blur(schema, parts[-1], float(counts.mean()), len(counts)) < BLUR):
                return self._by_class(vault, given, counts, parts, rng)
        margins = measure_margins(vault, queries, parts[: len(queries)], rows, known)
        dependence = self._dependence(vault, parts[-1], margins, rng) if len(queries) > 1 else self._alone()
        vault.report(1.0)
        summary = margins.summary({"ties": str(self.ties), **dependence.more}, dependence.noise, self.MEASURED)
        return GaussianCopula(schema, round(margins.total), Joined(margins.margins, dependence.correlation), summary)

    def _class_column(self, schema: Schema) -> str:
        """The column that may have a copula for each class; empty if there is none."""
        given = class_column(schema, self.classes, self.NAME)
        # Levels are ordered by the classes then, and by no other column that was named for it.
        return given if self.classes or self.anchor in ("", NO_ANCHOR, given) else ""

    def _margins(self, schema: Schema) -> list[Histogram]:
        """The margins, that of the classes first: its answer decides how the others are asked for."""
        require_counted(schema, self.NAME)
        given = self._class_column(schema)
        queries = sorted(margin_queries(schema, self.anchor, self.NAME), key=lambda query: query.columns[0] != given)
        return [Histogram((given,)), *queries[1:]] if given else queries

    def _by_class(self, vault: Vault, given: str, counts: Floats, parts: list[Allowance], rng: np.random.Generator) -> PartedCopula:
        schema = vault.schema
        others = [name for name in schema.names if name != given]
        of_columns = dict(zip(others, parts[1:-1], strict=True))
        margins = measure_parts(vault, (given,), of_columns, counts, order_of(schema, self.anchor, self.NAME, (given,)))
        dependence = self._class_dependence(vault, parts[-1], margins, rng)
        vault.report(1.0)
        summary: dict[str, Any] = {"classes_of": given, "noisy_sizes": [round(float(c)) for c in counts], "ties": str(self.ties)}
        summary |= {"noise_of_a_cell": round(margins.noise, 2), **dependence.more}
        if dependence.noise is not None:
            summary["noise_of_a_pair"] = round(dependence.noise, 4)
        return PartedCopula(
            schema, (given,), round(float(counts.sum())), counts / counts.sum(), margins.shares, margins.orders,
            dependence.correlation, summary,
        )  # fmt: skip

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

    def _reads(self, schema: Schema, budget: Allowance | None) -> Reads:
        """How it looks at the rows: all at once, unless a copula says otherwise."""
        return Reads.MEMORY

    @abstractmethod
    def _priced(self, schema: Schema) -> Query:
        """A query that costs what the real one will; that one depends on noisy margins, which a plan does not know."""

    @abstractmethod
    def _dependence(self, vault: Vault, part: Allowance, margins: NoisyMargins, rng: np.random.Generator) -> Dependence:
        """Ask about all pairs of columns once, and estimate their correlations."""

    @abstractmethod
    def _class_dependence(self, vault: Vault, part: Allowance, margins: PartMargins, rng: np.random.Generator) -> Dependence:
        """The same within each class."""

    @abstractmethod
    def _blur(self, schema: Schema, part: Allowance, rows: float, classes: int) -> float:
        """About the noise of a pair's correlation in a class of so many rows."""
