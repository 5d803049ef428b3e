"""The margin of a counted column as a distribution function: from cells to uniform numbers, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hushtable.numerics.simplex import on_simplex
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column, Kind

FAR = 8.0
"""Where the normal distribution ends, as far as floating-point numbers can show."""


@dataclass(frozen=True, eq=False)
class Margin:
    """Shares of the cells of a column's histogram (missing last, unless it is required), and an order of the cells.

    The distribution function climbs by a cell's share along its piece of [0, 1]; the pieces lie in the order of ``order``.
    Levels of a nominal category have no order of their own: theirs is the declared one, or one that was estimated privately.
    """

    shares: Floats
    order: Integers
    """The cells from the lowest to the highest."""

    @classmethod
    def of(cls, counts: NDArray[np.number], total: float, order: Integers | None = None) -> Self:
        """From noisy counts: the nearest shares (Euclidean projection on the simplex), which is post-processing."""
        total = max(float(total), 1.0)
        shares = on_simplex(np.asarray(counts, np.float64), total) / total
        return cls(shares / shares.sum(), np.arange(len(counts)) if order is None else np.asarray(order, np.int64))

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.shares)

    @cached_property
    def ends(self) -> Floats:
        """The distribution function at the ends of the pieces, in order: 0 first, 1 last."""
        climbed: Floats = np.clip(np.concatenate([[0.0], np.cumsum(self.shares[self.order])]), 0.0, 1.0)
        climbed[climbed > 1 - 1e-12] = 1.0
        climbed[-1] = 1.0
        return climbed

    @cached_property
    def ranks(self) -> Integers:
        """The place of each cell in the order."""
        ranks = np.empty(self.cells, np.int64)
        ranks[self.order] = np.arange(self.cells)
        return ranks

    @property
    def cuts(self) -> Floats:
        """The ends of the pieces as normal scores, from -FAR to FAR."""
        return np.asarray(np.clip(ndtri(self.ends), -FAR, FAR))

    @cached_property
    def scores(self) -> Floats:
        """The mean of a standard normal number on each cell's piece, by cell; on an empty piece, its place."""
        cuts = self.cuts
        density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
        widths = np.diff(self.ends)
        means = np.where(widths > 1e-12, -np.diff(density) / np.maximum(widths, 1e-12), (cuts[1:] + cuts[:-1]) / 2)
        return np.asarray(np.clip(means, cuts[:-1], cuts[1:])[self.ranks])

    def interval(self, cell: int) -> tuple[float, float]:
        """The piece of [0, 1] that belongs to a cell."""
        rank = self.ranks[cell]
        return float(self.ends[rank]), float(self.ends[rank + 1])

    def from_uniform(self, numbers: Floats) -> Integers:
        """The cell in whose piece each number lies; a cell without a share is never drawn."""
        last = int(np.flatnonzero(np.diff(self.ends) > 0)[-1])
        return np.asarray(self.order[np.minimum(np.searchsorted(self.ends, numbers, side="right") - 1, last)], np.int64)


def nominal(column: Column) -> bool:
    """Whether its levels have no order of their own (two of them need none)."""
    return column.kind is Kind.CATEGORY and len(column.levels) > 2


def total_of(noisy: Sequence[Integers], scales: Sequence[float]) -> float:
    """The number of rows as estimated from noisy histograms: the sum of each, weighted by its precision; at least 2."""
    precision = np.array([1 / (len(counts) * scale**2) for counts, scale in zip(noisy, scales, strict=True)])
    return max(2.0, float(precision @ np.array([float(counts.sum()) for counts in noisy]) / precision.sum()))


def order_by(joint: NDArray[np.number], scores: Floats, noise: float, column: Column) -> Integers:
    """The cells of a nominal column in the order of the average score of another column in them, from a noisy joint table.

    Averages are drawn to the overall one where the noise is large beside a cell's count. Missing stays last.
    """
    counts = np.maximum(np.asarray(joint, np.float64), 0.0)
    overall = float(counts.sum(0) @ scores / max(counts.sum(), 1.0))
    doubt = max(noise, 1e-9) * np.sqrt(counts.shape[1])
    means = (counts @ scores + doubt * overall) / (counts.sum(1) + doubt)
    levels = np.argsort(means[: len(column.levels)], kind="stable")
    return np.concatenate([levels, np.arange(len(column.levels), len(counts))]).astype(np.int64)


def packed(margins: Mapping[str, Margin]) -> dict[str, NDArray[np.generic]]:
    """The arrays of a model file."""
    shares = {f"shares {name}": margin.shares for name, margin in margins.items()}
    return shares | {f"order {name}": margin.order for name, margin in margins.items()}


def unpacked(names: Sequence[str], arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, Margin]:
    """The margins from the arrays of a model file."""
    return {n: Margin(arrays[f"shares {n}"].astype(np.float64), arrays[f"order {n}"].astype(np.int64)) for n in names}
