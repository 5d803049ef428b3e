"""Domains learnt from the rows, and paid for: which values a category has, and between which bounds a number lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hushtable.encode.kinds import DROWNED, Kinds, Shapes, decimals_for, voted
from hushtable.encode.ladder import PARTS, LearntBounds, bounds_of, decades
from hushtable.errors import Fault, InputError, PlanError
from hushtable.pipeline.step import Coder, Plan, Reads, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.query import Ladder, Occupied
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array
from hushtable.table.columns import CODED, DAY, FREE, MISSING_INTEGER, Bounds, Column, Facet, Kind, Levels
from hushtable.table.defaults import WORDS
from hushtable.table.schema import Schema
from hushtable.table.table import Table

OTHER = "OTHER"
"""What values become that too few rows share."""
VOTE = 0.25
"""The part of a column's allowance that goes to the query of its kind, where nobody declared it."""


@dataclass(frozen=True, kw_only=True)
class LearnDomain(Coder):
    """Learn the domains, and the kinds, that nobody declared, with a part of the budget.

    Where the kind of a column was drafted from the rows, its cells are texts here (``table/defaults.py``), and noisy counts
    of their shapes decide whether they are numbers, dates or words; a text of another shape becomes missing. A category keeps
    the values that are common enough to be released (a stability histogram: Korolova, Kenthapadi, Mishra and Ntoulas 2009); all
    others become OTHER, so that a value only one person has comes out with a probability of at most its part of delta. A number
    or date is counted on a public ladder of ranges (powers of two; decades), then on a finer one inside what was learnt, and
    clipped to the ranges that hold rows. One record lies in one range of each, and has one shape. Where the rows are too few for
    the noise, the column is refused, from the noisy counts alone. It must come before any step that touches these columns: what
    another step made of an observed domain stays observed. The columns leave with the learnt domain, which may
    be missing, and nothing leads back.
    """

    columns: tuple[str, ...] = ()
    """The columns to learn; when empty, those of which anything was read off the rows."""
    share: float = 0.1
    """Its part of the budget relative to the other steps'. It is spent only if there is something to learn."""

    def __post_init__(self) -> None:
        """A positive share."""
        check_knobs(self)

    @property
    def spends(self) -> bool:
        """Every query is paid for."""
        return True

    @property
    def learns_domains(self) -> bool:
        """It may be given domains that were read off the rows: it does not read them."""
        return True

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Guesses kinds and domains: they are not known before the rows are read."""
        columns = self._columns(schema)
        paid = self._paid(schema, columns)
        guess = _learnt(schema, [_guess(schema[name]) if name in paid else schema[name] for name in columns])
        if guess == schema:
            return Plan(schema=schema, stability=1, reads=Reads.COUNTS)
        drafted = schema.drafted or any(schema[name].drafted for name in columns)
        words = [name for name in paid if _may_be_words(schema[name])]
        if budget is not None and words and budget.rho is None:
            raise PlanError(
                f"learn-domain: which values {', '.join(words)} has can only be learnt with a small probability of failure: give a "
                "delta above 0, or declare the values in the schema"
            )
        events: list[Event] = []
        unknown = False
        for part in _parts(schema, paid, budget) if budget is not None and paid else []:
            if part.vote is not None:
                unknown = True
                events.append(part.vote.event(Shapes(part.name), schema))
            if part.name in words:
                events.append(part.rest.discovery(Occupied((part.name,), missing=False), schema, part.delta))
            else:
                events += [each.event(Ladder(part.name, (0.0,)), schema) for each in part.rest.split(PARTS)]
        # Whether a column of unknown kind is searched for values or climbed on a ladder, for the same price, is known only then.
        public = (WORDS,) if drafted else ()
        return Plan(
            schema=guess, events=tuple(events), stability=1, one_way=True, adaptive=unknown, public=public, reads=Reads.COUNTS
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Learned:
        """Learn every column; InputError names all of which the noise drowns the kind or the range."""
        columns = self._columns(vault.schema)
        paid = self._paid(vault.schema, columns)
        parts = _parts(vault.schema, paid, vault.paid()) if paid else []
        faults = list[Fault]()
        kinds = Kinds(vault.schema, {part.name: _kind(vault, part, faults) for part in parts if part.vote is not None})
        if faults:
            raise InputError(faults)
        vault = vault.through(kinds)
        learnt, bounded, counted = dict[str, Column](), list[LearntBounds](), dict[str, tuple[float, int]]()
        for number, part in enumerate(parts, 1):
            column = vault.schema[part.name]
            if column.kind in CODED:
                levels, counted[part.name] = _levels(vault, column, part.rest, part.delta)
                learnt[part.name] = replace(column, domain=levels, required=False, hierarchy=None)
            elif isinstance(at := bounds_of(vault, column, part.rest), LearntBounds):
                bounded.append(at)
                learnt[part.name] = _bounded(column, at.bounds)
            else:
                faults.append(
                    Fault(
                        part.name,
                        f"the noise drowns its range (about {at:,} rows would be needed at this epsilon); declare its bounds",
                    )
                )
            vault.report(number / len(parts))
        if faults:
            raise InputError(faults)
        if bounded:
            rows = float(np.median([at.rows for at in bounded]))
        else:
            rows = max((count for count, _ in counted.values()), default=0.0)
        return Learned(
            _learnt(vault.schema, [learnt.get(name, vault.schema[name]) for name in columns]),
            tuple(learnt),
            _shares(counted, rows),
            {name: least for name, (_, least) in counted.items()},
            kinds,
        )

    def _paid(self, schema: Schema, columns: Sequence[str]) -> list[str]:
        """The columns whose domain is learnt: those that are named, or whose domain was read off the rows."""
        return [name for name in columns if self.columns or schema[name].observed]

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        seen = tuple(schema.undeclared)
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
    """For each category about the share of the rows that became OTHER or are missing, as the noisy counts say."""
    least: dict[str, int] = field(default_factory=dict)
    """About how many rows a value needs to be released."""
    kinds: Kinds = field(default_factory=Kinds)
    """The kinds that were learnt."""
    stability: int = field(default=1)

    def result(self) -> dict[str, Any]:
        """The learnt domains and what they left out: functions of noisy counts alone."""
        if not self.columns:
            return {}
        learnt: dict[str, Any] = {}
        for name in self.columns:
            column = self.schema[name]
            if isinstance(column.domain, Levels):
                learnt[name] = {"levels": list(column.levels)}
            else:
                learnt[name] = {"low": column.bounds.low, "high": column.bounds.high}
            if name in self.kinds.learnt:
                learnt[name]["kind"] = str(self.kinds.learnt[name][0])
            if name in self.other:
                learnt[name]["other_or_missing"] = round(self.other[name], 3)
        lost = [
            f"about {share:.0%} of the rows of {name} became {self.schema[name].levels[-1]} or are missing: "
            f"a value needs about {self.least[name]:,} rows to be released"
            for name, share in self.other.items()
            if share > 0.5
        ]
        return {"learnt": learnt, "note": "; ".join(lost)} if lost else {"learnt": learnt}

    def apply(self, table: Table) -> Table:
        """Texts become what their column holds, and values outside the learnt domain OTHER, or the nearest bound."""
        table = self.kinds.apply(table)
        inside = {n: _inside(table.schema[n], self.schema[n], table[n]) for n in self.columns}
        return Table(self.schema, {**table.arrays, **inside}, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """The learnt domain stays."""
        return table


@dataclass(frozen=True)
class _Part:
    """What may be spent on one column: on a query of its kind, if nobody declared it, and on its domain."""

    name: str
    vote: Allowance | None
    rest: Allowance
    delta: float
    """The part of delta, if it may turn out to be a category."""


def _parts(schema: Schema, columns: Sequence[str], budget: Allowance) -> list[_Part]:
    """The allowance shared out among the columns whose domain is to be learnt."""
    paid = [schema[name] for name in columns]
    words = sum(_may_be_words(column) for column in paid)
    left, delta = budget.outright() if words else (budget, 0.0)
    parts = []
    for column, part in zip(paid, left.split([1.0] * len(paid)), strict=True):
        vote, rest = part.split([VOTE, 1 - VOTE]) if Facet.KIND in column.drafted else (None, part)
        parts.append(_Part(column.name, vote, rest, delta / max(words, 1)))
    return parts


def _may_be_words(column: Column) -> bool:
    return column.kind in CODED or Facet.KIND in column.drafted


def _kind(vault: Vault, part: _Part, faults: list[Fault]) -> tuple[Kind, str | None]:
    """The kind of a column of texts, and the format of its dates; a fault where the noise drowns it."""
    assert part.vote is not None
    query = Shapes(part.name)
    deviation = part.vote.deviation(query, vault.schema)
    kind = voted(part.name, vault.spend(query, part.vote).astype(np.float64), deviation)
    if kind is None:
        needed = math.ceil(float(f"{DROWNED * deviation:.1e}"))
        faults.append(Fault(part.name, f"the noise drowns its kind (about {needed:,} rows would be needed); declare its kind"))
    return kind or (Kind.CATEGORY, None)


def _bounded(column: Column, bounds: Bounds) -> Column:
    """The column within learnt bounds; where nobody declared how many decimals it has, with those that its range is worth."""
    if column.kind is Kind.REAL and Facet.DECIMALS in column.drafted:
        digits = decimals_for(bounds)
        bounds = Bounds(round(bounds.low, digits), round(bounds.high, digits))
        column = replace(column, decimals=digits)
    return replace(column, domain=bounds, required=False)


def _learnt(schema: Schema, columns: Sequence[Column]) -> Schema:
    """The schema with these columns, of which nothing is left that was read off the rows."""
    # What is known of declared values says nothing of those that will be learnt.
    names = {column.name for column in columns if column.domain != schema[column.name].domain}
    alone = [c.name for c in schema if c.determined_by is not None and names & {c.name, c.determined_by.source}]
    learnt = schema.with_columns(*(column.declared() for column in columns))
    learnt = learnt.with_columns(*(replace(learnt[name], determined_by=None) for name in alone))
    return replace(learnt, drafted=schema.drafted and bool(learnt.undeclared))


def _shares(counted: dict[str, tuple[float, int]], rows: float) -> dict[str, float]:
    """The share of about so many rows that the released values leave out."""
    return {name: float(np.clip(1 - count / rows, 0.0, 1.0)) if rows > 0 else 1.0 for name, (count, _) in counted.items()}


def _levels(vault: Vault, column: Column, part: Allowance, delta: float) -> tuple[Levels, tuple[float, int]]:
    """The values that may be released, and OTHER; about how many rows have one of them, and how many each needs.

    A category's values are sorted: their order in the schema may come from the rows.
    """
    cells = Occupied((column.name,), missing=False)
    codes, counts = vault.discover(cells, part, delta)
    values = [column.levels[code] for code in codes[:, 0].tolist()]
    if column.kind is Kind.CATEGORY:
        values.sort()
    other = OTHER
    while other in values or other in column.missing or other in vault.schema.missing:
        other += "_"
    return Levels((*values, other)), (float(counts.sum()), part.discovery(cells, vault.schema, delta).threshold)


def _guess(column: Column) -> Column:
    """A kind and a domain to plan with; they say nothing about the rows."""
    domain: Any
    if _may_be_words(column):
        levels = Levels((*(f"level {i}" for i in range(1, 8)), OTHER))
        kind = Kind.CATEGORY if Facet.KIND in column.drafted else column.kind
        return Column(name=column.name, kind=kind, role=column.role, missing=column.missing, domain=levels)
    if column.kind is Kind.DATE:
        domain = Bounds(int(decades()[0]), int(decades()[-1]) - DAY)
    else:
        domain = Bounds(0, 2**31 - 1) if column.kind is Kind.INTEGER else Bounds(0.0, 2.0**31)
    return replace(column, domain=domain, required=False)


def _inside(old: Column, new: Column, array: Array) -> Array:
    if isinstance(new.domain, Levels):
        places = new.domain.index
        other = len(new.levels) - 1
        # A last one for missing, which is the code -1. The level OTHER of the rows is one of the others.
        codes = [places.get(level, other) for level in old.levels]
        return np.array([*codes, -1], np.int32)[array.astype(np.int64)]
    if new.kind is Kind.REAL and new.decimals is not None:
        array = np.round(array, new.decimals)
    clipped = np.clip(array, new.bounds.low, new.bounds.high)
    return np.where(old.is_missing(array), np.nan if new.kind is Kind.REAL else MISSING_INTEGER, clipped).astype(new.dtype)
