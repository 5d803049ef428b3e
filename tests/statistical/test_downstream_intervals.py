"""The interval of a model's score covers the score to be expected, whichever chance is the larger: who is tested or what is learnt.

Tables are drawn again and again from one population; the expected score is the mean over them. An interval that leaves one of the
two chances out must fail where that chance is the larger one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.score_intervals import LEVEL, half_width
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NAMES = ("a", "b", "c", "d", "e", "f")
PREDICTORS = tuple(Column(name=name, kind=Kind.REAL, domain=Bounds(-99, 99)) for name in NAMES)
NUMBER = Column(name="y", kind=Kind.REAL, role=Role.TARGET, domain=Bounds(-999, 999))
CLASS = Column(name="y", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")))


def drawn(rows: int, rng: np.random.Generator, target: Column) -> Table:
    x = rng.normal(size=(rows, len(NAMES)))
    y = x @ np.array([1.0, 0.5, 0.3, 0, 0, 0]) + rng.normal(0, 1.5, rows)
    reported = y if target is NUMBER else (y > 0).astype(np.int32)
    return Table(Schema((*PREDICTORS, target)), {**{n: x[:, i].copy() for i, n in enumerate(NAMES)}, "y": reported})


def covered(released: int, tested: int, target: Column, score: str, times: int = 40) -> dict[str, float]:
    """How often the expected score lies in the interval, in that by the tested rows alone, and in that by what was learnt alone."""
    audit = TrainOnRelease(models=("linear",), bootstrap=50)
    train = drawn(50, np.random.default_rng(0), target)
    collected = []
    for seed in range(times):
        rng = np.random.default_rng([1, seed])
        case = Case(train, drawn(released, rng, target), drawn(tested, rng, target))
        collected.append(next(f for f in audit.run(case, rng) if f.name.endswith(score)))
    expected = np.mean([f.value for f in collected])
    return {
        "both": float(np.mean([f.low <= expected <= f.high for f in collected])),
        "tested": float(np.mean([-f.detail["tested"][0] <= expected - f.value <= f.detail["tested"][1] for f in collected])),
        "learnt": float(np.mean([abs(expected - f.value) <= f.detail["learnt"] for f in collected])),
    }


@pytest.mark.parametrize(("target", "score"), [(NUMBER, "R2"), pytest.param(CLASS, "AUC", marks=pytest.mark.nightly)])
def test_the_interval_covers_and_its_parts_alone_do_not(target, score):
    few_learnt = covered(40, 800, target, score)
    assert few_learnt["both"] >= 0.9
    assert few_learnt["tested"] <= 0.8
    few_tested = covered(1500, 150, target, score)
    assert few_tested["both"] >= 0.88
    assert few_tested["learnt"] <= 0.8


@pytest.mark.parametrize("size", [2, 3, 5])
def test_parts_vary_as_much_as_tables_do(size):
    """Over all parts of so many of ten values: their spread, corrected, is exactly that of the mean of ten."""
    values = np.random.default_rng(0).normal(size=10)
    means = [np.mean(part) for part in combinations(values, size)]
    share = size / (10 - size)
    assert np.var(means) * share == pytest.approx(np.var(values, ddof=1) / 10)
    assert np.var(means) != pytest.approx(np.var(values, ddof=1) / 10, rel=0.1) or size == 5


def test_few_models_reach_as_far_as_students_quantile():
    """The mean of k normal numbers lies within the reach of k others as often as is said; 1.96 standard deviations do not do."""
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, 4))
    held = np.abs(draws[:, 0]) <= [half_width(row[1:].tolist(), 1.0) for row in draws]
    short = np.abs(draws[:, 0]) <= norm.ppf((1 + LEVEL) / 2) * draws[:, 1:].std(axis=1, ddof=1)
    assert held.mean() == pytest.approx(LEVEL, abs=0.015)
    assert short.mean() < LEVEL - 0.05
    assert half_width([0.7], 1.0) == half_width([], 1.0) == 0.0
