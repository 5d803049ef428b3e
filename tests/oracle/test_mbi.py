"""Our estimate against that of private-pgm (mbi 2.0.0); ``benchmarks/make_mbi_oracle.py`` made the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hushtable.synthesize.marginal.estimate import Stopping, estimate, loss_of
from hushtable.synthesize.marginal.measurement import Measurement

REFERENCE = json.loads((Path(__file__).parent / "data" / "mbi.json").read_text())


@pytest.mark.parametrize("name", REFERENCE["problems"])
def test_as_good_a_fit_and_the_same_marginals(name):
    problem = REFERENCE["problems"][name]
    measured = [Measurement(tuple(m["columns"]), np.array(m["counts"], float), m["sigma"]) for m in problem["measured"]]
    model = estimate(problem["sizes"], measured, total=REFERENCE["total"], stopping=Stopping(20_000, 1e-8, 0.0))
    assert loss_of(model, measured) <= problem["loss"] * (1 + 1e-3)
    for m, theirs in zip(measured, problem["marginals"], strict=True):
        assert np.abs(model.project(m.columns) - theirs).sum() < 1e-3 * REFERENCE["total"]
    # Stopped where only noise is left, it is another model, and not one that fits no better than noise allows.
    early = estimate(problem["sizes"], measured, total=REFERENCE["total"])
    assert loss_of(early, measured) >= loss_of(model, measured) * (1 - 1e-6)
    assert loss_of(early, measured) < 3 * max(problem["loss"], sum(m.counts.size for m in measured) / 2)
