"""The private descent in two worlds, with and without one row whose gradient has a direction of its own; and its broken twins.

The guesser sees every noisy sum, and weighs them by their likelihoods in the two worlds: no attack on the network sees more.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.audits.mechanism.bounds import epsilon_bound, upper  # noqa: E402
from hushtable.learn.private import Descending, PrivateDescent  # noqa: E402
from hushtable.privacy import pld  # noqa: E402
from tests.unit.learn.test_private import Silent, sums, vault  # noqa: E402

pytestmark = [pytest.mark.neural, pytest.mark.skipif(not pld.available(), reason="needs the extra dp")]
DELTA = 1e-5
HOW = PrivateDescent(rate=0.5, steps=6, clip=1.0, multiplier=3.0)
OTHERS, CANARY = [-0.2, 0.2], 1e6


def evidence(found: np.ndarray) -> float:
    """The logarithm of how much likelier the noisy sums are with the row than without it."""
    scale = HOW.multiplier * HOW.clip
    with_row = np.exp((2 * found * HOW.clip - HOW.clip**2) / (2 * scale**2))
    return float(np.log(1 - HOW.rate + HOW.rate * with_row).sum())


def epsilon(kind, runs: int) -> float:
    """A lower bound of epsilon, at 95 %: the threshold is chosen on one half of the runs and judged on the other."""
    worlds = [
        np.array([evidence(sums(HOW, vault(rows, seed), kind, count=1 / HOW.rate)) for seed in range(start, start + runs)])
        for start, rows in ((0, OTHERS), (10**6, [*OTHERS, CANARY]))
    ]
    fits, judges = [world[::2] for world in worlds], [world[1::2] for world in worlds]
    places = np.quantile(np.concatenate(fits), np.linspace(0.01, 0.99, 99))
    bounds = [_bound(fits, place) for place in places]
    return _bound(judges, places[int(np.argmax(bounds))])


def _bound(worlds, place: float) -> float:
    absent, present = worlds
    false, missed = (upper(int(hits.sum()), len(absent)) for hits in (absent > place, present <= place))
    return float(epsilon_bound(false, missed, DELTA))


def test_the_guesser_stays_below_what_is_stated():
    stated = pld.epsilon([HOW.event], DELTA)
    assert 1 < stated < 3
    assert epsilon(Descending, 300) <= stated


def test_a_twin_without_noise_is_refuted():
    assert epsilon(Silent, 200) > pld.epsilon([HOW.event], DELTA)


@pytest.mark.nightly
def test_the_guesser_stays_below_what_is_stated_in_many_runs():
    stated = pld.epsilon([HOW.event], DELTA)
    assert 0.2 < epsilon(Descending, 8000) <= stated
