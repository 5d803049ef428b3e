"""Noisy averages of clusters as published: the number of rows, and the clusters themselves, give one record away."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from hushtable.pipeline.plan import plan
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.published.clustmix import ClustMix
from hushtable.synthesize.published.clustmix_clusters import constrained_mixture, means
from tests.counterexamples.mixtures import SQUARE, counted, flipped, moved
from tests.unit.privacy.cases import recipe


def released(step, table, seed):
    return step.fit(Vault.of(table, entropy=Entropy.seeded(seed)), np.random.default_rng(seed))


@pytest.mark.parametrize("least", [5, 20])
def test_one_record_less_is_one_row_less_in_every_run(least):
    step = ClustMix(l=least, epsilon0=0.1)
    for seed in range(5):
        rows = [np.bincount(released(step, table, seed).labels).tolist() for table in (counted(least), counted(least, missing=1))]
        assert rows == [[2, 2], [1, 2]]


def best(points, least):
    """The two clusters of l records with the least sum of squares, of all there are."""
    cheapest = None
    for others in combinations(range(1, len(points)), least - 1):
        labels = np.ones(len(points), np.int64)
        labels[[0, *others]] = 0
        centres = means(points, labels, 2)
        cost = float(((points - centres[labels]) ** 2).sum())
        if cheapest is None or cost < cheapest[0] - 1e-12:
            cheapest = cost, centres
    return cheapest[1]


@pytest.mark.parametrize("least", [4, 6, 8])
def test_one_record_moves_the_best_clusters_by_the_side_of_the_square(least):
    worlds = [np.stack([table["x"], table["y"]], axis=1) for table in flipped(least)]
    if least < 8:  # the search of all 6,435 is as slow as it is dull
        assert moved(*(best(points, least) for points in worlds)) > 0.94
    centres = [means(p, constrained_mixture(p, 2, least, np.random.default_rng(1), 8).labels, 2) for p in worlds]
    assert moved(*centres) > 0.94
    assert moved(*centres) > 1.9 * math.sqrt(2) / least  # what the published noise is made for


def test_two_worlds_refute_the_claimed_epsilon():
    """Which way the averages lie distinguishes the neighbours, far beyond e^epsilon0 + delta0."""
    step = ClustMix(l=60, epsilon0=1.0, delta0=1e-5, starts=8, scaling="declared")

    def across(table, seed):
        wide = np.ptp(released(step, table, seed).vectors, axis=0)
        return wide[1] > wide[0]

    one, other = ([across(table, seed) for seed in range(40)] for table in flipped(60))
    assert np.mean(one) <= 0.05
    assert np.mean(other) >= 0.95
    assert np.mean(other) > math.e * (np.mean(one) + 0.05) + 1e-5


def test_the_published_form_says_so():
    course = plan(recipe(ClustMix()), SQUARE)
    assert course.culprits
    (claim,) = course.steps[0].plan.claims
    assert len(claim.gaps) == 6
    assert "floor" in claim.gaps[0]
    assert "square" in claim.gaps[1]
