"""Measures of information loss, each with a lower bound for all nodes above one that suppress at least so many rows."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.anonymize.lattice.nodes import Classes, Ladder, Lattice, Node
from hushtable.table.arrays import Floats, Integers, Mask


class LossName(StrEnum):
    """How loss is counted."""

    GEOMETRIC = "geometric"
    ARITHMETIC = "arithmetic"
    ENTROPY = "entropy"
    DISCERNIBILITY = "discernibility"
    CLASS_SIZE = "class-size"


class Loss(Protocol):
    """A loss of nodes of one lattice; smaller is better."""

    def value(self, node: Node, classes: Classes, stays: Mask, k: int) -> float:
        """Of a node of which only the classes in ``stays`` are released, and the others suppressed."""
        ...

    def least(self, node: Node, suppressed: int, k: int) -> float:
        """No node at or above this one that suppresses at least so many rows loses less."""
        ...

    def rise(self, attribute: int, low: int, high: int) -> float:
        """About how much the least loss rises between two levels of one attribute; only guides the search."""
        ...


def make(name: LossName, lattice: Lattice, weights: tuple[float, ...]) -> Loss:
    """The loss of that name; weights of the attributes where it has any."""
    if name is LossName.DISCERNIBILITY:
        return Discernibility(lattice)
    if name is LossName.CLASS_SIZE:
        return ClassSize(lattice)
    return Priced.of(lattice, name, weights)


@dataclass(frozen=True, eq=False)
class Priced:
    """A loss in which every value of a row has a price that depends on its level alone, and a suppressed one that of ``*``.

    With x_a the sum of the prices of attribute a, geometric: (prod_a (1 + w_a x_a))^(1/m) - 1, else the weighted mean. For the
    first two the price is the share of the domain that a value might be (Iyengar 2002, as ARX counts it); for entropy it is
    log2(f(generalized)/f(raw)), in units of what suppressing everything costs (non-uniform entropy, Gionis and Tassa 2009).
    Without suppression the prices add up to a closed form: a bound needs no classes.
    """

    weights: tuple[float, ...]
    geometric: bool
    sums: tuple[tuple[float, ...], ...]
    """For each attribute and level, the prices of all rows."""
    more: tuple[Floats, ...]
    """For each attribute, a line per level: what suppressing a row adds, by its value."""
    lattice: Lattice

    @classmethod
    def of(cls, lattice: Lattice, name: LossName, weights: tuple[float, ...] = ()) -> Priced:
        """Tabulate the prices; weights are 1 when absent."""
        weights = weights or (1.0,) * len(lattice.ladders)
        price: Callable[[Lattice, Ladder], tuple[tuple[Floats, ...], Floats]]
        price = _entropies if name is LossName.ENTROPY else _shares
        priced = [price(lattice, ladder) for ladder in lattice.ladders]
        prices, stars = tuple(p for p, _ in priced), tuple(s for _, s in priced)
        if name is LossName.ENTROPY:
            # Columns count by how much there is to lose in them, so that suppressing everything costs 1.
            whole = [_total(lattice, ladder, s) for ladder, s in zip(lattice.ladders, stars, strict=True)]
            weights = tuple(w * x for w, x in zip(weights, whole, strict=True)) if any(whole) else weights
            scale = [1 / x if x else 0.0 for x in whole]
            prices = tuple(tuple(p * f for p in levels) for levels, f in zip(prices, scale, strict=True))
            stars = tuple(s * f for s, f in zip(stars, scale, strict=True))
        sums = tuple(
            tuple(_total(lattice, ladder, p) for p in levels) for ladder, levels in zip(lattice.ladders, prices, strict=True)
        )
        more = tuple(np.array([s - p for p in levels]) for levels, s in zip(prices, stars, strict=True))
        return cls(weights, name is LossName.GEOMETRIC, sums, more, lattice)

    def added(self, attribute: int, levels: NDArray[np.int16] | int) -> Floats:
        """What suppressing each tuple adds to an attribute, at its own level or at one for all."""
        return np.asarray(self.more[attribute][levels, self.lattice.ladders[attribute].own] * self.lattice.counts, np.float64)

    @cached_property
    def _whole(self) -> Floats:
        return np.concatenate([line for lines in self.more for line in lines])

    @cached_property
    def _steps(self) -> tuple[tuple[tuple[list[int], list[float]], ...], ...]:
        """For each attribute and level, the least that suppressing so many rows adds, as a broken line."""
        held = [np.bincount(a.own, self.lattice.counts, minlength=len(a.cells[0])) for a in self.lattice.ladders]
        return tuple(
            tuple(_least_added(line, rows.astype(np.float64)) for line in lines)
            for lines, rows in zip(self.more, held, strict=True)
        )

    def value(self, node: Node, classes: Classes, stays: Mask, k: int) -> float:
        """The prices of the values that stay and of the stars."""
        return self.combined(self.parts(node, classes, stays))

    def parts(self, node: Node, classes: Classes, stays: Mask) -> list[float]:
        """Of each attribute."""
        lattice = self.lattice
        starts = lattice.starts[lattice.lines(node)]
        added = _added(self._whole, lattice.own, starts, lattice.counts, classes.of, stays).tolist()
        return [sums[level] + more for sums, level, more in zip(self.sums, node, added, strict=True)]

    def of_levels(self, levels: NDArray[np.int16], gone: Mask) -> list[float]:
        """Of each attribute, where every tuple has levels of its own (attributes x tuples) and some are suppressed."""
        stay = [float(self.added(a, row)[~gone].sum()) for a, row in enumerate(levels)]
        return [sums[0] + float(self.added(a, 0).sum()) - s for a, (sums, s) in enumerate(zip(self.sums, stay, strict=True))]

    def least(self, node: Node, suppressed: int, k: int) -> float:
        """The prices at this node, and for each attribute those rows suppressed that add least."""
        return self.combined([self._least(a, level, suppressed) for a, level in enumerate(node)])

    def rise(self, attribute: int, low: int, high: int) -> float:
        """Of the attribute's own sum."""
        sums = self.sums[attribute]
        return self.weights[attribute] * (sums[high] - sums[low])

    def _least(self, attribute: int, level: int, suppressed: int) -> float:
        rows, added = self._steps[attribute][level]
        at = bisect_left(rows, suppressed)
        part = (suppressed - rows[at - 1]) / (rows[at] - rows[at - 1]) if at and rows[at] > rows[at - 1] else 0.0
        more = added[at - 1] + part * (added[at] - added[at - 1]) if at else 0.0
        return self.sums[attribute][level] + more

    def combined(self, parts: list[float]) -> float:
        """The loss, from that of each attribute."""
        if self.geometric:
            logs = sum(math.log1p(w * max(x, 0.0)) for w, x in zip(self.weights, parts, strict=True))
            return math.expm1(logs / len(parts))
        return sum(w * x for w, x in zip(self.weights, parts, strict=True)) / (sum(self.weights) or 1.0)


def _total(lattice: Lattice, ladder: Ladder, prices: Floats) -> float:
    """The prices of all rows, from those of the values."""
    return float((prices[ladder.own] * lattice.counts).sum())


def _shares(lattice: Lattice, ladder: Ladder) -> tuple[tuple[Floats, ...], Floats]:
    """(share - leaf)/(1 - leaf) of the domain: 0 for a value as it is, 1 for ``*``; over the number of rows."""
    room = max((1 - ladder.leaf) * lattice.rows, np.finfo(float).tiny)
    prices = tuple((s - ladder.leaf) / room if ladder.leaf < 1 else np.zeros(len(s)) for s in ladder.shares)
    return prices, np.full(len(ladder.shares[0]), 1 / max(lattice.rows, 1))


def _entropies(lattice: Lattice, ladder: Ladder) -> tuple[tuple[Floats, ...], Floats]:
    """log2 of how many rows share the cell, over how many share the value."""
    own = np.bincount(ladder.own, lattice.counts, minlength=len(ladder.cells[0]))
    frequencies = [np.bincount(cells, own)[cells] for cells in ladder.cells]
    # A part of a table may lack some of its values: nothing is lost of these.
    own = np.maximum(own, 1.0)
    return tuple(np.log2(np.maximum(f, 1.0) / own) for f in frequencies), np.log2(max(lattice.rows, 1) / own)


@njit(cache=True)
def _added(whole, own, starts, counts, of, stays):  # type: ignore[no-untyped-def]
    """The sum of one line of each attribute over the tuples of classes that do not stay."""
    added = np.zeros(len(starts))
    for i in range(len(of)):
        if not stays[of[i]]:
            for j in range(len(starts)):
                added[j] += whole[starts[j] + own[j, i]] * counts[i]
    return added


def _least_added(added: Floats, counts: Floats) -> tuple[list[int], list[float]]:
    """The least that suppressing 0, 1, 2, ... rows can add: a convex line, as the points where its slope changes."""
    slopes, place = np.unique(added[counts > 0], return_inverse=True)
    rows = np.bincount(place, counts[counts > 0])
    ends = np.cumsum(rows)
    return [0, *ends.astype(np.int64).tolist()], [0.0, *np.cumsum(rows * slopes).tolist()]


@dataclass(frozen=True, eq=False)
class _Counted:
    """A loss that is a function of class sizes; the sizes at a node bound those of all nodes above it."""

    lattice: Lattice
    seen: dict[Node, Integers] = field(default_factory=dict)

    def rise(self, attribute: int, low: int, high: int) -> float:
        """By how much the number of cells falls, in logarithms."""
        sizes = self.lattice.ladders[attribute].sizes
        return math.log(sizes[low] / sizes[high]) if sizes[low] > sizes[high] else 0.0

    def _sizes(self, node: Node) -> Integers:
        """How many classes there are of 1, 2, ... rows."""
        if node not in self.seen:
            self.seen[node] = np.bincount(self.lattice.classes(node).sizes)
        return self.seen[node]


@dataclass(frozen=True, eq=False)
class Discernibility(_Counted):
    """Each row costs the size of its class, a suppressed one the number of rows (Bayardo and Agrawal 2005)."""

    def value(self, node: Node, classes: Classes, stays: Mask, k: int) -> float:
        """Squares of the classes that stay, and n for each row that does not."""
        sizes = classes.sizes.astype(np.float64)
        return float((sizes[stays] ** 2).sum() + self.lattice.rows * sizes[~stays].sum())

    def least(self, node: Node, suppressed: int, k: int) -> float:
        """Classes only grow above this node; the rows suppressed are at best those of the largest classes."""
        many = self._sizes(node)
        size = np.arange(len(many), dtype=np.float64)
        # From the largest classes down, how many rows of each size are suppressed.
        gone = np.diff(np.minimum(np.cumsum((many * size)[::-1]), suppressed), prepend=0.0)[::-1]
        return float((many * size * size - gone * size).sum()) + self.lattice.rows * float(suppressed)


@dataclass(frozen=True, eq=False)
class ClassSize(_Counted):
    """Rows over (classes that stay times k): how much larger than needed a class is on average (LeFevre et al. 2006)."""

    def value(self, node: Node, classes: Classes, stays: Mask, k: int) -> float:
        """Suppressed rows count among the rows, and make no class."""
        return self.lattice.rows / (max(int(stays.sum()), 1e-9) * k)

    def least(self, node: Node, suppressed: int, k: int) -> float:
        """A class above contains a class of this node that has k rows, or consists of smaller ones."""
        many = self._sizes(node)
        small = int((many[:k] * np.arange(len(many[:k]))).sum())
        most = min(int(many[k:].sum()) + small // k, (self.lattice.rows - suppressed) // k)
        return self.lattice.rows / (max(most, 1e-9) * k)
