"""The correlation matrix nearest to a symmetric matrix."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from hushtable.table.arrays import Floats

LEAST = 1e-4
"""The least eigenvalue: a copula of columns that determine one another has no density."""
FLOOR = 0.003
"""A standard error of a correlation below which none is trusted more."""


def nearest_correlation(matrix: Floats, rounds: int = 200) -> Floats:
    """The nearest matrix (Frobenius) with unit diagonal and no eigenvalue below zero: Higham 2002, with Dykstra's correction.

    A last step lifts eigenvalues to ``LEAST`` and rescales, so that it can be inverted.
    """
    nearest, correction = (matrix + matrix.T) / 2, np.zeros_like(matrix)
    for _ in range(rounds):
        shifted = nearest - correction
        values, vectors = np.linalg.eigh(shifted)
        positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
        correction = positive - shifted
        before, nearest = nearest, positive.copy()
        np.fill_diagonal(nearest, 1.0)
        if np.abs(nearest - before).max() < 1e-7:
            break
    values, vectors = np.linalg.eigh((nearest + nearest.T) / 2)
    positive = (vectors * np.maximum(values, LEAST)) @ vectors.T
    spread = np.sqrt(np.diag(positive))
    closed = positive / np.outer(spread, spread)
    np.fill_diagonal(closed, 1.0)
    return np.asarray((closed + closed.T) / 2)


def weighted_correlation(matrix: Floats, weights: Floats) -> Floats:
    """The correlation matrix with the least weighted sum of squares to another one, by descent from the nearest one.

    It is written as the products of unit vectors, one for each column, so that every step is a correlation matrix.
    """
    size, start = len(matrix), nearest_correlation(matrix)
    values, vectors = np.linalg.eigh(start)

    def loss(flat: Floats) -> tuple[float, Floats]:
        long = flat.reshape(size, size)
        lengths = np.linalg.norm(long, axis=1, keepdims=True)
        units = long / lengths
        gaps = units @ units.T - matrix
        slope = 4 * (weights * gaps) @ units
        return float((weights * gaps**2).sum()), ((slope - (slope * units).sum(1, keepdims=True) * units) / lengths).ravel()

    first = (vectors * np.sqrt(np.maximum(values, LEAST))).ravel()
    best = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x.reshape(size, size)
    units = best / np.linalg.norm(best, axis=1, keepdims=True)
    return nearest_correlation(units @ units.T)


def from_pairs(values: Floats, size: int, errors: Floats | None = None) -> Floats:
    """The correlation matrix with about these values for the pairs, in the order of ``itertools.combinations``.

    Where they contradict one another, those with a small standard error count more.
    """
    matrix = np.eye(size)
    pairs = np.triu_indices(size, 1)
    matrix[pairs] = matrix.T[pairs] = values
    if errors is None or size < 3:
        return nearest_correlation(matrix)
    weights = np.zeros((size, size))
    weights[pairs] = weights.T[pairs] = 1 / (errors**2 + FLOOR**2)
    return weighted_correlation(matrix, weights / weights.max())


def strongest(correlation: Floats, names: tuple[str, ...], count: int = 5) -> dict[str, float]:
    """The pairs of columns with the largest correlations, by size."""
    pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -abs(correlation[pair]))[:count]
    return {f"{names[i]} ~ {names[j]}": round(float(correlation[i, j]), 3) for i, j in pairs}
