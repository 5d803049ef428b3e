"""Grids of hybrids whose cells are not run: what attacks gain and what releases score is planted, with noise of its own in each."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from unittest import mock

import numpy as np

from hushtable.api.compare.cell import GuaranteeSummary
from hushtable.api.compare.experiment import Experiment
from hushtable.api.compare.grid import Trial
from hushtable.api.compare.observation import Observation
from hushtable.api.hybrid.result import HybridGrid
from hushtable.api.hybrid.run import hybrid
from hushtable.evidence.confidence import Gain
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.measures import catalogue
from hushtable.privacy.guarantee import Assurance, Statement
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.anonymize.test_transition import people

AS_SAID: Mapping[str, float] = {
    "original": 0.3, "anonymized": 0.06, "generated": 0.05, "hybrid": 0.02, "conditional": 0.03, "post": 0.012, "stratified": 0.02,
    "beta": -0.015,
}  # fmt: skip
"""Planted as the source says it: what singling out gains at each stage, what parts add to it, and what strata add to the score."""
ATTACKS = {"singling-out": Risk.SINGLING_OUT, "inference": Risk.INFERENCE, "linkability": Risk.LINKABILITY}


def table(rows: int = 400) -> Table:
    """People with a target."""
    some = people(rows)
    target = Column(name="rich", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True)
    rich = (np.random.default_rng(1).random(rows) < 0.4).astype(np.int32)
    return Table(Schema((*some.schema.columns, target)), {name: some[name] for name in some.schema.names} | {"rich": rich})


def planted(effects: Mapping[str, float] = AS_SAID, *, noise: float = 0.004, failing: str = "", **options: object) -> HybridGrid:
    """A grid in which parts do what is planted; ``failing`` is a part of the names of cells that give no release."""

    def observe(self: Experiment, trial: Trial, run: int) -> Observation:
        return observed(trial, effects, noise, failing)

    with mock.patch.object(Experiment, "observe", observe):
        return hybrid(table(), **{"seed": 0, **options})


def observed(trial: Trial, effects: Mapping[str, float] = AS_SAID, noise: float = 0.004, failing: str = "") -> Observation:
    """What is planted in a trial."""
    if failing and failing in trial.id:
        return Observation(seconds=0.1, failed="too few rows of everything")
    rng = np.random.default_rng(list(sha256(trial.id.encode()).digest()))
    name, settings = trial.recipe.recipe, dict(trial.settings)
    stage = (
        "original" if name == "original" else "hybrid" if name.startswith("hybrid-") else "anonymized" if settings else "generated"
    )
    way, order = settings.get("transition", ""), name.split("-")[1] if stage == "hybrid" else ""
    risk = effects[stage] + effects.get(way, 0.0) + effects.get(order, 0.0)
    risk += effects.get("k", 0.0) * float(settings.get("k", 0)) / 50 + effects.get("beta", 0.0) * float(settings.get("beta", 0))
    score = 0.8 + (effects["stratified"] if settings.get("sampling") == "stratified" else 0.0)
    reads_raw = way.startswith("conditional") or stage in ("original", "generated")
    statements = (
        () if reads_raw else (Statement(f"k-anonymity with k = {settings.get('k')} over age, town, grade", Assurance.VERIFIED),)
    )
    return Observation(
        seconds=0.1,
        rows=300,
        assurance=Assurance.NONE if reads_raw else Assurance.VERIFIED,
        statements=statements,
        guarantee=GuaranteeSummary(),
        findings=(
            *(_attack(audit, risk / (1 + i) + noise * rng.standard_normal()) for i, audit in enumerate(ATTACKS)),
            _measure(catalogue.AUC.name, score + noise * rng.standard_normal(), "rich", Better.HIGHER),
            _measure(catalogue.DISCRIMINATOR.name, 0.7 + noise * rng.standard_normal()),
            _measure(catalogue.MEAN_TVD.name, 0.1 + noise * rng.standard_normal()),
            _measure(catalogue.MEAN_WASSERSTEIN.name, 0.05 + noise * rng.standard_normal()),
        ),
    )


def _attack(audit: str, value: float) -> Finding:
    gain = Gain(value=float(value), low=float(value - 0.02), high=float(value + 0.02), outside=0.0)
    return Finding(
        audit=audit, name=audit, value=max(0.0, float(value)), low=0.0, high=float(value + 0.02), gain=gain, baseline=0.0,
        better=Better.LOWER, subject=Subject.PRIVACY, risk=ATTACKS[audit], n=300, note="", p=0.5, p_adjusted=1.0,
    )  # fmt: skip


def _measure(name: str, value: float, scope: str = "", better: Better = Better.LOWER) -> Finding:
    return Finding(
        audit="measures", name=name, scope=scope, value=float(value), low=float(value) - 0.02, high=float(value) + 0.02,
        baseline=0.85, better=better, subject=Subject.UTILITY, n=300, note="",
    )  # fmt: skip
