"""Belief propagation: from potentials of small groups of columns to the marginals of their product.

On the way up the tree every clique is turned into the conditional distribution of what it adds given its separator;
normalizing row by row in log space cannot underflow. On the way down conditionals become marginals, by multiplication
alone. One exponential per cell for both, and the conditionals are what rows are drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.synthesize.marginal.junction import JunctionTree
from hushtable.synthesize.marginal.message_passing import conditioned, gather, scatter, walk
from hushtable.table.arrays import Floats, Integers, Mask

Group = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The distribution that potentials define: cells of all cliques, one behind the other."""

    conditional: Floats
    """Of what a clique adds given its separator."""
    joint: Floats
    """Probabilities of the cells of each clique."""
    log_norm: float
    """Logarithm of the sum of the product of all potentials."""


class Propagation:
    """A junction tree with groups of columns in it, ready to be evaluated many times.

    ``groups`` come with their columns in the tree's order. Where one contains another, the smaller one is added to the
    larger one and summed from it, so that the large cliques are passed over once for each outermost group only.
    Potentials and marginals of all groups are one vector, in the order of ``groups``.
    """

    def __init__(self, tree: JunctionTree, groups: Sequence[Group], zeros: Mapping[Group, Mask] | None = None) -> None:
        """Find each group its seat; every group must lie in a clique."""
        self.tree, self.groups = tree, list(groups)
        place = {name: i for i, name in enumerate(tree.order)}
        if any(list(map(place.__getitem__, g)) != sorted(map(place.__getitem__, g)) for g in groups):
            raise ValueError("groups must follow the order of the tree")
        self.shapes = [self._shape(group) for group in groups]
        self.ends = np.cumsum([0, *map(math.prod, self.shapes)])
        self.clique_shapes = [self._shape(clique) for clique in tree.cliques]
        self.clique_ends = np.cumsum([0, *map(math.prod, self.clique_shapes)])
        self._clique_sets = [frozenset(clique) for clique in tree.cliques]
        self._walks: list[int] = []
        self.seats = self._seated()
        self.links = self._linked()
        self.walks = np.array(self._walks, np.int64)
        self.walls = self._walled(zeros or {})

    def _shape(self, columns: Group) -> tuple[int, ...]:
        return tuple(self.tree.sizes[name] for name in columns)

    def _spread(self, outer: Group, inner: Group) -> Integers:
        """For each cell of an array over ``outer``, its cell in one over ``inner``."""
        shape = [self.tree.sizes[name] if name in inner else 1 for name in outer]
        cells = np.arange(math.prod(self._shape(inner)), dtype=np.int64).reshape(shape)
        return np.broadcast_to(cells, self._shape(outer)).ravel()

    def _walk(self, outer: Group, inner: Group) -> int:
        """Where the walk through these two begins."""
        start = len(self._walks)
        self._walks += walk(self._shape(outer), [name in inner for name in outer])
        return start

    def _seated(self) -> Integers:
        """For each group, smaller ones first, the smallest group around it or else the smallest clique."""
        seats = []
        sets = [frozenset(group) for group in self.groups]
        for i in sorted(range(len(sets)), key=lambda i: (len(sets[i]), i)):
            group = self.groups[i]
            around = [j for j in range(len(sets)) if sets[i] < sets[j]]
            if around:
                host = min(around, key=lambda j: math.prod(self.shapes[j]))
                seats.append((self.ends[i], 0, self.ends[host], self._walk(self.groups[host], group)))
            else:
                t = self.clique_of(group)
                seats.append((self.ends[i], 1, self.clique_ends[t], self._walk(self.tree.cliques[t], group)))
        return np.array(seats, np.int64).reshape(-1, 4)

    def _linked(self) -> Integers:
        links = []
        for t, (clique, parent, separator) in enumerate(
            zip(self.tree.cliques, self.tree.parents, self.tree.separators, strict=True)
        ):
            rows = math.prod(self._shape(separator))
            added = math.prod(self._shape(clique[len(separator) :]))
            if parent < 0:
                links.append((self.clique_ends[t], rows, added, 0, -1))
            else:
                start = self._walk(self.tree.cliques[parent], separator)
                links.append((self.clique_ends[t], rows, added, self.clique_ends[parent], start))
        return np.array(links, np.int64).reshape(-1, 5)

    def clique_of(self, columns: Group) -> int:
        """The smallest clique that holds all of these columns."""
        wanted = set(columns)
        around = [t for t, clique in enumerate(self._clique_sets) if wanted <= clique]
        if not around:
            raise ValueError(f"no clique holds {', '.join(columns)}")
        return min(around, key=lambda t: math.prod(self.clique_shapes[t]))

    def clique_array(self, flat: Floats, t: int) -> Floats:
        """The part of a vector over all cliques that belongs to one, with an axis for each of its columns."""
        return flat[self.clique_ends[t] : self.clique_ends[t + 1]].reshape(self.clique_shapes[t])

    def group_arrays(self, flat: Floats) -> list[Floats]:
        """A vector over all groups as one array for each."""
        return [flat[a:b].reshape(shape) for a, b, shape in zip(self.ends[:-1], self.ends[1:], self.shapes, strict=True)]

    def _walled(self, zeros: Mapping[Group, Mask]) -> Floats:
        """Minus infinity where a combination is impossible, else 0."""
        walls = np.zeros(self.clique_ends[-1])
        for group, impossible in zeros.items():
            self._wall(walls, group, impossible)
        return walls

    def _wall(self, walls: Floats, group: Group, impossible: Mask) -> None:
        t = self.clique_of(group)
        ordered = tuple(name for name in self.tree.cliques[t] if name in group)
        flags = impossible.transpose([group.index(name) for name in ordered]).ravel()
        self.clique_array(walls, t).ravel()[flags[self._spread(self.tree.cliques[t], ordered)]] = -np.inf

    def beliefs(self, potentials: Floats, evidence: Mapping[str, int] | None = None) -> Beliefs:
        """The distribution proportional to the exponential of the sum of the potentials, given the evidence."""
        table = self.walls.copy()
        for name, cell in (evidence or {}).items():
            self._wall(table, (name,), np.arange(self.tree.sizes[name]) != cell)
        gather(potentials, self.seats, self.walks, table)
        joint = np.empty_like(table)
        norm = conditioned(table, self.links, self.walks, joint)
        if norm == -math.inf:
            raise InputError("what is asked for has probability zero in this model", where="graphical model")
        return Beliefs(table, joint, norm)

    def group_marginals(self, beliefs: Beliefs) -> Floats:
        """The probabilities of the cells of every group."""
        marginals = np.empty(self.ends[-1])
        scatter(beliefs.joint, self.seats, self.walks, marginals)
        return marginals
