"""Which columns link released rows to the people they were made from, beyond chance.

Columns that do harm are found by leaving columns out, one after the other, until the rest no longer stands in the release more
often for training people than for others: whoever changes them removes the link. Nothing here depends on values beyond their
being equal or near.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.confidence import fisher
from hushtable.evidence.persons import People
from hushtable.table.arrays import Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

HARMLESS = 0.05
"""What is left links nobody beyond chance where chance explains it with at least this probability."""
MOST, RELEASED = 4_000, 20_000
"""People of each side, and released rows, among whom columns are left out one by one: a sample finds the same columns."""
NEAR = 0.01
"""Numbers this near, as a share of their range, are hardly changed."""
NEARLY = 0.95
"""From this share on, released rows carry something nearly always."""


@dataclass(frozen=True, eq=False)
class Links:
    """What columns of a case link, each set of them counted once."""

    case: Case
    _links: dict[tuple[frozenset[str], bool], tuple[float, float]] = field(default_factory=dict)
    _hashed: dict[tuple[str, bool], dict[str, Integers]] = field(default_factory=dict)

    def equal(self, which: str, name: str, rows: Integers, released: Integers) -> Mask:
        """Whether rows of one side have what released rows have in a column."""
        ids = self.case.value_ids(name)
        return np.asarray(ids[which][rows] == ids["release"][released])

    def near(self, which: str, name: str, rows: Integers, released: Integers) -> Mask:
        """The same where a number that is hardly changed counts as well."""
        if not self.case.train.schema[name].numeric:
            return self.equal(which, name, rows, released)
        reach = NEAR * self.case.encoding((name,)).ranges[name]
        ours, theirs = self.case.tables[which].floats(name)[rows], self.case.ordinary().floats(name)[released]
        return (np.abs(ours - theirs) <= reach) | (np.isnan(ours) & np.isnan(theirs))

    def p(self, columns: frozenset[str], *, near: bool) -> float:
        """How likely chance puts these columns of so many more training people into released rows."""
        return self._link(columns, near=near)[0]

    def _link(self, columns: frozenset[str], *, near: bool) -> tuple[float, float]:
        """That probability, and by how much the share of training people is larger."""
        if not columns:
            return 1.0, 0.0
        if (columns, near) not in self._links:
            rows = {which: self._rows(which, columns, near=near) for which in ("train", "control", "release")}
            released = np.unique(rows["release"])
            ours, others = (self._sides[which].any(np.isin(rows[which], released)) for which in ("train", "control"))
            p = fisher(int(ours.sum()), len(ours), int(others.sum()), len(others))
            self._links[columns, near] = p, float(ours.mean() - others.mean())
        return self._links[columns, near]

    def harmful(self, columns: frozenset[str], *, near: bool) -> frozenset[str]:
        """Columns to change so that the rest links nobody beyond chance: each time the one without which least is linked."""
        rest, harmful = columns, frozenset[str]()
        while rest and self.p(rest, near=near) < HARMLESS:
            worst = min(sorted(rest), key=lambda name: self._link(rest - {name}, near=near)[1])
            rest, harmful = rest - {worst}, harmful | {worst}
        return harmful

    def kept(self, columns: frozenset[str]) -> frozenset[str]:
        """Of some columns those that released rows carry together most often, beyond chance."""
        return self.case.once(("kept columns", columns), lambda: self._most_carried(columns))

    def _most_carried(self, columns: frozenset[str]) -> frozenset[str]:
        kept, share = columns, self.carried(columns)
        while len(kept) > 1 and share < NEARLY:
            best = max(sorted(kept), key=lambda name: self.carried(kept - {name}))
            if (more := self.carried(kept - {best})) <= share:
                break
            kept, share = kept - {best}, more
        return kept

    def carried(self, columns: frozenset[str], *, near: bool = False) -> float:
        """The share of released rows that have these columns of a training row, beyond that of rows of people outside."""

        def share() -> float:
            ours, fresh, released = (self._rows(which, columns, near=near) for which in ("train", "control", "release"))
            return max(0.0, float(np.isin(released, ours).mean() - np.isin(fresh, ours).mean()))

        return self.case.once(("carried columns", columns, near), share)

    def ordered(self, columns: Iterable[str]) -> list[str]:
        """The columns that identify most first: those with the most different values."""
        return sorted(columns, key=lambda name: (-self._distinct(name), name))

    def _distinct(self, name: str) -> int:
        return len(np.unique(self.case.value_ids(name)["train"])) if name in self.case.compared else 0

    @property
    def _sides(self) -> dict[str, People]:
        """Who holds the rows that are looked at."""
        return self.case.once("cause sides", lambda: {w: self.case.people(w).among(self._some(w)) for w in ("train", "control")})

    def _some(self, which: str) -> Integers:
        """The rows that are looked at: all, or those of as many people as are enough."""

        def chosen() -> Integers:
            if which == "release":
                rows = np.random.default_rng(0).permutation(self.case.release.rows)[:RELEASED]
            else:
                people = self.case.people(which)
                rows = people.rows_of(np.random.default_rng(0).permutation(people.count)[:MOST])
            return np.sort(rows)

        return self.case.once(("cause rows", which), chosen)

    def _rows(self, which: str, columns: frozenset[str], *, near: bool) -> Integers:
        """A number for each row that is looked at, equal where these columns are (but for collisions of 64 bits)."""
        total = np.zeros(len(self._some(which)), np.uint64)
        for name in sorted(columns):
            total += self._hashes(name, near=near)[which]
        return total  # type: ignore[return-value] # only ever compared

    def _hashes(self, name: str, *, near: bool) -> dict[str, Integers]:
        """A random number for each value of a column; sums of them stand for combinations."""
        if (name, near) not in self._hashed:
            ids = self._steps(name) if near and self.case.train.schema[name].numeric else self.case.value_ids(name)
            size = max(int(own.max(initial=0)) for own in ids.values()) + 1
            drawn = np.random.default_rng([*name.encode(), near]).integers(0, 2**64, size, dtype=np.uint64)
            self._hashed[name, near] = {which: drawn[own[self._some(which)]] for which, own in ids.items()}  # type: ignore[misc]
        return self._hashed[name, near]

    def _steps(self, name: str) -> dict[str, Integers]:
        """A number in steps as wide as what counts as hardly changed."""
        reach = 4 * NEAR * self.case.encoding((name,)).ranges[name] or 1.0
        tables = {"train": self.case.train, "control": self.case.control, "release": self.case.ordinary()}
        steps = {which: np.floor(table.floats(name) / reach) for which, table in tables.items()}
        ends = np.cumsum([len(own) for own in steps.values()])[:-1]
        codes = np.unique(np.concatenate(list(steps.values())), return_inverse=True)[1]
        return dict(zip(steps, np.split(codes, ends), strict=True))
