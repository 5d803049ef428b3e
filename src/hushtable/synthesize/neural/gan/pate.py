"""PATE-GAN, certified: teachers on disjoint parts vote with noise, a student learns the votes, and a generator learns from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hushtable.learn import network
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import require_counted, with_notes
from hushtable.synthesize.neural.gan.residual import Condition, Residual
from hushtable.synthesize.neural.gan.start import Start, classes, margin_events
from hushtable.synthesize.neural.gan.student import Student
from hushtable.synthesize.neural.gan.teachers import Kernel, Votes
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema

NAME = "pate"
MOST = 1 << 20
"""The most teachers."""


@dataclass(frozen=True, kw_only=True)
class Pate(PrivateCore):
    """A generator trained against a student that knows the rows by noisy votes of many small teachers (PATE-GAN).

    First every column is counted, with the target if there is one of few cells, with noise; a generator that adds to the logarithms
    of those tables starts as good as they are. Then in each round generated rows are put to the teachers, each of which has seen
    rows that no other has (``Votes``: one record changes one teacher, so one vote on each query, by 1). The number of votes for
    "real" is released with integer noise; the student is fitted to what was released, on generated rows only, and the generator to
    the student. How many queries there are is fixed beforehand, and the price follows from that and the noise alone, whether the
    teachers agree or not: T queries cost mu = sqrt(T)/sigma. What the generator draws is raked to the tables. After Jordon, Yoon
    and van der Schaar 2019; the teachers are kernel classifiers of few rows, for at a small epsilon the noise is of the order of a
    hundred votes.
    """

    quick: ClassVar[Mapping[str, object]] = {"rounds": 1, "queries": 10, "steps": 1}
    extra: ClassVar[str] = "neural"

    rounds: int = 2
    """How often the teachers are asked; after each round the generator learns."""
    queries: int = 500
    """Generated rows that they vote on in each round."""
    held: int = 5
    """Rows of a teacher, on average: the noisy number of rows divided by it is the number of teachers."""
    margins: float = 0.5
    """The part of its budget for the counts of the columns; the rest is for the votes."""
    target: str = ""
    """The column that every other is counted with, if it has at most 10 cells; empty: the role target's."""
    steps: int = 300
    """Gradient steps of the generator after each round."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            rounds=(1 <= self.rounds <= 1000, "must lie between 1 and 1000"),
            queries=(1 <= self.queries <= 100_000, "must lie between 1 and 100000"),
            held=(self.held >= 1, "must be at least 1"),
            margins=(0 < self.margins < 1, "must lie between 0 and 1"),
            steps=(self.steps >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted; lists the counts and every round of votes."""
        require_counted(schema, NAME)
        top = classes(schema, self.target, NAME)
        events: tuple[Event, ...] = ()
        caveats = ["the dependence between columns, given the target, is as far as noisy votes show it"]
        if budget is not None:
            counted, voted = self._parts(budget)
            asked = [part.event(_votes(self.queries), schema) for part in voted]
            events = (*margin_events(schema, top, counted), *asked)
            noise = voted[0].deviation(_votes(self.queries), schema)
            caveats.append(
                f"{self.rounds * self.queries} votes are asked for, each with noise of {noise:.0f} votes: below about "
                f"{3 * noise * self.held:,.0f} rows the teachers are too few to be heard"
            )
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Residual:
        """Count, then ask and learn in turn."""
        networks = network("hushtable.synthesize.neural.gan.pate_net", "PATE-GAN")
        schema = vault.schema
        counted, voted = self._parts(vault.paid())
        start = Start.measured(vault, classes(schema, self.target, NAME), counted, rng)
        condition = Condition.random(start, rng)
        kernel = Kernel.of(_shares(start))
        teachers = int(np.clip(round(start.network.total / self.held), 1, MOST))
        # From the randomness that noise is from: the key is nobody's to choose.
        key = int(vault.entropy.words(1)[0])
        generator = networks.Trained(start, condition, int(rng.integers(2**31)))
        students: list[Student] = []
        for number, part in enumerate(voted, 1):
            model = Residual(start, condition, generator.layers(), {})
            pool = model.draw(3 * max(self.queries, 1000), rng, {})
            queries, generated, others = pool[: self.queries], pool[self.queries : -1000], pool[-1000:]
            asked = replace(_votes(self.queries), columns=schema.names, queries=queries, generated=generated, kernel=kernel)
            asked = replace(asked, teachers=teachers, key=key)
            noisy = vault.spend(asked, part)
            students.append(Student.fitted(asked, noisy, part.deviation(asked, schema), others, self.held, rng))
            generator.please(students, self.steps)
            vault.report(number / len(voted))
        summary = self._summary(start, teachers, voted[0].deviation(_votes(self.queries), schema), students)
        return Residual(start, condition, generator.layers(), summary)

    def _parts(self, allowance: Allowance) -> tuple[Allowance, list[Allowance]]:
        """What the counts may spend, and each round of votes."""
        counted, voted = allowance.split([self.margins, 1 - self.margins])
        return counted, voted.split([1.0] * self.rounds)

    def _summary(self, start: Start, teachers: int, noise: float, students: list[Student]) -> dict[str, Any]:
        own = {
            "teachers": teachers,
            "queries": self.rounds * self.queries,
            "noise_of_a_vote": round(noise, 1),
            "signal": [round(student.signal, 3) for student in students],
        }
        note = ""
        if noise > teachers / 4:
            note = (
                f"{teachers} teachers vote and the noise is {noise:.0f} votes, so hardly anything is learnt from them: columns "
                "depend on the target only. More rows, fewer queries or a larger epsilon help"
            )
        return with_notes(start.network.summary | own, note)


def _votes(queries: int) -> Votes:
    """A query of so many votes, before it is known on what: its price is the same."""
    nothing: Integers = np.zeros((queries, 0), np.int64)
    return Votes((), nothing, nothing, Kernel.of([np.ones(1)]), 1, 0)


def _shares(start: Start) -> list[np.ndarray]:
    """The share of each column's levels, over all classes, in rows of the tables."""
    cells = start.draw(20_000, np.random.default_rng(0))
    return [np.bincount(column, minlength=size) / len(cells) for column, size in zip(cells.T, start.sizes, strict=True)]
