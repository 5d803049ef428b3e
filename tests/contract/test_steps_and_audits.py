"""The contract battery over everything registered, and over plugins broken on purpose: each must be caught."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Sample
from hushtable.api.certify import privacy_audits
from hushtable.api.compare.experiment import Experiment
from hushtable.api.methods import audit_family
from hushtable.api.utility import utilities
from hushtable.checks import check, example
from hushtable.encode.bins import Bins
from hushtable.evidence.finding import Audit, Better, Finding, Subject, Utility
from hushtable.pipeline import registry
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import DiscreteGaussian, Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.synthesize.sequential.sequential import Sequential
from tests.contract import broken

# Classifiers need a target with levels and a file of public texts, which the battery has not: tests/unit/language asks the same.
CLASSIFIERS = {target for target in registry.steps().values() if hasattr(registry.load(target), "pool")}
EVERYTHING = sorted({*registry.steps().values(), *registry.audits().values()} - CLASSIFIERS)


def timely(target: str) -> object:
    """By night attacks that train a network some thirty times, and ``best``, which is the core that it chooses."""
    slow = ".audits.neural." in target or target.endswith(":Best")
    return pytest.param(target, marks=pytest.mark.nightly) if slow else target


@pytest.mark.parametrize("target", [timely(target) for target in EVERYTHING])
def test_everything_registered_keeps_the_contract(target, request):
    if getattr(registry.load(target), "extra", "") == "language":
        request.getfixturevalue("installed_models")
    failed = [f"{v.asks}: {v.wrong}" for v in check(registry.load(target)) if not v.passed]
    assert not failed, failed


VARIANTS = [
    (Bins, {"edges": "tree"}),
    (Bins, {"edges": "quantile"}),
    (Bins, {"edges": "dp-quantile", "bins": 8}),
    (Bins, {"edges": "privtree"}),
    (Microaggregate, {"centre": "median", "scale": "range", "k": 2}),
    (Sample, {"method": "random"}),
    (Sample, {"method": "stratified", "beta": 0.3}),
    (Sequential, {"methods": ("age=linear", "sick=margin", "school=linear", "town=linear"), "least": 1}),
]


@pytest.mark.parametrize(("kind", "knobs"), VARIANTS, ids=[f"{k.__name__} {v}" for k, v in VARIANTS])
def test_variants_work_on_ordinary_and_awkward_tables(kind, knobs):
    from hushtable.checks import awkward
    from hushtable.checks.steps import _copes, _mutates, _plans, _repeats

    typed = {name: type(getattr(kind(), name))(value) for name, value in knobs.items()}
    step = kind(**typed)
    assert _plans(step) == ""
    assert _mutates(step) == ""
    assert _repeats(step) == ""
    for table in awkward().values():
        assert _copes(step, table) == ""


class _Broken(Core):
    """Suppresses nothing and releases the table: the parts that vary are broken one by one."""

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(Raw("reads"),), effect=Effect.EDIT_ROWS)

    def fit(self, vault, rng):
        return Anonymized(vault.open(Raw("reads"), "reads"))


@dataclass(frozen=True, kw_only=True)
class Sound(_Broken):
    """Releases the rows as they are, and promises nothing."""


@dataclass
class NotFrozen(_Broken):
    """Not frozen."""


@dataclass(frozen=True)
class Positional(_Broken):
    """Knobs by position."""

    k: int = 3
    """A knob."""


@dataclass(frozen=True, kw_only=True)
class Undocumented(_Broken):
    """A knob without a word."""

    k: int = 3


@dataclass(frozen=True, kw_only=True)
class NoDefault(_Broken):
    """A knob that must be given."""

    k: int
    """A knob."""


@dataclass(frozen=True, kw_only=True)
class OwnRandomness(_Broken):
    """Draws from a generator of its own."""

    def fit(self, vault, rng):
        table = vault.open(Raw("reads"), "reads")
        return Anonymized(table.take(np.random.default_rng().permutation(table.rows)))


@dataclass(frozen=True, kw_only=True)
class UndeclaredLook(_Broken):
    """Looks more often than it planned."""

    def fit(self, vault, rng):
        vault.open(Raw("once more"), "once more")
        return super().fit(vault, rng)


@dataclass(frozen=True, kw_only=True)
class EmptyPromise(_Broken):
    """Promises k = 5 and does nothing for it."""

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), promises=(Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=schema.quasi),))


@dataclass(frozen=True, kw_only=True)
class LosesColumn(_Broken):
    """Releases fewer columns than planned."""

    def fit(self, vault, rng):
        table = vault.open(Raw("reads"), "reads")
        return Anonymized(table.select(table.schema.names[1:]))


@dataclass(frozen=True, kw_only=True)
class OutsideDomain(_Broken):
    """Releases ages that the domain does not hold."""

    def fit(self, vault, rng):
        table = vault.open(Raw("reads"), "reads")
        return Anonymized(table.with_column(table.schema["age"], table["age"] + 1000))


@dataclass(frozen=True, kw_only=True)
class Crashes(_Broken):
    """Divides by the number of rows less one."""

    def fit(self, vault, rng):
        table = vault.open(Raw("reads"), "reads")
        [1 // (table.rows - 1)]
        return Anonymized(table)


@dataclass(frozen=True, kw_only=True)
class AnyColumn(_Broken):
    """Does not look at the columns it is given."""

    columns: tuple[str, ...] = ()
    """Columns."""


@dataclass(frozen=True, kw_only=True)
class Hoards(_Broken):
    """A generator that keeps every row."""

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), effect=Effect.GENERATE)


@dataclass(frozen=True, kw_only=True)
class FreeLunch(_Broken):
    """Calls itself private and reads the rows."""

    @property
    def spends(self):
        return True


@dataclass(frozen=True, kw_only=True)
class Overdraws(_Broken):
    """Spends more than it was given."""

    @property
    def spends(self):
        return True

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(DiscreteGaussian(0.1, 1.0, 1),), effect=Effect.GENERATE)

    def fit(self, vault, rng):
        return Anonymized(vault.open(DiscreteGaussian(0.1, 1.0, 1), "far too little noise"))


BROKEN = [
    (NotFrozen, "frozen"),
    (Positional, "keyword only"),
    (Undocumented, "docstring under every knob"),
    (NoDefault, "made with its defaults"),
    (OwnRandomness, "same output for the same seed"),
    (UndeclaredLook, "declares in its plan"),
    (EmptyPromise, "keeps the promises"),
    (LosesColumn, "columns and domains"),
    (OutsideDomain, "columns and domains"),
    (Crashes, "one row"),
    (AnyColumn, "refuses a column"),
    (Hoards, "holds no training rows"),
    (FreeLunch, "never reads raw rows"),
    (Overdraws, "never reads raw rows"),
]


def test_a_sound_step_passes():
    assert all(v.passed for v in check(Sound)), [v for v in check(Sound) if not v.passed]


@pytest.mark.parametrize(("kind", "asks"), BROKEN, ids=[kind.__name__ for kind, _ in BROKEN])
def test_the_battery_finds_what_is_broken(kind, asks):
    failed = [v for v in check(kind) if not v.passed]
    assert any(asks in v.asks for v in failed), failed


@dataclass(frozen=True, kw_only=True)
class Restless(Audit):
    """Different every time."""

    def run(self, case, rng):
        value = float(np.random.default_rng().random())
        return [Finding(name="x", value=value, better=Better.LOWER, subject=Subject.PRIVACY, n=1, note="")]


@dataclass(frozen=True, kw_only=True)
class Silent(Audit):
    """Finds nothing, ever."""

    def run(self, case, rng):
        return []


@dataclass(frozen=True, kw_only=True)
class Impossible(Audit):
    """An interval that does not hold its value."""

    def run(self, case, rng):
        return [Finding(name="x", value=0.5, low=0.6, high=0.7, better=Better.LOWER, subject=Subject.PRIVACY, n=1, note="")]


@dataclass(frozen=True, kw_only=True)
class Mislabelled(Audit):
    """Measures utility, and would be run as an attack."""

    def run(self, case, rng):
        return [Finding(name="x", value=0.5, better=Better.LOWER, subject=Subject.UTILITY, n=1, note="half")]


@dataclass(frozen=True, kw_only=True)
class Labelled(Utility):
    """The same, as what it is."""

    def run(self, case, rng):
        return Mislabelled().run(case, rng)


BROKEN_AUDITS = [
    (Restless, "same seed"),
    (Silent, "finds something"),
    (Impossible, "finds something"),
    (Mislabelled, "finds something"),
]


@pytest.mark.parametrize(("kind", "asks"), BROKEN_AUDITS)
def test_the_battery_finds_broken_audits(kind, asks):
    assert any(asks in v.asks for v in check(kind) if not v.passed)


def test_a_measure_of_ones_own_is_run_as_one_and_never_as_an_attack(monkeypatch):
    assert all(v.passed for v in check(Labelled))
    monkeypatch.setitem(registry.AUDITS, "own", f"{__name__}:Labelled")
    assert "own" in utilities()
    assert "own" not in privacy_audits()
    assert audit_family("own") == "utility"
    table = example(40)
    assert "own" not in Experiment(table, table, "sick", 0).attacks


def test_something_else_is_no_step():
    assert not check(int)[0].passed


def test_the_example_is_declared_and_has_missing_values():
    table = example()
    assert not any(c.observed for c in table.schema)
    assert table.missing("school").any()
    assert not (table["town"] == table.schema["town"].levels.index("east")).any()


@pytest.mark.parametrize("kind", broken.SOUND)
def test_sound_ones_pass(kind):
    assert all(v.passed for v in check(kind)), [v for v in check(kind) if not v.passed]


@pytest.mark.parametrize(("kind", "asks", "wrong"), broken.BROKEN, ids=[kind.__name__ for kind, _, _ in broken.BROKEN])
def test_the_battery_says_what_is_wrong(kind, asks, wrong):
    failed = [v for v in check(kind) if not v.passed]
    assert any(asks in v.asks and wrong in v.wrong for v in failed), failed
