"""Canaries with gradients of their own, on the real descent: true noise is refuted as rarely as stated, too little is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.audits.mechanism.gradients import GradientTest, difference_test, gradient_canaries, planned_canaries  # noqa: E402
from hushtable.errors import InputError  # noqa: E402
from hushtable.learn.private import Descending  # noqa: E402
from hushtable.pipeline import recipe as recipes  # noqa: E402

pytestmark = pytest.mark.neural
MULTIPLIER = 2.0
RUNS = 400


def with_noise(share: float) -> type[Descending]:
    """The descent with a part of its noise."""

    class Quieter(Descending):
        def _noisy(self, exact):
            return exact + share * (super()._noisy(exact) - exact)

    return Quieter


class Unclipped(Descending):
    def _weights(self, squared, units):
        return torch.full_like(squared, 2e-3)


def refuted(runs: int, kind=Descending, **more) -> int:
    return sum(gradient_canaries(MULTIPLIER, seed=seed, kind=kind, **more).refuted for seed in range(runs))


def test_true_noise_is_refuted_as_rarely_as_the_level_says():
    # More than this with a probability below 1 %, were it 5 % of the runs.
    assert refuted(RUNS) <= binom.ppf(0.99, RUNS, 0.05)


def test_half_the_noise_is_refuted():
    assert refuted(RUNS, with_noise(0.5)) >= 0.99 * RUNS


def test_seven_tenths_of_the_noise_are_refuted():
    assert refuted(RUNS, with_noise(0.7)) >= 0.9 * RUNS


def test_gradients_of_twice_the_norm_are_refuted():
    assert refuted(20, Unclipped) == 20


def test_several_steps_count_together():
    one, many = gradient_canaries(MULTIPLIER, seed=0), gradient_canaries(4 * MULTIPLIER, steps=16, seed=0)
    assert one.mu == many.mu == 0.5
    assert many.shown == pytest.approx(0.5, abs=0.25)
    assert sum(gradient_canaries(4 * MULTIPLIER, steps=16, seed=seed, kind=with_noise(0.5)).refuted for seed in range(5)) == 5


def test_the_same_seed_gives_the_same_answer():
    assert gradient_canaries(MULTIPLIER, seed=3) == gradient_canaries(MULTIPLIER, seed=3)


def test_the_test_by_itself_is_exact():
    rng = np.random.default_rng(0)
    ps = []
    for _ in range(2000):
        inside = rng.random(60) < 0.5
        ps.append(difference_test(0.8 * inside + rng.standard_normal(60), inside, mu=0.8).p)
    assert abs(np.mean(np.array(ps) <= 0.05) - 0.05) < 0.015
    assert abs(np.mean(ps) - 0.5) < 0.03


def test_too_few_coordinates_and_no_noise():
    assert difference_test(np.ones(5), np.array([True] * 5), mu=1.0).p == 1.0
    assert difference_test(np.array([1.0, 1, 0, 0]), np.array([True, True, False, False]), mu=1.0).refuted
    assert isinstance(gradient_canaries(MULTIPLIER, canaries=40, seed=1), GradientTest)
    with pytest.raises(InputError, match="canaries"):
        gradient_canaries(MULTIPLIER, canaries=10)


def test_a_private_training_is_audited_with_its_recipe(monkeypatch):
    recipe = recipes.load("argn-private")
    (found,) = planned_canaries(recipe, epsilon=2.0, delta=1e-5, seed=0)
    assert not found.surely
    assert found.shown == pytest.approx(found.mu, rel=0.2, abs=0.2)
    assert "not refuted" in found.sentence
    assert planned_canaries(recipes.load("aim"), epsilon=2.0, delta=1e-5, seed=0) == []
    noisy = Descending._noisy
    monkeypatch.setattr(Descending, "_noisy", lambda self, exact: exact + 0.5 * (noisy(self, exact) - exact))
    (broken,) = planned_canaries(recipe, epsilon=2.0, delta=1e-5, seed=0)
    assert broken.surely
    assert "smaller than is stated" in broken.sentence
