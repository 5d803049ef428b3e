"""Domains learnt from the rows, and paid for: which values a category has, and between which bounds a number lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import PlanError
from hushtable.pipeline.step import Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.query import Ladder, Occupied
from hushtable.privacy.vault import Vault
from hushtable.table.columns import CODED, DAY, FREE, MISSING_INTEGER, Array, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

OTHER = "OTHER"
"""What values become that too few rows share."""
CLOSER = 64
"""The ranges of the second look at a number."""
PUBLIC = "kinds, decimals, date formats and missing codes of all columns, also of those whose domain was learnt"
_POWERS, _FINEST = 52, -30
_YEARS = (1800, 2200)
_LOOKS = (3.0, 1.0)
"""The parts of the two looks at a number."""
_ALONE, _TOGETHER = 4.4, 4.4
"""Standard deviations of the noise from which on a range, or all ranges up to the end together, are taken to hold rows."""
_FEW = 0.01
"""The share of the rows that may lie beyond a bound."""


@dataclass(frozen=True, kw_only=True)
class LearnDomain(Coder):
    """Learn the domains that nobody declared, with a part of the budget.

    A category keeps the values that are common enough to be told (a stability histogram: Korolova, Kenthapadi, Mishra and Ntoulas
    2009); all others become OTHER, so that a value only one person has comes out with a probability of at most its part of
    delta. A number or date is counted on a public ladder of ranges (powers of two; years), then on a finer one inside
    what was found, and clipped to the ranges that hold rows. One record lies in one range of each. It must come first:
    the columns leave with the learnt domain, which may be missing, and nothing leads back.
    """

    columns: tuple[str, ...] = ()
    """The columns to learn; when empty, those whose domain was read off the rows."""
    share: float = 0.1
    """Its part of the budget relative to the other steps'. It is spent only if there is something to learn."""

    def __post_init__(self) -> None:
        """A positive share."""
        check_knobs(self, share=(self.share > 0, "must be positive"))

    @property
    def spends(self) -> bool:
        """Every look is paid for."""
        return True

    @property
    def learns_domains(self) -> bool:
        """It may be given domains that were read off the rows: it does not read them."""
        return True

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Guesses the domains: they are not known before the rows are read."""
        columns = self._columns(schema)
        if not columns:
            return Plan(schema=schema, stability=1)
        words = [name for name in columns if schema[name].kind in CODED]
        if budget is not None and words and budget.rho is None:
            raise PlanError(
                f"learn-domain: which values {', '.join(words)} has can only be told with a small probability of failure: give a "
                "delta above 0, or declare the values in the schema"
            )
        events: list[Event] = []
        if budget is not None:
            for name, part, delta in _parts(schema, columns, budget):
                if schema[name].kind in CODED:
                    events.append(part.discovery(Occupied((name,), missing=False), schema, delta))
                else:
                    events += [look.event(Ladder(name, (0.0,)), schema) for look in part.split(_LOOKS)]
        guess = schema.with_columns(*(_guess(schema[name]) for name in columns))
        return Plan(schema=guess, events=tuple(events), stability=1, one_way=True, public=(PUBLIC,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Learned:
        """Learn every column."""
        columns = self._columns(vault.schema)
        learnt = []
        for number, (name, part, delta) in enumerate(_parts(vault.schema, columns, vault.paid()) if columns else [], 1):
            column = vault.schema[name]
            if column.kind in CODED:
                learnt.append(replace(column, domain=_levels(vault, column, part, delta), required=False, hierarchy=None))
            else:
                learnt.append(replace(column, domain=_bounds(vault, column, part), required=False))
            vault.report(number / len(columns))
        return Learned(vault.schema.with_columns(*learnt), tuple(c.name for c in learnt))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        seen = tuple(c.name for c in schema if c.observed)
        picked = chosen(schema, self.columns, seen, "learn-domain", "a column") if self.columns else seen
        odd = [name for name in picked if schema[name].generalized or schema[name].kind in FREE]
        if odd:
            raise PlanError(f"learn-domain: {', '.join(odd)} is generalized or free text, whose domain is not learnt; leave it out")
        return picked


@dataclass(frozen=True, eq=False)
class Learned:
    """The fitted coder: the schema with the learnt domains."""

    schema: Schema
    columns: tuple[str, ...]
    stability: int = field(default=1)

    def apply(self, table: Table) -> Table:
        """Values outside the learnt domain become OTHER, or the nearest bound."""
        return table.with_columns(*((self.schema[n], _inside(table.schema[n], self.schema[n], table[n])) for n in self.columns))

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """The learnt domain stays."""
        return table


def _parts(schema: Schema, columns: Sequence[str], budget: Allowance) -> list[tuple[str, Allowance, float]]:
    """For each column its part of the allowance, and of delta if it is a category."""
    words = sum(schema[name].kind in CODED for name in columns)
    left, delta = budget.outright() if words else (budget, 0.0)
    return [(name, part, delta / max(words, 1)) for name, part in zip(columns, left.split([1.0] * len(columns)), strict=True)]


def _levels(vault: Vault, column: Column, part: Allowance, delta: float) -> Levels:
    """The values that may be told, and OTHER. A category's are sorted: their order in the schema may come from the rows."""
    codes, _ = vault.discover(Occupied((column.name,), missing=False), part, delta)
    told = [column.levels[code] for code in codes[:, 0].tolist()]
    if column.kind is Kind.CATEGORY:
        told.sort()
    other = OTHER
    while other in told or other in column.missing or other in vault.schema.missing:
        other += "_"
    return Levels((*told, other))


def _bounds(vault: Vault, column: Column, part: Allowance) -> Bounds:
    """Two looks: on the public ladder, to find where rows are, then on equal ranges of that, to leave out what is empty."""
    first, second = part.split(_LOOKS)
    unit = _unit(column)
    rungs = _years() if column.kind is Kind.DATE else unit * _powers(_POWERS if column.step is not None else _POWERS - _FINEST)
    counts, spread = _climb(vault, column, first, rungs)
    below, above = (_until_held(ordered, spread) for ordered in (counts, counts[::-1]))
    below, above = (below, above) if below + above < len(counts) else (len(counts) - 1 - above, above)
    low, high = float(rungs[below]), float(rungs[len(counts) - above])
    # In whole units: an edge between two of them would put values outside their own range.
    finer = low + unit * np.unique(np.round(np.linspace(0, round((high - low) / unit), CLOSER + 1)))
    rows = max(float(counts.sum()), 0.0)
    counts, spread = _climb(vault, column, second, finer)
    below, above = (_while_empty(ordered, spread, rows) for ordered in (counts, counts[::-1]))
    below, above = (below, above) if below + above < len(counts) else (0, 0)
    return _written(column, float(finer[below]), float(finer[len(counts) - above]) - unit)


def _climb(vault: Vault, column: Column, look: Allowance, rungs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Noisy counts between the rungs, and the standard deviation of the noise.

    What lies below the first rung or above the last counts with the outermost ranges.
    """
    query = Ladder(column.name, tuple(rungs[1:-1].tolist()))
    counts = vault.spend(query, look)[:-1].astype(np.float64)
    return counts, look.deviation(query, vault.schema)


def _until_held(counts: NDArray[np.float64], spread: float) -> int:
    """How many ranges to leave out from the front: until one alone, or all of them together, hold more than noise."""
    together = np.cumsum(counts) > _TOGETHER * spread * np.sqrt(np.arange(1, len(counts) + 1))
    held = np.flatnonzero((counts > _ALONE * spread) | together)
    return int(held[0]) if len(held) else int(counts.argmax())


def _while_empty(counts: NDArray[np.float64], spread: float, rows: float) -> int:
    """How many ranges to leave out from the front: as long as they surely hold few rows. A bound too wide does little harm."""
    most = np.cumsum(counts) + spread * np.sqrt(np.arange(1, len(counts) + 1))
    return int(np.flatnonzero(most <= _FEW * rows).max(initial=-1)) + 1


def _unit(column: Column) -> float:
    """The smallest step of a ladder."""
    return column.step if column.step is not None else 2.0**_FINEST


def _powers(most: int) -> NDArray[np.float64]:
    """Where ranges of whole numbers meet: {0}, {1}, {2, 3}, {4, ..., 7} and so on, and the same below zero."""
    up = 2.0 ** np.arange(most + 1)
    return np.concatenate([1 - up[::-1], up])


def _years() -> NDArray[np.float64]:
    return np.array([datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(_YEARS[0], _YEARS[1] + 1)])


def _written(column: Column, low: float, high: float) -> Bounds:
    """Bounds as the column writes its values."""
    if column.kind is not Kind.REAL:
        return Bounds(int(low), max(int(high), int(low)))
    if column.decimals is not None:
        low, high = round(low, column.decimals), round(high, column.decimals)
    return Bounds(low, max(low, high))


def _guess(column: Column) -> Column:
    """A domain to plan with; it says nothing about the rows."""
    domain: Any
    if column.kind in CODED:
        domain = Levels((*(f"level {i}" for i in range(1, 8)), OTHER))
    elif column.kind is Kind.DATE:
        domain = Bounds(int(_years()[0]), int(_years()[-1]) - DAY)
    else:
        domain = Bounds(0, 2**31 - 1) if column.kind is Kind.INTEGER else Bounds(0.0, 2.0**31)
    return replace(column, domain=domain, required=False, hierarchy=None if column.kind in CODED else column.hierarchy)


def _inside(old: Column, new: Column, array: Array) -> Array:
    if isinstance(new.domain, Levels):
        places = new.domain.index
        other = len(new.levels) - 1
        # A last one for missing, which is the code -1. The level OTHER of the rows is one of the others.
        codes = [places.get(level, other) for level in old.levels]
        return np.array([*codes, -1], np.int32)[array.astype(np.int64)]
    clipped = np.clip(array, new.bounds.low, new.bounds.high)
    return np.where(old.is_missing(array), np.nan if new.kind is Kind.REAL else MISSING_INTEGER, clipped).astype(new.dtype)
