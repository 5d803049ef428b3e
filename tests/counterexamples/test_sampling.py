"""Sampling does not divide epsilon by the rate, and drawing a fixed number of rows is not even free.

The exact ratio of one Laplace count settles it; a two-world audit of the mechanism itself comes to the same verdict.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution
from scipy.stats import hypergeom

from hushtable.privacy import accountant
from hushtable.privacy.event import DiscreteLaplace
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.noise import Entropy, discrete_laplace, laplace_scale
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Scheme, Vault
from tests.unit.privacy.cases import people
from tests.unit.privacy.exact import joint, laplace, loss, mixed

RATE, BASE = 0.5, 2.0
RUNS = 40_000


def promised(rate: float, epsilon: float) -> float:
    """What our ledger says of one Laplace count on a secret Poisson sample."""
    return Ledger([Entry("count", DiscreteLaplace(1 / epsilon, 1.0), "w", 1, rate)]).epsilon(0.0)


@pytest.mark.parametrize(("rate", "epsilon", "expected"), [(0.5, 2.0, 1.43), (0.1, 10.0, 7.70), (0.01, 1.0, 0.017)])
def test_the_exact_ratio_refutes_rate_times_epsilon(rate, epsilon, expected):
    without, within = laplace(1 / epsilon, 0, 100), laplace(1 / epsilon, 1, 100)
    true = loss(mixed(rate, within, without), without)
    assert true == pytest.approx(expected, abs=5e-3)
    assert promised(rate, epsilon) == pytest.approx(true)
    assert rate * epsilon < true


def noisy_counts(present: bool, entropy: Entropy) -> np.ndarray:
    """Many runs of: draw each row with probability one half, count, add noise. The canary is the only row, or absent."""
    drawn = entropy.below(2, RUNS) if present else np.zeros(RUNS, np.int64)
    return drawn + discrete_laplace(laplace_scale(1 / BASE), RUNS, entropy)


def upper_limit(hits: int, runs: int) -> float:
    """Clopper-Pearson at 97.5 %."""
    return float(beta_distribution.ppf(0.975, hits + 1, runs - hits)) if hits < runs else 1.0


def audited(with_canary: np.ndarray, without: np.ndarray) -> float:
    """A lower bound on epsilon at 95 %: the threshold is chosen on one half of the runs and judged on the other."""
    half = RUNS // 2
    thresholds = range(-3, 5)

    def bound(threshold: int, part: slice) -> float:
        false = upper_limit(int((without[part] >= threshold).sum()), half)
        missed = upper_limit(int((with_canary[part] < threshold).sum()), half)
        return max(math.log(max(1 - missed, 1e-9) / false), math.log(max(1 - false, 1e-9) / missed))

    chosen = max(thresholds, key=lambda t: bound(t, slice(0, half)))
    return bound(chosen, slice(half, RUNS))


def test_a_two_world_audit_refutes_rate_times_epsilon_and_not_our_price():
    entropy = Entropy.seeded(2)
    lower_bound = audited(noisy_counts(True, entropy), noisy_counts(False, entropy))
    assert lower_bound > RATE * BASE * 1.2
    assert lower_bound <= promised(RATE, BASE)
    assert lower_bound > 0.9 * promised(RATE, BASE)


def fixed_size_worlds(rows: int, drawn: int, drawn_with_one_more: int, scale: float) -> float:
    """The exact loss of a noisy two-cell histogram of a fixed-size sample: all rows in one cell, or one more in the other."""
    without = joint(laplace(scale, drawn, 30), laplace(scale, 0, 30))
    share = hypergeom.pmf(1, rows + 1, 1, drawn_with_one_more)
    left = joint(laplace(scale, drawn_with_one_more, 30), laplace(scale, 0, 30))
    pushed_out = joint(laplace(scale, drawn_with_one_more - 1, 30), laplace(scale, 1, 30))
    return loss(mixed(float(share), pushed_out, left), without)


def test_a_fixed_size_sample_under_add_remove_costs_more_than_no_sample_at_all():
    """Five of nine rows, five of ten: the new row pushes another one out, and both cells change. So q = 1 is not enough."""
    scale = 1.0
    true = fixed_size_worlds(9, 5, 5, scale)
    assert true == pytest.approx(math.log((1 + math.exp(2 / scale)) / 2))
    assert true > 1 / scale
    for scheme in (Scheme.FIXED, Scheme.OTHER):
        vault = Vault.of(people()).sampled(people().take(np.arange(100)), 0.5, scheme).named("count")
        vault.open(DiscreteLaplace(scale, 1.0), "w")
        assert vault.ledger.epsilon(0.0) == math.inf
    fair = Vault.of(people(), unit=Unit(relation=Relation.REPLACE_ONE)).sampled(people().take(np.arange(100)), 0.5, Scheme.FIXED)
    fair.open(DiscreteLaplace(scale, 2.0), "w")
    assert fair.ledger.epsilon(0.0) == pytest.approx(accountant.amplify(2 / scale, 0.0, 0.5)[0])


def test_rounding_the_size_of_a_sample_up_is_not_free():
    """One of ten rows was asked for as six in a hundred: the price of six in a hundred is below the truth."""
    same = joint(laplace(1.0, 1, 30), laplace(1.0, 0, 30))
    moved = joint(laplace(1.0, 0, 30), laplace(1.0, 1, 30))
    true = loss(mixed(0.1, moved, same), same)
    assert accountant.amplify(2.0, 0.0, 0.06)[0] < true
    ten = people(10)
    vault = Vault.of(ten, unit=Unit(relation=Relation.REPLACE_ONE)).sampled(ten.take(np.arange(1)), 0.06, Scheme.FIXED)
    vault.open(DiscreteLaplace(1.0, 2.0), "w")
    assert vault.ledger.epsilon(0.0) == pytest.approx(true)
