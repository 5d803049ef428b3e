"""A transition that draws from the raw values of a class prints its rarest holder; one that draws from the range does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import PostProcessing, Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import recipe

AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99), required=True)
ILL = Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")), required=True)
DECADES = AGE.generalize(tuple(AGE.interval_cell(Interval(low, low + 9)) for low in range(0, 100, 10)))
CLASS = [21, 21, 23, 28, 22]


def crowd(holder: int) -> Table:
    """The class of the example, in which one person is 28 or somebody else, and another class of five."""
    ages = [holder if age == 28 else age for age in CLASS] + [40, 41, 42, 43, 44]
    return Table(Schema((AGE, ILL)), {"age": np.array(ages), "ill": np.zeros(10, np.int32)})


@dataclass(frozen=True, kw_only=True)
class Decades(Core):
    """Ages as decades of a public hierarchy."""

    def plan(self, schema, budget):
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age",))
        return Plan(schema=schema.with_columns(DECADES), events=(Raw("reads rows"),), effect=Effect.MERGE, promises=(promise,))

    def fit(self, vault, rng):
        table = vault.open(Raw("reads rows"), "reads rows")
        return Anonymized(table.with_column(DECADES, (table["age"] // 10).astype(np.int32)))


@dataclass(frozen=True, kw_only=True)
class Transition(Core):
    """Decades back to ages."""

    how: str = "uniform"
    """single, uniform or conditional"""
    says: Effect = Effect.UNIFORM
    """What it tells of itself; the run looks at what it does."""

    def plan(self, schema, budget):
        return Plan(schema=schema.with_columns(AGE), events=(PostProcessing("reads the decades"),), effect=self.says)

    def fit(self, vault, rng):
        table = vault.open(PostProcessing("reads the decades"), "reads the decades")
        decade = table["age"]
        if self.how == "conditional":
            raw = vault.origin.open(Raw("draws raw values of the class"), "draws raw values of the class")
            age = np.array([rng.choice(raw["age"][raw["age"] // 10 == d]) for d in decade])
        else:
            age = decade.astype(np.int64) * 10 + (rng.integers(0, 10, len(decade)) if self.how == "uniform" else 5)
        return Anonymized(table.with_column(AGE, age))


def printed(holder: int, how: str, runs: int = 60) -> set[int]:
    """Every age that any of many runs prints."""
    steps = (Decades(), Transition(how=how))
    return set().union(*(release(crowd(holder), recipe(*steps), seed=seed).table["age"].tolist() for seed in range(runs)))


def test_conditional_prints_28_only_if_its_holder_is_there():
    assert 28 in printed(28, "conditional")
    assert 28 not in printed(22, "conditional")


def test_uniform_prints_28_whoever_is_there():
    assert 28 in printed(28, "uniform")
    assert printed(22, "uniform") == printed(28, "uniform")


@pytest.mark.parametrize("says", [Effect.CONDITIONAL, Effect.UNIFORM, Effect.SINGLE_PUBLIC, Effect.NOTHING])
def test_conditional_loses_every_promise_whatever_it_says_of_itself(says):
    made = release(crowd(28), recipe(Decades(), Transition(how="conditional", says=says)))
    assert made.guarantee.promises == ()
    assert made.guarantee.assurance is Assurance.NONE
    assert any(e.step.endswith("Transition") and "raw values of the class" in e.why for e in made.guarantee.culprits)
    assert "Verified" not in made.guarantee.explain()


def test_uniform_keeps_k_as_derived_and_single_as_it_is():
    uniform = release(crowd(28), recipe(Decades(), Transition(how="uniform"))).guarantee
    single = release(crowd(28), recipe(Decades(), Transition(how="single", says=Effect.SINGLE_PUBLIC))).guarantee
    assert [(p.value, p.form) for p in uniform.promises] == [(5, Form.DERIVED)]
    assert [(p.value, p.form) for p in single.promises] == [(5, Form.SYNTACTIC)]
    assert uniform.assurance is single.assurance is Assurance.VERIFIED
    assert uniform.criteria["k"] < 5 == single.criteria["k"]


def test_uniform_that_calls_itself_single_is_refused_by_measuring():
    with pytest.raises(GuaranteeRefused, match="was promised"):
        release(crowd(28), recipe(Decades(), Transition(how="uniform", says=Effect.SINGLE_PUBLIC)), seed=1)
