"""Regular vines of pair copulas: fitted and sampled by pyvinecopulib, stored as its JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.errors import MissingExtra
from hushtable.table.arrays import Floats

FAMILIES = ("gaussian", "student", "clayton", "gumbel", "frank", "joe", "bb1", "bb6", "bb7", "bb8", "tll")
"""Families of pair copulas to choose from; independence is always one of them, and rotations are tried."""


def fit_vine(numbers: Floats, families: tuple[str, ...], trees: int) -> str:
    """A regular vine for numbers in [0, 1], one column each, as JSON.

    Each tree is a maximum spanning tree by the size of Kendall's tau (Dissmann, Brechmann, Czado and Kurowicka 2013); each pair
    copula is the family with the best AIC, by maximum likelihood. ``trees`` is how many there are, 0 all.
    """
    library = _library()
    kinds = [library.BicopFamily.indep, *(getattr(library.BicopFamily, name) for name in families)]
    most = numbers.shape[1] - 1
    controls = library.FitControlsVinecop(
        family_set=kinds, trunc_lvl=min(trees or most, most), tree_criterion="tau", selection_criterion="aic", num_threads=1
    )
    return str(library.Vinecop.from_data(np.asfortranarray(numbers), controls).to_json())


def draw_vine(vine: str, even: Floats) -> Floats:
    """Numbers from the vine, one row for each row of even numbers in (0, 1), by the inverse Rosenblatt transform."""
    numbers = _library().Vinecop.from_json(vine).inverse_rosenblatt(np.asfortranarray(even), num_threads=1)
    return np.asarray(numbers, np.float64)


def _library() -> Any:
    try:
        import pyvinecopulib
    except ImportError:
        raise MissingExtra("pyvinecopulib", "vine", "a vine copula") from None
    return pyvinecopulib
