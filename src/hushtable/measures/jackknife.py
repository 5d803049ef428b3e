"""The delete-a-group jackknife: what a number would be without a twentieth of the rows of each table, twenty times."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from hushtable.table.arrays import Floats

LOTS = 20
"""Lots that the rows of a table are cut into, by chance."""


def jackknife(values: Floats, among: int = 1) -> float:
    """Half the width of a 95 % interval of the first of the values, from the others, each of which leaves out a lot.

    Kott 2001, with Student's t for the few lots. The variance is too large on average rather than too small (Efron and Stein
    1981), which shows where distances are made of chance alone, and in groups of few rows. With ``among`` so many intervals
    hold at once (Bonferroni), as they must where the worst are picked.
    """
    return float(stdtrit(LOTS - 1, 1 - 0.025 / among) * np.sqrt(variance(values[1:])))


def variance(left: Floats) -> float:
    """Of a number, from what it is without each lot in turn."""
    return float(left.var()) * (len(left) - 1)
