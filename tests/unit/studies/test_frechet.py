"""The study of Frechet means: its pieces, and one pass over a small part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.studies import frechet as study


@pytest.fixture
def small():
    data = study.breast_cancer()
    rows = np.random.default_rng(0).choice(data.table.rows, 120, replace=False)
    return study.Data(data.name, data.table.take(rows), data.epsilon, data.published)


def test_the_data_are_those_of_the_study():
    one, two = study.breast_cancer(), study.digits()
    assert (one.table.rows, len(one.features.schema), one.groups) == (569, 30, 2)
    assert (two.table.rows, len(two.features.schema), two.groups) == (1797, 64, 10)
    assert not any(column.observed for data in (one, two) for column in data.table.schema)


def test_a_table_says_what_is_proven(small, monkeypatch):
    monkeypatch.setattr(study.recipes, "names", lambda: ["m-mdav", "frechet"])
    rows = study.compare(small, np.random.default_rng(0), lambda name, share: None, runs=1)
    proofs = {row[0]: row[-1] for row in rows}
    assert all(len(row) == len(study.HEADS) for row in rows)
    assert proofs["k-anonymity (m-mdav, k = 10)"] == "verified: k-anonymity, k = 10"
    assert "not proven" in proofs["DP as published, epsilon 0.04"]
    assert proofs["DP certified (frechet), epsilon 1"].startswith("proven: epsilon 1")
    assert "no recipe" in proofs["hybrid certified, epsilon 1"]
    assert rows[1][6] == "0.44 / 0.30"


def test_published_noise_moves_the_mean_less_the_larger_epsilon(small):
    rng = np.random.default_rng(1)
    real = study.raw(small, rng).points
    near, far = (study.distance_of_means(real, study.published_dp(e)(small, rng).points) for e in (1.0, 0.02))
    assert near < far


def test_an_epsilon_is_read_off_a_curve():
    curve = [(0.01, 1.0), (0.1, 0.1), (1.0, 0.01)]
    assert study._epsilon_at(0.1, curve) == pytest.approx(0.1)
    assert study._epsilon_at(math.sqrt(0.1), curve) == pytest.approx(math.sqrt(0.001))
    assert study._epsilon_at(2.0, curve) is None


def test_curves_are_drawn():
    drawn = study.lines({"a": [(0.01, 1.0), (1.0, 0.2)], "b": [(0.1, 0.5)]}, "epsilon", logarithmic=True)
    assert drawn.count("<path") == 2
    assert "a: 0.01, 1" in drawn
