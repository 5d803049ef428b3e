"""Fitting models of scikit-learn without its warnings: whether one converged is an answer, and nothing that is printed."""

from __future__ import annotations

import warnings
from typing import Any


def fit(model: Any, *data: Any) -> bool:
    """Fit a model; whether it converged. Any other warning than that it did not goes on to whoever listens."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(*data)
    others = [warning for warning in caught if not issubclass(warning.category, ConvergenceWarning)]
    for warning in others:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return len(others) == len(caught)
