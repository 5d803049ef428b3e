"""Two worlds that differ in one record: no certified GAN gives it away; the published scale does, every time."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="networks need torch")

from hushtable.api.mechanism import audit_mechanism
from hushtable.pipeline.recipe import load

CERTIFIED = (
    "pate-gan-certified",
    "dpgan-certified",
    "dp-ctgan-certified",
    "dp-pcgan-certified",
    "dp-csgan-certified",
    "dp-bngan-certified",
)


@pytest.mark.neural
@pytest.mark.parametrize("name", ["dpgan-certified", "pate-gan-certified"])
def test_a_few_runs_do_not_refute_a_certified_recipe(name):
    report = audit_mechanism(load(name).quick(), epsilon=1.0, canaries=["corner"], runs=24, seed=0)
    assert not report.refuted
    assert all(line.holds for line in report.queries)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CERTIFIED)
def test_a_certified_recipe_is_not_refuted(name):
    report = audit_mechanism(load(name).quick(), epsilon=1.0, runs=120, seed=0)
    assert not report.refuted
    assert all(line.holds for line in report.queries)
