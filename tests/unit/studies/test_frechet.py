"""The study of Frechet means: its pieces, and one pass over a small part."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from hushtable.studies import frechet, frechet_results
from hushtable.studies.frechet import OTHER, STUDY, Settings, epsilon_at, lines
from hushtable.studies.frechet_drawing import curves
from hushtable.studies.frechet_results import distance_of_means, scores
from hushtable.studies.frechet_statements import said
from hushtable.studies.frechet_ways import (
    CERTIFIED_DP,
    DP,
    HYBRID,
    K_ANONYMITY,
    RAW,
    Data,
    breast_cancer,
    digits,
    way,
)
from hushtable.studies.report import Verdict
from hushtable.studies.study import Scope


@pytest.fixture(scope="module")
def small():
    data = breast_cancer()
    rows = np.random.default_rng(0).choice(data.table.rows, 120, replace=False)
    return Data(data.name, data.table.take(rows), data.epsilon)


def test_the_data_are_those_of_the_study():
    one, two = breast_cancer(), digits()
    assert (one.table.rows, len(one.features.schema), one.groups) == (569, 30, 2)
    assert (two.table.rows, len(two.features.schema), two.groups) == (1797, 64, 10)
    assert not any(column.observed for data in (one, two) for column in data.table.schema)


def test_a_result_says_what_is_proven(small):
    rng = np.random.default_rng(0)
    proofs = {}
    for kind in (RAW, K_ANONYMITY, DP, CERTIFIED_DP):
        result = scores(small, way(kind, epsilon=1.0, groups=2)(small, rng), rng)
        proofs[kind] = result["proof"]
        assert result["moved"] >= 0
        assert 0 <= result["nmi_real"] <= 1
        # Centres alone are no rows of people, and have no classes.
        assert ("nmi" in result) == (kind != CERTIFIED_DP)
    assert proofs[K_ANONYMITY] == "verified: k-anonymity, k = 10"
    assert "not proven" in proofs[DP]
    assert proofs[CERTIFIED_DP].startswith("proven: epsilon 1")


def test_published_noise_moves_the_mean_less_the_larger_epsilon(small):
    rng = np.random.default_rng(1)
    real = way(RAW)(small, rng).points
    near, far = (distance_of_means(real, way(DP, epsilon=e)(small, rng).points) for e in (1.0, 0.02))
    assert near < far


def test_an_epsilon_is_read_off_a_curve():
    curve = [(0.01, 1.0), (0.1, 0.1), (1.0, 0.01)]
    assert epsilon_at(0.1, curve) == pytest.approx(0.1)
    assert epsilon_at(math.sqrt(0.1), curve) == pytest.approx(math.sqrt(0.001))
    assert epsilon_at(2.0, curve) is None
    assert epsilon_at(0.1, []) is None


@pytest.mark.parametrize("logarithmic", [True, False])
def test_curves_are_drawn_inside_their_frame(logarithmic):
    drawn = curves({"a": [(0.01, 1.0), (1.0, 0.2)], "b": [(0.1, 0.0)]}, "moved", along="epsilon", logarithmic=logarithmic)
    assert drawn.count("<path") == 3
    assert "a: 0.01, 1" in drawn
    assert "nan" not in drawn


def test_a_line_is_drawn_once_where_nothing_is_random():
    settings = Settings.of(Scope(quick=True))
    assert {settings.drawn(line) for line in lines(0.04) if line.kind in (RAW, K_ANONYMITY)} == {1}
    assert {settings.drawn(line) for line in lines(0.04) if line.kind not in (RAW, K_ANONYMITY)} == {2}
    assert Settings.of(Scope()).names == ("breast cancer", "digits")


@pytest.mark.slow
def test_a_pass_over_a_small_part(small, monkeypatch):
    for module in (frechet, frechet_results):
        monkeypatch.setattr(module, "load", lambda name: small)
    for knob, few in (("QUICK_CLUSTERS", 3), ("QUICK_KS", (5, 10)), ("QUICK_EPSILONS", (0.01, 1.0)), ("QUICK_SHARES", (0.5, 1.0))):
        monkeypatch.setattr(frechet, knob, few)
    work = STUDY.plan(Scope(quick=True))
    assert len({task.name for task in work.tasks}) == len(work.tasks)
    results = {}
    for task in work.tasks:
        assert pickle.loads(pickle.dumps(task)).title == task.title
        results[task.name] = task.make()
    results["breast_cancer-graph"] = {"title": "graph", "refused": "no graph"}
    report = work.report(results)
    numbers = {(one.method, one.measure): one for one in report.numbers}
    hybrid = numbers["hybrid as published, epsilon 0.04", "NMI"]
    assert (hybrid.published, hybrid.comparable) == (0.74, True)
    assert hybrid.low is not None
    assert numbers["k-anonymity (m-mdav, k = 10)", "silhouette"].published == 0.30
    assert numbers["hybrid as published, epsilon 1", "NMI"].published is None
    assert numbers["elbow", "number of clusters"].published == 2
    assert ("k = 10", "epsilon of DP as published at equal distance") in numbers
    assert {"frechet-breast_cancer-3_1", "frechet-breast_cancer-3_5"} <= {figure.name for figure in report.figures}
    assert len(report.statements) == 4
    assert report.skipped == ("graph: no graph",)


def test_numbers_of_other_data_are_not_compared():
    runs = [{"nmi": 0.5, "silhouette": 0.1, "nmi_real": 0.5, "silhouette_real": 0.1, "moved": 0.2, "proof": ""}] * 2
    table = frechet._table("digits", dict.fromkeys(lines(0.03), runs))
    assert {one.why_not for one in table.numbers if one.published is not None} == {OTHER}
    assert any(one.published == 0.61 for one in table.numbers)


@pytest.mark.parametrize(
    ("hybrid", "verdict"),
    [((0.8, 0.81, 0.79), Verdict.CONFIRMED), ((0.2, 0.21, 0.19), Verdict.CONTRADICTED), ((0.4, 0.7, 0.6), Verdict.UNDECIDED)],
)
def test_the_hybrid_must_be_surely_better(hybrid, verdict):
    table = {K_ANONYMITY: [{"nmi": 0.44}], DP: [{"nmi": v} for v in (0.5, 0.51, 0.49)], HYBRID: [{"nmi": v} for v in hybrid]}
    empty = {"3.1": {K_ANONYMITY: [], DP: [], HYBRID: []}, "3.2 epsilon": {DP: []}, "3.2 k": {K_ANONYMITY: []}}
    (one,) = said("breast cancer", table, empty, list(table)).statements
    assert one.verdict is verdict


def test_a_course_is_judged_by_its_ends_and_steps():
    swept = {
        "3.1": {K_ANONYMITY: [(1.0, 2.0), (2.0, 1.0)], DP: [(1.0, 3.0), (2.0, 4.0)], HYBRID: []},
        "3.2 epsilon": {DP: [(0.1, 3.0), (0.5, 2.0), (1.0, 1.0)]},
        "3.2 k": {K_ANONYMITY: [(5.0, 1.0), (10.0, 3.0), (20.0, 2.0)]},
    }
    table = {K_ANONYMITY: [], DP: [], HYBRID: []}
    assert [one.verdict for one in said("x", table, swept, list(table)).statements] == [
        Verdict.CONFIRMED,
        Verdict.UNDECIDED,
        Verdict.CONTRADICTED,
    ]
