"""The stability histogram against brute force: its whole output distribution on tables small enough to write it down."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hushtable.privacy import accountant
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import StabilityHistogram
from hushtable.privacy.stability import MANY, failure, tail, threshold
from hushtable.privacy.unit import Budget, Unit

REACH = 14
"""Noise beyond so many sigmas is left out: e^-98 of it."""
HIDDEN = None


def noise(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(-math.ceil(REACH * sigma), math.ceil(REACH * sigma) + 1)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    return x, weights / weights.sum()


def text_of(count: int, sigma: float, least: int) -> dict[int | None, float]:
    """What is seen of one cell: its noisy count, or nothing."""
    if count == 0:
        return {HIDDEN: 1.0}
    x, p = noise(sigma)
    seen = {int(v): float(q) for v, q in zip(x + count, p, strict=True) if v >= least}
    return seen | {HIDDEN: float(p[x + count < least].sum())}


def divergence(one: list[dict], other: list[dict], epsilon: float) -> float:
    """The hockey stick of the joint distributions over independent cells."""
    outcomes = [list(dict.fromkeys((*a, *b))) for a, b in zip(one, other, strict=True)]
    p, q = (
        [np.array([cell.get(o, 0.0) for o in seen]) for cell, seen in zip(cells, outcomes, strict=True)] for cells in (one, other)
    )
    joint_p, joint_q = (np.multiply.outer(*parts) if len(parts) == 2 else parts[0] for parts in (p, q))
    return float(np.maximum(joint_p - math.exp(epsilon) * joint_q, 0).sum())


def worst_excess(pairs: list[tuple[tuple[int, ...], tuple[int, ...]]], event: StabilityHistogram, least: int) -> float:
    """The most by which the truth exceeds what the event says, over neighbours, directions and epsilons."""
    cost = event.cost()
    excess = -math.inf
    for (one, other), epsilon in product(pairs, (0.0, 0.1, 0.5, 1.0, 2.0, 8.0, 30.0)):
        cells = [[text_of(count, event.sigma, least) for count in counts] for counts in (one, other)]
        allowed = cost.delta + accountant.zcdp_delta(cost.rho, epsilon)
        truth = max(divergence(cells[0], cells[1], epsilon), divergence(cells[1], cells[0], epsilon))
        excess = max(excess, truth - allowed)
    return excess


ADDED = [((0,), (1,)), ((1,), (2,)), ((4,), (5,)), ((6,), (7,)), ((12,), (13,))]
REPLACED = [((1, 0), (0, 1)), ((1, 3), (0, 4)), ((5, 0), (4, 1)), ((5, 6), (4, 7)), ((8, 8), (7, 9))]
PERSON = [((0, 0), (1, 1)), ((0,), (2,)), ((1, 0), (2, 1)), ((5,), (7,)), ((6, 0), (7, 1)), ((6, 6), (7, 7))]


@pytest.mark.parametrize("sigma", [0.8, 2.0, 3.5])
@pytest.mark.parametrize("delta", [0.2, 0.01, 1e-5])
@pytest.mark.parametrize(
    ("pairs", "sensitivity", "rows"),
    [(ADDED, 1.0, 1), (REPLACED, math.sqrt(2), 1), (PERSON, 2.0, 2)],
    ids=["add", "replace", "person"],
)
def test_the_price_covers_the_whole_distribution_and_a_lower_threshold_is_not_covered(pairs, sensitivity, rows, sigma, delta):
    least = threshold(sigma, delta, rows)
    event = StabilityHistogram(sigma, sensitivity, least, rows)
    assert event.cost().delta <= delta
    assert worst_excess(pairs, event, least) <= 1e-12
    # The broken twin tells a cell as soon as it has more rows than one unit, whatever the noise.
    if least > rows + 2:
        assert worst_excess(pairs, event, rows + 1) > 0


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.3, 40.0])
def test_the_tail_is_bounded_closely(sigma):
    x, p = noise(sigma)
    for at in range(1, math.ceil(6 * sigma) + 2):
        exact = float(p[x >= at].sum())
        assert exact <= tail(sigma, at) <= max(1.0, 1.5 if sigma > 1 else 2.6) * exact + 1e-300 or exact < 1e-15
    assert tail(sigma, 0) == tail(sigma, -3) == 1.0


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-7])
@pytest.mark.parametrize("sigma", [1.0, 5.0, 31.6])
def test_the_threshold_is_the_least_one_but_for_one_row(sigma, delta):
    x, p = noise(sigma)
    exact = next(t for t in range(1, 10**4) if p[x >= t - 1].sum() <= delta)
    assert exact <= threshold(sigma, delta) <= exact + 1
    assert failure(sigma, threshold(sigma, delta), 1) <= delta < failure(sigma, threshold(sigma, delta) - 1, 1)


def test_a_persons_rows_may_lie_in_one_cell_or_in_many():
    spread = [2 * tail(3.0, 9), tail(3.0, 8)]
    assert failure(3.0, 10, 2) == pytest.approx(max(spread))
    assert failure(3.0, 10, 1) < failure(3.0, 10, 2) < failure(3.0, 10, 3)
    assert failure(50.0, MANY + 400, MANY) <= failure(50.0, MANY + 401, MANY + 1)
    with pytest.raises(ValueError, match="delta"):
        threshold(1.0, 0.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-3])
def test_steps_that_pay_a_delta_outright_fit_beside_those_that_do_not(epsilon, delta):
    whole = Allowance.of(Budget(epsilon, delta), Unit())
    for shares in ((0.05, 0.95), (0.5, 0.5), (0.99, 0.01), (0.3, 0.3, 0.4)):
        parts = whole.split(shares)
        spent, gone = parts[-1].rho, 0.0
        for part in parts[:-1]:
            left, outright = part.outright()
            spent, gone = spent + left.rho, gone + outright
        assert gone == pytest.approx(delta / 2 * (1 - shares[-1]))
        assert accountant.epsilon_of(accountant.zcdp(spent, gone), delta) <= epsilon * (1 + 1e-9)
        # The broken twin pays the delta beside the whole rho.
        assert accountant.epsilon_of(accountant.zcdp(whole.rho, gone), delta) > epsilon
