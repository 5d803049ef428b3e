"""A tree of histograms of one number: each round cuts finer what was crowded in the round before.

The counts may be noisy. A round is one histogram of disjoint ranges, so noise of the same size serves however many ranges it
has; few rounds with many ranges see more than many rounds with few. After the rounds, counts of a range and of its parts are
reconciled (Hay, Rastogi, Miklau and Suciu 2010), parts that noise alone explains are taken back, and what is left is ranges
with masses, down to single grid points where many rows share a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.numerics.simplex import on_simplex
from hushtable.table.arrays import Floats, Integers

BITS = 9
"""A round cuts a range into at most two to this power."""
ROUNDS = 4
"""The most rounds of one column."""
FIRST = 1.5
"""The part of the first round, beside those of the others."""
CROWDED, HEAVY = 2.3, 2.7
"""A range is cut where its count is so many standard deviations of the noise (Gaussian, Laplace): one empty one in 100 is."""
SPLITS = 128
"""The most ranges cut at once."""
TOGETHER = 3.0
"""Standard deviations from which on neighbouring counts together are more than noise."""
THIN = 8.0
"""So many times less dense than the rest is an end that may be empty."""


def rounds(points: int) -> int:
    """How many rounds lead from the whole domain down to single points."""
    return max(1, min(ROUNDS, math.ceil(math.log2(max(points, 2)) / BITS)))


def weights(points: int) -> list[float]:
    """The parts of the rounds: the first one alone says how the rows lie where nothing stands out."""
    return [FIRST, *[1.0] * (rounds(points) - 1)]


def fanout(points: int) -> int:
    """Into how many parts each round cuts."""
    parts: float = max(points, 2) ** (1 / rounds(points))
    return min(1 << BITS, math.ceil(parts))


@dataclass(eq=False)
class Group:
    """A range cut into cells, with what is known of their counts; cells that were cut again have a group inside."""

    edges: Integers
    counts: Floats
    precision: Floats
    inside: dict[int, Group] = field(default_factory=dict)

    @classmethod
    def of(cls, low: int, high: int, parts: int) -> Group:
        """About equal cells."""
        edges = low + (np.arange(parts + 1) * float(high - low) / parts).round().astype(np.int64)
        edges = np.unique(np.clip(edges, low, high))
        return cls(edges, np.zeros(len(edges) - 1), np.zeros(len(edges) - 1))

    @property
    def whole(self) -> NDArray[np.intp]:
        """The cells that are not cut."""
        uncut = np.ones(len(self.counts), bool)
        uncut[list(self.inside)] = False
        return np.flatnonzero(uncut)

    def groups(self) -> Iterator[Group]:
        """Itself and all inside."""
        yield self
        for group in self.inside.values():
            yield from group.groups()


@dataclass(frozen=True, eq=False)
class Leaves:
    """Ranges of grid points [edges[i], edges[i + 1]) with their masses and what the noise may have done to each."""

    edges: Integers
    mass: Floats
    variance: Floats


class Tree:
    """Ranges that are cut round by round. ``edges`` says what to count next; ``learn`` takes the noisy counts."""

    def __init__(self, points: int, *, heavy: bool = False) -> None:
        """``heavy`` where the noise is Laplace, whose large values are less rare."""
        self.points, self.parts, self.heavy = points, fanout(points), heavy
        self.root = Group.of(0, points, self.parts)

    def edges(self) -> Integers:
        """The ranges as they are cut now."""
        lows = np.concatenate([group.edges[group.whole] for group in self.root.groups()])
        return np.append(np.sort(lows), self.points)

    def learn(self, counts: Integers, variance: float) -> None:
        """Noisy counts of the ranges of ``edges``, averaged with what is known of them."""
        lows = self.edges()[:-1]
        for group in self.root.groups():
            cells = group.whole
            seen = counts[np.searchsorted(lows, group.edges[cells])]
            known = group.precision[cells]
            group.counts[cells] = (group.counts[cells] * known + seen / variance) / (known + 1 / variance)
            group.precision[cells] = known + 1 / variance

    def cut(self, least: float) -> None:
        """Cut the ranges that are crowded: well above the noise, and above ``least`` rows."""
        candidates = []
        for group in self.root.groups():
            cells = group.whole
            wide = np.diff(group.edges)[cells] > 1
            sure = HEAVY if self.heavy else CROWDED
            crowded = wide & (group.counts[cells] > np.maximum(sure / np.sqrt(group.precision[cells]), least))
            candidates += [(float(group.counts[cell]), group, int(cell)) for cell in cells[crowded]]
        for _, group, cell in sorted(candidates, key=lambda item: -item[0])[:SPLITS]:
            group.inside[cell] = Group.of(int(group.edges[cell]), int(group.edges[cell + 1]), self.parts)

    def leaves(self) -> Leaves:
        """The ranges and their masses after all rounds, with noise taken out where it can be."""
        _gather(self.root)
        edges, mass, variance = zip(*_settle(self.root, max(float(self.root.counts.sum()), 0.0), heavy=self.heavy), strict=True)
        return Leaves(np.append(np.concatenate(edges), self.points), np.concatenate(mass), np.concatenate(variance))


def _gather(group: Group) -> None:
    """From the inside out: a cell's count is averaged with the sum of its parts."""
    for cell, inner in group.inside.items():
        _gather(inner)
        known, learnt = group.precision[cell], 1 / float((1 / inner.precision).sum())
        group.counts[cell] = (group.counts[cell] * known + float(inner.counts.sum()) * learnt) / (known + learnt)
        group.precision[cell] = known + learnt


def _settle(group: Group, total: float, *, heavy: bool) -> list[tuple[Integers, Floats, Floats]]:
    """From the outside in: cells that add up to what the range holds; those that noise explains are spread evenly.

    If all deviations together are no larger than noise would be (a chi-square test), only cells that stand out keep their
    count; else all do, projected onto what is not negative, which takes the noise out of empty ones.
    """
    variance = 1 / group.precision
    counts = group.counts + (total - group.counts.sum()) * variance / variance.sum()
    group = _trimmed(replace(group, counts=counts), heavy=heavy)
    counts, variance = group.counts, 1 / group.precision
    counts = counts * (total / float(counts.sum())) if counts.sum() > 0 else counts
    widths = np.diff(group.edges).astype(np.float64)
    even = total * widths / widths.sum()
    away = (counts - even) / np.sqrt(variance)
    cells = len(counts)
    # The square of a Gaussian varies by 2, that of a Laplace of the same variance by 5.
    if float((away**2).sum()) > cells + 3 * math.sqrt((5 if heavy else 2) * cells):
        mass, distinct = on_simplex(counts, total), np.ones(cells, bool)
    else:
        least = _stands_out(cells, heavy=heavy)
        distinct = away > least
        distinct[[cell for cell, inner in group.inside.items() if _has_spike(inner, heavy=heavy)]] = True
        out = float(counts[distinct].sum())
        mass = np.where(distinct, counts * min(1.0, total / max(out, 1e-9)), 0.0)
        rest = widths * ~distinct
        mass += max(total - float(mass.sum()), 0.0) * rest / max(float(rest.sum()), 1e-9)
    # Neighbours that are spread evenly are one range.
    first = np.flatnonzero(distinct | np.append(True, distinct[:-1]))
    leaves: list[tuple[Integers, Floats, Floats]] = []
    for start, stop in zip(first.tolist(), np.append(first[1:], cells).tolist(), strict=True):
        if start in group.inside and distinct[start]:
            leaves += _settle(group.inside[start], float(mass[start]), heavy=heavy)
        else:
            leaves.append((group.edges[start : start + 1], mass[start:stop].sum(keepdims=True), variance[start : start + 1]))
    return leaves


def _trimmed(group: Group, *, heavy: bool) -> Group:
    """The group with each end that noise alone explains, and that is thin at most, as one cell.

    Hundreds of empty cells hold nobody, but their noise adds up to many rows, and far out in a long tail each is worth a lot.
    """
    deviation, counts, widths = 1 / np.sqrt(group.precision), group.counts, np.diff(group.edges).astype(np.float64)
    below, above = (
        _noise_alone(counts[way], deviation[way], widths[way], heavy=heavy) for way in (slice(None), slice(None, None, -1))
    )
    cells = len(counts)
    if below + above >= cells or max(below, above) < 2:
        return group
    starts = np.unique(np.concatenate([[0], np.arange(below, cells - above), [cells - above] if above else []]).astype(np.int64))
    merged = np.diff(np.append(starts, cells)) > 1
    variance = np.add.reduceat(deviation**2, starts)
    held = np.add.reduceat(counts, starts)
    held = np.where(merged, np.maximum(held - np.sqrt(variance), 0.0), held)
    whole = {first: place for place, (first, one) in enumerate(zip(starts.tolist(), ~merged, strict=True)) if one}
    inside = {whole[cell]: inner for cell, inner in group.inside.items() if cell in whole}
    return Group(np.append(group.edges[starts], group.edges[-1]), held, 1 / variance, inside)


def _noise_alone(counts: Floats, deviation: Floats, widths: Floats, *, heavy: bool) -> int:
    """How many cells from the front, neither one nor together, hold more than noise, and surely few beside the others."""
    held, spread = np.cumsum(counts), np.sqrt(np.cumsum(deviation**2))
    more = np.flatnonzero((counts > _stands_out(4 * len(counts), heavy=heavy) * deviation) | (held > TOGETHER * spread))
    first = int(more[0]) if len(more) else 0
    wide, rest = np.cumsum(widths), counts.sum() - held
    thin = np.maximum(held, 0.0) + 2 * spread < rest * wide / np.maximum(wide[-1] - wide, 1.0) / THIN
    return int(np.flatnonzero(thin[:first]).max(initial=-1)) + 1


def _stands_out(cells: int, *, heavy: bool) -> float:
    """Standard deviations that hardly any of so many cells is off by chance."""
    return max(3.0, math.log(5 * cells) / math.sqrt(2) if heavy else math.sqrt(2 * math.log(cells + 1)))


def _has_spike(group: Group, *, heavy: bool) -> bool:
    """Whether one of its cells stands out, though all of them together may not."""
    return bool((group.counts * np.sqrt(group.precision)).max() > _stands_out(4 * len(group.counts), heavy=heavy))
