"""Everybody whom an audit knows, training and control together, under numbers that do not say who is on which side.

If training and control people are exchangeable given the release, then everything computed from the pooled rows and the release
alone (whom a value singles out, which of those values were released, whose is the least likely) is fixed before it is
said who is who, and every way to say so is equally likely. Of the people so chosen, the number who stand in the training table is
hypergeometric: Fisher's test is exact, however the choice was made. It is sharpest among the few who are exposed at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Trace
from hushtable.evidence.persons import People
from hushtable.table.arrays import Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of both tables, one below the other, and the people who hold them."""

    people: People
    """Of all rows; those of the training table come first."""
    train: People
    control: People

    @classmethod
    def of(cls, case: Case) -> Pool:
        """Of the training and control rows of a case."""
        ours, others = case.people("train"), case.people("control")
        persons = None if ours.persons is None and others.persons is None else np.concatenate([ours.who, ours.count + others.who])
        return cls(People(ours.rows + others.rows, persons), ours, others)

    def alone(self, ids: Integers) -> Mask:
        """For each row, whether its value (a number from 0 for each) is held by nobody but its own person."""
        return self.people.alone(ids)

    def counts(self, tried: Mask, hit: Mask) -> tuple[int, int, int, int]:
        """Hits and attempts among training people, then among control people: one attempt a person, as ``fisher`` takes them."""
        ours = self.train.count
        return int(hit[:ours].sum()), int(tried[:ours].sum()), int(hit[ours:].sum()), int(tried[ours:].sum())

    def trace(self, tried: Mask, hit: Mask, released: Integers) -> Trace:
        """Whom of the people ``tried`` was ``hit``; ``released`` holds for each person the released row that did it, or -1."""
        ours, others = (np.flatnonzero(part) for part in np.split(tried, [self.train.count]))
        return Trace(
            hit[ours], hit[self.train.count + others], self.train.first[ours], self.control.first[others],
            np.where(hit, released, -1)[ours],
        )  # fmt: skip


def fewest(trials: int, other_trials: int, level: float) -> int:
    """The fewest hits, all on the first group, that chance explains with at most this probability; more than all if none do."""
    return next((hits for hits in range(1, trials + 1) if fisher(hits, trials, 0, other_trials) <= level), trials + 1)


def standing(ids: Integers, released: Integers) -> Integers:
    """For each row the first released row with the same number, -1 where there is none."""
    first = np.full(max(int(ids.max(initial=-1)), int(released.max(initial=-1))) + 1, -1)
    first[released[::-1]] = np.arange(len(released))[::-1]
    return np.asarray(first[ids])
