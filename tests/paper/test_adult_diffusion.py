"""Diffusion on Adult: what a learner trained on drawn rows can do, and how long it took."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.catalogue import AUC
from hushtable.measures.downstream import TrainOnRelease
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release

pytest.importorskip("torch", reason="networks need torch")
pytestmark = [pytest.mark.neural, pytest.mark.nightly]


def test_diffusion_is_good_enough(adult):
    order = np.random.default_rng(20261115).permutation(adult.rows)
    control, train = adult.take(order[: adult.rows // 4]), adult.take(order[adult.rows // 4 :][:30_000])
    started = time.process_time()
    output = release(train, load("tabddpm"), seed=0).table
    assert time.process_time() - started < 400
    learnt = TrainOnRelease(bootstrap=2, seeds=0, models=("boosting",)).run(Case(train, output, control), np.random.default_rng(0))
    assert next(finding.value for finding in learnt if finding.name == AUC.name) > 0.895
