"""Marginals of a junction tree of any columns, in arrays of a bounded size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from hushtable.errors import InputError
from hushtable.synthesize.histogram_cells import CELLS
from hushtable.synthesize.marginal.belief_propagation import Beliefs, Propagation
from hushtable.synthesize.marginal.junction import JunctionTree
from hushtable.table.arrays import Floats

Group = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Projection:
    """Marginals of one distribution, sharing what leads to them.

    A column is at home in the clique that adds it. Below the clique where the ways of all asked columns meet, each branch
    is summed up to the distribution of its columns given the branch's separator; these are stored for later marginals.

    Separator and asked columns together can have many more cells than any clique. Where they have more than ``limit``, an
    asked column is cut in two, and the marginal is put together from its two parts: with single cells left of every asked
    column, no array is larger than a clique. So no marginal is refused but one that has too many cells of its own.
    """

    tree: JunctionTree
    joint: Sequence[Floats]
    """Probabilities of the cells of each clique."""
    conditional: Sequence[Floats]
    """Of what a clique adds given its separator."""
    limit: int = CELLS
    branches: dict[tuple[int, Group], Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of_model(cls, machine: Propagation, beliefs: Beliefs) -> Self:
        """Of the distribution that potentials define."""
        cliques = range(len(machine.tree.cliques))
        joint = [machine.clique_array(beliefs.joint, t) for t in cliques]
        return cls(machine.tree, joint, [machine.clique_array(beliefs.conditional, t) for t in cliques])

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many cells of each column are here."""
        shapes = (zip(clique, table.shape, strict=True) for clique, table in zip(self.tree.cliques, self.joint, strict=True))
        return {name: size for shape in shapes for name, size in shape}

    @cached_property
    def place(self) -> dict[str, int]:
        """Of each column in the order of the tree."""
        return {name: i for i, name in enumerate(self.tree.order)}

    def of(self, columns: Group) -> Floats:
        """Probabilities, one axis per column as asked."""
        unknown = [name for name in columns if name not in self.place]
        if unknown or len(set(columns)) != len(columns):
            raise InputError(f"no marginal of {', '.join(columns) or 'no column'}", where="graphical model")
        if self._cells(columns) > self.limit:
            raise InputError(
                f"a marginal of {', '.join(columns)} has {self._cells(columns):,} cells: ask for fewer columns",
                where="graphical model",
            )
        if not columns:
            return np.array(1.0)
        wanted = tuple(sorted(columns, key=self.place.__getitem__))
        return self._sorted(wanted).transpose([wanted.index(name) for name in columns])

    def _sorted(self, wanted: Group) -> Floats:
        inside = [t for t, clique in enumerate(self.tree.cliques) if set(wanted) <= set(clique)]
        if inside:
            smallest = min(inside, key=lambda t: self.joint[t].size)
            axes = tuple(i for i, name in enumerate(self.tree.cliques[smallest]) if name not in wanted)
            return np.asarray(self.joint[smallest].sum(axis=axes))
        meeting = self.tree.homeward(wanted)[0][0]
        product = self._largest(meeting, wanted, wanted)
        widest = max(set(wanted) & set(product), key=self.sizes.__getitem__)
        if self.sizes[widest] > 1 and self._cells(product) > self.limit:
            return np.concatenate([half._sorted(wanted) for half in self._halves(widest)], axis=wanted.index(widest))
        return self._joined(meeting, self.joint[meeting], wanted, wanted)

    def _halves(self, name: str) -> Iterator[Projection]:
        """The same distribution on the first half of a column's cells, then on the others."""
        middle = self.sizes[name] // 2
        for cells in (slice(None, middle), slice(middle, None)):
            cut = [tuple(cells if n == name else slice(None) for n in clique) for clique in self.tree.cliques]
            joint = [table[part] for table, part in zip(self.joint, cut, strict=True)]
            conditional = [table[part] for table, part in zip(self.conditional, cut, strict=True)]
            yield Projection(self.tree, joint, conditional, self.limit)

    def _joined(self, t: int, table: Floats, wanted: Group, out: Group) -> Floats:
        """Sum a clique's table times the branches below it that hold wanted columns, down to ``out``."""
        below = self._below(t, wanted)
        names, *after = self._axes(t, below, out)
        gone = tuple(i for i, name in enumerate(self.tree.cliques[t]) if name not in names)
        array = table.sum(axis=gone) if gone else table
        for (child, group), keep in zip(below, after, strict=True):
            labels = (*self.tree.separators[child], *group)
            array, names = _product(array, names, self._branch(child, group), labels, keep), keep
        return array.transpose([names.index(n) for n in out]) if names != out else array

    def _branch(self, t: int, wanted: Group) -> Floats:
        """The distribution of some columns at or below a clique given its separator: separator axes first."""
        key = (t, wanted)
        if key in self.branches:
            return self.branches[key]
        branch = self._joined(t, self.conditional[t], wanted, (*self.tree.separators[t], *wanted))
        if branch.size + sum(other.size for other in self.branches.values()) <= self.limit:
            self.branches[key] = branch
        return branch

    def _below(self, t: int, wanted: Group) -> list[tuple[int, Group]]:
        """The children of a clique under which wanted columns are at home that it has not, and which."""
        branches: dict[int, list[str]] = {}
        for name in wanted:
            if name not in self.tree.cliques[t]:
                way = self.tree.ways[self.tree.home[name]]
                branches.setdefault(way[way.index(t) + 1], []).append(name)
        return [(child, tuple(names)) for child, names in branches.items()]

    def _axes(self, t: int, below: list[tuple[int, Group]], out: Group) -> list[Group]:
        """What is left of a clique's columns before its branches are multiplied to it, and after each of them."""
        separators = [self.tree.separators[child] for child, _ in below]
        needed = {*out, *(name for separator in separators for name in separator)}
        axes = [tuple(name for name in self.tree.cliques[t] if name in needed)]
        for number, (_, group) in enumerate(below, 1):
            needed = {*out, *(name for separator in separators[number:] for name in separator)}
            axes.append(tuple(name for name in (*axes[-1], *group) if name in needed))
        return axes

    def _largest(self, t: int, wanted: Group, out: Group) -> Group:
        """The columns of the largest product that leads to a marginal."""
        below = self._below(t, wanted)
        there = (self._largest(child, group, (*self.tree.separators[child], *group)) for child, group in below)
        return max((*self._axes(t, below, out)[1:], *there), key=self._cells, default=())

    def _cells(self, columns: Group) -> int:
        return math.prod(self.sizes[name] for name in columns)


def _product(one: Floats, left: Group, two: Floats, right: Group, keep: Group) -> Floats:
    """Two arrays with named axes multiplied and summed to ``keep``, as a stack of matrix products."""
    shared = [n for n in left if n in right]
    batch = [n for n in shared if n in keep]
    inner = [n for n in shared if n not in keep]
    rows = [n for n in left if n not in shared]
    columns = [n for n in right if n not in shared]
    size = dict(zip(left, one.shape, strict=True)) | dict(zip(right, two.shape, strict=True))

    def count(names: list[str]) -> int:
        return math.prod(size[n] for n in names)

    a = one.transpose([left.index(n) for n in (*batch, *rows, *inner)]).reshape(count(batch), count(rows), count(inner))
    b = two.transpose([right.index(n) for n in (*batch, *inner, *columns)]).reshape(count(batch), count(inner), count(columns))
    have = (*batch, *rows, *columns)
    product = np.matmul(a, b).reshape([size[n] for n in have])
    return np.asarray(product.transpose([have.index(n) for n in keep]))
