"""The experiment of a comparison: one split of one table, and how every release of it is attacked and measured.

A release is thrown away as soon as it was observed: what is saved is in ``Observation``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hushtable.api.audit import pick_audits
from hushtable.api.compare.cell import GuaranteeSummary
from hushtable.api.compare.grid import Trial
from hushtable.api.compare.observation import Observation, without_detail
from hushtable.api.compare.options import ATTACKED
from hushtable.api.release import release
from hushtable.api.utility import utility
from hushtable.api.workers import unforeseen
from hushtable.errors import Fault, HushError, InputError, MissingExtra
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.condition import Promised
from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.persons import People
from hushtable.evidence.validity import void
from hushtable.pipeline import registry
from hushtable.pipeline.card import suppressed_rows
from hushtable.pipeline.options import UNPUBLISHED
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Unit

if TYPE_CHECKING:
    from hushtable.evidence.finding import Audit
    from hushtable.pipeline.release import Release
    from hushtable.table.table import Table

MEASURED = 20_000
"""Rows of each table that measures of utility use, at most."""
MEASURES: dict[str, dict[str, str]] = {
    "margins": {},
    "association": {},
    "k-marginal": {},
    "downstream": {"models": "boosting", "rows": "5000"},
    "discriminator": {"most": "10000"},
    "queries": {"queries": "300"},
    "rules": {},
}
"""The measures of utility of a comparison, with the knobs that make them cheap; one that is not registered is left out."""
FORMAT = "comparison 2"
"""What its folder holds: one of another format is refused."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all cells share: one split of one table, and how it is attacked and measured."""

    train: Table
    control: Table
    target: str
    seed: int
    delta: float | None = None
    attacked: int = ATTACKED
    only: tuple[str, ...] = ()
    """The attacks to run; every audit of privacy that is not costly when empty."""
    measured: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: registered(MEASURES))
    """The measures of utility to take, each with the knobs that are not the usual ones."""
    person: str | None = None
    """The key column that identifies persons."""
    rows_per_person: int = 1

    def unit(self, recipe: Recipe) -> Unit:
        """Whom a release by this recipe protects: each under the neighbouring relation that it is proven for."""
        return Unit(relation=recipe.relation, rows=self.rows_per_person, by=self.person)

    @cached_property
    def attacks(self) -> dict[str, Audit]:
        """By name; InputError if a measure of utility is named as one, or if what is named attacks nobody."""
        attacks = {name: audit for name, audit in pick_audits(self.only).items() if audit.subject is Subject.PRIVACY}
        faults = [Fault(f"--only {name}", "measures utility and attacks nobody") for name in self.only if name not in attacks]
        if not faults and all(audit.sanity for audit in attacks.values()):
            faults.append(Fault("--only", "names checks of the audit alone; name an attack too"))
        if faults:
            raise InputError(faults)
        return attacks

    @property
    def knobs(self) -> tuple[object, ...]:
        """Everything but the rows that decides what is observed."""
        measures = [f"{name} {knobs}" for name, knobs in self.measured.items()]
        attacks = [f"{name} {audit!r}" for name, audit in self.attacks.items()]
        persons = [] if self.person is None else [self.person, self.rows_per_person]
        return (FORMAT, self.target, self.seed, self.delta, self.attacked, MEASURED, *persons, *measures, *attacks)

    def people(self, most: int) -> tuple[Table, Table]:
        """Training and control rows, at most so many of each, the same for every cell."""
        return _part(self.train, most, self.seed), _part(self.control, most, self.seed)

    def __call__(self, task: tuple[Trial, int]) -> Observation:
        """One task of a process: what to try, and the number of the run."""
        return self.observe(*task)

    def observe(self, trial: Trial, run: int) -> Observation:
        """Make a release, attack it and measure it; or say why that could not be done.

        What went wrong in a way that was not foreseen may go well another time, and is marked ``again``.
        """
        start = time.perf_counter()
        try:
            # A seed would take away the secrecy of samples; a private release is fresh each time, and never leaves this function.
            released = release(
                self.train, trial.recipe, epsilon=trial.epsilon, delta=self.delta if trial.epsilon is not None else None,
                unit=self.unit(trial.recipe), seed=None if trial.spends else self.seed + run, allow_copies=UNPUBLISHED,
                unproven=trial.unproven,
            )  # fmt: skip
            findings, reasons = self._attack(released, run)
            findings += self._measure(released, run)
        except HushError as error:
            # What is not installed today may be tomorrow.
            again = isinstance(error, MissingExtra)
            return Observation(seconds=time.perf_counter() - start, failed=str(error), again=again)
        except Exception as error:  # noqa: BLE001 - one cell must not cost the hours of all others
            return Observation(seconds=time.perf_counter() - start, failed=unforeseen(error), again=True)
        guarantee = released.guarantee
        return Observation(
            seconds=time.perf_counter() - start,
            rows=released.table.rows,
            assurance=guarantee.assurance,
            statements=guarantee.statements(),
            guarantee=_summary(released),
            void=tuple(reasons),
            notes=(*_step_notes(released), *_copied(released), *guarantee.caveats),
            gaps=tuple(gap for claim in guarantee.claims for gap in claim.gaps),
            findings=tuple(map(without_detail, findings)),
        )

    def _attack(self, released: Release, run: int) -> tuple[list[Finding], list[str]]:
        train, control = self.people(self.attacked)
        case = Case(train, released.table, control)
        findings = harness.run(case, self.attacks, self.seed + run)
        return findings, void(case, findings)

    def _measure(self, released: Release, run: int) -> list[Finding]:
        train, control = self.people(MEASURED)
        part = _part(released.table, MEASURED, self.seed)
        settings = {f"{name}.{knob}": text for name, knobs in self.measured.items() for knob, text in knobs.items()}
        report = utility(train, part, control, target=self.target, only=self.measured, settings=settings, seed=self.seed + run)
        return list(report.findings)


def registered(measures: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Those of the measures that there are here."""
    known = registry.audits()
    return {name: knobs for name, knobs in measures.items() if name in known}


def _copied(released: Release) -> list[str]:
    """That the release itself would be refused, because it hands out rows of real people."""
    if released.copies is None or not released.copies.too_many:
        return []
    return [f"{released.copies.words()}: a release of it is refused, unless a reason is given (--allow-copies)"]


def _summary(released: Release) -> GuaranteeSummary:
    guarantee = released.guarantee
    promised = Promised.of(guarantee, released.table.schema.quasi)
    proven = guarantee.assurance is Assurance.PROVEN
    return GuaranteeSummary(
        epsilon=promised.epsilon,
        delta=guarantee.delta if proven else None,
        k=promised.k,
        bound=guarantee.bound if proven else None,
    )


def _step_notes(released: Release) -> list[str]:
    """What the steps report: how many rows they suppressed, and their notes."""
    notes = []
    gone = suppressed_rows(released.result)
    for step, result in released.result.items():
        if step in gone:
            notes.append(f"{gone[step]:,} rows were suppressed by {step}")
        # A result by column may be of a column of that name.
        if isinstance(note := result.get("note"), str) and note:
            notes.append(note)
    return notes


def _part(table: Table, most: int, seed: int) -> Table:
    """A random part of a table, of each person all rows or none; all of it if it is no larger."""
    if table.rows <= most:
        return table
    people = People.of(table)
    order = np.random.default_rng([seed, 7]).permutation(people.count)
    chosen = order[np.cumsum(people.held[order]) <= most]
    return table.take(np.sort(people.rows_of(chosen)))
