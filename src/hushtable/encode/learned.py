"""Domains learnt from the rows, and paid for: which values a category has, and between which bounds a number lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hushtable.encode.ladder import LOOKS, Found, bounds_of, decades
from hushtable.errors import Fault, InputError, PlanError
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
PUBLIC = "kinds, decimals, date formats and missing codes of all columns, also of those whose domain was learnt"


@dataclass(frozen=True, kw_only=True)
class LearnDomain(Coder):
    """Learn the domains that nobody declared, with a part of the budget.

    A category keeps the values that are common enough to be told (a stability histogram: Korolova, Kenthapadi, Mishra and Ntoulas
    2009); all others become OTHER, so that a value only one person has comes out with a probability of at most its part of
    delta. A number or date is counted on a public ladder of ranges (powers of two; decades), then on a finer one inside
    what was found, and clipped to the ranges that hold rows. One record lies in one range of each. Where the rows are too few
    for the noise, the column is refused, from the noisy counts alone. It must come first: the columns leave with the
    learnt domain, which may be missing, and nothing leads back.
    """

    columns: tuple[str, ...] = ()
    """The columns to learn; when empty, those whose domain was read off the rows."""
    share: float = 0.1
    """Its part of the budget relative to the other steps'. It is spent only if there is something to learn."""

    def __post_init__(self) -> None:
        """A positive share."""
        check_knobs(self)

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
                    events += [look.event(Ladder(name, (0.0,)), schema) for look in part.split(LOOKS)]
        guess = schema.with_columns(*(_guess(schema[name]) for name in columns))
        return Plan(schema=guess, events=tuple(events), stability=1, one_way=True, public=(PUBLIC,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Learned:
        """Learn every column; InputError names all numbers whose range the noise drowns."""
        columns = self._columns(vault.schema)
        learnt, found, told, faults = list[Column](), list[Found](), dict[str, tuple[float, int]](), list[Fault]()
        for number, (name, part, delta) in enumerate(_parts(vault.schema, columns, vault.paid()) if columns else [], 1):
            column = vault.schema[name]
            if column.kind in CODED:
                levels, told[name] = _levels(vault, column, part, delta)
                learnt.append(replace(column, domain=levels, required=False, hierarchy=None))
            elif isinstance(at := bounds_of(vault, column, part), Found):
                found.append(at)
                learnt.append(replace(column, domain=at.bounds, required=False))
            else:
                faults.append(
                    Fault(
                        name, f"the noise drowns its range (about {at:,} rows would be needed at this epsilon); declare its bounds"
                    )
                )
            vault.report(number / len(columns))
        if faults:
            raise InputError(faults)
        rows = float(np.median([at.rows for at in found])) if found else max((count for count, _ in told.values()), default=0.0)
        return Learned(
            vault.schema.with_columns(*learnt),
            tuple(c.name for c in learnt),
            _shares(told, rows),
            {name: least for name, (_, least) in told.items()},
        )

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
    other: dict[str, float] = field(default_factory=dict)
    """For each category about the share of the rows that became OTHER or are missing, as the noisy counts tell it."""
    least: dict[str, int] = field(default_factory=dict)
    """About how many rows a value needs to be told."""
    stability: int = field(default=1)

    def result(self) -> dict[str, Any]:
        """The learnt domains and what they left out: functions of noisy counts alone."""
        if not self.columns:
            return {}
        learnt: dict[str, Any] = {}
        for name in self.columns:
            domain = self.schema[name].domain
            levels = isinstance(domain, Levels)
            learnt[name] = {"levels": list(domain.levels)} if levels else {"low": domain.low, "high": domain.high}
            if name in self.other:
                learnt[name]["other_or_missing"] = round(self.other[name], 3)
        lost = [
            f"about {share:.0%} of the rows of {name} became {self.schema[name].levels[-1]} or are missing: "
            f"a value needs about {self.least[name]:,} rows to be told"
            for name, share in self.other.items()
            if share > 0.5
        ]
        return {"learnt": learnt} | ({"note": "; ".join(lost)} if lost else {})

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


def _shares(told: dict[str, tuple[float, int]], rows: float) -> dict[str, float]:
    """What the told values leave out of about so many rows."""
    return {name: float(np.clip(1 - count / rows, 0.0, 1.0)) if rows > 0 else 1.0 for name, (count, _) in told.items()}


def _levels(vault: Vault, column: Column, part: Allowance, delta: float) -> tuple[Levels, tuple[float, int]]:
    """The values that may be told, and OTHER; about how many rows have one of them, and how many each needs.

    A category's values are sorted: their order in the schema may come from the rows.
    """
    cells = Occupied((column.name,), missing=False)
    codes, counts = vault.discover(cells, part, delta)
    told = [column.levels[code] for code in codes[:, 0].tolist()]
    if column.kind is Kind.CATEGORY:
        told.sort()
    other = OTHER
    while other in told or other in column.missing or other in vault.schema.missing:
        other += "_"
    return Levels((*told, other)), (float(counts.sum()), part.discovery(cells, vault.schema, delta).threshold)


def _guess(column: Column) -> Column:
    """A domain to plan with; it says nothing about the rows."""
    domain: Any
    if column.kind in CODED:
        domain = Levels((*(f"level {i}" for i in range(1, 8)), OTHER))
    elif column.kind is Kind.DATE:
        domain = Bounds(int(decades()[0]), int(decades()[-1]) - DAY)
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
