"""What rows give away: each column by itself, what follows from what, and whom a few columns single out.

Everything here is read off the rows without protection: it is for whoever holds them, and decides nothing that is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.display import Shown
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.singling import Columns, Singling, SinglingSet, smallest
from hushtable.table.table import Table

NEARLY = 0.99
"""A column follows from another that decides it for so many of the rows."""
NEAR_KEY = 0.2
"""A column that singles out so many of the people all by itself is nearly a key."""
RECURRING = 200
"""A number with more values than this, or scattered over ten times as many, is an amount, rarely known to the last digit."""
RECUR = 8
"""Where numbers have fewer rows to a value than this on average, they hardly recur either."""
_SCREENED = 2_000
"""So many rows show whether one column can follow from another at all."""
_CELLS = 2_000_000
"""The largest table of two columns that is counted."""


@dataclass(frozen=True)
class Follows:
    """A column that another one decides."""

    source: str
    share: float
    """Of the rows whose value is the one that the source suggests."""
    both: bool
    """Whether the source follows from this column too: one is a copy of the other, or another way to write it."""


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """One column."""

    name: str
    kind: Kind
    role: Role
    missing: float
    """Share of the rows without a value."""
    distinct: int
    """How many values there are, missing not counted."""
    alone: float
    """Share of the people who have a value, or lack one, that nobody else has or lacks."""
    amount: bool
    """Whether it is a number whose values hardly recur."""
    follows: tuple[Follows, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Profile(Shown):
    """A look at raw rows. It is for whoever holds them alone."""

    rows: int
    people: int
    columns: tuple[ColumnProfile, ...]
    aside: tuple[str, ...]
    """Identifiers, keys and free text: they never leave, and are not searched."""
    alone: float
    """Share of the people whom all columns together single out."""
    singling: tuple[Singling, ...]
    """The smallest sets of columns that single out 1, 5, 20 and 50 % of the people, of all that would be released."""
    near_keys: tuple[str, ...]
    """Columns that single out a fifth of the people each by itself."""
    recurring: tuple[Singling, ...]
    """The same search without near-keys and amounts, whose values others rarely know to the last digit."""

    def __repr__(self) -> str:
        """Counts only."""
        whom = "people" if self.people != self.rows else "rows"
        few = next((one.sets[0] for one in self.singling if one.share == NEAR_KEY and one.sets), None)
        found = f"; {_columns(few)} out {few.share:.0%} of the {whom}" if few else ""
        return f"Profile({self.rows:,} rows, {len(self.columns)} columns{found}; for you alone)"

    def __getitem__(self, name: str) -> ColumnProfile:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        columns = [
            {
                "name": c.name, "kind": str(c.kind), "role": str(c.role), "missing": c.missing, "distinct": c.distinct,
                "alone": c.alone, "amount": c.amount,
                "follows": [{"source": f.source, "share": f.share, "both": f.both} for f in c.follows],
            }
            for c in self.columns
        ]  # fmt: skip
        return {
            "private": "read off raw rows: for whoever holds them alone",
            "rows": self.rows,
            "people": self.people,
            "columns": columns,
            "aside": list(self.aside),
            "alone": self.alone,
            "singling": [one.to_json() for one in self.singling],
            "near_keys": list(self.near_keys),
            "recurring": [one.to_json() for one in self.recurring],
        }


def _columns(few: SinglingSet) -> str:
    return "1 column singles" if len(few.columns) == 1 else f"{len(few.columns)} columns single"


def profile(table: Table) -> Profile:
    """Each column by itself, what follows from what, and the smallest sets of columns that single people out."""
    names = [name for name in table.schema.released if table.rows]
    searched = Columns(table, names)
    alone = {name: searched.share([name]) for name in names}
    near_keys = tuple(name for name in names if alone[name] >= NEAR_KEY)
    amounts = {name for name in names if amount(table, table.schema[name])}
    everyday = Columns(table, [name for name in names if name not in near_keys and name not in amounts])
    follows = following(searched)
    columns = []
    for column in table.schema:
        present = table[column.name][~table.missing(column.name)]
        columns.append(
            ColumnProfile(
                name=column.name, kind=column.kind, role=column.role, missing=1 - len(present) / max(1, table.rows),
                distinct=len(np.unique(present)), amount=column.name in amounts,
                alone=alone[column.name] if column.name in alone else Columns(table, [column.name]).share([column.name]),
                follows=follows.get(column.name, ()),
            )
        )  # fmt: skip
    return Profile(
        rows=table.rows,
        people=searched.people,
        columns=tuple(columns),
        aside=tuple(name for name in table.schema.names if name not in names),
        alone=searched.share(names),
        singling=smallest(searched),
        near_keys=near_keys,
        recurring=smallest(everyday),
    )


def amount(table: Table, column: Column) -> bool:
    """Whether a column holds numbers that hardly recur (an income, a weight, a laboratory value) and no ages, years or counts."""
    if column.kind not in (Kind.INTEGER, Kind.REAL) or column.generalized:
        return False
    values = table.floats(column.name)
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if len(distinct) < 2:
        return False
    scattered = column.kind is Kind.INTEGER and bool(distinct[-1] - distinct[0] > 10 * RECURRING)
    fractions = column.kind is Kind.REAL and len(distinct) > RECURRING // 4
    return len(distinct) > RECURRING or len(distinct) * RECUR > len(present) or scattered or fractions


class Following:
    """Which columns follow from which others for 99 rows in 100, found for one column at a time."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rows = len(columns.whole.rows)
        spread = [np.bincount(codes, minlength=1) / max(1, self.rows) for codes in columns.codes]
        # One value nearly everywhere follows from anything, and with few rows to a value anything seems to follow from it.
        self.telling = [shares.max(initial=0) <= 0.9 and len(shares) >= 2 for shares in spread]
        self.few = [size <= self.rows // 10 for size in columns.sizes]
        self.entropy = [float(-(s[s > 0] * np.log(s[s > 0])).sum()) for s in spread]
        screened = min(self.rows, _SCREENED, max(200, 20_000_000 // max(1, len(columns.names)) ** 2))
        places = np.linspace(0, self.rows - 1, screened).astype(np.int64)
        self.some = [codes[places] for codes in columns.codes]
        self._sources: dict[int, dict[int, float]] = {}

    def of(self, name: str) -> tuple[Follows, ...]:
        """The columns that this one follows from; the fewest values first, and copies among them."""
        names, sizes = self.columns.names, self.columns.sizes
        if name not in names:
            return ()
        target = names.index(name)
        found = self.sources(target)
        return tuple(
            Follows(names[source], found[source], both=target in self.sources(source))
            for source in sorted(found, key=lambda source: sizes[source])
        )

    def sources(self, target: int) -> dict[int, float]:
        """The places of the columns that one follows from, and for which share of the rows each decides it."""
        if target not in self._sources:
            others = (source for source in range(len(self.columns.names)) if source != target and self.telling[source])
            shares = {source: self._share(source, target) for source in others} if self.rows >= 100 and self.telling[target] else {}
            self._sources[target] = {source: share for source, share in shares.items() if share >= NEARLY}
        return self._sources[target]

    def _share(self, source: int, target: int) -> float:
        """For which share of the rows one column decides another; 0 where a part of them shows that it is too small."""
        codes, sizes = self.columns.codes, self.columns.sizes
        if not self.few[source]:
            # Among values that hardly recur only a copy can be told from chance.
            return float(sizes[source] == sizes[target] and _one_to_one(codes[source], codes[target], sizes[source]))
        if self.entropy[source] < self.entropy[target] - 0.15 or sizes[source] * sizes[target] > _CELLS:
            return 0.0
        if decided(self.some[source], self.some[target]) < NEARLY - 0.02:
            return 0.0
        return decided(codes[source], codes[target])


def following(columns: Columns) -> dict[str, tuple[Follows, ...]]:
    """For each column that follows from others, these."""
    found = Following(columns)
    return {name: sources for name in columns.names if (sources := found.of(name))}


def decided(source: Integers, target: Integers) -> float:
    """Share of the rows whose target is the most frequent one beside their source."""
    levels, values = int(target.max(initial=0)) + 1, int(source.max(initial=0)) + 1
    pairs = source * levels + target
    if levels * values <= 2 * len(source):
        most = np.bincount(pairs, minlength=levels * values).reshape(values, levels).max(axis=1)
    else:
        pairs, counts = np.unique(pairs, return_counts=True)
        most = np.zeros(values, np.int64)
        np.maximum.at(most, pairs // levels, counts)
    return float(most.sum() / max(1, len(source)))


def _one_to_one(one: Integers, other: Integers, size: int) -> bool:
    return len(np.unique(one * size + other)) == size
