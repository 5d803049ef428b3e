"""Bins cut from ranges with masses: a bin of its own for each spike, equal masses between them.

Values lie evenly in a bin, as far as the counts inside do not say otherwise, but for a bin that is much less dense than those
beside it: the tail of a long-tailed number, cut off by the end of the declared domain. There the density goes on from its
neighbours' and falls with the square of the distance d from them, like w / (w + d)^2 with w the bin's mass over their density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.numerics.tree import Leaves
from hushtable.table.arrays import Floats, Integers

FEW = 16
"""A spike holds at least one in FEW times bins of the rows."""
SURE = 1.0
"""A spike is so many standard deviations of the noise, of which most is out of the masses already."""
PROMINENT = 3.0
"""So many times denser than its neighbours is a spike."""
STEEP = 8.0
"""So many times less dense than its neighbours is a tail."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Bins [edges[i], edges[i + 1]) in grid points, and the finer pieces that say how values lie inside them."""

    edges: Integers
    pieces: Integers
    """The edges of the pieces; every edge of a bin is one of them."""
    mass: Floats
    """Of each piece; never all zero in one bin."""
    scale: Floats | None = None
    """The w of each bin that is a tail, counted from its low edge (positive) or from its high one (negative); else 0."""

    def draw(self, bins: Integers, rng: np.random.Generator) -> Integers:
        """A piece of each of these bins, by mass."""
        below = np.append(0.0, np.cumsum(self.mass))
        starts = np.searchsorted(self.pieces, self.edges)
        low, high = below[starts[bins]], below[starts[bins + 1]]
        pieces = np.searchsorted(below, low + rng.random(len(bins)) * (high - low), side="right") - 1
        return np.asarray(np.clip(pieces, starts[bins], starts[bins + 1] - 1))

    def within(self, pieces: Integers, rng: np.random.Generator) -> Floats:
        """How far into each of these pieces a value lies, as a share of its width below 1."""
        even = rng.random(len(pieces))
        if self.scale is None or not self.scale.any():
            return even
        low, high, at = _from_edge(self.edges, self.pieces, self.scale)
        scale = np.abs(self.scale[at])[pieces]
        near, far = low[pieces] + scale, high[pieces] + scale
        # 1 / (w + d) is even between its values at the two ends.
        tail = scale > 0
        near, far = np.where(tail, near, 1.0), np.where(tail, far, 2.0)
        away = (1 / (1 / near + even * (1 / far - 1 / near)) - near) / (far - near)
        away = np.where(self.scale[at][pieces] < 0, 1 - away, away)
        return np.where(tail, np.clip(away, 0.0, np.nextafter(1.0, 0.0)), even)


def cuts(leaves: Leaves, bins: int, most: int | None = None) -> Cuts:
    """About ``bins`` bins, of which at most about ``most`` are no spikes."""
    spikes = _spikes(leaves, bins)
    total, alone = float(leaves.mass.sum()), float(leaves.mass[spikes].sum())
    slots = max(min(bins - len(spikes), most or bins), 1)
    walls = np.unique(np.concatenate([leaves.edges[[0, -1]], leaves.edges[spikes], leaves.edges[spikes + 1]]))
    points = set(leaves.edges[spikes].tolist())
    below = np.append(0.0, np.cumsum(leaves.mass))
    edges = [walls]
    for low, high in zip(walls[:-1].tolist(), walls[1:].tolist(), strict=True):
        if low in points:
            continue
        first, last = np.searchsorted(leaves.edges, (low, high))
        mass = float(below[last] - below[first])
        parts = max(1, round(slots * mass / (total - alone))) if total > alone and mass > 0 else 1
        steps = below[first] + mass * np.arange(1, parts) / parts
        edges.append(np.round(np.interp(steps, below[first : last + 1], leaves.edges[first : last + 1])).astype(np.int64))
    return _pieces(leaves, np.unique(np.concatenate(edges)))


def even_cuts(points: int, bins: int) -> Cuts:
    """Bins of equal width, where nothing is known."""
    edges = np.unique(np.round(np.linspace(0, points, min(bins, points) + 1)).astype(np.int64))
    return Cuts(edges, edges, np.ones(len(edges) - 1))


def _spikes(leaves: Leaves, bins: int) -> Integers:
    """Single points that hold many rows, and many more than the ranges around them; at most half of the bins."""
    widths = np.diff(leaves.edges).astype(np.float64)
    density = leaves.mass / widths
    around = np.full((4, len(density)), np.nan)
    for row, shift in enumerate((-2, -1, 1, 2)):
        to = slice(max(0, -shift), len(density) - max(0, shift))
        there = slice(max(0, shift), len(density) + min(0, shift))
        around[row, to] = density[there]
    beside = np.nanmedian(around, axis=0) if len(density) > 1 else np.zeros(1)
    many = leaves.mass > np.maximum(SURE * np.sqrt(leaves.variance), leaves.mass.sum() / (FEW * bins))
    points = np.flatnonzero((widths == 1) & many & (density > PROMINENT * beside))
    return np.sort(points[np.argsort(-leaves.mass[points], kind="stable")][: max(bins // 2, 1)])


def _pieces(leaves: Leaves, edges: Integers) -> Cuts:
    """The leaves inside the bins, each bin's masses drawn towards a plain spread as far as they may be noise.

    (James and Stein 1961: by the share of their distance from it that the noise explains.)
    """
    pieces = np.unique(np.concatenate([edges, leaves.edges]))
    leaf = np.searchsorted(leaves.edges, pieces[:-1], side="right") - 1
    widths = np.diff(pieces).astype(np.float64)
    part = widths / np.diff(leaves.edges)[leaf]
    mass, variance = leaves.mass[leaf] * part, leaves.variance[leaf] * part
    starts = np.searchsorted(pieces, edges[:-1])
    place = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(mass))))
    held, many = np.bincount(place, mass).astype(np.float64), np.bincount(place)
    scale = _tails(edges, held)
    share = _plain(edges, pieces, scale)
    plain = held[place] * share
    away = np.bincount(place, (mass - plain) ** 2)
    noise = np.bincount(place, variance) * (1 - 1 / many)
    signal = np.clip(1 - noise / np.maximum(away, 1e-9), 0.0, 1.0)
    drawn = plain + (mass - plain) * signal[place]
    return Cuts(edges, pieces, np.where(held[place] > 0, np.maximum(drawn, 0.0), share), scale)


def _tails(edges: Integers, held: Floats) -> Floats:
    """For each bin the w of its tail: positive if it falls from its low edge, negative if from its high one, 0 if it is none.

    The density beside a bin is the smaller one of the next two bins: one of them may be a spike.
    """
    widths = np.diff(edges).astype(np.float64)
    density = held / widths
    left, right = np.zeros(len(density)), np.zeros(len(density))
    left[2:] = np.minimum(density[1:-1], density[:-2])
    right[:-2] = np.minimum(density[1:-1], density[2:])
    beside = np.maximum(left, right)
    scale = np.maximum(held / np.maximum(beside, 1e-300), 1.0)
    return np.where((widths > 1) & (beside > STEEP * density), np.where(left >= right, scale, -scale), 0.0)


def _from_edge(edges: Integers, pieces: Integers, scale: Floats) -> tuple[Floats, Floats, Integers]:
    """Each piece's ends as distances from the edge that its bin's tail falls from, the nearer one first; and its bin."""
    place = np.searchsorted(edges, pieces[:-1], side="right") - 1
    low, high = pieces[:-1] - edges[place], pieces[1:] - edges[place]
    wide, back = np.diff(edges)[place], scale[place] < 0
    return np.where(back, wide - high, low).astype(np.float64), np.where(back, wide - low, high).astype(np.float64), place


def _plain(edges: Integers, pieces: Integers, scale: Floats) -> Floats:
    """Each piece's share of its bin where the counts say nothing: even, or falling in a tail."""
    near, far, place = _from_edge(edges, pieces, scale)
    w, wide = np.abs(scale)[place], np.diff(edges)[place].astype(np.float64)
    tail = w > 0
    w = np.where(tail, w, 1.0)
    falling = (w / (w + near) - w / (w + far)) / (1 - w / (w + wide))
    return np.where(tail, falling, (far - near) / wide)
