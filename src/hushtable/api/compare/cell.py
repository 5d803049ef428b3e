"""One cell of a comparison: a recipe run on the training rows, its release attacked, and what it is good for measured.

The release itself is thrown away. What is kept are aggregates: the guarantee, and every finding without its detail.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.api.audit import pick_audits
from hushtable.api.compare.caveats import GAP
from hushtable.api.compare.grid import Trial
from hushtable.api.release import release
from hushtable.api.utility import utility
from hushtable.errors import Fault, HushError, InputError, MissingExtra
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject
from hushtable.evidence.persons import People
from hushtable.evidence.validity import void
from hushtable.evidence.verdict import STRENGTH
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.privacy.guarantee import Assurance, Guarantee, rounded_up
from hushtable.privacy.preserve import Form
from hushtable.privacy.unit import Relation, Unit
from hushtable.table.table import Table

ATTACKED = 10_000
"""Training rows, and control rows, that are attacked at most: more make the bounds narrower, and a comparison longer."""
MEASURED = 20_000
"""Rows of each table that measures of utility look at, at most."""
MEASURES: dict[str, dict[str, str]] = {
    "margins": {},
    "association": {},
    "downstream": {"models": "boosting", "rows": "5000"},
    "discriminator": {"most": "10000"},
    "queries": {"queries": "300"},
}
"""The measures of utility of a comparison, with the knobs that make them cheap."""
KEPT = ("audit", "name", "scope", "value", "low", "high", "baseline", "better", "subject", "risk", "n", "note", "p", "p_adjusted")


@dataclass(frozen=True, eq=False)
class Study:
    """What all cells share: one split of one table, and how it is attacked and measured."""

    train: Table
    control: Table
    target: str
    seed: int
    delta: float | None = None
    attacked: int = ATTACKED
    only: tuple[str, ...] = ()
    """The attacks to run; every audit of privacy that is not costly when empty."""
    measured: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MEASURES)
    """The measures of utility to take, each with the knobs that are not the usual ones."""
    person: str | None = None
    """The key column that tells persons apart."""
    rows_per_person: int = 1

    def unit(self, recipe: Recipe) -> Unit:
        """Whom a release by this recipe protects: each under the neighbouring relation that it is proven for."""
        return Unit(relation=recipe.relation, rows=self.rows_per_person, by=self.person)

    @cached_property
    def attacks(self) -> dict[str, Audit]:
        """By name; InputError if a measure of utility is named as one, or if what is named attacks nobody."""
        found = pick_audits(self.only)
        kept = {name: audit for name, audit in found.items() if audit.subject is Subject.PRIVACY}
        faults = [Fault(f"--only {name}", "measures utility and attacks nobody") for name in self.only if name not in kept]
        if not faults and all(type(audit).__module__ == "hushtable.audits.checks" for audit in kept.values()):
            faults.append(Fault("--only", "names checks of the audit alone; name an attack too"))
        if faults:
            raise InputError(faults)
        return kept

    @property
    def knobs(self) -> tuple[object, ...]:
        """Everything but the rows that decides what a cell of this study says."""
        cheap = [f"{name} {knobs}" for name, knobs in self.measured.items()]
        attacks = [f"{name} {audit!r}" for name, audit in self.attacks.items()]
        whom = [] if self.person is None else [self.person, self.rows_per_person]
        return ("comparison", self.target, self.seed, self.delta, self.attacked, MEASURED, *whom, *cheap, *attacks)

    def people(self, most: int) -> tuple[Table, Table]:
        """Training and control rows, at most so many of each, the same for every cell."""
        return _part(self.train, most, self.seed), _part(self.control, most, self.seed)

    def observe(self, trial: Trial, run: int) -> dict[str, Any]:
        """Make a release, attack it, measure it: plain values. Why it could not be done, if it could not.

        What went wrong in a way that was not foreseen may go well another time, and is marked ``again``.
        """
        start = time.perf_counter()
        try:
            # A seed would take away the secrecy of samples; a private release is fresh each time, and never leaves this function.
            made = release(
                self.train, trial.recipe, epsilon=trial.epsilon, delta=self.delta if trial.epsilon is not None else None,
                unit=self.unit(trial.recipe), seed=None if trial.spends else self.seed + run,
            )  # fmt: skip
            findings, reasons = self._attacked(made, run)
            findings += self._measured(made, run)
        except HushError as error:
            # What is not installed today may be tomorrow.
            again = {"again": True} if isinstance(error, MissingExtra) else {}
            return {"failed": str(error), "seconds": time.perf_counter() - start} | again
        except Exception as error:  # noqa: BLE001 - one cell must not cost the hours of all others
            return {"failed": _unforeseen(error), "seconds": time.perf_counter() - start, "again": True}
        told = [finding.to_json() for finding in findings]
        return {
            "failed": "",
            "seconds": time.perf_counter() - start,
            "rows": made.table.rows,
            **guaranteed(made.guarantee, made.table.schema.quasi),
            "void": reasons,
            "notes": _notes(made),
            "findings": [{key: one[key] for key in KEPT} for one in told],
        }

    def _attacked(self, made: Release, run: int) -> tuple[list[Finding], list[str]]:
        train, control = self.people(self.attacked)
        case = Case(train, made.table, control)
        findings = harness.run(case, self.attacks, self.seed + run)
        return findings, void(case, findings)

    def _measured(self, made: Release, run: int) -> list[Finding]:
        train, control = self.people(MEASURED)
        released = _part(made.table, MEASURED, self.seed)
        settings = {f"{name}.{knob}": text for name, knobs in self.measured.items() for knob, text in knobs.items()}
        return utility(
            train, released, control, target=self.target, only=self.measured, settings=settings, seed=self.seed + run
        ).findings


def _unforeseen(error: Exception) -> str:
    """The type of an error and where it arose. What it says itself may hold values of rows."""
    if isinstance(error, MemoryError):
        return "MemoryError: there was not enough memory; try fewer rows or fewer workers"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: an error that was not foreseen, in {Path(place.filename).name}, line {place.lineno}"


def _part(table: Table, most: int, seed: int) -> Table:
    """A random part of a table, of each person all rows or none; all of it if it is no larger."""
    if table.rows <= most:
        return table
    people = People.of(table)
    order = np.random.default_rng([seed, 7]).permutation(people.count)
    kept = order[np.cumsum(people.held[order]) <= most]
    return table.take(np.sort(people.rows_of(kept)))


def guaranteed(guarantee: Guarantee, quasi: Sequence[str]) -> dict[str, Any]:
    """What a release promises, the kinds of evidence kept apart; ``quasi`` are its quasi-identifiers."""
    epsilon = guarantee.epsilon()
    proven = guarantee.assurance is Assurance.PROVEN
    numbers = {
        "epsilon": epsilon if proven else None,
        "delta": guarantee.delta if proven else None,
        "k": guarantee.k(quasi),
        "bound": guarantee.bound if proven else None,
    }
    return {"assurance": str(guarantee.assurance), "promise": _promise(guarantee), "guarantee": numbers}


def _promise(guarantee: Guarantee) -> str:
    told = []
    if guarantee.assurance is Assurance.PROVEN:
        delta = f", delta {rounded_up(guarantee.delta, 3):.3g}" if guarantee.delta else ""
        whom = guarantee.unit
        replaced = whom.relation is Relation.REPLACE_ONE
        change = f", for one {whom}{' replaced by another' if replaced else ''}" if replaced or whom.by else ""
        told.append(f"epsilon {rounded_up(guarantee.epsilon(), 4):.4g}{delta}{change} (proven)")
    for promise in guarantee.promises:
        names = promise.quasi
        over = f"{', '.join(names[:2])} and {len(names) - 2} more" if len(names) > 3 else ", ".join(names)
        derived = ", of the table it was made from" if promise.form is Form.DERIVED else ""
        told.append(f"{promise.what} over {over}{derived} (verified)")
    if guarantee.claims and guarantee.assurance is Assurance.CLAIMED:
        claimed = " and ".join(claim.statement for claim in guarantee.claims)
        told = [*(told or ["nothing"]), f"its source claims {claimed}, which is not proven (epsilon is infinite)"]
    return "; ".join(told) or "nothing"


def _notes(made: Release) -> list[str]:
    notes = []
    for name, told in made.result.items():
        if gone := told.get("suppressed_rows") or told.get("rows_dropped"):
            notes.append(f"{gone:,} rows were suppressed by {name}")
        if note := told.get("note"):
            notes.append(str(note))
    gaps = [f"{GAP}{gap}" for claim in made.guarantee.claims for gap in claim.gaps]
    return [*notes, *gaps, *made.guarantee.caveats]


def findings_of(observed: Mapping[str, Any]) -> list[Finding]:
    """The findings of an observed cell, read back."""
    return [_finding(one) for one in observed.get("findings", ())]


def _finding(one: Mapping[str, Any]) -> Finding:
    typed = {
        "better": Better(one["better"]),
        "subject": Subject(one["subject"]),
        "risk": Risk(one["risk"]) if one["risk"] else None,
    }
    return Finding(**{**one, **typed})


def weakest(observed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The run whose guarantee is the weakest: with noisy looks they may differ a little."""

    def strength(one: Mapping[str, Any]) -> tuple[float, ...]:
        held = one["guarantee"]
        return STRENGTH[one["assurance"]], -(held["epsilon"] or 0.0), held["k"] or 0.0

    return min(observed, key=strength)
