"""A distribution over many columns as a product of potentials of a few columns each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.synthesize.marginal.drawing import drawn
from hushtable.synthesize.marginal.junction import JunctionTree, triangulated
from hushtable.synthesize.marginal.potentials import Beliefs, Propagation

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Group = tuple[str, ...]

CELLS = 20_000_000
"""The most cells of an array that we are ready to make."""
BATCH = 1_000_000
"""Rows drawn at once."""


class Graphical:
    """Potentials on groups of columns, a total, and combinations that are impossible.

    (McKenna, Sheldon, Miklau 2019.) ``project`` answers any marginal exactly; ``draw`` makes rows.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        potentials: Mapping[Group, Floats],
        total: float,
        zeros: Mapping[Group, NDArray[np.bool_]] | None = None,
        tree: JunctionTree | None = None,
    ) -> None:
        """A junction tree over the groups is made unless one is given."""
        self.sizes = dict(sizes)
        self.total = float(total)
        self.zeros = dict(zeros or {})
        self.tree = tree or triangulated(self.sizes, [*potentials, *self.zeros])
        if max(math.prod(self.sizes[n] for n in clique) for clique in self.tree.cliques) > CELLS:
            raise InputError(
                "the measured columns hang together in too large a clique: measure fewer combinations", where="graphical model"
            )
        place = {name: i for i, name in enumerate(self.tree.order)}
        self.potentials: dict[Group, Floats] = {}
        for columns, array in potentials.items():
            ordered = tuple(sorted(columns, key=place.__getitem__))
            self.potentials[ordered] = array.transpose([columns.index(name) for name in ordered])

    @property
    def cliques(self) -> tuple[Group, ...]:
        """The maximal cliques."""
        return self.tree.cliques

    @cached_property
    def propagation(self) -> Propagation:
        """The machine."""
        return Propagation(self.tree, list(self.potentials), self.zeros)

    @cached_property
    def beliefs(self) -> Beliefs:
        """What it says of the potentials."""
        return self.propagation.beliefs(self._vector)

    @property
    def _vector(self) -> Floats:
        return np.concatenate([np.empty(0), *(array.ravel() for array in self.potentials.values())])

    def project(self, columns: Group) -> Floats:
        """Expected counts of the cells of any columns."""
        return self.project_all([columns])[0]

    def project_all(self, many: Sequence[Group]) -> list[Floats]:
        """Expected counts for each of many groups of columns; what they have in common is computed once."""
        asked = Projection(self)
        return [asked.of(tuple(columns)) for columns in many]

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int] | None = None) -> dict[str, Integers]:
        """Rows as cells of each column, given the fixed cells; as near to the expected counts as whole rows allow."""
        beliefs = self.propagation.beliefs(self._vector, fixed) if fixed else self.beliefs
        parts = [drawn(self.propagation, beliefs, min(BATCH, rows - at), rng) for at in range(0, rows, BATCH)]
        parts = parts or [drawn(self.propagation, beliefs, 0, rng)]
        return {name: np.concatenate([part[name] for part in parts]) for name in self.sizes}

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain values, and arrays."""
        values = {
            "sizes": self.sizes,
            "total": self.total,
            "potentials": [list(columns) for columns in self.potentials],
            "zeros": [list(columns) for columns in self.zeros],
        }
        arrays: dict[str, NDArray[Any]] = {f"potential {i}": array for i, array in enumerate(self.potentials.values())}
        return values, arrays | {f"zeros {i}": array for i, array in enumerate(self.zeros.values())}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild it."""
        potentials = {tuple(c): arrays[f"potential {i}"].astype(np.float64) for i, c in enumerate(values["potentials"])}
        zeros = {tuple(c): arrays[f"zeros {i}"].astype(np.bool_) for i, c in enumerate(values["zeros"])}
        return cls(values["sizes"], potentials, values["total"], zeros)


class Projection:
    """Marginals of one model, sharing what leads to them.

    A column is at home in the clique that adds it. Below the clique where the ways of all asked columns meet, each branch
    is summed up to the distribution of its columns given the branch's separator; these are kept for other questions.
    """

    def __init__(self, model: Graphical) -> None:
        """Nothing is computed yet."""
        self.model, self.tree = model, model.tree
        machine, beliefs = model.propagation, model.beliefs
        self.joint = [machine.clique_array(beliefs.joint, t) for t in range(len(self.tree.cliques))]
        self.conditional = [machine.clique_array(beliefs.conditional, t) for t in range(len(self.tree.cliques))]
        self.place = {name: i for i, name in enumerate(self.tree.order)}
        self.branches: dict[tuple[int, Group], Floats] = {}

    def of(self, columns: Group) -> Floats:
        """Expected counts, one axis per column as asked."""
        unknown = [name for name in columns if name not in self.place]
        if unknown or len(set(columns)) != len(columns):
            raise InputError(f"no marginal of {', '.join(columns) or 'no column'}", where="graphical model")
        if not columns:
            return np.array(self.model.total)
        wanted = tuple(sorted(columns, key=self.place.__getitem__))
        inside = [t for t, clique in enumerate(self.tree.cliques) if set(wanted) <= set(clique)]
        if inside:
            smallest = min(inside, key=lambda t: self.joint[t].size)
            axes = tuple(i for i, name in enumerate(self.tree.cliques[smallest]) if name not in wanted)
            found = self.joint[smallest].sum(axis=axes)
        else:
            meeting = self.tree.homeward(wanted)[0][0]
            found = self._joined(meeting, self.joint[meeting], wanted, wanted)
        return self.model.total * found.transpose([wanted.index(name) for name in columns])

    def _joined(self, t: int, table: Floats, wanted: Group, out: Group) -> Floats:
        """Sum a clique's table times the branches below it that hold wanted columns, down to ``out``."""
        clique = self.tree.cliques[t]
        branches: dict[int, list[str]] = {}
        for name in wanted:
            if name not in clique:
                branches.setdefault(self._towards(t, self.tree.home[name]), []).append(name)
        operands: list[tuple[Floats, Group]] = []
        needed = set(out)
        for child, names in branches.items():
            group = tuple(names)
            operands.append((self._branch(child, group), (*self.tree.separators[child], *group)))
            needed |= set(self.tree.separators[child])
        axes = tuple(i for i, name in enumerate(clique) if name not in needed)
        kept = tuple(name for name in clique if name in needed)
        return self._contracted([(table.sum(axis=axes) if axes else table, kept), *operands], out)

    def _branch(self, t: int, wanted: Group) -> Floats:
        """The distribution of some columns at or below a clique given its separator: separator axes first."""
        key = (t, wanted)
        if key not in self.branches:
            self.branches[key] = self._joined(t, self.conditional[t], wanted, (*self.tree.separators[t], *wanted))
        return self.branches[key]

    def _towards(self, t: int, home: int) -> int:
        """The child of a clique under which another one lies."""
        path = self.tree.ways[home]
        return path[path.index(t) + 1]

    def _contracted(self, operands: list[tuple[Floats, Group]], out: Group) -> Floats:
        """The product of arrays with named axes, summed down to ``out``; one at a time, the branches after the clique."""
        array, names = operands[0]
        for number, (factor, labels) in enumerate(operands[1:], 2):
            later = {n for _, more in operands[number:] for n in more}
            keep = tuple(n for n in dict.fromkeys((*names, *labels)) if n in out or n in later)
            cells = math.prod(self.tree.sizes[n] for n in keep)
            if cells > CELLS:
                raise InputError(
                    f"a marginal of {', '.join(out)} needs {cells:,} cells: ask for fewer columns", where="graphical model"
                )
            array, names = _product(array, names, factor, labels, keep), keep
        return array.transpose([names.index(n) for n in out]) if names != out else array


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
    return product.transpose([have.index(n) for n in keep])
