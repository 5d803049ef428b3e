"""How noise comes over levels and numbers and is taken off again: formulas against brute force, and a toy that is recovered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hushtable.synthesize.neural.denoising import Choices, Denoiser, Held, State, Stride, kept, resampled

TIMES = 12


def transition(step: float, levels: int) -> np.ndarray:
    """From a level at one time to one at the next."""
    return step * np.eye(levels) + (1 - step) / levels


def steps(times: int = TIMES) -> list[float]:
    return [later / earlier for earlier, later in pairwise(kept(times))]


def test_a_row_is_whole_at_first_and_nothing_is_left_of_it_at_last():
    left = kept(100)
    assert left[0] == 1
    assert (np.diff(left) < 0).all()
    assert 0 < left[-1] < 1e-3
    assert kept(1)[-1] < 0.01


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_what_is_left_of_a_level_is_the_product_of_all_steps(levels):
    walked = np.eye(levels)
    for time, step in enumerate(steps(), start=1):
        walked = walked @ transition(step, levels)
        assert np.allclose(walked, transition(kept(TIMES)[time], levels))


@pytest.mark.parametrize(("earlier", "later"), [(0, 1), (3, 4), (2, 9), (0, 12)])
def test_the_posterior_of_a_level_is_that_of_bayes_and_sums_to_one(earlier, later):
    """q(x_s | x_t, x_0), from products of matrices, for every x_t and x_0, over any stride."""
    levels, left = 4, kept(TIMES)
    stride = Stride(left[later], left[earlier])
    forth = transition(np.prod(steps()[earlier:later]), levels)
    first = transition(left[earlier], levels)
    for noisy in range(levels):
        same = np.arange(levels) == noisy
        for clean in range(levels):
            shares = np.eye(levels)[clean]
            found = stride.chances(shares, shares[noisy], same, np.array(levels))
            assert found.sum() == pytest.approx(1)
            expected = forth[:, noisy] * first[clean]
            assert np.allclose(found, expected / expected.sum())
        shares = np.array([0.1, 0.2, 0.3, 0.4])
        assert stride.chances(shares, shares[noisy], same, np.array(levels)).sum() == pytest.approx(1)


def test_levels_are_drawn_by_their_posterior():
    rng, sizes, left = np.random.default_rng(0), np.array([3]), kept(TIMES)
    shares, rows = np.array([0.6, 0.3, 0.1]), 200_000
    stride = Stride(left[8], left[3])
    for noisy in range(3):
        fresh = rng.choice(3, (rows, 1), p=shares)
        drawn = stride.levels(np.full((rows, 1), noisy), np.full((rows, 1), shares[noisy]), fresh, sizes, rng)
        expected = stride.chances(shares, shares[noisy], np.arange(3) == noisy, sizes)
        assert np.allclose(np.bincount(drawn[:, 0], minlength=3) / rows, expected, atol=0.005)


def test_the_posterior_of_a_number_is_that_of_bayes():
    """On a grid: the density of x_s given x_0 times that of x_t given x_s."""
    left, clean, noisy = kept(TIMES), 0.7, -1.1
    stride, grid = Stride(left[8], left[3]), np.linspace(-8, 8, 40_001)
    density = np.exp(-((grid - np.sqrt(left[3]) * clean) ** 2) / (2 * (1 - left[3])))
    density *= np.exp(-((noisy - np.sqrt(stride.step) * grid) ** 2) / (2 * (1 - stride.step)))
    density /= density.sum()
    mean, variance = stride.normal(np.array(noisy), np.array(clean), 1.0)
    assert float(mean) == pytest.approx((grid * density).sum(), abs=1e-6)
    assert variance == pytest.approx((grid**2 * density).sum() - (grid * density).sum() ** 2, abs=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_without_new_noise_numbers_have_the_same_distribution_at_the_earlier_time(noise):
    rng, left, clean = np.random.default_rng(0), kept(TIMES), 0.7
    noisy = np.sqrt(left[8]) * clean + np.sqrt(1 - left[8]) * rng.standard_normal(200_000)
    mean, variance = Stride(left[8], left[3]).normal(noisy, np.full(len(noisy), clean), noise)
    drawn = mean + np.sqrt(variance) * rng.standard_normal(len(noisy))
    assert drawn.mean() == pytest.approx(np.sqrt(left[3]) * clean, abs=0.01)
    assert drawn.var() == pytest.approx(1 - left[3], abs=0.01)


def test_one_running_sum_picks_from_every_column():
    choices, rows = Choices([2, 1, 40, 3]), 100_000
    shares = choices.shares(np.random.default_rng(0).normal(0, 1.5, (1, 46)).astype(np.float32))
    assert np.allclose(np.add.reduceat(shares[0], choices.starts), 1, atol=1e-5)
    picked = choices.pick(np.repeat(shares, rows, axis=0), np.random.default_rng(1))
    for column, (start, size) in enumerate(zip(choices.starts, choices.sizes, strict=True)):
        found = np.bincount(picked[:, column], minlength=size) / rows
        assert np.allclose(found, shares[0, start : start + size], atol=0.01)


class Toy(Denoiser):
    """Two columns of two levels that are always equal, 0 with a chance of 0.8, and nothing learnt: Bayes in place of a network."""

    def __init__(self, schedule: np.ndarray | None = None) -> None:
        super().__init__(sizes=(2, 2), times=60, arrays={"numbers": np.zeros((0, 1), np.float32)})
        if schedule is not None:
            self.__dict__["believed"] = schedule

    def clean(self, noisy: State, time: int) -> tuple[np.ndarray, np.ndarray]:
        """The chances of a column's clean level given the noisy level of the *other* one."""
        left = self.__dict__.get("believed", self.kept)[time]
        other = noisy.codes[:, ::-1]
        likely = np.stack([0.8 * transition(left, 2)[0][other], 0.2 * transition(left, 2)[1][other]], axis=2)
        shares = likely / likely.sum(axis=2, keepdims=True)
        return shares.reshape(len(other), 4).astype(np.float32), noisy.values


def distance(toy: Toy, strides: int, rows: int = 20_000) -> float:
    """The total variation of what is drawn from what the toy is."""
    rng = np.random.default_rng(0)
    drawn = toy.draw(toy.noise(None, rows, rng), strides, rng).codes
    found = np.bincount(drawn @ [2, 1], minlength=4) / rows
    return float(np.abs(found - [0.8, 0, 0, 0.2]).sum() / 2)


def test_the_way_back_recovers_two_states_and_one_by_a_shuffled_schedule_does_not():
    assert distance(Toy(), strides=60) < 0.02
    assert distance(Toy(), strides=30) < 0.04
    assert distance(Toy(np.random.default_rng(1).permutation(kept(60))), strides=60) > 0.04


@pytest.mark.parametrize("level", [0, 1])
def test_what_is_held_stays_and_the_rest_follows(level):
    toy, rng = Toy(), np.random.default_rng(0)
    none = np.zeros(0, np.int64)
    held = Held(np.array([1]), np.array([level]), none, np.zeros(0, np.float32))
    drawn = toy.draw(toy.noise(None, 4000, rng), 60, rng, held).codes
    assert (drawn[:, 1] == level).all()
    assert (drawn[:, 0] == level).mean() > 0.97


def test_rows_are_drawn_anew_by_their_weights():
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    counts = sum(np.bincount(resampled(np.log(weights + 1e-300), np.random.default_rng(s)), minlength=4) for s in range(4000))
    assert np.allclose(counts / 16_000, weights / 8, atol=0.01)
