"""One cell of a comparison: a recipe run on the training rows, its release attacked, and what it is good for measured.

The release itself is thrown away. What is kept are aggregates: the guarantee, and every finding without its detail.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hushtable import api
from hushtable.comparison.grid import Trial
from hushtable.errors import HushError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject
from hushtable.evidence.validity import void
from hushtable.pipeline.release import Release
from hushtable.privacy.guarantee import Assurance, Guarantee, rounded_up
from hushtable.privacy.preserve import Syntactic
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

    def __reduce__(self) -> tuple[Any, ...]:
        """How it reaches another process: its tables as schema, arrays and texts."""
        plain = [(table.schema, dict(table.arrays), dict(table.texts)) for table in (self.train, self.control)]
        return _study, (*plain, self.target, self.seed, self.delta, self.attacked, self.only, self.measured)

    @cached_property
    def attacks(self) -> dict[str, Audit]:
        """By name."""
        found = api.pick_audits(self.only)
        return {name: audit for name, audit in found.items() if not _measures(audit)}

    @property
    def knobs(self) -> tuple[object, ...]:
        """Everything but the rows that decides what a cell of this study says."""
        cheap = [f"{name} {knobs}" for name, knobs in self.measured.items()]
        attacks = [f"{name} {audit!r}" for name, audit in self.attacks.items()]
        return ("comparison", self.target, self.seed, self.delta, self.attacked, MEASURED, *cheap, *attacks)

    def people(self, most: int) -> tuple[Table, Table]:
        """Training and control rows, at most so many of each, the same for every cell."""
        return _part(self.train, most, self.seed), _part(self.control, most, self.seed)

    def observe(self, trial: Trial, run: int) -> dict[str, Any]:
        """Make a release, attack it, measure it: plain values. Why it could not be done, if it could not."""
        start = time.perf_counter()
        try:
            # A seed would take away the secrecy of samples; a private release is fresh each time, and never leaves this function.
            made = api.release(
                self.train, trial.recipe, epsilon=trial.epsilon, delta=self.delta if trial.epsilon is not None else None,
                seed=None if trial.spends else self.seed + run,
            )  # fmt: skip
            findings, reasons = self._attacked(made, run)
            findings += self._measured(made, run)
        except HushError as error:
            return {"failed": str(error), "seconds": time.perf_counter() - start}
        told = [finding.to_json() for finding in findings]
        return {
            "failed": "",
            "seconds": time.perf_counter() - start,
            "rows": made.table.rows,
            **guaranteed(made.guarantee),
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
        return api.utility(
            train, released, control, target=self.target, only=self.measured, settings=settings, seed=self.seed + run
        ).findings


def _study(train: tuple[Any, ...], control: tuple[Any, ...], *more: Any) -> Study:
    return Study(Table(*train), Table(*control), *more)


def _measures(audit: Audit) -> bool:
    return type(audit).__module__.startswith("hushtable.measures.")


def _part(table: Table, most: int, seed: int) -> Table:
    """A random part of a table; all of it if it is no larger."""
    if table.rows <= most:
        return table
    return table.take(np.sort(np.random.default_rng([seed, 7]).permutation(table.rows)[:most]))


def guaranteed(guarantee: Guarantee) -> dict[str, Any]:
    """What a release promises, the kinds of evidence kept apart."""
    epsilon = guarantee.epsilon()
    proven = guarantee.assurance is Assurance.PROVEN
    ks = [p.value for p in guarantee.promises if p.kind is Syntactic.K_ANONYMITY]
    numbers = {
        "epsilon": epsilon if proven else None,
        "delta": guarantee.delta if proven else None,
        "k": max(ks, default=None),
        "bound": guarantee.bound if proven else None,
    }
    return {"assurance": str(guarantee.assurance), "promise": _promise(guarantee), "guarantee": numbers}


def _promise(guarantee: Guarantee) -> str:
    told = []
    if guarantee.assurance is Assurance.PROVEN:
        delta = f", delta {rounded_up(guarantee.delta, 3):.3g}" if guarantee.delta else ""
        told.append(f"epsilon {rounded_up(guarantee.epsilon(), 4):.4g}{delta} (proven)")
    for promise in guarantee.promises:
        head, _, columns = str(promise).partition(" over ")
        names = promise.quasi
        over = f"{', '.join(names[:2])} and {len(names) - 2} more" if len(names) > 3 else ", ".join(names)
        derived = ", of the table it was made from" if columns.endswith("(derived)") else ""
        told.append(f"{head} over {over}{derived} (verified)")
    if guarantee.claims and guarantee.assurance is Assurance.CLAIMED:
        told += [f"{claim.statement} (claimed, with a gap in its proof)" for claim in guarantee.claims]
    return "; ".join(told) or "nothing"


def _notes(made: Release) -> list[str]:
    notes = []
    for name, told in made.result.items():
        if gone := told.get("suppressed_rows") or told.get("rows_dropped"):
            notes.append(f"{gone:,} rows were suppressed by {name}")
        if note := told.get("note"):
            notes.append(str(note))
    return [*notes, *made.guarantee.caveats]


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


def same_guarantee(observed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The weakest of several runs' guarantees: with noisy looks they may differ a little."""
    order = [str(Assurance.NONE), str(Assurance.CLAIMED), str(Assurance.VERIFIED), str(Assurance.PROVEN)]

    def strength(one: Mapping[str, Any]) -> tuple[float, ...]:
        held = one["guarantee"]
        return order.index(one["assurance"]), -(held["epsilon"] or 0.0), held["k"] or 0.0

    return min(observed, key=strength)
