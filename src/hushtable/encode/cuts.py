"""Bins cut from ranges with masses: a bin of its own for each spike, equal masses between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.encode.tree import Floats, Integers, Leaves

FEW = 16
"""A spike holds at least one in FEW times bins of the rows."""
SURE = 1.0
"""A spike is so many standard deviations of the noise, of which most is out of the masses already."""
PROMINENT = 3.0
"""So many times denser than its neighbours is a spike."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Bins [edges[i], edges[i + 1]) in grid points, and the finer pieces that say how values lie inside them."""

    edges: Integers
    pieces: Integers
    """The edges of the pieces; every edge of a bin is one of them."""
    mass: Floats
    """Of each piece; never all zero in one bin."""

    def draw(self, bins: Integers, rng: np.random.Generator) -> Integers:
        """A piece of each of these bins, by mass."""
        below = np.append(0.0, np.cumsum(self.mass))
        starts = np.searchsorted(self.pieces, self.edges)
        low, high = below[starts[bins]], below[starts[bins + 1]]
        found = np.searchsorted(below, low + rng.random(len(bins)) * (high - low), side="right") - 1
        return np.clip(found, starts[bins], starts[bins + 1] - 1)


def cuts(leaves: Leaves, bins: int) -> Cuts:
    """About ``bins`` bins."""
    spikes = _spikes(leaves, bins)
    total, alone = float(leaves.mass.sum()), float(leaves.mass[spikes].sum())
    slots = max(bins - len(spikes), 1)
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
    found = np.flatnonzero((widths == 1) & many & (density > PROMINENT * beside))
    return np.sort(found[np.argsort(-leaves.mass[found], kind="stable")][: max(bins // 2, 1)])


def _pieces(leaves: Leaves, edges: Integers) -> Cuts:
    """The leaves inside the bins, each bin's masses drawn towards an even spread as far as they may be noise.

    (James and Stein 1961: by the share of their spread that the noise explains.)
    """
    pieces = np.unique(np.concatenate([edges, leaves.edges]))
    leaf = np.searchsorted(leaves.edges, pieces[:-1], side="right") - 1
    widths = np.diff(pieces).astype(np.float64)
    part = widths / np.diff(leaves.edges)[leaf]
    mass, variance = leaves.mass[leaf] * part, leaves.variance[leaf] * part
    starts = np.searchsorted(pieces, edges[:-1])
    place = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(mass))))
    held, wide, many = (np.bincount(place, of) for of in (mass, widths, np.ones(len(mass))))
    even = held[place] * widths / wide[place]
    away = np.bincount(place, (mass - even) ** 2)
    noise = np.bincount(place, variance) * (1 - 1 / many)
    told = np.clip(1 - noise / np.maximum(away, 1e-9), 0.0, 1.0)
    drawn = even + (mass - even) * told[place]
    return Cuts(edges, pieces, np.where(held[place] > 0, np.maximum(drawn, 0.0), widths))
