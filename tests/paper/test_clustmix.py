"""ClustMix on Adult as in table 1 of Madl et al. (2023): boosted trees reach an area of 0.863 at a claimed (1, 1/n)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.privacy.accountant import gdp_mu
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.published.clustmix import ClustMix


@pytest.mark.slow
def test_boosted_trees_learn_as_much_from_the_averages_as_was_published(adult):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    order = np.random.default_rng(20261115).permutation(adult.rows)
    train, test = adult.take(order[12_210 : 12_210 + 30_000]), adult.take(order[:12_210])
    # One coordinate for each of the fourteen columns, as in the publication.
    step = ClustMix(sigma_max=(0.1,), layout="codes")
    model = step.fit(Vault.of(train, entropy=Entropy.seeded(1)), np.random.default_rng(1))
    choice = model.result()
    assert choice["dimensions"] == 14
    assert choice["l"] == math.ceil(math.sqrt(2 * 14) / (0.1 * gdp_mu(1.0, 1 / 30_000)))
    assert choice["least_cluster"] >= choice["l"]
    assert len(model.labels) < 30_000 / choice["l"]
    points, truth = model.encoding.vectors(test)
    with threadpool_limits(1, "openmp"):
        trees = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, min_samples_leaf=15, random_state=0)
        scores = trees.fit(model.vectors, model.labels).predict_proba(points)[:, 1]
    assert roc_auc_score(truth, scores) == pytest.approx(0.863, abs=0.03)
