"""Linkability: two sources that know different columns of a person, joined through the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.inference_targets import column_sets, listed
from hushtable.errors import InputError
from hushtable.evidence.attack import Attack, Strike, Way
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.looks import Look, Nearest
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Integers
from hushtable.table.columns import Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Split = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Linkability(Attack):
    """The linkability attack of Giomi et al. (2023), on every row, over several splits of the columns.

    For each half of the columns, the k released rows nearest to a person; the two halves are linked if the two sets of k
    rows meet. Blind guessing draws two random sets of k released rows; its chance is exact. How high the rate of a verbatim
    copy is depends on the split, so read the rate beside that of people who are not in the table, never alone.
    """

    by_knowledge = True

    neighbours: tuple[int, ...] = (1, 5, 10)
    """The numbers of released rows that each source may name; at most half of the release."""
    random: int = 1
    """Random splits, beside the alternate one, the halves, and quasi columns against the rest where there are some."""
    known: tuple[str, ...] = ()
    """Splits to try instead: age+sex (against the rest), or age+sex|income+job."""

    def __post_init__(self) -> None:
        """Counts are positive, and splits are pairs."""
        check_knobs(
            self,
            neighbours=(bool(self.neighbours) and min(self.neighbours) >= 1, "must hold numbers of at least 1"),
            random=(self.random >= 0, "must not be negative"),
            known=(all(item.count("|") <= 1 for item in self.known), "each has at most one | between two sources"),
        )

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The rows nearest to everybody in either half of each split."""
        if len(case.columns) < 2:
            return []
        return [Nearest(half, self._counts(case)[-1]) for split in self._splits(case, rng).values() for half in split]

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """One for each split and number of neighbours."""
        if len(case.columns) < 2:
            reason = "linking two sources takes at least two columns, and there is one"
            yield uncomputed("linkability", case.train.rows, reason, risk=Risk.LINKABILITY)
            return
        counts, rows = self._counts(case), case.totals["release"]
        for label, split in self._splits(case, rng).items():
            for k in counts:
                yield Way(
                    "linkability", Risk.LINKABILITY,
                    f"holds {listed(split[0])} in one source and {listed(split[1])} in another", "links the two",
                    partial(_strike, case, split, k, counts[-1]), meeting_chance(k, rows),
                    f"{label}, k={k}", partial(_describe, split),
                )  # fmt: skip

    def _counts(self, case: Case) -> list[int]:
        """How many rows each source may name: two sets of more than half of the released rows always meet, and show nothing."""
        return sorted({min(k, case.totals["release"] // 2) for k in self.neighbours})

    def _splits(self, case: Case, rng: np.random.Generator) -> dict[str, Split]:
        """The splits by name, none of them twice."""
        names = case.columns
        half = (len(names) + 1) // 2
        tried = {"alternate": set(names[::2]), "halves": set(names[:half])}
        tried["quasi"] = {name for name in names if case.train.schema[name].role is Role.QUASI}
        for i in range(self.random):
            tried[f"random {i + 1}"] = set(rng.permutation(names)[:half].tolist())
        if self.known:
            return {item: _given(case, item) for item in self.known}
        seen: dict[frozenset[frozenset[str]], tuple[str, Split]] = {}
        for label, one in tried.items():
            if 0 < len(one) < len(names):
                split = tuple(n for n in names if n in one), tuple(n for n in names if n not in one)
                seen.setdefault(frozenset(map(frozenset, split)), (label, split))
        return dict(seen.values())


def meeting_chance(k: int, rows: int) -> float:
    """The probability that two random sets of k rows among so many have a row in common: 1 - C(rows-k, k)/C(rows, k)."""
    if 2 * k > rows:
        return 1.0
    return float(-np.expm1(np.log1p(-k / (rows - np.arange(k))).sum()))


def _given(case: Case, item: str) -> Split:
    one, *other = column_sets(case, item.split("|"), "known")
    rest = other[0] if other else tuple(name for name in case.columns if name not in one)
    if not rest or set(one) & set(rest):
        raise InputError(f"{item!r} must name two sources that hold different columns", where="known")
    return one, rest


def _strike(case: Case, split: Split, k: int, most: int, which: str) -> Strike:
    # One search for the most neighbours serves all numbers: fewer are its first ones.
    one, other = (case.nearest(which, "release", most, half).index[:, :k] for half in split)
    return Strike(*_meet(one, other))


def _meet(one: Integers, other: Integers) -> tuple[np.ndarray, Integers]:
    """Which rows of two lists of sets have a member in common, and the first such member."""
    same = (one[:, :, None] == other[:, None, :]).any(axis=2)
    hit, first = same.any(axis=1), same.argmax(axis=1)
    return hit, np.where(hit, one[np.arange(len(one)), first], -1)


def _describe(split: Split, attempt: int, values: bool) -> str:
    return f"{', '.join(split[0])} and {', '.join(split[1])} lead to the same released row"
