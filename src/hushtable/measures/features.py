"""All columns of the three tables as points of one Euclidean space: what the measures of all columns together work on.

The reading. Numbers, dates and ordinals (by the place of their level) are one coordinate each, centred and scaled by the
training and control rows together: the release never sets its own unit. Levels are indicators over the square root of 2,
so that two different levels lie at distance 1; missing is a level. A missing number lies at the mean, with an
indicator of its own. Levels beyond the commonest, and those that no real row has, are one. Generalized cells are values drawn
from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.reading import floats_like
from hushtable.measures.bins import tables
from hushtable.table.arrays import Floats, Integers, Mask, Singles
from hushtable.table.columns import Kind
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

LEVELS = 50
"""The commonest levels of a column that get an indicator of their own."""
WIDTH = 512
"""Coordinates at most, as far as fewer levels can reach that."""
FAR = 1000.0
"""No number lies further out than so many standard deviations: squares of all coordinates stay finite."""
BLOCK = 4096
"""Rows that are spread out at a time."""


@dataclass(frozen=True, eq=False)
class Points:
    """One table in the common space, kept short: coordinates are spread out for the rows that are asked for."""

    numbers: Singles
    """rows x numbers: on the common scale, NaN where there is no value."""
    codes: NDArray[np.int16]
    """rows x columns of levels: the place of the level among those of its column."""
    gaps: Mask
    """The numbers that some row of the three tables lacks: each has an indicator of that."""
    sizes: tuple[int, ...]
    """How many levels each column of levels has."""

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.gaps) + int(self.gaps.sum()) + sum(self.sizes)

    def spread(self, rows: Integers | slice) -> Singles:
        """The coordinates of these rows: numbers, indicators of missing ones, indicators of levels."""
        numbers, codes = self.numbers[rows], self.codes[rows]
        first = len(self.gaps) + int(self.gaps.sum())
        points = np.zeros((len(numbers), self.width), np.float32)
        absent = np.isnan(numbers)
        points[:, : len(self.gaps)] = np.where(absent, 0, numbers)
        points[:, len(self.gaps) : first] = absent[:, self.gaps]
        starts = first + np.cumsum([0, *self.sizes])[:-1]
        places = codes + starts.astype(np.int64)
        np.put_along_axis(points, places, np.float32(0.5**0.5), axis=1)
        return points

    def blocks(self) -> Iterator[Singles]:
        """All rows in order, some at a time."""
        for start in range(0, len(self), BLOCK):
            yield self.spread(slice(start, start + BLOCK))

    def some(self, most: int, rng: np.random.Generator) -> Singles:
        """At most so many rows drawn at random, all of them if there are no more."""
        return self.spread(slice(None) if len(self) <= most else np.sort(rng.choice(len(self), most, replace=False)))


@dataclass(frozen=True, eq=False)
class Features:
    """The three tables in one space."""

    scaled: tuple[str, ...]
    """The columns that are numbers there."""
    levelled: tuple[str, ...]
    """The columns that are levels there."""
    points: dict[str, Points]
    """By table: train, release, control."""

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return self.points["train"].width


def alike(rows: NDArray[Any]) -> tuple[Integers, Integers]:
    """A number for each row of a matrix, the same for equal ones, and how many rows each number has; NaN equals NaN."""
    rows = np.ascontiguousarray(rows + rows.dtype.type(0))  # -0 and 0 are one number
    if not rows.shape[1]:
        return np.zeros(len(rows), np.int64), np.array([len(rows)])
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, same, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return same, sizes


def features(case: Case) -> Features:
    """The three tables of a case in their common space, made once."""
    space: Features = case.once("features", lambda: _features(case))
    return space


def _features(case: Case) -> Features:
    kinds = {name: case.train.schema[name].kind for name in case.columns}
    levelled = tuple(name for name in case.columns if kinds[name] is Kind.CATEGORY)
    scaled = tuple(name for name in case.columns if kinds[name] is not Kind.CATEGORY)
    three = tables(case)
    numbers = [_scaled([floats_like(table, name, case.train) for table in three.values()]) for name in scaled]
    most = _levels_each([len(case.train.words(name)) for name in levelled], len(scaled))
    codes = [_coded(list(three.values()), name, most) for name in levelled]
    gaps = np.array([any(np.isnan(part).any() for part in column) for column in numbers], bool)
    sizes = tuple(1 + max(int(part.max()) for part in column) for column in codes)
    points = {
        which: Points(
            _side_by_side([column[at] for column in numbers], table.rows, np.float32),
            _side_by_side([column[at] for column in codes], table.rows, np.int16),
            gaps,
            sizes,
        )
        for at, (which, table) in enumerate(three.items())
    }
    return Features(scaled, levelled, points)


def _scaled(columns: list[Floats]) -> list[Singles]:
    """Of train, release, control: in standard deviations from the mean of train and control.

    Where these have one value or none, the release's values count as well: there is no other unit.
    """
    train, release, control = columns
    centre, unit = 0.0, 1.0
    for side in ([train, control], [train, control, release]):
        values = np.concatenate(side)
        present = values[~np.isnan(values)]
        # Of equal decimals mean and deviation are rounding errors: only values that differ have them.
        if len(present):
            centre = float(present[0])
        if len(present) and np.ptp(present) > 0:
            centre, unit = float(present.mean()), float(present.std())
            break
    return [np.clip((values - centre) / unit, -FAR, FAR).astype(np.float32) for values in columns]


def _levels_each(sizes: list[int], numbers: int) -> int:
    """How many levels a column may have so that all columns together stay within the width."""
    fits = (most for most in range(LEVELS, 2, -1) if numbers + sum(min(size, most) for size in sizes) <= WIDTH)
    return next(fits, 2)


def _coded(three: Sequence[Table], name: str, most: int) -> list[NDArray[np.int16]]:
    """Of train, release, control: the place among the commonest real levels, then all others, then missing; no empty places."""
    words = list(dict.fromkeys(str(word) for table in three for word in table.words(name)))
    index = {word: code for code, word in enumerate(words)}
    missing = len(words)
    codes = []
    for table in three:
        own = np.array([*(index[str(word)] for word in table.words(name)), missing], np.int64)
        codes.append(own[table[name].astype(np.int64)])
    train, _, control = (np.bincount(part, minlength=missing + 1)[:-1] for part in codes)
    real = train + control
    commonest = np.argsort(-real, kind="stable")[:most]
    place = np.full(missing + 1, most, np.int64)
    place[commonest] = np.where(real[commonest] > 0, np.arange(len(commonest)), most)
    place[missing] = most + 1
    placed = [place[part] for part in codes]
    used = np.unique(np.concatenate(placed))
    return [np.searchsorted(used, part).astype(np.int16) for part in placed]


def _side_by_side(columns: Sequence[NDArray[Any]], rows: int, dtype: type) -> NDArray[Any]:
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype) if columns else np.zeros((rows, 0), dtype)
