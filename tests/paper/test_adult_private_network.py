"""The private autoregressive network on Adult: what a learner trained on its rows can do, their margins, and the time it takes."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.catalogue import AUC, MEAN_TVD
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.margins import MarginDistances
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release

pytest.importorskip("torch", reason="networks need torch")
pytestmark = [pytest.mark.neural, pytest.mark.nightly]


@pytest.mark.parametrize(("epsilon", "area", "seconds"), [(1.0, 0.885, 60), (3.0, 0.900, 60), (8.0, 0.912, 150)])
def test_the_private_network_is_good_enough(epsilon, area, seconds, adult):
    order = np.random.default_rng(20261115).permutation(adult.rows)
    control, train = adult.take(order[: adult.rows // 4]), adult.take(order[adult.rows // 4 :][:30_000])
    started = time.process_time()
    output = release(train, load("argn-private"), epsilon=epsilon, delta=1e-5).table
    assert time.process_time() - started < seconds
    case = Case(train, output, control)
    learnt = TrainOnRelease(bootstrap=2, seeds=0, models=("boosting",)).run(case, np.random.default_rng(0))
    assert next(finding.value for finding in learnt if finding.name == AUC.name) > area
    margins = {finding.name: finding.value for finding in MarginDistances().run(case, np.random.default_rng(0))}
    assert margins[MEAN_TVD.name] < 0.01
