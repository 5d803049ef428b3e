"""Densities of mixed tables: rows as points of a few dimensions, and a Gaussian kernel estimate on them.

Another estimate takes the kernels' place if it has their two methods, ``fit`` and ``logpdf``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numba import njit, prange
from threadpoolctl import threadpool_limits

from hushtable.errors import InputError
from hushtable.evidence.reading import floats_like
from hushtable.table.arrays import Floats
from hushtable.table.columns import NUMBERS
from hushtable.table.table import Table

BATCH = 8192
"""Rows that are written out as vectors at a time."""
BLOCK = 1024
"""Kernels that are evaluated together."""


class Density(Protocol):
    """A density that is learnt from points and evaluated at others."""

    def fit(self, points: Floats, rng: np.random.Generator) -> Density:
        """The density of these points (rows x dimensions)."""

    def logpdf(self, points: Floats) -> Floats:
        """Its natural logarithm at each point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernels:
    """A mean of Gaussians of one width around each point, the width by Scott's rule n^(-1/(d+4)) for points of unit variance."""

    centres: int = 20_000
    """At most so many points carry a kernel; of more, so many are drawn at random."""
    points: Floats | None = None

    def fit(self, points: Floats, rng: np.random.Generator) -> Self:
        """Keep the points, or a random choice of them."""
        if len(points) > self.centres:
            points = points[np.sort(rng.choice(len(points), self.centres, replace=False))]
        return type(self)(centres=self.centres, points=np.ascontiguousarray(points, dtype=np.float64))

    @property
    def width(self) -> float:
        """The standard deviation of each Gaussian."""
        n, dimensions = self._centres.shape
        return float(n ** (-1 / (dimensions + 4)))

    def logpdf(self, points: Floats) -> Floats:
        """Log-sum-exp over the kernels, in single precision (about 1e-5); no matrix of all pairs is ever held."""
        centres, width = self._centres, self.width
        n, dimensions = centres.shape
        scale = 1 / (width * math.sqrt(2))
        ours, theirs = ((array * scale).astype(np.float32) for array in (points, centres.T))
        sums: Floats = _log_sums(np.ascontiguousarray(ours), np.ascontiguousarray(theirs))
        return np.asarray(sums - math.log(n) - dimensions * math.log(width * math.sqrt(2 * math.pi)), np.float64)

    @property
    def _centres(self) -> Floats:
        if self.points is None:
            raise InputError("a density must be fitted before it is evaluated", where="density")
        return self.points


@dataclass(frozen=True, eq=False)
class Map:
    """From rows of a mixed table to points with uncorrelated coordinates of unit variance.

    Numbers are standardized, levels become vectors of which any two are at distance 1 (as in Gower's distance), a
    missing number is the mean and a coordinate of its own that says so. Of these the principal axes with the most
    variance are kept, and each is scaled to variance 1.
    """

    train: Table
    columns: tuple[str, ...]
    centres: dict[str, tuple[float, float]]
    """Mean and standard deviation of each number."""
    levels: dict[str, tuple[int, ...]]
    """The levels with a coordinate of their own; all rarer ones together have none."""
    mean: Floats
    axes: Floats
    """wide x dimensions."""

    @classmethod
    def fit(cls, tables: Sequence[Table], train: Table, columns: Sequence[str], *, dimensions: int = 8, levels: int = 32) -> Map:
        """The map whose means, levels and axes are those of these tables; ``train`` lends its schema only."""
        centres: dict[str, tuple[float, float]] = {}
        common: dict[str, tuple[int, ...]] = {}
        for name in columns:
            values = np.concatenate([floats_like(table, name, train) for table in tables])
            present = values[~np.isnan(values)]
            if train.schema[name].kind in NUMBERS:
                centres[name] = (float(present.mean()), float(present.std()) or 1.0) if len(present) else (0.0, 1.0)
            else:
                counted = Counter(present.astype(np.int64).tolist()).most_common()
                ranked = sorted(counted, key=lambda pair: (-pair[1], pair[0]))
                common[name] = tuple(level for level, _ in ranked[:levels])
        wide = cls(train, tuple(columns), centres, common, np.zeros(0), np.zeros((0, 0)))
        return wide._turned(tables, dimensions)

    def points(self, table: Table) -> Floats:
        """Rows x dimensions, equal to the last bit where rows are equal; no dimension at all where nothing varies."""
        return np.concatenate([_projected(batch, self.mean, self.axes) for batch in self._batches([table])])

    def _turned(self, tables: Sequence[Table], dimensions: int) -> Map:
        """The same with principal axes."""
        rows = sum(table.rows for table in tables)
        # One thread: the same sums in the same order every time.
        with threadpool_limits(1, "blas"):
            mean = sum(batch.sum(axis=0) for batch in self._batches(tables)) / rows
            spread = sum((batch - mean).T @ (batch - mean) for batch in self._batches(tables)) / rows
            values, vectors = np.linalg.eigh(spread)
        selected = [at for at in np.argsort(-values, kind="stable")[:dimensions] if values[at] > 1e-9 * max(1.0, values.max())]
        # The sign of an eigenvector is arbitrary: its largest entry is made positive.
        signs = np.sign(vectors[np.abs(vectors[:, selected]).argmax(axis=0), selected])
        return replace(self, mean=mean, axes=vectors[:, selected] * signs / np.sqrt(values[selected]))

    def _batches(self, tables: Sequence[Table]) -> Iterator[Floats]:
        for table in tables:
            for part in table.batches(BATCH):
                yield np.hstack([self._block(part, name) for name in self.columns])

    def _block(self, table: Table, name: str) -> Floats:
        values = floats_like(table, name, self.train)
        missing = np.isnan(values)
        if name in self.centres:
            mean, deviation = self.centres[name]
            standard = np.where(missing, 0.0, (values - mean) / deviation)
            return np.stack([standard, missing.astype(np.float64)], axis=1)
        codes = np.where(missing, -1, values)
        block = codes[:, None] == np.array([-1, *self.levels[name]])[None, :]
        return np.asarray(block / math.sqrt(2), np.float64)


@njit(cache=True)
def _projected(rows, mean, axes):  # type: ignore[no-untyped-def]
    """(rows - mean) @ axes. A library's product may round a row by its place, and so distinguish tables of equal rows."""
    points = np.zeros((len(rows), axes.shape[1]))
    for i in range(len(rows)):
        for j in range(len(mean)):
            gap = rows[i, j] - mean[j]
            for c in range(axes.shape[1]):
                points[i, c] += gap * axes[j, c]
    return points


@njit(cache=True, parallel=True, error_model="numpy")
def _log_sums(points, centres):  # type: ignore[no-untyped-def]
    """For each point log(sum over centres of exp(-|point - centre|^2)); centres are dimensions x centres."""
    n, m = len(points), centres.shape[1]
    out = np.empty(n)
    for i in prange(n):
        squares = np.empty(BLOCK, np.float32)
        best, total = np.float32(1e30), 0.0
        for start in range(0, m, BLOCK):
            part = squares[: min(BLOCK, m - start)]
            _squared_distances(points[i], centres, start, part)
            low = _least(part)
            if low < best:
                total *= math.exp(max(float(low) - float(best), -1e3))
                best = low
            total += _sum_of_exponentials(part, best)
        out[i] = math.log(total) - best
    return out


# Three loops apart, without branches: each becomes vector instructions, and a pair of rows costs about a nanosecond.
@njit(cache=True, fastmath=True, inline="never")
def _squared_distances(point, centres, start, squares):  # type: ignore[no-untyped-def]
    squares[:] = 0
    for c in range(len(point)):
        x, row = point[c], centres[c, start : start + len(squares)]
        for j in range(len(squares)):
            gap = x - row[j]
            squares[j] += gap * gap


@njit(cache=True, fastmath=True, inline="never")
def _least(squares):  # type: ignore[no-untyped-def]
    low = squares[0]
    for j in range(len(squares)):
        low = squares[j] if squares[j] < low else low
    return low


@njit(cache=True, fastmath=True, inline="never")
def _sum_of_exponentials(squares, best):  # type: ignore[no-untyped-def]
    """The sum of exp(best - squares): e^y = (e^(y/64))^64, the inner one by its series; y is cut at -32."""
    f = np.float32
    total = f(0)
    for j in range(len(squares)):
        y = best - squares[j]
        y = (y if y > f(-32) else f(-32)) * f(1 / 64)
        e = f(1) + y * (f(1) + y * (f(1 / 2) + y * (f(1 / 6) + y * (f(1 / 24) + y * (f(1 / 120) + y * f(1 / 720))))))
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        total += e
    return total
