"""The structure of a Bayesian network by hill climbing (Tsamardinos, Brown and Aliferis 2006) on Schwarz's criterion (BIC).

A search starts from no edge and adds, removes or reverses one edge at a time as long as the score rises. It reads the
rows as they are and promises nothing: which columns depend on which is itself a statistic of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import NamedTuple, Self

import numpy as np

from hushtable.synthesize.network.tables import Network, Node
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LEVELS = 64
"""Levels of a category that have a cell of their own; rarer ones share one."""
LEAST = 1e-6
"""What counts as an improvement of the score."""
FURTHER = 50
"""Changes without an improvement before the search ends."""

Parents = tuple[tuple[int, ...], ...]
"""For each column the columns that it depends on, in ascending order."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Few cells for a column: ranges of a number with about as many rows each, the commonest levels of a category. Missing last."""

    column: Column
    places: Array
    """Where a number's cells begin, the first left out; a category's cell for each level."""

    @classmethod
    def of(cls, column: Column, array: Array, bins: int) -> Self:
        """Cells of the rows at hand."""
        present = array[~column.is_missing(array)]
        if column.numeric:
            values = column.floats(present)
            ends = np.quantile(values, np.arange(1, bins) / bins, method="lower") if len(values) else np.empty(0)
            # A cell begins above the end of the one before it, so that a frequent smallest value has one of its own.
            return cls(column, np.unique(ends[ends < values.max()]) if len(values) else ends)
        counts = np.bincount(present, minlength=len(column.levels))
        places = np.full(len(counts), min(len(counts), LEVELS) - 1)
        common = np.sort(np.argsort(-counts, kind="stable")[: LEVELS - 1]) if len(counts) > LEVELS else np.arange(len(counts))
        places[common] = np.arange(len(common))
        return cls(column, places)

    @property
    def count(self) -> int:
        """How many there are."""
        return (len(self.places) + 1 if self.column.numeric else int(self.places.max(initial=-1)) + 1) + 1

    def codes(self, array: Array) -> Integers:
        """The cell of each value."""
        missing = self.column.is_missing(array)
        if self.column.numeric:
            cells = np.searchsorted(self.places, self.column.floats(np.where(missing, 0, array)), side="left")
        else:
            cells = np.append(self.places, 0)[np.where(missing, -1, array)]
        return np.where(missing, self.count - 1, cells).astype(np.int64)


def coded(table: Table, bins: int) -> tuple[list[Cells], Integers]:
    """The cells of every column, and those of the rows by row and column."""
    cells = [Cells.of(column, table[column.name], bins) for column in table.schema]
    return cells, np.stack([own.codes(table[own.column.name]) for own in cells], axis=1)


class Change(NamedTuple):
    """What may be done to a graph, and what it adds to the score."""

    gain: float
    parents: dict[int, tuple[int, ...]]
    """The new parents of the columns concerned."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The score of each column under sets of parents, each counted once."""

    columns: Sequence[Integers]
    sizes: tuple[int, ...]
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, codes: Integers) -> Self:
        """Of cells by row and column; cells that no row is in do not count."""
        dense = [np.unique(column, return_inverse=True) for column in codes.T]
        return cls([inverse.astype(np.int64) for _, inverse in dense], tuple(len(levels) for levels, _ in dense))

    def family(self, child: int, parents: tuple[int, ...]) -> float:
        """The largest log-likelihood of a column given its parents, less log(n)/2 for each free share; parents ascend."""
        key = child, parents
        if key not in self.known:
            self.known[key] = self._family(child, parents)
        return self.known[key]

    def total(self, graph: Parents) -> float:
        """Of all columns: the criterion of a graph."""
        return sum(self.family(child, parents) for child, parents in enumerate(graph))

    def _family(self, child: int, parents: tuple[int, ...]) -> float:
        rows, size = len(self.columns[child]), self.sizes[child]
        above = math.prod(self.sizes[parent] for parent in parents)
        price = math.log(max(rows, 1)) / 2 * above * (size - 1)
        # A log-likelihood is never above 0: what parents cost more than that need not be counted.
        if parents and -price < self.family(child, ()):
            return -price + self.family(child, ())
        at = np.zeros(rows, np.int64)
        for parent in parents:
            at = at * self.sizes[parent] + self.columns[parent]
        joint = np.bincount(at * size + self.columns[child], minlength=above * size).reshape(above, size)
        return _plogp(joint) - _plogp(joint.sum(axis=1)) - price


def hill_climb(scores: Scores, most: int) -> Parents:
    """The best graph on the way, which changes one edge at a time by what adds most; at most ``most`` parents a column.

    Where no change is an improvement, it goes on by the best one that leads to a graph not seen yet, and ends when ``FURTHER``
    changes have led to nothing better (Glover's tabu search): a local optimum is often a few edges from a better one.
    """
    graph: Parents = ((),) * len(scores.columns)
    best, score, highest, seen, since = graph, 0.0, 0.0, {graph}, 0
    while since < FURTHER:
        graph, gain = _step(scores, graph, most, seen)
        score += gain
        seen.add(graph)
        since += 1
        if score > highest + LEAST:
            best, highest, since = graph, score, 0
    return best


def learn(codes: Integers, most: int, chunk: int) -> Parents:
    """The union of the graphs of parts of at most ``chunk`` rows, without cycles and with at most ``most`` parents a column.

    Where the union has a cycle, its weakest edge is left out; where a column has too many parents, the weakest: the one without
    which the score of the column on all rows is highest.
    """
    whole = Scores.of(codes)
    parts = np.array_split(np.arange(len(codes)), max(1, -(-len(codes) // chunk)))
    graphs = [hill_climb(whole if len(parts) == 1 else Scores.of(codes[part]), most) for part in parts]
    union = [tuple(sorted({parent for graph in graphs for parent in graph[child]})) for child in range(codes.shape[1])]

    def strength(edge: tuple[int, int]) -> float:
        parent, child = edge
        return whole.family(child, union[child]) - whole.family(child, _without(union[child], parent))

    def leave(edges: Sequence[tuple[int, int]]) -> None:
        parent, child = min(edges, key=strength)
        union[child] = _without(union[child], parent)

    for child in range(len(union)):
        while len(union[child]) > most:
            leave([(parent, child) for parent in union[child]])
    while cycle := _cycle(tuple(union)):
        leave(cycle)
    return tuple(union)


def conditional_vectors(graph: Parents, codes: Integers, sizes: Sequence[int]) -> dict[int, Floats]:
    """For each column that others depend on, a vector for each of its cells: the shares of its children's cells there, on -1 to 1.

    Where no row is, 0. One row can change as many numbers as its children have cells, each by up to 2.
    """
    vectors = {}
    for parent in _parents(graph):
        parts = []
        for child in (child for child, parents in enumerate(graph) if parent in parents):
            shape = sizes[parent], sizes[child]
            joint = np.bincount(codes[:, parent] * shape[1] + codes[:, child], minlength=shape[0] * shape[1]).reshape(shape)
            rows = joint.sum(axis=1, keepdims=True)
            parts.append(np.where(rows > 0, 2 * joint / np.maximum(rows, 1) - 1, 0.0))
        vectors[parent] = np.concatenate(parts, axis=1)
    return vectors


def ordered(graph: Parents) -> list[int]:
    """The columns, parents before children."""
    order: list[int] = []
    while len(order) < len(graph):
        order += [child for child, parents in enumerate(graph) if child not in order and set(parents) <= set(order)]
    return order


@dataclass(frozen=True, eq=False)
class Dependence:
    """A Bayesian network over the columns that others depend on: their cells, and rows of cells drawn from its own tables."""

    schema: Schema
    graph: Parents
    """Of all columns."""
    places: tuple[int, ...]
    """The columns that are a parent of some column, parents before children. What a parent depends on is a parent itself."""
    cells: tuple[Cells, ...]
    """Of the same columns."""
    nodes: tuple[Node, ...]
    """Of the same columns."""

    @classmethod
    def of(cls, table: Table, *, bins: int, most: int, chunk: int) -> Self:
        """Learnt from the rows."""
        cells, codes = coded(table, bins)
        graph = learn(codes, most, chunk)
        places = _parents(graph)
        shares = []
        for child in places:
            shape = math.prod(cells[parent].count for parent in graph[child]), cells[child].count
            at = np.zeros(table.rows, np.int64)
            for parent in graph[child]:
                at = at * cells[parent].count + codes[:, parent]
            counts = np.bincount(at * shape[1] + codes[:, child], minlength=shape[0] * shape[1]).reshape(shape)
            shares.append(_shares(counts.astype(np.float64)))
        return cls._of(table.schema, graph, [cells[place].places for place in places], shares)

    @classmethod
    def _of(cls, schema: Schema, graph: Parents, ends: Sequence[Array], shares: Sequence[Floats]) -> Self:
        places, names = _parents(graph), schema.names
        cells = {place: Cells(schema[names[place]], own) for place, own in zip(places, ends, strict=True)}
        nodes = []
        for place, own in zip(places, shares, strict=True):
            sizes = tuple(cells[parent].count for parent in graph[place])
            nodes.append(Node(names[place], tuple(names[parent] for parent in graph[place]), sizes, own))
        return cls(schema, graph, places, tuple(cells.values()), tuple(nodes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each of its columns."""
        return tuple(own.count for own in self.cells)

    def codes(self, table: Table) -> Integers:
        """The cells of rows, by row and column."""
        own = [cells.codes(table[cells.column.name]) for cells in self.cells]
        return np.stack(own, axis=1) if own else np.zeros((table.rows, 0), np.int64)

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int] | None = None) -> Integers:
        """Cells of so many rows that nobody holds, column after column from its table, under the condition of some cells."""
        if not self.nodes:
            return np.zeros((rows, 0), np.int64)
        drawn = Network(self.schema, self.nodes, rows, {}).draw(rows, rng, fixed)
        return np.stack([drawn[node.name] for node in self.nodes], axis=1)

    def arrays(self) -> dict[str, Array]:
        """From which ``from_arrays`` rebuilds it."""
        edges = np.array([(parent, child) for child, parents in enumerate(self.graph) for parent in parents], np.int64)
        arrays: dict[str, Array] = {"edges": edges.reshape(-1, 2)}
        arrays |= {f"places/{place}": own.places for place, own in zip(self.places, self.cells, strict=True)}
        return arrays | {f"shares/{place}": node.shares for place, node in zip(self.places, self.nodes, strict=True)}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Mapping[str, Array]) -> Self:
        """Rebuild it for a table of this schema."""
        edges = arrays["edges"].tolist()
        graph = tuple(tuple(sorted(parent for parent, own in edges if own == child)) for child in range(len(schema)))
        places = _parents(graph)
        shares = [arrays[f"shares/{place}"].astype(np.float64) for place in places]
        return cls._of(schema, graph, [arrays[f"places/{place}"] for place in places], shares)


def _parents(graph: Parents) -> tuple[int, ...]:
    """The columns that others depend on, parents before children."""
    above = {parent for parents in graph for parent in parents}
    return tuple(child for child in ordered(graph) if child in above)


def _step(scores: Scores, graph: Parents, most: int, seen: set[Parents]) -> tuple[Parents, float]:
    """The best graph one change away that was not seen yet, and what it adds; the graph itself where there is none."""
    for change in sorted(_changes(scores, graph, most), key=lambda one: -one.gain):
        changed = tuple(change.parents.get(child, parents) for child, parents in enumerate(graph))
        if changed not in seen:
            return changed, change.gain
    return graph, 0.0


def _changes(scores: Scores, graph: Parents, most: int) -> Iterator[Change]:
    """Every edge that may be added, removed or reversed, with what that adds to the score."""
    reach = _reach(graph)
    now = [scores.family(child, parents) for child, parents in enumerate(graph)]
    for parent, child in product(range(len(graph)), repeat=2):
        own, other = graph[child], graph[parent]
        if parent == child:
            continue
        if parent not in own:
            if not reach[child, parent] and len(own) < most:
                more = _with(own, parent)
                yield Change(scores.family(child, more) - now[child], {child: more})
            continue
        fewer = _without(own, parent)
        gain = scores.family(child, fewer) - now[child]
        yield Change(gain, {child: fewer})
        # Reversed, it closes a cycle if the child is reached from the parent by another way as well.
        if len(other) < most and not any(reach[parent, between] for between in fewer):
            more = _with(other, child)
            yield Change(gain + scores.family(parent, more) - now[parent], {child: fewer, parent: more})


def _reach(graph: Parents) -> Array:
    """Whether the column of the second number is reached from that of the first; each from itself."""
    reach = np.eye(len(graph), dtype=np.bool_)
    for child in ordered(graph):
        for parent in graph[child]:
            reach[:, child] |= reach[:, parent]
    return reach


def _cycle(graph: Parents) -> list[tuple[int, int]]:
    """The edges (parent, child) of a cycle; none where there is no cycle."""
    left = set(range(len(graph)))
    while free := [child for child in left if not left.intersection(graph[child])]:
        left.difference_update(free)
    if not left:
        return []
    # Every column that is left has a parent that is left: going up from any of them comes round.
    path = [min(left)]
    while (above := min(left.intersection(graph[path[-1]]))) not in path:
        path.append(above)
    around = [*path[path.index(above) :], above]
    return [(parent, child) for child, parent in pairwise(around)]


def _with(parents: tuple[int, ...], more: int) -> tuple[int, ...]:
    return tuple(sorted((*parents, more)))


def _without(parents: tuple[int, ...], less: int) -> tuple[int, ...]:
    return tuple(parent for parent in parents if parent != less)


def _plogp(counts: Array) -> float:
    held = counts[counts > 0].astype(np.float64)
    return float((held * np.log(held)).sum())


def _shares(counts: Floats) -> Floats:
    """Of a column's cells for each joint cell of its parents; where no row is, those of all rows."""
    rows = counts.sum(axis=1, keepdims=True)
    overall = counts.sum(axis=0) / max(float(counts.sum()), 1.0)
    shares: Floats = np.where(rows > 0, counts / np.maximum(rows, 1), overall if counts.any() else 1 / counts.shape[1])
    return shares
