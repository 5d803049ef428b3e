"""Partitions of the domain by trees: public ones, and ones grown by private choices.

A node asks whether the sum of a whole number for each column's code is at most a threshold. A cut of one column gives 0 to
the codes that go left and 1 to the others, with threshold 0; a random projection gives every code its own number. So the
leaf of a record is a function of the record alone, and disjoint leaves compose in parallel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.integer_encoding import IntegerEncoding
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BALANCE = 16
"""The largest weight of a class where a cut is judged by its classes: rarer ones weigh more, up to this many times."""
RARE = 0.03
"""A class with a smaller share than this in a leaf has no say in how the others are weighted."""
FINE = 1 << 16
"""One, in the steps of a random projection."""
DRAWN = 2000
"""Evenly drawn records of the domain that a random projection is halved by."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes with their children; a leaf is numbered from -1 downwards there."""

    encoding: IntegerEncoding
    weights: Integers
    """Nodes by codes of all columns."""
    thresholds: Integers
    children: Integers
    """Nodes by left and right."""

    @classmethod
    def single(cls, encoding: IntegerEncoding) -> Self:
        """One leaf."""
        codes = sum(f.cells for f in encoding.fields)
        return cls(encoding, np.zeros((0, codes), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))

    @property
    def leaves(self) -> int:
        """One more than the nodes."""
        return len(self.thresholds) + 1

    @property
    def cells(self) -> int:
        """Leaves by classes."""
        return self.leaves * self.encoding.classes

    def of(self, table: Table) -> Integers:
        """The cell of each record: its leaf and its class."""
        return self.leaf(self.encoding.codes(table)) * self.encoding.classes + self.encoding.labels(table)

    def leaf(self, codes: Integers) -> Integers:
        """The leaf of each record, from its codes."""
        at = np.zeros(len(codes), np.int64) - (self.leaves == 1)
        inside = np.flatnonzero(at >= 0)
        while len(inside):
            node = at[inside]
            total = np.zeros(len(inside), np.int64)
            for column in codes[inside].T:
                total += self.weights[node, column]
            at[inside] = self.children[node, (total > self.thresholds[node]).astype(np.int64)]
            inside = inside[at[inside] >= 0]
        return -1 - at

    def split(self, leaf: int, weights: Integers, threshold: int) -> Tree:
        """With a leaf cut in two: its number stays with the left half, the right half gets the next one."""
        node, new = len(self.thresholds), self.leaves
        children = np.where(self.children == -1 - leaf, node, self.children)
        return replace(
            self,
            weights=np.vstack([self.weights, weights[None]]),
            thresholds=np.append(self.thresholds, threshold),
            children=np.vstack([children, [[-1 - leaf, -1 - new]]]),
        )

    @cached_property
    def allowed(self) -> Mask:
        """Leaves by codes: whether a record with that code can be in that leaf, as far as single nodes can say."""
        codes = self.weights.shape[1]
        allowed = np.ones((self.leaves, codes), bool)
        least, most = (self._others(kind) for kind in (np.min, np.max))
        stack = [(0 if self.leaves > 1 else -1, np.ones(codes, bool))]
        while stack:
            at, open_ = stack.pop()
            if at < 0:
                allowed[-1 - at] = open_
                continue
            stack.append((int(self.children[at, 0]), open_ & (self.weights[at] + least[at] <= self.thresholds[at])))
            stack.append((int(self.children[at, 1]), open_ & (self.weights[at] + most[at] > self.thresholds[at])))
        return allowed

    @cached_property
    def levels(self) -> list[Integers]:
        """For each depth from 1 on, the number of the node (or leaf, where it ends earlier) that each leaf lies under."""
        levels: list[Integers] = []
        under: dict[int, list[int]] = {}
        # A node is added after the leaf it cuts: children have larger numbers.
        for at in reversed(range(len(self.thresholds))):
            under[at] = [leaf for child in self.children[at].tolist() for leaf in (under[child] if child >= 0 else [-1 - child])]
        open_ = [0] if self.leaves > 1 else []
        while any(at >= 0 for at in open_):
            open_ = [child for at in open_ for child in (self.children[at].tolist() if at >= 0 else [at])]
            numbers = np.zeros(self.leaves, np.int64)
            for number, at in enumerate(open_):
                numbers[under[at] if at >= 0 else [-1 - at]] = number
            levels.append(numbers)
        return levels

    def _others(self, kind: Callable[..., Integers]) -> Integers:
        """For each node and code, the least or largest sum that the other columns can add."""
        spans = self.encoding.code_spans
        ends = np.stack([kind(self.weights[:, s], axis=1) for s in spans], axis=1)
        total = ends.sum(axis=1)
        return np.concatenate([np.repeat((total - ends[:, i])[:, None], s.stop - s.start, 1) for i, s in enumerate(spans)], axis=1)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """The number of records in each cell of a partition. A record lies in one cell, so one changes it by one, replacing two."""

    additive: ClassVar[bool] = True
    tree: Tree

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.tree.encoding.schema.names

    @property
    def reads(self) -> tuple[str, ...]:
        """All of them."""
        return self.columns

    def answer(self, table: Table) -> Integers:
        """Cell by cell, empty or not."""
        return np.bincount(self.tree.of(table), minlength=self.tree.cells)

    def largest(self, schema: Schema, rows: int) -> int:
        """A row counts once."""
        return rows

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """Of a histogram."""
        return (1.0, 1.0, 1) if relation is Relation.ADD_REMOVE else (2.0, 2**0.5, 2)


@dataclass(frozen=True, eq=False)
class Cuts:
    """The candidates of a cut: each a column with the codes that go left. Public."""

    encoding: IntegerEncoding
    most: int = 24
    """The most cuts of a column with an order; a category has one for each level."""

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """For each candidate its column, and the code it cuts behind (in an order) or sets apart."""
        places: list[tuple[int, int]] = []
        for number, f in enumerate(self.encoding.fields):
            if f.cells < 2:
                continue
            if f.ordered:
                ends = np.unique(np.linspace(0, f.cells - 2, min(f.cells - 1, self.most)).round().astype(int))
                places += [(number, int(end)) for end in ends]
            else:
                places += [(number, level) for level in range(f.cells if f.cells > 2 else 1)]
        return places

    def weights(self, number: int) -> Integers:
        """The node of a candidate (threshold 0)."""
        column, place = self.places[number]
        f, span = self.encoding.fields[column], self.encoding.code_spans[column]
        weights = np.zeros(self.encoding.code_spans[-1].stop, np.int64)
        codes = np.arange(f.cells)
        weights[span] = codes > place if f.ordered else codes != place
        return weights


@dataclass(frozen=True, eq=False)
class LeafCounts:
    """For each field the number of records of each class with each of its codes in each of some leaves, field after field."""

    additive: ClassVar[bool] = True
    tree: Tree
    leaves: tuple[int, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """All columns."""
        return self.tree.encoding.schema.names

    def answer(self, table: Table) -> Integers:
        """For each field leaves by classes by codes, row-major."""
        encoding = self.tree.encoding
        node, codes = inside_leaves(self.tree, self.leaves, table)
        inside = node >= 0
        group = (node * encoding.classes + encoding.labels(table))[inside]
        counts = []
        for number, (f, span) in enumerate(zip(encoding.fields, encoding.code_spans, strict=True)):
            own = codes[inside, number] - span.start
            counts.append(np.bincount(group * f.cells + own, minlength=len(self.leaves) * encoding.classes * f.cells))
        return np.concatenate(counts)

    def counts(self, answer: Integers) -> list[Integers]:
        """The answer as one array for each field: leaves by classes by codes."""
        encoding = self.tree.encoding
        shapes = [(len(self.leaves), encoding.classes, f.cells) for f in encoding.fields]
        parts = np.split(answer, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def inside_leaves(tree: Tree, leaves: tuple[int, ...], table: Table) -> tuple[Integers, Integers]:
    """For each record the place of its leaf among these, -1 for another one; and its codes."""
    codes = tree.encoding.codes(table)
    place = np.full(tree.leaves, -1)
    place[list(leaves)] = np.arange(len(leaves))
    return place[tree.leaf(codes)], codes


@dataclass(frozen=True, eq=False)
class CutScores:
    """How well each candidate cuts each of some leaves, leaf by leaf.

    ``balanced``: minus the difference of the numbers of records left and right. Otherwise the records of the commonest class
    left plus those right, each class weighted by a whole number up to ``BALANCE`` that is public or released before.

    *What one record can change.* It lies in one leaf or in none of them, and there on one side of each candidate: one number of
    records changes by one. So it changes the scores of one leaf, each by at most 1 or by its class's weight: the largest of a sum
    of maxima moves by no more than the number that moved. A replaced record is one less and one more: twice that in all.
    """

    tree: Tree
    leaves: tuple[int, ...]
    cuts: Cuts
    weights: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Leaves by classes; not for balanced cuts."""
    balanced: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.tree.encoding.schema.names

    def over(self, rows: Rows) -> Integers:
        """Leaves by candidates."""
        asked = LeafCounts(self.tree, self.leaves)
        left = np.empty((len(self.leaves), self.tree.encoding.classes, len(self.cuts.places)), np.int64)
        total = np.zeros(left.shape[:2], np.int64)
        for number, (f, counts) in enumerate(zip(self.tree.encoding.fields, asked.counts(rows.fold(asked)), strict=True)):
            mine = [i for i, (column, _) in enumerate(self.cuts.places) if column == number]
            total = counts.sum(axis=2)
            sums = np.cumsum(counts, axis=2) if f.ordered else counts
            left[:, :, mine] = sums[:, :, [self.cuts.places[i][1] for i in mine]]
        right = total[:, :, None] - left
        if self.balanced:
            return np.asarray(-np.abs(left.sum(1) - right.sum(1)))
        weights = self.weights[:, :, None]
        return np.asarray((left * weights).max(1) + (right * weights).max(1), dtype=np.int64)

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory."""
        return self.over(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows of the class that weighs most."""
        return rows * BALANCE

    def change(self, schema: Schema, relation: Relation) -> int:
        """All leaves together, as above."""
        one = 1 if self.balanced else BALANCE
        return one if relation is Relation.ADD_REMOVE else 2 * one


def class_weights(counts: Floats) -> Integers:
    """Leaves by classes: the rarer a class seems in a leaf, the more its records weigh, so that classes weigh alike.

    The rarest one that is not ``RARE`` has the largest weight, and those that are rarer have it too.
    """
    share = np.maximum(counts, 0.0) / np.maximum(np.maximum(counts, 0.0).sum(axis=1, keepdims=True), 1.0)
    least = np.where(share >= RARE, share, 1.0).min(axis=1, keepdims=True)
    weights = BALANCE * least / np.maximum(share, least)
    return np.asarray(np.clip(np.round(weights), 1, BALANCE), dtype=np.int64)


def projections(encoding: IntegerEncoding, depth: int, rng: np.random.Generator) -> Tree:
    """A public tree: every node halves evenly drawn records of the domain along a random direction. It reads no row."""
    tree = Tree.single(encoding)
    records = np.stack([rng.integers(s.start, s.stop, DRAWN) for s in encoding.code_spans], axis=1)
    for _ in range(depth):
        leaf = tree.leaf(records)
        for number in range(tree.leaves):
            weights = _direction(encoding, rng)
            mine = records[leaf == number]
            sums = weights[mine].sum(axis=1) if len(mine) else np.zeros(1)
            tree = tree.split(number, weights, int(np.floor(np.median(sums))))
    return tree


def _direction(encoding: IntegerEncoding, rng: np.random.Generator) -> Integers:
    parts = []
    for f in encoding.fields:
        if f.ordered:
            places = np.arange(f.cells) / max(f.cells - 1, 1) - 0.5
            parts.append(rng.normal() * places * 12**0.5)
        else:
            parts.append(rng.normal(size=f.cells))
    return np.round(np.concatenate(parts) * FINE).astype(np.int64)
