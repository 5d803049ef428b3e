"""Adversarial networks on Adult: what a learner trained on drawn rows can do, how near the margins are, and how long it took."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.catalogue import ACCURACY, AUC, MEAN_TVD
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.margins import MarginDistances
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release

pytest.importorskip("torch", reason="networks need torch")
pytestmark = [pytest.mark.neural, pytest.mark.nightly]
FLOORS = {"ctgan": (0.875, 0.0, 0.10), "ads-gan": (0.821, 0.0, 1.0), "pcgan": (0.0, 0.74, 1.0), "csgan": (0.0, 0.70, 1.0)}
"""AUC and accuracy of boosting on people not trained on, and the mean total variation distance of a column."""


@pytest.mark.parametrize("name", FLOORS)
def test_a_network_is_good_enough(name, adult):
    order = np.random.default_rng(20261115).permutation(adult.rows)
    control, train = adult.take(order[: adult.rows // 4]), adult.take(order[adult.rows // 4 :][:30_000])
    started = time.process_time()
    output = release(train, load(name), seed=0).table
    assert time.process_time() - started < 600
    case = Case(train, output, control)
    learnt = TrainOnRelease(bootstrap=2, seeds=0, models=("boosting",)).run(case, np.random.default_rng(0))
    found = {finding.name: finding.value for finding in learnt}
    area, accuracy, distance = FLOORS[name]
    assert found[AUC.name] > area
    assert found[ACCURACY.name] > accuracy
    margins = {finding.name: finding.value for finding in MarginDistances().run(case, np.random.default_rng(0))}
    assert margins[MEAN_TVD.name] < distance
