"""Released rows that agree with a person in the key columns: how many there are, and what they say about a secret.

Two rows match if all key columns agree: levels are equal (or sets of them meet), numbers differ by no more than a radius (or
their intervals come that close), missing values are both missing, and ``*`` agrees with everything. Rows are grouped by
their levels first, and searched within a group along the number that tells most pairs apart; equal rows are counted once,
with their multiplicity. No matrix of pairs is ever made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.audits.guesses import Floats, Secret
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Rows

ABSENT = -2e300
"""Where a missing number lies: at 0 from another missing one, far from every value and every one-sided interval."""
FARTHEST = 1e300


class Entries(NamedTuple):
    """Distinct rows of one table on keys and secret, sorted by group and then along one number."""

    codes: NDArray[np.int32]
    sets: NDArray[np.uint64]
    low: Floats
    high: Floats
    secret: Floats
    weight: Floats
    """How many rows of the table each stands for."""


class Rule(NamedTuple):
    """When keys agree, and secrets."""

    set_starts: Rows
    """Where the bits of each generalized key begin, and the end."""
    reach: Floats
    """For each number among the keys, how far apart matching values may lie."""
    along: int
    """The number that rows are sorted along; -1 if there is none."""
    secret_reach: float


@dataclass(frozen=True, eq=False)
class Side:
    """One table in a matching."""

    entries: Entries
    group: Rows
    """Of each entry, the number of its combination of levels."""
    first: Rows
    """The first row of the table that each entry stands for."""
    place: Rows
    """For each row of the table, its entry."""


@dataclass(frozen=True, eq=False)
class Matching:
    """Train, control and release, comparable on some key columns and a secret."""

    sides: dict[str, Side]
    rule: Rule

    @classmethod
    def of(cls, case: Case, keys: Sequence[str], secret: Secret, radius: float) -> Matching:
        """Numbers match within ``radius`` of their range, secrets within their margin."""
        encoding = case.encoding(keys)
        cells = {which: case.points(which, keys).cells for which in case.tables}
        values = {**secret.truth, "release": secret.offered}
        reach = radius * np.array([encoding.ranges[name] for name in encoding.numbers])
        spans = {which: _finite(c.low, c.high) for which, c in cells.items()}
        rule = Rule(encoding.set_starts, reach, _sharpest(spans, reach), secret.margin)
        groups = _groups({which: c.codes for which, c in cells.items()})
        sides = {w: _side(groups[w], c.codes, c.sets, *spans[w], values[w], rule.along) for w, c in cells.items()}
        return cls(sides, rule)

    def agreement(self, queries: str, targets: str, score: Rows | None = None) -> tuple[Floats, Floats, Rows]:
        """For each entry of ``queries``: how many rows of ``targets`` match, how many of those have its secret, and one entry.

        That one has the greatest score of those that match; -1 where none has a score of at least 0.
        """
        ours, theirs = self.sides[queries], self.sides[targets]
        begin, end = (np.searchsorted(theirs.group, ours.group, side=side) for side in ("left", "right"))
        score = np.full(len(theirs.group), -1) if score is None else score
        return _agreement(begin, end, ours.entries, theirs.entries, score, self.rule)

    def closest(self, queries: str, targets: str, skipped: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The first two of ``agreement``, with the rows that differ in the fewest keys in place of those that match."""
        ours, theirs = self.sides[queries], self.sides[targets]
        starts = np.append(np.unique(theirs.group, return_index=True)[1], len(theirs.group))
        return _closest(skipped, starts, ours.entries, theirs.entries, self.rule)


def identities(columns: Iterable[NDArray[np.generic]], rows: int) -> Rows:
    """A number for each row, equal exactly where all these columns are equal."""
    ids = np.zeros(rows, np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        _, ids = np.unique(ids * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return ids


def _groups(codes: dict[str, NDArray[np.int32]]) -> dict[str, Rows]:
    """For each row of each table the number of its combination of levels."""
    joined = np.concatenate(list(codes.values()))
    ends = np.cumsum([len(rows) for rows in codes.values()])
    return dict(zip(codes, np.split(identities(joined.T, len(joined)), ends[:-1]), strict=True))


def _side(group: Rows, codes, sets, low: Floats, high: Floats, values: Floats, along: int) -> Side:  # type: ignore[no-untyped-def]
    secret = np.where(np.isnan(values), ABSENT, values)
    spans = (low,) if np.array_equal(low, high) else (low, high)
    ids = identities((group, *(column for ends in spans for column in ends.T), *sets.T, secret), len(group))
    _, first, weight = np.unique(ids, return_index=True, return_counts=True)
    order = np.lexsort((low[first, along] if along >= 0 else first, group[first]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first = first[order]
    entries = Entries(*(array[first] for array in (codes, sets, low, high, secret)), weight[order].astype(np.float64))
    return Side(entries, group[first], first, place[ids])


def _finite(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends of intervals with missing values at their place; only a cell that covers everything keeps infinite ends."""
    anything = (low == -np.inf) & (high == np.inf)
    kept = [np.where(anything, ends, np.clip(ends, -FARTHEST, FARTHEST)) for ends in (low, high)]
    return np.where(np.isnan(low), ABSENT, kept[0]), np.where(np.isnan(low), ABSENT, kept[1])


def _sharpest(spans: dict[str, tuple[Floats, Floats]], reach: Floats) -> int:
    """The number along which the fewest pairs lie within reach, among those that are no intervals; -1 if there is none."""
    plain = [c for c in range(len(reach)) if all(np.array_equal(low[:, c], high[:, c]) for low, high in spans.values())]
    within = []
    for c in plain:
        values = np.sort(spans["release"][0][:, c])
        count = np.searchsorted(values, values + reach[c], side="right") - np.searchsorted(values, values - reach[c])
        within.append(float(count.mean()))
    return plain[int(np.argmin(within))] if plain else -1


@njit(cache=True, inline="always")
def _near(low_a, high_a, low_b, high_b, reach):  # type: ignore[no-untyped-def]
    return low_a - high_b <= reach and low_b - high_a <= reach


@njit(cache=True)
def _agreement(first, last, q, t, score, rule):  # type: ignore[no-untyped-def]
    # The arrays by themselves: a tuple of arrays is counted anew at every touch, and takes fifty times as long.
    low, high, sets, secret = q.low, q.high, q.sets, q.secret
    t_low, t_high, t_sets, t_secret, weight = t.low, t.high, t.sets, t.secret, t.weight
    starts, reach, along, secret_reach = rule.set_starts, rule.reach, rule.along, rule.secret_reach
    n = len(first)
    total, same, best = np.zeros(n), np.zeros(n), np.full(n, -1)
    for i in range(n):
        begin, end, top = first[i], last[i], -1
        if along >= 0:
            # The first target of the group that is not too far below.
            stop = end
            while begin < stop:
                middle = (begin + stop) // 2
                if low[i, along] - t_high[middle, along] <= reach[along]:
                    stop = middle
                else:
                    begin = middle + 1
        for j in range(begin, end):
            if along >= 0 and t_low[j, along] - high[i, along] > reach[along]:
                break
            match = True
            for c in range(len(reach)):
                if not _near(low[i, c], high[i, c], t_low[j, c], t_high[j, c], reach[c]):
                    match = False
                    break
            for c in range(len(starts) - 1):
                meet = np.uint64(0)
                for w in range(starts[c], starts[c + 1]):
                    meet |= sets[i, w] & t_sets[j, w]
                match &= meet != 0
            if not match:
                continue
            total[i] += weight[j]
            if abs(secret[i] - t_secret[j]) <= secret_reach:
                same[i] += weight[j]
            if score[j] > top:
                top = score[j]
                best[i] = j
    return total, same, best


@njit(cache=True, parallel=True)
def _closest(skipped, starts, q, t, rule):  # type: ignore[no-untyped-def]
    codes, low, high, sets, secret = q.codes, q.low, q.high, q.sets, q.secret
    t_codes, t_low, t_high, t_sets, t_secret, weight = t.codes, t.low, t.high, t.sets, t.secret, t.weight
    set_starts, reach, secret_reach = rule.set_starts, rule.reach, rule.secret_reach
    n = len(skipped)
    total, same = np.zeros(n), np.zeros(n)
    for i in prange(n):
        fewest = np.int64(1) << 40
        for g in range(0 if skipped[i] else len(starts) - 1):
            levels = 0
            for c in range(codes.shape[1]):
                levels += codes[i, c] != t_codes[starts[g], c]
            if levels > fewest:
                continue
            for j in range(starts[g], starts[g + 1]):
                unlike = levels
                for c in range(len(reach)):
                    unlike += not _near(low[i, c], high[i, c], t_low[j, c], t_high[j, c], reach[c])
                for c in range(len(set_starts) - 1):
                    meet = np.uint64(0)
                    for w in range(set_starts[c], set_starts[c + 1]):
                        meet |= sets[i, w] & t_sets[j, w]
                    unlike += meet == 0
                if unlike > fewest:
                    continue
                if unlike < fewest:
                    fewest = unlike
                    total[i], same[i] = 0.0, 0.0
                total[i] += weight[j]
                if abs(secret[i] - t_secret[j]) <= secret_reach:
                    same[i] += weight[j]
    return total, same
