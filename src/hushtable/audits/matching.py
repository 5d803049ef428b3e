"""Released rows that agree with a person in the key columns: how many there are, and which secret they have.

Two rows match if all key columns agree: levels are equal (or sets of them meet), numbers differ by no more than a radius (or
their intervals come that close), missing values are both missing, and ``*`` agrees with everything. Rows are put in classes of
equal levels, sets and intervals, and a pair of classes is compared once; within a class rows lie along the number that
distinguishes most pairs, or along the secret where there is none. Equal rows are counted once, with their multiplicity. No matrix
of pairs is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.audits.inference_targets import Secret
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.table import identities

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

ABSENT = -2e300
"""Where a missing number lies: at 0 from another missing one, far from every value and every one-sided interval."""
FARTHEST = 1e300


class Classes(NamedTuple):
    """Rows of one table with equal levels, sets and intervals; those with equal levels follow one another."""

    codes: NDArray[np.int32]
    sets: NDArray[np.uint64]
    low: Floats
    high: Floats
    """classes x numbers that are intervals in some table."""
    starts: Integers
    """Where the entries of each class begin, and the end."""


class Entries(NamedTuple):
    """Distinct rows of one table on keys and secret, sorted by class and then along one number, or along the secret."""

    numbers: Floats
    """entries x numbers that are intervals in no table."""
    secret: Floats
    weight: Floats
    """How many rows of the table each stands for."""


class Rule(NamedTuple):
    """When keys agree, and secrets."""

    set_starts: Integers
    """Where the bits of each generalized key begin, and the end."""
    interval_reach: Floats
    reach: Floats
    """For each number among the keys, intervals and others, how far apart matching values may lie."""
    along: int
    """Which of the others rows are sorted along; -1 if there is none."""
    secret_reach: float


@dataclass(frozen=True, eq=False)
class Side:
    """One table in a matching."""

    entries: Entries
    classes: Classes
    group: Integers
    """Of each class, the number of its combination of levels."""
    first: Integers
    """The first row of the table that each entry stands for."""
    place: Integers
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
        spans = {which: finite_ends(c.low, c.high) for which, c in cells.items()}
        vague = np.array([any((low != high)[:, c].any() for low, high in spans.values()) for c in range(len(reach))], np.bool_)
        along = _sharpest(spans["release"][0][:, ~vague], reach[~vague])
        rule = Rule(encoding.set_starts, reach[vague], reach[~vague], along, secret.margin)
        groups = _groups({which: c.codes for which, c in cells.items()})
        sides = {w: _side(groups[w], c.codes, c.sets, *spans[w], vague, values[w], along) for w, c in cells.items()}
        return cls(sides, rule)

    @property
    def numeric(self) -> bool:
        """Whether there are numbers among the keys."""
        return bool(len(self.rule.reach) + len(self.rule.interval_reach))

    def agreement(self, queries: str, targets: str, score: Integers | None = None) -> tuple[Floats, Floats, Integers]:
        """For each entry of ``queries``: how many rows of ``targets`` match, how many of those have its secret, and one entry.

        That one has the greatest score of those that match; -1 where none has a score of at least 0.
        """
        ours, theirs = self.sides[queries], self.sides[targets]
        begin, end = (np.searchsorted(theirs.group, ours.group, side=side) for side in ("left", "right"))
        score = np.full(len(theirs.first), -1) if score is None else score
        total, same, best = _agreement(begin, end, ours.classes, ours.entries, theirs.classes, theirs.entries, score, self.rule)
        return total, same, best

    def closest(self, queries: str, targets: str, skipped: Mask) -> tuple[Floats, Floats]:
        """The first two of ``agreement``, with the rows that differ in the fewest keys in place of those that match."""
        ours, theirs = self.sides[queries], self.sides[targets]
        total, same = _closest(skipped, ours.classes, ours.entries, theirs.classes, theirs.entries, self.rule)
        return total, same


def _groups(codes: dict[str, NDArray[np.int32]]) -> dict[str, Integers]:
    """For each row of each table the number of its combination of levels."""
    joined = np.concatenate(list(codes.values()))
    ends = np.cumsum([len(rows) for rows in codes.values()])
    return dict(zip(codes, np.split(identities(joined.T, len(joined)), ends[:-1]), strict=True))


def _side(group: Integers, codes, sets, low: Floats, high: Floats, vague, values: Floats, along: int) -> Side:  # type: ignore[no-untyped-def]
    secret = np.where(np.isnan(values), ABSENT, values)
    numbers, low, high = low[:, ~vague], low[:, vague], high[:, vague]
    kind = identities((group, *sets.T, *low.T, *high.T), len(group))
    ids = identities((kind, *numbers.T, secret), len(group))
    _, first, weight = np.unique(ids, return_index=True, return_counts=True)
    order = np.lexsort((numbers[first, along] if along >= 0 else secret[first], kind[first]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first = first[order]
    starts = np.searchsorted(kind[first], np.arange(int(kind.max()) + 2))
    one = first[starts[:-1]]
    classes = Classes(codes[one], sets[one], low[one], high[one], starts)
    return Side(Entries(numbers[first], secret[first], weight[order].astype(np.float64)), classes, group[one], first, place[ids])


def finite_ends(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends of intervals with missing values at their place; only a cell that covers everything keeps infinite ends."""
    anything = (low == -np.inf) & (high == np.inf)
    clipped = [np.where(anything, ends, np.clip(ends, -FARTHEST, FARTHEST)) for ends in (low, high)]
    return np.where(np.isnan(low), ABSENT, clipped[0]), np.where(np.isnan(low), ABSENT, clipped[1])


def _sharpest(numbers: Floats, reach: Floats) -> int:
    """The number along which the fewest pairs lie within reach; -1 if there is none."""
    within = []
    for values, near in zip(np.sort(numbers, axis=0).T, reach, strict=True):
        count = np.searchsorted(values, values + near, side="right") - np.searchsorted(values, values - near)
        within.append(float(count.mean()))
    return int(np.argmin(within)) if within else -1


@njit(cache=True, inline="always")
def _near(low_a, high_a, low_b, high_b, reach):  # type: ignore[no-untyped-def]
    return low_a - high_b <= reach and low_b - high_a <= reach


@njit(cache=True, inline="always")
def _within(values, x, start, end, reach):  # type: ignore[no-untyped-def]
    """Where among sorted values those within reach of x begin and end."""
    begin, stop = start, end
    while begin < stop:
        middle = (begin + stop) // 2
        if x - values[middle] <= reach:
            stop = middle
        else:
            begin = middle + 1
    last, stop = begin, end
    while last < stop:
        middle = (last + stop) // 2
        if values[middle] - x > reach:
            stop = middle
        else:
            last = middle + 1
    return begin, last


@njit(cache=True, inline="always")
def _unlike(a, b, sets, low, high, t_sets, t_low, t_high, starts, reach, most):  # type: ignore[no-untyped-def]
    """In how many sets and intervals two classes do not agree; counting ends above ``most``."""
    unlike = 0
    for c in range(len(starts) - 1):
        apart = True
        for w in range(starts[c], starts[c + 1]):
            if sets[a, w] & t_sets[b, w]:
                apart = False
                break
        unlike += apart
        if unlike > most:
            break
    for c in range(len(reach) if unlike <= most else 0):
        unlike += not _near(low[a, c], high[a, c], t_low[b, c], t_high[b, c], reach[c])
    return unlike


@njit(cache=True)
def _sums(weight):  # type: ignore[no-untyped-def]
    """The weight of all entries before each, and of all."""
    before = np.zeros(len(weight) + 1)
    for j in range(len(weight)):
        before[j + 1] = before[j] + weight[j]
    return before


@njit(cache=True)
def _agreement(first, last, qc, q, tc, t, score, rule):  # type: ignore[no-untyped-def]
    # The arrays by themselves: a tuple of arrays is counted anew at every touch, and takes fifty times as long.
    sets, low, high, starts = qc.sets, qc.low, qc.high, qc.starts
    t_sets, t_low, t_high, t_starts = tc.sets, tc.low, tc.high, tc.starts
    numbers, secret, t_numbers, t_secret, weight = q.numbers, q.secret, t.numbers, t.secret, t.weight
    set_starts, interval_reach, reach, along, secret_reach = (
        rule.set_starts, rule.interval_reach, rule.reach, rule.along, rule.secret_reach
    )  # fmt: skip
    n, before = len(secret), _sums(weight)
    total, same, best = np.zeros(n), np.zeros(n), np.full(n, -1)
    met = np.empty(len(t_starts) - 1, np.int64)
    sharp = t_numbers[:, max(along, 0) :]
    for a in range(len(starts) - 1):
        matched, sum_, top, top_at = 0, 0.0, -1, -1
        for b in range(first[a], last[a]):
            if _unlike(a, b, sets, low, high, t_sets, t_low, t_high, set_starts, interval_reach, 0) == 0:
                met[matched] = b
                matched += 1
        if along < 0:
            # All entries of these classes match all of this one.
            for b in met[:matched]:
                sum_ += before[t_starts[b + 1]] - before[t_starts[b]]
                for j in range(t_starts[b], t_starts[b + 1]):
                    if score[j] > top:
                        top, top_at = score[j], j
        for i in range(starts[a], starts[a + 1]):
            if along < 0:
                total[i], best[i] = sum_, top_at
                for b in met[:matched]:
                    begin, end = _within(t_secret, secret[i], t_starts[b], t_starts[b + 1], secret_reach)
                    same[i] += before[end] - before[begin]
                continue
            top = -1
            for b in met[:matched]:
                begin, end = _within(sharp[:, 0], numbers[i, along], t_starts[b], t_starts[b + 1], reach[along])
                for j in range(begin, end):
                    match = True
                    for c in range(len(reach)):
                        if not _near(numbers[i, c], numbers[i, c], t_numbers[j, c], t_numbers[j, c], reach[c]):
                            match = False
                            break
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
def _closest(skipped, qc, q, tc, t, rule):  # type: ignore[no-untyped-def]
    codes, sets, low, high, starts = qc.codes, qc.sets, qc.low, qc.high, qc.starts
    t_codes, t_sets, t_low, t_high, t_starts = tc.codes, tc.sets, tc.low, tc.high, tc.starts
    numbers, secret, t_numbers, t_secret, weight = q.numbers, q.secret, t.numbers, t.secret, t.weight
    set_starts, interval_reach, reach, secret_reach = rule.set_starts, rule.interval_reach, rule.reach, rule.secret_reach
    before, width, others = _sums(weight), set_starts.size + interval_reach.size, len(t_starts) - 1
    total, same = np.zeros(len(secret)), np.zeros(len(secret))
    for a in prange(len(starts) - 1):
        if skipped[starts[a] : starts[a + 1]].all():
            continue
        apart, least = np.empty(others, np.int64), np.int64(1) << 40
        for other in range(others):
            levels = 0
            for c in range(codes.shape[1]):
                levels += codes[a, c] != t_codes[other, c]
            most = least + len(reach) - levels
            apart[other] = levels
            if most >= 0:
                most = min(most, width)
                apart[other] += _unlike(a, other, sets, low, high, t_sets, t_low, t_high, set_starts, interval_reach, most)
            least = min(least, apart[other])
        # What differs in so many keys more than the nearest class cannot make up for it with the numbers.
        near = np.flatnonzero(apart <= least + len(reach))
        for i in range(starts[a], starts[a + 1]):
            fewest = np.int64(1) << 40
            for b in near:
                if skipped[i] or apart[b] > fewest:
                    continue
                if len(reach) == 0:
                    begin, end = _within(t_secret, secret[i], t_starts[b], t_starts[b + 1], secret_reach)
                    fewest = apart[b]
                    total[i] += before[t_starts[b + 1]] - before[t_starts[b]]
                    same[i] += before[end] - before[begin]
                    continue
                for j in range(t_starts[b], t_starts[b + 1]):
                    unlike = apart[b]
                    for c in range(len(reach)):
                        unlike += not _near(numbers[i, c], numbers[i, c], t_numbers[j, c], t_numbers[j, c], reach[c])
                    if unlike > fewest:
                        continue
                    if unlike < fewest:
                        fewest = unlike
                        total[i], same[i] = 0.0, 0.0
                    total[i] += weight[j]
                    if abs(secret[i] - t_secret[j]) <= secret_reach:
                        same[i] += weight[j]
    return total, same
