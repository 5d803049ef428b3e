"""Fitting models of scikit-learn without its warning that one stopped at its limit of iterations, which is a limit of ours."""

from __future__ import annotations

import warnings
from typing import Any


def fit(model: Any, *data: Any) -> None:
    """Fit a model. Any other warning than that it did not converge goes on to whoever listens.

    A measure compares models that learnt alike from two tables: where one stops early, so does the other, and nobody can act on
    the warning.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(*data)
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
