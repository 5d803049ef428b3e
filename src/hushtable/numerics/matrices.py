"""Roots of symmetric matrices."""

from __future__ import annotations

import numpy as np

from hushtable.table.arrays import Floats


def root(matrix: Floats) -> Floats:
    """A matrix whose product with its own transpose is this one; negative eigenvalues, of rounding or noise, count as 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(values.clip(0.0)), dtype=np.float64)
