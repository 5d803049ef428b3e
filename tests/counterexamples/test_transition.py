"""A transition that draws from the raw values of a class prints its rarest holder; one that draws from the range does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.transition import transition
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


def printed(holder: int, step: Core, runs: int = 12) -> set[int]:
    """Every age that any of many runs prints."""
    steps = (Decades(), step)
    return set().union(*(release(crowd(holder), recipe(*steps), seed=seed).table["age"].tolist() for seed in range(runs)))


def ours(how: str, **more: object) -> Core:
    """The transition of the library."""
    return transition.Transition(how=transition.How(how), **more)


CONDITIONAL = [
    Transition(how="conditional"),
    ours("conditional"),
    ours("conditional", density=transition.Density.MULTIVARIATE),
]


@pytest.mark.parametrize("step", CONDITIONAL, ids=["local", "histogram", "multivariate"])
def test_conditional_prints_28_only_if_its_holder_is_there(step):
    assert 28 in printed(28, step)
    assert 28 not in printed(22, step)


def test_a_kernel_blurs_the_holder_and_still_says_that_she_is_there():
    kde = ours("conditional", density=transition.Density.KDE)
    with_her, without = printed(28, kde), printed(22, kde)
    assert max(without & set(range(20, 30))) < 28 <= max(with_her & set(range(20, 30)))


def test_the_mean_of_the_raw_rows_tells_it_too():
    # One value for all keeps k by count, and moves when one person is another.
    mean = ours("single", statistic=transition.Statistic.MEAN)
    assert printed(28, mean, 1) != printed(21, mean, 1)
    assert printed(28, ours("single"), 1) == printed(21, ours("single"), 1)


@pytest.mark.parametrize("step", [Transition(how="uniform"), ours("uniform")], ids=["local", "ours"])
def test_uniform_prints_28_whoever_is_there(step):
    assert 28 in printed(28, step)
    assert printed(22, step) == printed(28, step)


@pytest.mark.parametrize("how", ["single", "conditional"])
def test_ours_loses_every_promise_with_the_raw_rows(how):
    more = {"statistic": transition.Statistic.MEAN} if how == "single" else {}
    guarantee = release(crowd(28), recipe(Decades(), ours(how, **more))).guarantee
    assert guarantee.promises == ()
    assert guarantee.assurance is Assurance.NONE
    assert [e.step for e in guarantee.culprits if "raw" in e.why] == ["transition"]


def test_ours_keeps_k_as_derived_or_as_it_is():
    uniform, single = (release(crowd(28), recipe(Decades(), ours(how)), seed=1).guarantee for how in ("uniform", "single"))
    assert [(p.value, p.form) for p in uniform.promises] == [(5, Form.DERIVED)]
    assert [(p.value, p.form) for p in single.promises] == [(5, Form.SYNTACTIC)]


@pytest.mark.parametrize("says", [Effect.CONDITIONAL, Effect.UNIFORM, Effect.SINGLE_PUBLIC, Effect.NOTHING])
def test_conditional_loses_every_promise_whatever_it_says_of_itself(says):
    released = release(crowd(28), recipe(Decades(), Transition(how="conditional", says=says)))
    assert released.guarantee.promises == ()
    assert released.guarantee.assurance is Assurance.NONE
    assert any(e.step.endswith("Transition") and "raw values of the class" in e.why for e in released.guarantee.culprits)
    assert "Verified" not in released.guarantee.explain()


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
