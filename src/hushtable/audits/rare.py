"""Rare values: whether what only one person has, alone or in combination, stands in a release for having been in the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from hushtable.audits.nearness import thresholds
from hushtable.evidence.attack import LEVEL, judge
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Audit, Bits, Finding, Risk, Rows, uncomputed
from hushtable.evidence.pool import Pool, standing

SIZES = {"rare values": (1,), "rare pairs": (2,), "rare combinations": (3, 4)}
"""How many columns are combined in each finding."""
RESERVED = 0.04
"""The part of the error that is kept for each of these findings."""
SHARES = (0.02, 0.1, 0.3)
"""The shares of all people who have the most of their rare combinations released."""
CELLS = 6_000_000
"""Rows times combinations of columns that are looked at for each number of columns, ..."""
FEWEST, MOST = 50, 400
"""... but never fewer combinations than this, if there are so many, nor more."""

SPARSE = 8
"""Numbers are given anew where there are more than so many for each row."""


class Test(NamedTuple):
    """One way to hold training people against control people, and what chance says of it."""

    knows: str
    does: str
    tried: Bits
    hit: Bits
    released: Rows
    p: float


@dataclass(frozen=True, kw_only=True)
class RareValues(Audit):
    """Values, pairs and larger combinations of values that one person alone has, and that stand in one released row.

    It finds levels that a release shows only because somebody in the table had them, and rows that were copied in part. For every
    set of columns the exposed are those who alone, among all people, have their values in them; hit is who finds them in the
    release. Each set is one test, a few more ask who finds the most of theirs over all sets, and the least p-value is
    multiplied by the number of all these. Where there are too many sets of columns some are drawn by lot.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each number of columns; no distance is computed."""
        case = case.read_as_values()
        pool = Pool.of(case)
        return [_judged(pool, name, list(_tests(case, pool, sizes, rng))) for name, sizes in SIZES.items()]


def _judged(pool: Pool, name: str, tests: Sequence[Test]) -> Finding:
    """The most telling of the tests, corrected for their number."""
    if not tests:
        return uncomputed(name, pool.train.count, "nobody in the table, or nobody outside it, alone has such values")
    best = min(tests, key=lambda test: test.p)
    found = judge(
        pool.trace(best.tried, best.hit, best.released), name=name, risk=Risk.SINGLING_OUT, naive=None,
        knows=best.knows, does=best.does, p=min(1.0, len(tests) * best.p), level=1 - (1 - LEVEL) / len(tests),
        detail={"tests": len(tests)},
    )  # fmt: skip
    return replace(found, reserved=RESERVED)


def _tests(case: Case, pool: Pool, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Test]:
    """Each set of columns by itself, and how many of all of them a person is hit by."""
    people = pool.people
    times = np.zeros(people.count)
    for columns in (chosen for size in sizes for chosen in _chosen(case, size, rng)):
        ids = _ids(case, columns)
        everyone, release = ids[: people.rows], ids[people.rows :]
        alone = pool.alone(everyone)
        released = np.where(alone, standing(everyone, release), -1)
        exposed, at = people.any(alone), people.strongest(released)
        hit = released[at] >= 0
        times += hit
        p = fisher(*pool.counts(exposed, hit))
        if exposed[: pool.train.count].any() and exposed[pool.train.count :].any():
            told = " and ".join(columns)
            yield Test(
                f"knows {told} of a person who alone has these values",
                "finds them in a released row",
                exposed,
                hit,
                released[at],
                p,
            )
    everybody, nowhere = np.ones(people.count, np.bool_), np.full(people.count, -1)
    for cut in thresholds(*np.split(-times, [pool.train.count]), SHARES):
        hit = -times <= cut
        does = f"finds at least {-cut:.0f} sets of values in released rows that this person alone has"
        yield Test("knows a person's whole row", does, everybody, hit, nowhere, fisher(*pool.counts(everybody, hit)))


def _chosen(case: Case, size: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Sets of so many columns: all, or as many by lot as the rows allow."""
    rows = sum(table.rows for table in case.tables.values())
    every = list(combinations(case.columns, size))
    most = int(np.clip(CELLS // rows, FEWEST, MOST))
    return every if len(every) <= most else [every[at] for at in np.sort(rng.permutation(len(every))[:most])]


def _ids(case: Case, columns: Sequence[str]) -> Rows:
    """A number from 0 for each training, control and released row, equal where these columns are equal."""
    parts = [np.concatenate([case.value_ids(name)[which] for which in ("train", "control", "release")]) for name in columns]
    ids = parts[0]
    for other in parts[1:]:
        ids = ids * (int(other.max()) + 1) + other
        # Numbers need not be dense, and sorting costs most; but they must stay small enough to be counted.
        if int(ids.max()) >= SPARSE * len(ids):
            ids = np.unique(ids, return_inverse=True)[1]
    return ids
