"""Unique exact matches and apparent matches: the indicators by which statistical offices judge a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.attack import LEVEL
from hushtable.evidence.confidence import Rate, clopper_pearson
from hushtable.evidence.finding import Audit, Better, Finding, Subject, uncomputed
from hushtable.evidence.looks import Equal, Look
from hushtable.evidence.pool import standing
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

EXACT, APPARENT, REAL = "unique exact matches", "apparent matches", "apparent matches that are real"
TENTHS = 10


@dataclass(frozen=True, kw_only=True)
class UniqueMatches(Audit):
    """People whose row is unique and stands in the release, and people who seem to be found by their quasi-identifiers.

    As SDNist defines them (Task et al. 2023, National Institute of Standards and Technology). A unique exact match is a training
    person with a row that nobody else in the table has and that stands in the release, all released columns being equal. An
    apparent match is a training person who alone has their quasi-identifiers, which exactly one released row has, too: somebody who
    looks the person up believes to have found them. It is real if all other columns agree as well; by how many they agree is in
    the detail.

    The baseline is the same for control people: those whom no training person equals, so that they would be unique in the training
    table. A release of fresh rows ties with it, whatever the sizes of the tables are. No test is made: ``identical-matches`` and
    ``exposed-records`` are the attacks. A cell that stands for several values equals none of them.
    """

    level: float = LEVEL
    """Confidence of the intervals."""

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """Rows that are equal, in all columns and in the quasi-identifiers."""
        return [Equal(columns) for columns in (case.compared, tuple(_quasi(case))) if columns]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Three findings; no distance is computed."""
        return [self._exact(case), *self._apparent(case)]

    def _exact(self, case: Case) -> Finding:
        released = (case.occurrences(which, "release", case.compared) > 0 for which in ("train", "control"))
        hits = [unique & held for unique, held in zip(_unique(case, case.compared), released, strict=True)]
        return self._shares(case, EXACT, hits, "have a row that nobody else has and that stands in the release unchanged")

    def _apparent(self, case: Case) -> list[Finding]:
        quasi = _quasi(case)
        if not quasi:
            reason = "the schema names no quasi-identifiers that were released"
            return [uncomputed(name, 0, reason) for name in (APPARENT, REAL)]
        ids = case.row_ids(quasi)
        found = (case.occurrences(which, "release", quasi) == 1 for which in ("train", "control"))
        hits = [unique & one for unique, one in zip(_unique(case, quasi), found, strict=True)]
        partner = [standing(ids[which], ids["release"]) for which in ("train", "control")]
        words = "seem to be found, being alone with their quasi-identifiers, which one released row has"
        rest = [name for name in case.compared if name not in quasi]
        return [self._shares(case, APPARENT, hits, words), self._real(case, hits, partner, rest)]

    def _shares(self, case: Case, name: str, hits: list[Mask], words: str) -> Finding:
        sides = [people.any(hit) for people, hit in zip(case.sides, hits, strict=True)]
        ours, others = (clopper_pearson(int(side.sum()), len(side), self.level) for side in sides)
        note = f"{int(sides[0].sum()):,} of {len(sides[0]):,} training people {words}; of control people {100 * others.value:.3g} %"
        return self._finding(name, ours, others, len(sides[0]), note, {"matches": int(sides[0].sum())})

    def _real(self, case: Case, hits: list[Mask], partner: list[Integers], rest: list[str]) -> Finding:
        """Of the apparent matches, those that agree in everything else."""
        if not rest or not hits[0].any():
            why = "nobody is an apparent match" if rest else "there are no columns but the quasi-identifiers"
            return uncomputed(REAL, 0, why)
        agreeing = [
            _agreement(case, which, *side, rest)
            for which, side in zip(("train", "control"), zip(hits, partner, strict=True), strict=True)
        ]
        counts = []
        for people, hit, shares in zip(case.sides, hits, agreeing, strict=True):
            whole = np.zeros(len(hit), np.bool_)
            whole[hit] = shares == 1
            counts.append((int(people.any(whole).sum()), int(people.any(hit).sum())))
        ours = clopper_pearson(*counts[0], self.level)
        others = clopper_pearson(*counts[1], self.level) if counts[1][1] else None
        means = [float(shares.mean()) if len(shares) else None for shares in agreeing]
        note = (
            f"of {counts[0][1]:,} apparent matches {counts[0][0]:,} agree in all other columns, on average in "
            f"{100 * (means[0] or 0):.0f} % of them"
        )
        note += f"; those of control people in {100 * means[1]:.0f} %" if means[1] is not None else "; no control person is one"
        tenths = np.bincount(np.minimum((agreeing[0] * TENTHS).astype(np.int64), TENTHS - 1), minlength=TENTHS)
        detail = {"matches": counts[0][1], "agreeing": means[0], "agreeing_control": means[1], "tenths": tenths.tolist()}
        return self._finding(REAL, ours, others, counts[0][1], note, detail)

    def _finding(self, name: str, ours: Rate, others: Rate | None, n: int, note: str, detail: dict[str, object]) -> Finding:
        beyond = others is not None and ours.low > others.high
        verdict = "more than chance explains" if beyond else "no more than chance explains, which is no proof of safety"
        return Finding(
            name=name, value=ours.value, low=ours.low, high=ours.high, baseline=None if others is None else others.value,
            baseline_bad=None if others is None else others.high, better=Better.LOWER, subject=Subject.PRIVACY, n=n,
            note=note if others is None else f"{note}: {verdict}", detail=detail,
        )  # fmt: skip


def _quasi(case: Case) -> list[str]:
    return [name for name in case.compared if case.train.schema[name].role is Role.QUASI]


def _unique(case: Case, columns: Sequence[str]) -> tuple[Mask, Mask]:
    """Training rows that no other training person has, and control rows that no training person has."""
    ids, people = case.row_ids(columns)["train"], case.people("train")
    # Alone among these people, who may be a part of all: then no others have it if all that have it are their own.
    own = np.bincount(ids)[ids]
    alone = people.alone(ids) & (case.occurrences("train", "train", columns) == own)
    return alone, case.occurrences("control", "train", columns) == 0


def _agreement(case: Case, which: str, hit: Mask, partner: Integers, columns: list[str]) -> Floats:
    """For each row that is hit the share of the columns in which its released row agrees."""
    same = np.zeros(int(hit.sum()))
    for name in columns:
        values = case.value_ids(name)
        same += values[which][hit] == values["release"][partner[hit]]
    return same / len(columns)
