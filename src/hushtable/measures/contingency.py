"""Pairs of coded columns, counted once for everything that is computed from their tables of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushtable.measures.bins import Coded
from hushtable.measures.divergence import total_variation
from hushtable.table.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Pairs:
    """What the tables of counts of all pairs of columns give, as symmetric matrices."""

    columns: tuple[str, ...]
    cramers_v: Mapping[str, Floats]
    """By table (train, release, control): Cramer's V; NaN where a column shows a single value."""
    variation: Mapping[str, Floats]
    """By table (release, control): the total variation distance of both columns together from the training rows."""


def pairs_of(cells: Coded) -> Pairs:
    """One pass over all pairs: the rows of each table are counted once, and only that one table of counts is held."""
    names = tuple(cells.bins)
    codes = {which: [columns[name] for name in names] for which, columns in cells.codes.items()}
    margins = {which: [cells.counts(which, name) for name in names] for which in codes}
    strengths = {which: np.eye(len(names)) for which in codes}
    variation = {which: np.zeros((len(names), len(names))) for which in codes if which != "train"}
    for i in range(len(names)):
        for j in range(i):
            width = cells.size(names[j])
            index, counts = joint({which: own[i] * width + own[j] for which, own in codes.items()}, cells.size(names[i]) * width)
            for which, own in counts.items():
                down, across = margins[which][i], margins[which][j]
                strengths[which][i, j] = strengths[which][j, i] = _v(own, down, across, index // width, index % width)
            real = counts["train"] / len(codes["train"][i])
            for which, matrix in variation.items():
                matrix[i, j] = matrix[j, i] = total_variation(counts[which] / len(codes[which][i]), real)
    return Pairs(names, strengths, variation)


def joint(cells: Mapping[str, Integers], size: int) -> tuple[Integers, dict[str, Integers]]:
    """The cells that rows of any table hold, and how many rows of each table hold each.

    Two columns of many levels have a table that nobody could keep: then the cells that occur are sorted out instead.
    """
    if size <= 4 * sum(map(len, cells.values())):
        counts = {which: np.bincount(own, minlength=size) for which, own in cells.items()}
        index = np.flatnonzero(sum(counts.values()))
        return index, {which: own[index] for which, own in counts.items()}
    index, places = np.unique(np.concatenate(list(cells.values())), return_inverse=True)
    ends = np.cumsum([len(own) for own in cells.values()])[:-1]
    parts = zip(cells, np.split(places, ends), strict=True)
    return index, {which: np.bincount(part, minlength=len(index)) for which, part in parts}


def cramers_v(one: Integers, other: Integers) -> float:
    """Cramer's V of two coded columns, bias-corrected (Bergsma 2013); NaN if one of them shows a single value."""
    width = int(other.max(initial=0)) + 1
    index, counts = joint({"": one * width + other}, (int(one.max(initial=0)) + 1) * width)
    return _v(counts[""], np.bincount(one), np.bincount(other), index // width, index % width)


def _v(counts: Integers, down: Integers, across: Integers, i: Integers, j: Integers) -> float:
    """From the counts of some cells (i, j) and both margins."""
    n, rows, columns = int(down.sum()), int(np.count_nonzero(down)), int(np.count_nonzero(across))
    if rows < 2 or columns < 2:
        return np.nan
    held = counts > 0
    squares = counts[held].astype(np.float64) ** 2
    phi = float((squares / (down[i[held]] * across[j[held]])).sum()) - 1
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    shrunk = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1))
    return min(1.0, float(np.sqrt(phi / (shrunk - 1)))) if shrunk > 1 else 0.0
