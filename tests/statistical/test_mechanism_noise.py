"""Certified recipes are not refuted, and the same recipes with too little noise are: the noise is taken away behind their back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec

import pytest

import hushtable.privacy.vault as door
from hushtable.api.mechanism import proven_recipes
from hushtable.audits.mechanism import twoworld
from hushtable.audits.mechanism.lines import CanaryLine
from hushtable.audits.mechanism.twoworld import TwoWorldOptions
from hushtable.audits.mechanism.worlds import UNDECLARED
from hushtable.encode.bins import Bins
from hushtable.learn.normal import normals
from hushtable.pipeline.recipe import Recipe, load
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal import pooled, privsyn
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.marginal.privsyn import PrivSyn

MARGINS = Recipe(recipe="margins", steps=(Bins(), Margins()))


@pytest.fixture
def weaken(monkeypatch):
    """Divide every noise scale, and multiply the rate of every choice, without telling the ledger."""
    gaussian, laplace, exponential = door.discrete_gaussian, door.discrete_laplace, door.exponential

    def by(factor: int) -> None:
        monkeypatch.setattr(door, "discrete_gaussian", lambda v, count, coins: gaussian(v / Fraction(factor**2), count, coins))
        monkeypatch.setattr(door, "discrete_laplace", lambda s, count, coins: laplace(s / factor, count, coins))
        monkeypatch.setattr(door, "exponential", lambda scores, rate, coins: exponential(scores, rate * factor, coins))
        if find_spec("torch"):
            private = import_module("hushtable.learn.private")
            monkeypatch.setattr(private, "normals", lambda count, coins: normals(count, coins) / factor)

    return by


def audited(recipe: Recipe, epsilon: float, delta: float, runs: int) -> CanaryLine:
    (line,) = twoworld.audit(recipe, TwoWorldOptions(epsilon=epsilon, delta=delta, canaries=["crowd"], runs=runs, seed=2))
    return line


def without_samples(recipe: Recipe) -> Recipe:
    """A secret sample hides the answers from the guesser, and halves what it could find: it is left out."""
    return replace(recipe, steps=tuple(step for step in recipe.steps if type(step).__name__ != "Sample"))


@pytest.mark.parametrize(
    "recipe",
    [MARGINS, pytest.param(without_samples(load("beta-k-eps-certified")), marks=pytest.mark.nightly)],
    ids=lambda recipe: recipe.recipe,
)
def test_half_the_noise_is_refuted_and_all_of_it_is_not(recipe, weaken):
    honest = audited(recipe, 5.0, 1e-5, 80)
    assert not honest.refuted
    assert honest.bounds.of("mu").value < honest.stated.mu
    assert honest.stated.epsilon <= 5.0
    weaken(2)
    halved = audited(recipe, 5.0, 1e-5, 80)
    assert halved.refuted
    assert "mu is at least" in halved.verdict.text


def test_half_the_noise_of_marginals_in_parts_is_refuted_and_all_of_it_is_not(weaken, monkeypatch):
    """PrivSyn with few parts and a small pool, for the time it takes: all that it releases follows from the same answers."""
    monkeypatch.setattr(privsyn, "FEWEST", 6)
    monkeypatch.setattr(privsyn, "PARTS", 2)
    monkeypatch.setattr(pooled, "FEWEST", 200)
    recipe = Recipe(recipe="privsyn", steps=(Bins(bins=4), PrivSyn()))
    honest = audited(recipe, 5.0, 1e-5, 40)
    assert honest.tested
    assert not honest.refuted
    assert honest.stated.epsilon <= 5.0
    weaken(2)
    assert audited(recipe, 5.0, 1e-5, 60).refuted


@pytest.mark.parametrize("name", ["aim", "privsyn"])
def test_worlds_whose_domains_were_read_off_the_rows_are_refused(name):
    for line in twoworld.audit(load(name), TwoWorldOptions(epsilon=5.0, delta=1e-5, canaries=list(UNDECLARED), runs=4, seed=2)):
        assert not line.tested
        assert not line.refuted
        assert "read off the rows" in line.why


@pytest.mark.nightly
def test_half_the_noise_of_a_pure_mechanism_is_refuted_by_its_epsilon(weaken):
    assert not audited(MARGINS, 1.5, 0.0, 160).refuted
    weaken(2)
    halved = audited(MARGINS, 1.5, 0.0, 160)
    assert halved.bounds.epsilon.value > 1.5


@pytest.mark.slow
def test_what_copula_shirley_claims_is_refuted_by_its_rows_alone():
    """Even where their number is public. The guesser sees nothing but the released table."""
    options = TwoWorldOptions(epsilon=1.0, relation=Relation.REPLACE_ONE, canaries=["corner"], runs=60, seed=1)
    (line,) = twoworld.audit(load("copula-shirley"), options)
    assert line.stated.source == twoworld.CLAIM
    assert line.refuted


BY_COINS = {"safe-k", "safe-noisy"}
"""Protected by who is sampled, for the most part: no noise is there to be taken away, and their exact delta is tested elsewhere."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", proven_recipes())
def test_every_recipe_that_is_said_to_be_proven_stands_and_its_weak_twin_falls(name, weaken):
    """A quarter of the noise, so that few runs are enough; less where they cannot show as much as is stated."""
    recipe = without_samples(load(name).quick())
    honest = audited(recipe, 5.0, 1e-5, 40)
    if "not installed" in honest.why:
        pytest.skip(honest.why)
    assert honest.tested, honest.why
    assert not honest.refuted, honest.verdict
    if name in BY_COINS:
        return
    if honest.stated.rho is not None and honest.stated.rho < 1:
        weaken(4)
        assert audited(recipe, 5.0, 1e-5, 40).refuted
    else:
        weaken(20)
        assert audited(recipe, 0.5, 1e-5, 80).refuted
