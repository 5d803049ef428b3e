"""The slices of ClustMix: disjoint parts of the table, cut at values of random rows, each of which is clustered on its own.

The cut-offs are values of records, so one record can move rows from one slice to another; the published proof states that a record
reaches one average of each class only, and does not prove it. The certified twin is the step ``clustmix-certified``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Floats

TRIES = 200
"""How many random cut-offs are tried for a slice before it is left whole."""


def random_slices(points: Floats, count: int, least: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """The rows of at most ``count`` disjoint slices with at least ``least`` rows each, all rows together.

    Again and again the largest slice is cut in two: at the value that a uniformly drawn row of it has in a uniformly drawn
    coordinate. The cut-offs are values of rows, so one row can move them: nothing is proven of slices.
    """
    open_ = [np.arange(len(points))]
    whole: list[NDArray[np.intp]] = []
    while open_ and len(open_) + len(whole) < count:
        open_.sort(key=len)
        rows = open_.pop()
        for _ in range(TRIES):
            along = int(rng.integers(points.shape[1]))
            values = points[rows, along]
            below = values < values[rng.integers(len(rows))]
            if least <= below.sum() <= len(rows) - least:
                open_ += [rows[below], rows[~below]]
                break
        else:
            whole.append(rows)
    return sorted((*open_, *whole), key=lambda rows: int(rows[0]))
