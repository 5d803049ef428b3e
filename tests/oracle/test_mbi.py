"""Our estimate against that of private-pgm (mbi 2.0.0); ``benchmarks/make_mbi_oracle.py`` made the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hushtable.synthesize.marginal.estimate import estimate, misfit
from hushtable.synthesize.marginal.measurement import Measurement

REFERENCE = json.loads((Path(__file__).parent / "data" / "mbi.json").read_text())


@pytest.mark.parametrize("name", REFERENCE["problems"])
def test_as_good_a_fit_and_the_same_marginals(name):
    told = REFERENCE["problems"][name]
    measured = [Measurement(tuple(m["columns"]), np.array(m["counts"], float), m["sigma"]) for m in told["measured"]]
    model = estimate(told["sizes"], measured, total=REFERENCE["total"], steps=20_000, tolerance=1e-8, noise=0.0)
    assert misfit(model, measured) <= told["loss"] * (1 + 1e-3)
    for m, theirs in zip(measured, told["marginals"], strict=True):
        assert np.abs(model.project(m.columns) - theirs).sum() < 1e-3 * REFERENCE["total"]
    # Stopped where only noise is left, it is another model, and not one that fits no better than noise allows.
    early = estimate(told["sizes"], measured, total=REFERENCE["total"])
    assert misfit(early, measured) >= misfit(model, measured) * (1 - 1e-6)
    assert misfit(early, measured) < 3 * max(told["loss"], sum(m.counts.size for m in measured) / 2)
