"""Whom the quasi-identifiers single out, for any choice of them: values are coded once, so that another choice is answered at once.

Everything here is read off the rows without protection: it is for whoever holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.table.profile import NEAR_KEY, Following, Follows
from hushtable.table.singling import Columns, Part, Singling, smallest
from hushtable.table.table import Table

WORK = 5_000_000
"""So many values are read in the search for a smallest set before it goes on with one set of each size alone; a third of them
where people are told apart, which takes longer."""
SATURATED = 0.95
"""Share of the people who are singled out, from which on what a column adds says little."""
SEARCHED = 60
"""Of more columns than this only those with most values are searched, and no set is then proven to be the smallest."""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """Whom the quasi-identifiers single out together, and whom the other columns do that would leave beside them."""

    quasi: tuple[str, ...]
    rows: int
    people: int
    """Rows, where every row is a person of its own."""
    alone: float
    """Share of the people whom the quasi-identifiers single out together."""
    half: Singling
    """The smallest sets of quasi-identifiers that single out half as many."""
    others_alone: float
    """Share of the people whom all other columns that would be released single out together."""
    others_half: Singling
    """The smallest sets of these that single out half as many."""
    near_keys: tuple[str, ...]
    """Those of them that single out a fifth of the people each by itself."""

    @property
    def saturated(self) -> bool:
        """Whether the quasi-identifiers single out so many people that a column can hardly add to it."""
        return self.alone >= SATURATED

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return {**asdict(self), "saturated": self.saturated, "half": self.half.to_json(), "others_half": self.others_half.to_json()}


@dataclass(frozen=True, kw_only=True)
class ColumnRisk:
    """What one column adds to the risk of being singled out."""

    name: str
    alone: float
    """Share of the people who have a value, or lack one, that nobody else has or lacks."""
    adds: float | None
    """Share of the people whom the quasi-identifiers single out with this column and not without; None for what never leaves."""
    follows: tuple[Follows, ...]
    """The other columns that tell it, for 99 rows in 100."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return asdict(self)


class Uniqueness:
    """How unique people are by their columns. Who holds several rows is counted once, if the table says who."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns = Columns(table, table.schema.released if table.rows else ())
        self.following = Following(self.columns)
        self._alone: dict[str, float] = {}

    def headline(self, quasi: Iterable[str] | None = None) -> Headline:
        """Whom these columns single out, or the quasi-identifiers of the schema; InputError for a column that never leaves."""
        names = self._quasi(quasi)
        others = tuple(name for name in self.columns.names if name not in names)
        alone, others_alone = self.columns.share(names), self.columns.share(others)
        return Headline(
            quasi=names, rows=self.table.rows, people=self.columns.people, alone=alone, half=self._half(names, alone),
            others_alone=others_alone, others_half=self._half(others, others_alone),
            near_keys=tuple(name for name in others if self.alone(name) >= NEAR_KEY),
        )  # fmt: skip

    def bars(self, quasi: Iterable[str] | None = None, of: Iterable[str] | None = None) -> Iterator[ColumnRisk]:
        """What each column adds, one by one as they are found: the quasi-identifiers first, then all others; or ``of`` some."""
        names, asked = self._quasi(quasi), set(self.table.schema.names if of is None else of)
        place = self.columns.names.index
        own = [place(name) for name in names]
        whole = self.columns.of(own)
        rest = self.columns.of(column for column in own if self.columns.names[column] not in asked)
        for column, without in _without_each(self.columns, rest, [c for c in own if self.columns.names[c] in asked]):
            yield self._bar(self.columns.names[column], whole.singled - without.singled)
        for name in self.table.schema.names:
            if name not in asked or name in names:
                continue
            if name not in self.columns.names:
                yield self._bar(name, None)
            else:
                singled, _ = self.columns.measure(whole, place(name))
                yield self._bar(name, singled - whole.singled)

    def alone(self, name: str) -> float:
        """Share of the people who have a value of this column, or lack one, that nobody else has or lacks."""
        if name not in self._alone:
            columns = self.columns if name in self.columns.names else Columns(self.table, [name])
            self._alone[name] = columns.share([name])
        return self._alone[name]

    def _bar(self, name: str, added: int | None) -> ColumnRisk:
        adds = None if added is None else added / max(1, self.columns.people)
        return ColumnRisk(name=name, alone=self.alone(name), adds=adds, follows=self.following.of(name))

    def _half(self, names: Sequence[str], alone: float) -> Singling:
        if not alone:
            return Singling(0.0, (), proven=True)
        work = WORK if self.columns.persons is None else WORK // 3
        sizes = dict(zip(self.columns.names, self.columns.sizes, strict=True))
        some = sorted(names, key=sizes.__getitem__, reverse=True)[:SEARCHED]
        found = smallest(self.columns.among([name for name in names if name in some]), (alone / 2,), work)[0]
        return found if len(some) == len(names) else replace(found, proven=False)

    def _quasi(self, quasi: Iterable[str] | None) -> tuple[str, ...]:
        """In the order of the table."""
        asked = set(self.table.schema.quasi if quasi is None else quasi)
        known = self.columns.names
        if strange := sorted(asked - set(known)) if self.table.rows else []:
            reason = "is no column that would be released"
            raise InputError([Fault("quasi-identifiers", f"{name!r} {reason}{meant(name, known)}") for name in strange])
        return tuple(name for name in known if name in asked)


def _without_each(columns: Columns, part: Part, left: Sequence[int]) -> Iterator[tuple[int, Part]]:
    """For each of these columns, the part that all of the others make: halves are added to each other's."""
    if len(left) == 1:
        yield left[0], part
    elif left:
        middle = len(left) // 2
        for one, other in ((left[:middle], left[middle:]), (left[middle:], left[:middle])):
            extended = part
            for column in other:
                extended = columns.extend(extended, column)
            yield from _without_each(columns, extended, one)
