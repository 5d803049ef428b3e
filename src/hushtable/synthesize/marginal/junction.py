"""Junction trees: cliques of columns in which a product of marginal potentials can be summed exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.errors import InputError
from hushtable.synthesize.marginal.elimination import cells_with_each, clique_tree, eliminated
from hushtable.table.arrays import Floats, Integers, Mask


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, parents before children, in one order of all columns.

    The columns of every clique follow ``order``, and so its separator (what it shares with its parent) comes first and
    the columns that it adds come last: sums over what is added run over adjacent cells. Parts that are not connected
    are joined at the first clique by an empty separator.
    """

    sizes: Mapping[str, int]
    order: tuple[str, ...]
    cliques: tuple[tuple[str, ...], ...]
    parents: tuple[int, ...]
    """Of each clique; -1 for the first."""
    separators: tuple[tuple[str, ...], ...]
    """The leading columns of each clique that its parent has too."""

    @property
    def cells(self) -> int:
        """Of all cliques together."""
        return sum(math.prod(self.sizes[name] for name in clique) for clique in self.cliques)

    @cached_property
    def home(self) -> dict[str, int]:
        """The clique that adds each column: of those that hold it the nearest to the first."""
        added = (clique[len(shared) :] for clique, shared in zip(self.cliques, self.separators, strict=True))
        return {name: t for t, names in enumerate(added) for name in names}

    @cached_property
    def ways(self) -> tuple[tuple[int, ...], ...]:
        """The cliques from the first one to each."""
        ways: list[tuple[int, ...]] = []
        for t, parent in enumerate(self.parents):
            ways.append((*ways[parent], t) if parent >= 0 else (t,))
        return tuple(ways)

    def homeward(self, columns: Iterable[str]) -> list[tuple[int, ...]]:
        """The ways to the homes of these columns from the last clique that all of them pass."""
        ways = [self.ways[self.home[name]] for name in columns]
        depth = 0
        while all(len(way) > depth + 1 and way[depth + 1] == ways[0][depth + 1] for way in ways):
            depth += 1
        return [way[depth:] for way in ways]


def triangulated(sizes: Mapping[str, int], cliques: Iterable[tuple[str, ...]]) -> JunctionTree:
    """A junction tree whose cliques cover all the given ones and every column.

    Columns are eliminated greedily, the one that makes the fewest cells first; the cliques are the maximal ones of the graph
    that this fills in.
    """
    names = tuple(sizes)
    order, later = _eliminated(sizes, cliques)
    home, parents, first, _ = clique_tree(order, later, _floats(sizes))
    added: list[list[int]] = [[] for _ in parents]
    for v in order[::-1].tolist():
        added[home[v]].append(v)
    place = {v: i for i, v in enumerate(order[::-1].tolist())}
    shared = [sorted(np.flatnonzero(later[v]).tolist(), key=place.__getitem__) for v in first.tolist()]
    return JunctionTree(
        dict(sizes),
        tuple(names[v] for v in place),
        tuple(tuple(names[v] for v in (*before, *more)) for before, more in zip(shared, added, strict=True)),
        tuple(-1 if t == 0 else max(int(parent), 0) for t, parent in enumerate(parents)),
        tuple(tuple(names[v] for v in before) for before in shared),
    )


def cells(sizes: Mapping[str, int], cliques: Iterable[tuple[str, ...]]) -> int:
    """The cells of all cliques of the junction tree that covers the given ones (above 2^53 about so many); no array is made."""
    order, later = _eliminated(sizes, cliques)
    return int(clique_tree(order, later, _floats(sizes))[3].sum())


def cells_with(sizes: Mapping[str, int], cliques: Iterable[tuple[str, ...]], candidates: Sequence[tuple[str, ...]]) -> Floats:
    """For each candidate the cells of the junction tree that covers it and the given cliques, by the order really used."""
    number = {name: i for i, name in enumerate(sizes)}
    columns = np.array([number[name] for candidate in candidates for name in candidate], np.int64)
    ends = np.cumsum([len(candidate) for candidate in candidates], dtype=np.int64)
    return cells_with_each(_logs(sizes), _near(sizes, cliques), _floats(sizes), columns, ends)


def _floats(sizes: Mapping[str, int]) -> Floats:
    return np.array(list(sizes.values()), np.float64)


def _logs(sizes: Mapping[str, int]) -> Floats:
    # A column of one cell weighs something too: it is still a column of its clique.
    return np.log(_floats(sizes)) + 1e-9


def _near(sizes: Mapping[str, int], cliques: Iterable[tuple[str, ...]]) -> Mask:
    """Which columns share a clique."""
    count = len(sizes)
    number = {name: i for i, name in enumerate(sizes)}
    near = np.zeros(count * count, np.bool_)
    try:
        places = [[number[name] for name in clique] for clique in cliques if len(clique) > 1]
    except KeyError as error:
        raise InputError(f"there is no column {error.args[0]!r}", where="junction tree") from None
    near[np.array([i * count + j for clique in places for i in clique for j in clique], np.int64)] = True
    return near.reshape(count, count)


def _eliminated(sizes: Mapping[str, int], cliques: Iterable[tuple[str, ...]]) -> tuple[Integers, Mask]:
    return eliminated(_logs(sizes), _near(sizes, cliques))
