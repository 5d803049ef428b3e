"""Exposed records: verbatim copies of the rarest rows, in a test of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Audit, Finding, Risk, uncomputed
from hushtable.evidence.looks import Equal, Look
from hushtable.evidence.pool import Pool, fewest, standing
from hushtable.evidence.verdict import LEVEL
from hushtable.table.arrays import Floats, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

SIDES = ("train", "control")
RESERVED, IN_PART = 0.66, 0.03
"""The part of the error that is reserved for this test: with as many control as training people five copies raise an alarm.

The second is for an attacker who holds less than all columns: ten copies of what they hold do."""


@dataclass(frozen=True, kw_only=True)
class ExposedRecords(Audit):
    """A handful of people published verbatim: outliers, or a few rows that a generator remembers.

    Exposed is who alone, among all people, has their row. Of those whose row stands in the release the few are taken whose rows
    are least likely (by the shares of their values among all people, column by column), and Fisher's test asks whether these are
    training people. No test whatever can distinguish h copies of training people, where none is of control people, from chance
    with a p-value below 2^-h if there are as many of both. So ``RESERVED`` of the error is reserved for this test, and the few
    are the fewest that could raise an alarm. Where fewer stand in the release, which does not depend on who is who, nothing
    is tested, the error is left to the others, and the finding says how many it would have taken.
    """

    by_knowledge = True

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The rows that equal somebody's."""
        return [Equal(case.columns)]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding; no distance is computed."""
        ids, pool = case.row_ids(), Pool.of(case)
        everyone = np.concatenate([ids["train"], ids["control"]])
        # Among all people, of whom these may be a part.
        everywhere = [sum(case.occurrences(side, where, case.columns) for where in SIDES) for side in SIDES]
        alone = pool.alone(everyone) & (np.concatenate(everywhere) == np.bincount(everyone)[everyone])
        exposed, released = pool.people.any(alone), np.where(alone, standing(everyone, ids["release"]), -1)
        name, n = "exposed records", pool.train.count
        if not exposed[:n].any() or not exposed[n:].any():
            return [
                uncomputed(
                    name, n, "nobody in the table, or nobody outside it, has a row that nobody else has", risk=Risk.SINGLING_OUT
                )
            ]
        surprise = np.where(released >= 0, surprisal(case, case.columns), -np.inf)
        at, least = pool.people.strongest(surprise), pool.people.most(surprise)
        hit = least > -np.inf
        _, ours, _, others = pool.counts(exposed, hit)
        reserved = IN_PART if case.limited else RESERVED
        few = fewest(ours, others, reserved * LEVEL)
        finding = judge(
            pool.trace(np.ones(len(hit), np.bool_), hit, released[at]),
            Scenario(
                name=name,
                risk=Risk.SINGLING_OUT,
                knows=f"knows {case.holding}",
                does="finds it unchanged in the release, though nobody else has the same,",
            ),
            naive=None,
            p=fisher(*pool.counts(exposed, _top(least, hit, few, rng))),
            detail={"fewest": few},
        )
        if hit.sum() < few:
            why = f"with {others:,} such people outside the table, fewer than {few:,} copies cannot be distinguished from chance"
            return [replace(finding, p=None, note=f"{finding.note}; {why}")]
        return [
            replace(
                finding,
                reserved=reserved,
                note=f"{finding.note}; the test is on the {few:,} copies that are least likely by chance",
            )
        ]


def surprisal(case: Case, columns: Sequence[str]) -> Floats:
    """For each training and then each control row: how rare its values are among all of them, in nats, column by column."""
    total = np.zeros(case.train.rows + case.control.rows)
    for name in columns:
        values = case.value_ids(name)
        everyone = np.concatenate([values["train"], values["control"]])
        total -= np.log(np.bincount(everyone)[everyone] / len(everyone))
    return total


def _top(scores: Floats, hit: Mask, few: int, rng: np.random.Generator) -> Mask:
    """Those hit with the highest scores, at most so many; ties are broken by lot, never by the side a person stands on."""
    order = np.lexsort((rng.random(len(scores)), -scores))
    chosen = np.zeros(len(scores), np.bool_)
    chosen[order[: min(few, int(hit.sum()))]] = True
    return chosen
