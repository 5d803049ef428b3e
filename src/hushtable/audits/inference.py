"""Attribute inference by the nearest released row: each column in turn is guessed from what else is known of a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.inference_targets import EVERYTHING, Knowledge, Secret, column_sets, knowledge, secrets
from hushtable.evidence.attack import Attack, Strike, Way
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.looks import Look, Nearest, Without
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Integers
from hushtable.table.columns import Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class Inference(Attack):
    """The attribute inference attack of Giomi et al. (2023): the guess is the secret of the nearest released row.

    It is made for every row, with every column in turn as the secret and all others known; where the schema has quasi
    columns, also secrets and targets from those alone. A level is right if it is equal, a number within ``tolerance`` of the
    truth, a date within 1 % of its range, a missing value if it is missing. A generalized cell is read as a value drawn from
    it. Blind guessing takes the secret of a random released row; its rate is exact.
    """

    by_knowledge = True

    secrets: tuple[str, ...] = ()
    """The columns to guess; every column when empty."""
    known: tuple[str, ...] = ()
    """More sets of known columns, each joined by +: age+sex."""
    tolerance: float = 0.05
    """A guessed number is right within this share of the true one."""

    def __post_init__(self) -> None:
        """The tolerance is a share."""
        check_knobs(self, tolerance=(0 <= self.tolerance < 1, "must lie in [0, 1)"))

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The rows nearest to everybody in what is known of them, and how often a released value is right."""
        found = list[Look]()
        named, _ = secrets(case, self.secrets or case.compared, "inference")
        for name in named:
            found.append(Secret.look(case, name, self.tolerance))
            found += [
                Without(case.columns) if known.label == EVERYTHING else Nearest(known.columns)
                for known in self._known(case, name, named)
            ]
        return found

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """One for each secret and set of known columns."""
        named, refused = secrets(case, self.secrets or case.compared, "inference")
        # Once is enough: who holds fewer columns cannot guess it either.
        yield from () if case.limited else refused
        for name in named:
            secret = Secret.of(case, name, self.tolerance)
            reason = "there is no other column to guess it from" if len(case.compared) < 2 else ""
            reason = "all people have the same value, so there is nothing to guess" if secret.constant else reason
            if reason and case.limited:
                continue
            if reason:
                yield uncomputed("inference", case.train.rows, f"{name}: {reason}", scope=name, risk=Risk.INFERENCE)
                continue
            for known in self._known(case, name, named):
                yield self._guess(case, secret, known)

    def _known(self, case: Case, name: str, named: Sequence[str]) -> list[Knowledge]:
        """What the column is guessed from."""
        sets = [] if case.limited else column_sets(case, self.known, "known")
        sensitive = [n for n in named if self.secrets or case.train.schema[n].role in (Role.SECRET, Role.TARGET)]
        return [
            known
            for known in knowledge(case, name, sets)
            if known.label == EVERYTHING or name in sensitive or (not sensitive and (case.limited or known.columns in sets))
        ]

    def _guess(self, case: Case, secret: Secret, known: Knowledge) -> Way:
        def strike(which: str) -> Strike:
            nearest = _nearest(case, which, known)
            return Strike(secret.hits(which, secret.offered[nearest]), nearest)

        def describe(attempt: int, values: bool) -> str:
            text = f"{secret.name} of the released row nearest in {', '.join(known.columns)}"
            return f"{text}: {case.release.strings(secret.name)[_nearest(case, 'train', known)[attempt]]}" if values else text

        return Way(
            "inference", Risk.INFERENCE, known.phrase, f"guesses {secret.name} correctly", strike,
            secret.blind("train"), known.scope, describe,
            {"best_constant": secret.best_constant(), "secret": secret.name}, known.known,
        )  # fmt: skip


def _nearest(case: Case, which: str, known: Knowledge) -> Integers:
    """The released row nearest to each person in what is known; all columns but one share one search."""
    if known.label == EVERYTHING:
        return case.nearest_without(which, "release")[:, case.columns.index(known.secret)]
    return case.nearest(which, "release", 1, known.columns).index[:, 0]
