"""That a model stopped at its limit is not printed; other warnings are passed on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from hushtable.numerics.fitting import fit


class Talking:
    """A model that warns of something else."""

    def fit(self, *data: Any) -> None:
        warnings.warn("the rows are old", UserWarning, stacklevel=1)


def test_a_model_that_does_not_converge_prints_nothing():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 5)) * [1, 10, 100, 1000, 1e4], rng.integers(0, 3, 200)
    with pytest.warns(ConvergenceWarning):
        LogisticRegression(max_iter=2).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(max_iter=2)
        fit(model, x, y)
    assert model.predict(x).shape == y.shape


def test_other_warnings_are_passed_on():
    with pytest.warns(UserWarning, match="rows are old"):
        fit(Talking())
