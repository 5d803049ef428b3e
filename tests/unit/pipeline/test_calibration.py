"""Noise calibrated by the numerical accountant: it spends the whole budget, never more, and only where queries are fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

import hushtable as ht
from hushtable.checks import example
from hushtable.errors import BudgetExceeded, GuaranteeRefused
from hushtable.pipeline import calibration
from hushtable.pipeline.plan import alike, plan
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Plan, PrivateCore
from hushtable.pipeline.verify import verify
from hushtable.privacy import accountant, pld
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.unit import Budget, Unit
from hushtable.synthesize.marginal.independent import Margins

pytestmark = pytest.mark.skipif(not pld.available(), reason="needs the extra dp")

TABLE = example(120)
FIXED = ("independent", "mst", "dp-merf", "dpcopula-mle", "frechet")


def of(recipe: Recipe) -> Unit:
    return Unit(relation=recipe.relation)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("name", FIXED)
def test_what_a_run_really_asked_costs_the_epsilon_and_no_more(name, epsilon):
    recipe = load(name)
    guarantee = release(TABLE, recipe, epsilon=epsilon, delta=1e-5, unit=of(recipe)).guarantee
    spent = pld.epsilon([entry.event for entry in guarantee.ledger], 1e-5)
    assert 0.97 * epsilon < spent <= epsilon
    assert spent * (1 - 1e-12) <= guarantee.epsilon() <= epsilon
    # In closed form it would be an overdraft, and the factor says by how much.
    assert Ledger(guarantee.ledger).epsilon(1e-5) > 1.01 * epsilon
    assert Ledger(guarantee.ledger).rho() == pytest.approx(guarantee.factor * accountant.zcdp_rho(epsilon, 1e-5), rel=1e-3)


@pytest.mark.parametrize("name", FIXED)
def test_all_together_gets_about_what_a_gaussian_alone_could_have(name):
    """An accountant of its own: the closed form of the Gaussian mechanism."""
    recipe = load(name)
    course = plan(recipe, TABLE.schema, budget=Budget(1.0, 1e-5), unit=of(recipe))
    allowed = accountant.gdp_mu(1.0, 1e-5) ** 2 / 2
    assert 0.98 * allowed < course.ledger.rho() <= 1.001 * allowed


@pytest.mark.parametrize("name", FIXED)
def test_a_tenth_more_is_refused(name):
    recipe, budget = load(name), Budget(1.0, 1e-6)
    factor = plan(recipe, TABLE.schema, budget=budget, unit=of(recipe)).factor
    assert plan(recipe, TABLE.schema, budget=budget, unit=of(recipe), factor=factor).factor == factor
    with pytest.raises(BudgetExceeded, match="would cost epsilon"):
        plan(recipe, TABLE.schema, budget=budget, unit=of(recipe), factor=1.1 * factor)


@pytest.mark.parametrize("name", ["aim", "thresholded", "sample-independent", "field-groups", "privbayes-published"])
def test_what_is_not_fixed_or_not_placed_stays_in_closed_form(name):
    recipe, budget = load(name), Budget(1.0, 1e-6)
    assert plan(recipe, TABLE.schema, budget=budget, unit=of(recipe)).factor == 1
    assert plan(load("independent"), TABLE.schema, budget=Budget(1.0, 0.0)).factor == 1
    if name == "aim":
        with pytest.raises(GuaranteeRefused, match="does not fix its queries"):
            plan(recipe, TABLE.schema, budget=budget, factor=1.1)


def test_persons_with_several_rows_are_calibrated_too():
    guarantee = release(TABLE, load("dp-merf"), epsilon=1.0, delta=1e-6, unit=Unit(rows=3)).guarantee
    assert guarantee.factor > 1.1
    assert 0.97 < guarantee.epsilon() <= 1.0


def test_the_factor_follows_from_public_facts_alone():
    one, two = (release(example(120, seed), load("mst"), epsilon=1.0).guarantee.factor for seed in (0, 1))
    assert one == two


@dataclass(frozen=True, kw_only=True)
class Picky(PrivateCore):
    """Plans a histogram of each column, and asks for those that it pleases."""

    asked: int = 2
    twice: bool = False

    def plan(self, schema, budget):
        parts = budget.split([1.0] * len(schema)) if budget else []
        events = tuple(part.event(Histogram((c.name,)), schema) for part, c in zip(parts, schema, strict=False))
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, adaptive=True, slots=True)

    def fit(self, vault, rng):
        part = vault.paid().split([1.0] * len(vault.schema))[0]
        for number in range(len(vault.schema) + 1 if self.twice else self.asked):
            vault.spend(Histogram((vault.schema.names[number % len(vault.schema)],)), part)
        return Margins().fit(replace(vault, _table=vault._table, budget=None, ledger=Ledger()), rng)


def test_an_adaptive_step_may_use_a_part_of_its_list_and_the_list_is_what_is_stated():
    table = TABLE.select(["town", "school", "sick"])
    guarantee = release(table, Recipe(recipe="picky", steps=(Picky(),)), epsilon=1.0, delta=1e-6).guarantee
    assert guarantee.factor > 1.1
    assert guarantee.bound == guarantee.epsilon() == 1.0
    assert pld.epsilon([entry.event for entry in guarantee.ledger], 1e-6) < 0.9
    assert guarantee.rho() == pytest.approx(guarantee.factor * accountant.zcdp_rho(1.0, 1e-6))
    with pytest.raises(BudgetExceeded, match="none of the queries that it planned"):
        release(table, Recipe(recipe="picky", steps=(Picky(twice=True),)), epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("name", ["independent", "dp-merf"])
def test_a_receiver_without_the_accountant_learns_what_cannot_be_checked(name, tmp_path, monkeypatch):
    folder = ht.save(release(TABLE, load(name), epsilon=1), tmp_path / "out")
    assert not verify(folder).faults
    assert not verify(folder).unchecked
    monkeypatch.setattr(pld, "available", lambda: False)
    found = verify(folder)
    assert not found.faults
    assert [one.where for one in found.unchecked] == ["epsilon"]
    assert "by closed forms the ledger adds up to at most 1.0" in found.unchecked[0].reason


def test_without_the_accountant_noise_follows_from_rho(monkeypatch):
    monkeypatch.setattr(pld, "available", lambda: False)
    guarantee = release(TABLE, load("independent"), epsilon=1.0).guarantee
    assert guarantee.factor == 1
    assert guarantee.epsilon() == 1.0


def test_a_search_that_never_meets_its_goal_keeps_what_holds(monkeypatch):
    monkeypatch.setattr(calibration, "ROOT", 0.05)  # a slope that leads far astray
    course = plan(load("independent"), TABLE.schema, budget=Budget(1.0, 1e-6))
    assert calibration.price(course, Budget(1.0, 1e-6)) <= 1.0


@dataclass(frozen=True, kw_only=True)
class Descends(PrivateCore):
    """Plans a histogram of a column, and sums of samples."""

    rate: float = 0.05
    steps: int = 200
    less: float = 1.0

    def plan(self, schema, budget):
        first, second = budget.split([0.2, 0.8])
        events = (first.event(Histogram((schema.names[0],)), schema), sampled_gaussian(second, self.rate, self.steps))
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(FLOAT_NOISE,))

    def fit(self, vault, rng):
        first, second = vault.paid().split([0.2, 0.8])
        vault.spend(Histogram((vault.schema.names[0],)), first)
        event = sampled_gaussian(second, self.rate, self.steps)
        vault.open_sampled(replace(event, multiplier=event.multiplier * self.less), "trains")
        return Margins().fit(replace(vault, _table=vault._table, budget=None, ledger=Ledger()), rng)


COUNTED = TABLE.select(["town", "school", "sick"])
DESCENDS = Recipe(recipe="descends", steps=(Descends(),))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_sums_of_samples_are_calibrated_with_what_else_there_is(epsilon):
    guarantee = release(COUNTED, DESCENDS, epsilon=epsilon, delta=1e-5).guarantee
    assert guarantee.factor > 1.1
    spent = pld.epsilon([entry.event for entry in guarantee.ledger], 1e-5)
    assert 0.97 * epsilon < spent <= epsilon
    assert guarantee.epsilon() <= epsilon
    assert not guarantee.all_voids
    assert any("float-noise" in caveat for caveat in guarantee.caveats)
    with pytest.raises(BudgetExceeded, match="none of the queries that it planned"):
        release(COUNTED, Recipe(recipe="less", steps=(Descends(less=0.99),)), epsilon=epsilon, delta=1e-5)
    with pytest.raises(BudgetExceeded, match="would cost epsilon"):
        plan(DESCENDS, COUNTED.schema, budget=Budget(epsilon, 1e-5), factor=1.1 * guarantee.factor)


def test_sums_of_samples_keep_within_the_budget_without_the_accountant(monkeypatch):
    tight = plan(DESCENDS, COUNTED.schema, budget=Budget(1.0, 1e-5))
    monkeypatch.setattr(pld, "available", lambda: False)
    guarantee = release(COUNTED, DESCENDS, epsilon=1.0, delta=1e-5).guarantee
    assert guarantee.factor == 1
    assert 0.9 < guarantee.epsilon() <= 1.0
    assert guarantee.ledger[1].event.multiplier > tight.ledger.paid[1].event.multiplier


def test_ledgers_of_samples_are_alike_only_with_the_same_noise():
    ledgers = [Ledger([Entry("s", SampledGaussian(sigma, 0.1, 100), "w")]) for sigma in (3.0, 3.0, 3.1)]
    assert alike(ledgers[0], ledgers[1])
    assert not alike(ledgers[0], ledgers[2])


def test_a_budget_without_delta_trains_nothing():
    with pytest.raises(GuaranteeRefused, match="needs a delta"):
        plan(DESCENDS, COUNTED.schema, budget=Budget(1.0, 0.0))


def test_a_saved_release_of_samples_verifies(tmp_path):
    from hushtable.privacy.guarantee import Guarantee

    made = release(COUNTED, DESCENDS, epsilon=1.0, delta=1e-5).guarantee
    again = Guarantee.from_json(made.to_json())
    assert again.epsilon() == pytest.approx(made.epsilon())
