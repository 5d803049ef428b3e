"""The guesser of a mechanism audit on worlds whose parameter is known: the bound holds as often as it says."""

from __future__ import annotations

import numpy as np

from hushtable.audits.mechanism import bounds, guessing
from hushtable.audits.mechanism.guessing import judge
from hushtable.audits.mechanism.scores import TRANSCRIPT

TRIALS, RUNS, TAIL = 60, 60, 0.025


def gaussian_worlds(mu: float, seed: int, others: int = 5) -> tuple[list, list]:
    """The first score is Gaussian noise on 0 or on mu; the others are noise on nothing."""
    rng = np.random.default_rng(seed)

    def world(shift: float) -> list:
        return [
            {"answer": a + shift} | {f"n{j}": n for j, n in enumerate(rest)} for a, *rest in rng.normal(size=(RUNS, others + 1))
        ]

    return world(mu), world(0.0)


def test_the_bound_on_mu_fails_as_rarely_as_it_says_and_is_not_idle():
    collected = [judge(*gaussian_worlds(2.0, s), delta=0.0, tail=TAIL, also="mu").of("mu").value for s in range(TRIALS)]
    # At most one in twenty; three standard errors above that is what so many trials allow.
    assert np.mean(np.array(collected) > 2.0) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / TRIALS)
    assert np.median(collected) > 0.5


def test_a_guesser_that_is_judged_on_the_runs_it_was_picked_on_is_found_out(monkeypatch):
    """The broken twin: with nothing to find it still finds something, far more often than it says."""
    honest = [judge(*gaussian_worlds(0.0, s, 23), delta=0.0, tail=TAIL, also="mu").of("mu").value for s in range(20)]
    real = guessing._candidates

    def seen(names, pick, test):
        tried, _ = real(names, pick, pick)
        return tried, {**tried, guessing.LEARNED: tuple(guessing._learned(*pick)(world) for world in pick)}

    monkeypatch.setattr(guessing, "_candidates", seen)
    monkeypatch.setattr(guessing, "_picked", lambda tried, bound, tail: guessing.Guesser(guessing.LEARNED, 0.0, True))
    broken = [judge(*gaussian_worlds(0.0, s, 23), delta=0.0, tail=TAIL, also="mu").of("mu").value for s in range(20)]
    assert np.mean(np.array(honest) > 0) <= 0.2
    assert np.mean(np.array(broken) > 0) > 0.5


def test_the_guesser_that_was_fixed_before_is_judged_by_all_runs():
    rng = np.random.default_rng(5)
    one, other = ([{TRANSCRIPT: x} for x in rng.normal(shift, 2.0, 100)] for shift in (2.0, -2.0))
    shown = judge(one, other, delta=0.0, tail=TAIL, also="mu")
    false, missed = (sum((run[TRANSCRIPT] >= 0) == wrong for run in world) for world, wrong in ((other, True), (one, False)))
    limits = bounds.upper(false, 100, TAIL), bounds.upper(missed, 100, TAIL)
    assert shown.of("mu").value == float(bounds.mu_bound(*limits)) > 1.0
    assert judge(one, one, delta=0.0, tail=TAIL, also="mu").of("mu").value == 0.0


def guesses(epsilon: float, rng: np.random.Generator, canaries: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Randomized response: a coin for each canary is told as it fell with probability e^epsilon/(1 + e^epsilon)."""
    here = rng.random(canaries) < 0.5
    return here, np.where(rng.random(canaries) < 1 / (1 + np.exp(-epsilon)), here, ~here)


def test_one_run_bounds_randomized_response_from_below():
    right = [int((np.equal(*guesses(1.0, np.random.default_rng(s)))).sum()) for s in range(200)]
    result = np.array([bounds.one_run_epsilon(400, 400, r, 0.0) for r in right])
    assert np.mean(result > 1.0) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.median(result) > 0.7
    # The broken twin counts every guess as two: it promises more than there is.
    twice = np.array([bounds.one_run_epsilon(800, 800, 2 * r, 0.0, 0.5) for r in right])
    assert np.mean(twice > 1.0) > 0.2
