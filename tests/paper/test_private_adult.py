"""The private synthesizers on Adult: what the release is worth to somebody who predicts income with it, at (1, 1e-5)."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.margins import MarginDistances
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.table.table import Table


@pytest.fixture(scope="module")
def halves(adult: Table) -> tuple[Table, Table]:
    order = np.random.default_rng(20261115).permutation(adult.rows)
    return adult.take(order[12_210:42_210]), adult.take(order[:12_210])


@pytest.mark.parametrize(
    ("recipe", "auc", "tvd"),
    [("aim", 0.88, 0.02), ("mst", 0.80, 0.03), pytest.param("privbayes", 0.84, 0.04, marks=pytest.mark.nightly)],
)
def test_a_model_trained_on_the_release_predicts_real_people(halves, recipe, auc, tvd):
    train, test = halves
    released = release(train, load(recipe), epsilon=1.0, delta=1e-5, seed=0)
    assert released.guarantee.epsilon() <= 1.0
    case = Case(train, released.table, test)
    assert TrainOnRelease(models=("boosting",), seeds=0, bootstrap=2).run(case, np.random.default_rng(0))[0].value >= auc
    assert MarginDistances().run(case, np.random.default_rng(0))[0].value <= tvd
