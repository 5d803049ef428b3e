"""Domains learnt from the rows, and paid for: which values a category has, and between which bounds a number lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError, PlanError
from hushtable.pipeline.step import Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance, Noise
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
_YEARS = (1800, 2201)
_LOOKS = (3.0, 1.0)
"""The parts of the two looks at a number."""
_CHANCE = 0.01
"""The probability that noise makes any range of an empty ladder seem to hold rows."""
_SEEN = 0.1
"""A range with this share of the rows must stand out, or the ladder says nothing."""
_FEW = 0.01
"""The share of the rows that may lie beyond a bound."""
_BEYOND = 2
"""The most ranges of powers of two taken in beyond those that stand out, on either side; one decade."""
_NEAR = 3
"""Ranges of powers of two after which a number may as well begin at zero: it is an eighth of the whole away at most."""
_TOGETHER = 4.4
"""Standard deviations of the noise from which on all ranges up to the end together are taken to hold rows."""


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
                    events += [look.event(Ladder(name, (0.0,)), schema) for look in part.split(_LOOKS)]
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
            elif isinstance(at := _bounds(vault, column, part), Found):
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


@dataclass(frozen=True)
class Found:
    """Learnt bounds, and about how many rows the column has."""

    bounds: Bounds
    rows: float


def _bounds(vault: Vault, column: Column, part: Allowance) -> Found | int:
    """Two looks: on the public ladder, to find where rows are, then on equal ranges of that, to leave out what is empty.

    Where the noise drowns the ladder: about how many rows it would need.
    """
    first, second = part.split(_LOOKS)
    unit = _unit(column)
    rungs = _decades() if column.kind is Kind.DATE else unit * _powers(_POWERS if column.step is not None else _POWERS - _FINEST)
    counts, missing, spread = _climb(vault, column, first, rungs)
    sure = _sure(len(counts), first.noise) * spread
    held = np.flatnonzero(counts > sure)
    below, above = (int(held[0]), int(held[-1]) + 1) if len(held) else (0, 1)
    rows, needed = float(counts[below:above].sum()), sure
    drowned = not len(held) or _SEEN * rows < sure
    if not drowned:
        zero = None if column.kind is Kind.DATE else int(np.searchsorted(rungs, 0.0))
        below, above = _together(counts, spread, (below, above))
        unseen = _TOGETHER * spread * math.sqrt(len(counts) / 2)
        # Many zeros say nothing about the other values, which may be anywhere and together unseen.
        drowned = (below, above) == (zero, (zero or 0) + 1) and unseen > _SEEN * rows
        needed = unseen if drowned else sure
        below, above = _beside(counts, spread, (below, above), rows, zero)
        outside = np.append(counts[:below], counts[above:])
        drowned = drowned or float(outside.sum()) > max(2 * spread * math.sqrt(len(outside)), _SEEN * rows)
    low, high = float(rungs[below]), float(rungs[above])
    # In whole units: an edge between two of them would put values outside their own range.
    finer = low + unit * np.unique(np.round(np.linspace(0.0, float(round((high - low) / unit)), CLOSER + 1)))
    if drowned:
        _climb(vault, column, second, finer)
        # Rows may also be many and lie in too many ranges: then it takes more than there are.
        return math.ceil(float(f"{max(needed / _SEEN, 2 * float(counts.sum()), 1.0):.1e}"))
    counts, _, spread = _climb(vault, column, second, finer)
    below, above = (_while_empty(ordered, spread, rows) for ordered in (counts, counts[::-1]))
    below, above = (below, above) if below + above < len(counts) else (0, 0)
    bounds = _written(column, float(finer[below]), float(finer[len(counts) - above]) - unit)
    return Found(bounds, rows + max(missing, 0.0))


def _climb(vault: Vault, column: Column, look: Allowance, rungs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]:
    """Noisy counts between the rungs, that of missing values, and the standard deviation of the noise.

    What lies below the first rung or above the last counts with the outermost ranges.
    """
    query = Ladder(column.name, tuple(rungs[1:-1].tolist()))
    counts = vault.spend(query, look).astype(np.float64)
    return counts[:-1], float(counts[-1]), look.deviation(query, vault.schema)


def _sure(ranges: int, noise: Noise) -> float:
    """Standard deviations that noise exceeds in any of so many ranges with a small probability only (a union bound)."""
    odds = math.log(2 * ranges / _CHANCE)
    return math.sqrt(2 * odds) if noise is Noise.GAUSSIAN else odds / math.sqrt(2)


def _together(counts: NDArray[np.float64], spread: float, held: tuple[int, int]) -> tuple[int, int]:
    """The ranges that stand out, and those from which on all others up to the end together do."""
    least = _TOGETHER * spread * np.sqrt(np.arange(1, len(counts) + 1))
    below, above = (np.flatnonzero(np.cumsum(ordered) > least)[:1].tolist() for ordered in (counts, counts[::-1]))
    return min([held[0], *below]), max([held[1], *(len(counts) - place for place in above)])


def _beside(counts: NDArray[np.float64], spread: float, held: tuple[int, int], rows: float, zero: int | None) -> tuple[int, int]:
    """These ranges, and those beside them that may hold more than a few rows without standing out.

    ``zero`` is the range of 0, which is not passed: no number becomes negative, or positive, because of the noise.
    """
    below, above = held
    first, last = 0, len(counts)
    if zero is not None and below >= zero:
        first = zero
    elif zero is not None and above <= zero + 1:
        last = zero + 1
    few = _FEW * rows
    for _ in range(_BEYOND if zero is not None else 1):
        below -= bool(below > first and counts[below - 1] + 2 * spread > few)
        above += bool(above < last and counts[above] + 2 * spread > few)
    # All ranges from here to zero together are but a small part of those that are held.
    if above - below >= _NEAR:
        if first and counts[first:below].sum() + 2 * spread * math.sqrt(below - first) > few:
            below = first
        elif last < len(counts) and counts[above:last].sum() + 2 * spread * math.sqrt(last - above) > few:
            above = last
    return below, above


def _while_empty(counts: NDArray[np.float64], spread: float, rows: float) -> int:
    """How many ranges to leave out from the front: as long as they surely hold few rows. A bound too wide does little harm."""
    seen = np.maximum.accumulate(np.cumsum(counts)).clip(0.0)
    most = seen + spread * np.sqrt(np.arange(1, len(counts) + 1))
    return int(np.flatnonzero(most <= _FEW * rows).max(initial=-1)) + 1


def _unit(column: Column) -> float:
    """The smallest step of a ladder."""
    return column.step if column.step is not None else 2.0**_FINEST


def _powers(most: int) -> NDArray[np.float64]:
    """Where ranges of whole numbers meet: {0}, {1}, {2, 3}, {4, ..., 7} and so on, and the same below zero."""
    up = 2.0 ** np.arange(most + 1)
    return np.concatenate([1 - up[::-1], up])


def _decades() -> NDArray[np.float64]:
    return np.array([datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(*_YEARS, 10)])


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
        domain = Bounds(int(_decades()[0]), int(_decades()[-1]) - DAY)
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
