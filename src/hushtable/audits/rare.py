"""Rare values: whether values and combinations that only one person has are released because the person was in the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hushtable.audits.nearness import thresholds
from hushtable.evidence.attack import LEVEL, Scenario, judge
from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Audit, Finding, Risk, uncomputed
from hushtable.evidence.pool import Pool, standing
from hushtable.table.arrays import Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

SIZES = {"rare values": (1,), "rare pairs": (2,), "rare combinations": (3, 4)}
"""How many columns are combined in each finding."""
RESERVED = {"rare values": 0.1, "rare pairs": 0.04, "rare combinations": 0.04}
"""The part of the error that is reserved for each of these findings."""
SHARES = (0.02, 0.1, 0.3)
"""The shares of all people, those hit by the most sets of columns, that are tested."""
CELLS = 6_000_000
"""Rows times combinations of columns that are examined for each number of columns, ..."""
FEWEST, MOST = 50, 400
"""... but never fewer combinations than this, if there are so many, nor more."""

SPARSE = 8
"""Numbers are given anew where there are more than so many for each row."""


class Test(NamedTuple):
    """One way to hold training people against control people."""

    knows: str
    does: str
    released: Integers
    """For each person a released row that hits them, -1 where none does."""
    p: float
    """How likely chance does as much."""
    columns: tuple[str, ...] = ()
    """Whose values are looked for; empty for all sets of columns together."""


@dataclass(frozen=True, kw_only=True)
class RareValues(Audit):
    """Values, pairs and larger combinations of values that only one person has, and that are in one released row.

    It finds levels that a release holds only because somebody in the table had them, and rows that were copied in part. For every
    set of columns the exposed are those who alone, among all people, have their values in them; hit is who finds them in the
    release. Each set is one test among the exposed; a few more ask, of all people, who is hit by the most sets. The least p-value
    is multiplied by the number of these tests, and the interval is as much wider: both hold for whichever test is most significant.
    Where there are too many sets of columns some are drawn by lot.
    """

    by_knowledge = True

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each number of columns; no distance is computed."""
        case = case.read_as_values()
        pool = Pool.of(case)
        found = [_finding(pool, name, _tests(case, pool, sizes, rng)) for name, sizes in SIZES.items()]
        # Only tests of an attacker who holds all columns have a part of the error to themselves: the others are among them.
        return [replace(finding, reserved=0.0) for finding in found] if case.limited else found


def _finding(pool: Pool, name: str, tests: Iterator[Test]) -> Finding:
    best, count = next(tests, None), 1
    if best is None:
        return uncomputed(
            name, pool.train.count, "no value or combination that only one person has is in the release", risk=Risk.SINGLING_OUT
        )
    for test in tests:
        best, count = min(best, test, key=lambda one: one.p), count + 1
    everybody = np.ones(pool.people.count, np.bool_)
    finding = judge(
        pool.trace(everybody, best.released >= 0, best.released),
        Scenario(name=name, risk=Risk.SINGLING_OUT, knows=best.knows, does=best.does),
        naive=None,
        p=min(1.0, count * best.p),
        level=1 - (1 - LEVEL) / count,
        detail={"tests": count, "columns": list(best.columns)},
    )
    return replace(finding, reserved=RESERVED[name], note=f"{finding.note}; this is the most significant of {count:,} tests")


def _tests(case: Case, pool: Pool, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Test]:
    """Each set of columns that hits anybody, and who is hit by the most of them."""
    times, last = np.zeros(pool.people.count), np.full(pool.people.count, -1)
    does = "finds in one released row values that nobody else has"
    for columns in (chosen for size in sizes for chosen in _chosen(case, size, rng)):
        exposed, released = _struck(pool, _ids(case, columns))
        hit = released >= 0
        if hit.any():
            yield Test(f"knows a person's {' and '.join(columns)}", does, released, fisher(*pool.counts(exposed, hit)), columns)
        times += hit
        last = np.maximum(last, released)
    everybody = np.ones(len(times), np.bool_)
    ours, others = np.split(-times, [pool.train.count])
    for cut in -thresholds(ours, others, SHARES):
        p = fisher(*pool.counts(everybody, times >= cut))
        yield Test(f"knows {case.holding}", f"{does}, by {cut:.0f} sets of columns,", np.where(times >= cut, last, -1), p)


def _struck(pool: Pool, ids: Integers) -> tuple[Mask, Integers]:
    """Who alone has their values, and for each person a released row that has them too, -1 where none has."""
    everyone, release = np.split(ids, [pool.people.rows])
    alone = pool.alone(everyone)
    released = np.where(alone, standing(everyone, release), -1)
    return pool.people.any(alone), released[pool.people.strongest(released)]


def _chosen(case: Case, size: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Sets of so many columns: all, or as many by lot as the rows allow."""
    rows = sum(table.rows for table in case.tables.values())
    every = list(combinations(case.columns, size))
    most = int(np.clip(CELLS // rows, FEWEST, MOST))
    return every if len(every) <= most else [every[at] for at in np.sort(rng.permutation(len(every))[:most])]


def _ids(case: Case, columns: Sequence[str]) -> Integers:
    """A number from 0 for each training, control and released row, equal where these columns are equal."""
    parts = [np.concatenate([case.value_ids(name)[which] for which in ("train", "control", "release")]) for name in columns]
    ids = parts[0]
    for other in parts[1:]:
        ids = ids * (int(other.max()) + 1) + other
        # Numbers need not be dense, and sorting costs most; but they must stay small enough to be counted.
        if int(ids.max()) >= SPARSE * len(ids):
            ids = np.unique(ids, return_inverse=True)[1]
    return ids
