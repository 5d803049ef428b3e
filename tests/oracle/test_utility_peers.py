"""Margins and pairs against SDMetrics 0.32.0 and POT 0.9.7; ``benchmarks/make_utility_oracle.py`` made the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.measures.bins import coded
from hushtable.measures.contingency import pairs_of
from hushtable.measures.dependence import Association
from hushtable.measures.margins import MarginDistances
from hushtable.table.columns import Column, Kind
from hushtable.table.io import read
from hushtable.table.schema import Schema

TOLD = json.loads((Path(__file__).parent / "data" / "utility.json").read_text())
KINDS = {"age": Kind.INTEGER, "pay": Kind.REAL, "spiked": Kind.REAL, "holes": Kind.REAL}


@pytest.fixture(scope="module")
def case() -> Case:
    schema = Schema(tuple(Column(name=n, kind=KINDS.get(n, Kind.CATEGORY)) for n in TOLD["tables"]["real"]))
    real, release = (read(pd.DataFrame(TOLD["tables"][which]), schema) for which in ("real", "release"))
    return Case(real, release, real.take(np.arange(100)))


@pytest.fixture(scope="module")
def margins(case: Case) -> dict[tuple[str, str], Finding]:
    return {(f.name, f.scope): f for f in MarginDistances().run(case, np.random.default_rng(0))}


@pytest.mark.parametrize("name", TOLD["KSComplement"])
def test_ks(margins, name):
    assert margins["KS", name].value == pytest.approx(1 - TOLD["KSComplement"][name], abs=1e-12)


@pytest.mark.parametrize("name", TOLD["TVComplement"])
def test_total_variation(margins, name):
    assert margins["TVD", name].value == pytest.approx(1 - TOLD["TVComplement"][name], abs=1e-12)


@pytest.mark.parametrize("name", TOLD["wasserstein_1d"])
def test_wasserstein(case, margins, name):
    bounds = case.train.schema[name].bounds
    assert margins["Wasserstein", name].value * (bounds.high - bounds.low) == pytest.approx(TOLD["wasserstein_1d"][name], rel=1e-9)


def test_pearson(case):
    results = {f.name: f for f in Association().run(case, np.random.default_rng(0))}
    scores = [score for *_, score in TOLD["CorrelationSimilarity"]]
    assert results["Pearson similarity"].value == pytest.approx(np.mean(scores), abs=1e-12)
    assert results["correlation difference"].value == pytest.approx(2 * (1 - np.mean(scores)), abs=1e-12)
    detail = results["correlation difference"].detail
    for one, other, score in TOLD["CorrelationSimilarity"]:
        i, j = (detail["columns"].index(name) for name in (one, other))
        assert 1 - abs(detail["train"][i][j] - detail["release"][i][j]) / 2 == pytest.approx(score, abs=1e-12)


def test_total_variation_of_pairs(case):
    pairs = pairs_of(coded(case, 10))
    for one, other, score in TOLD["ContingencySimilarity"]:
        i, j = (pairs.columns.index(name) for name in (one, other))
        assert pairs.variation["release"][i, j] == pytest.approx(1 - score, abs=1e-12)
