"""Graphical models: a distribution over many columns as a product of potentials of a few columns each (Private-PGM)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.synthesize.histogram_cells import CELLS
from hushtable.synthesize.marginal.belief_propagation import Beliefs, Propagation
from hushtable.synthesize.marginal.drawing import drawn
from hushtable.synthesize.marginal.junction import JunctionTree, triangulated
from hushtable.synthesize.marginal.projection import Projection
from hushtable.table.arrays import Array, Floats, Integers, Mask

Group = tuple[str, ...]

BATCH = 1_000_000
"""Rows drawn at once."""


class Graphical:
    """Potentials on groups of columns, a total, and combinations that are impossible.

    (McKenna, Sheldon, Miklau 2019.) ``project`` answers any marginal exactly; ``draw`` draws rows.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        potentials: Mapping[Group, Floats],
        total: float,
        zeros: Mapping[Group, Mask] | None = None,
        tree: JunctionTree | None = None,
    ) -> None:
        """A junction tree over the groups is made unless one is given."""
        self.sizes = dict(sizes)
        self.total = float(total)
        self.zeros = dict(zeros or {})
        self.tree = tree or triangulated(self.sizes, [*potentials, *self.zeros])
        if max(math.prod(self.sizes[n] for n in clique) for clique in self.tree.cliques) > CELLS:
            raise InputError(
                "the measured combinations of columns form too large a clique: measure fewer of them", where="graphical model"
            )
        place = {name: i for i, name in enumerate(self.tree.order)}
        self.potentials: dict[Group, Floats] = {}
        for columns, array in potentials.items():
            ordered = tuple(sorted(columns, key=place.__getitem__))
            self.potentials[ordered] = array.transpose([columns.index(name) for name in ordered])

    @cached_property
    def propagation(self) -> Propagation:
        """Belief propagation on its junction tree."""
        return Propagation(self.tree, list(self.potentials), self.zeros)

    @cached_property
    def beliefs(self) -> Beliefs:
        """The marginals of its cliques."""
        return self.propagation.beliefs(self._vector)

    @property
    def _vector(self) -> Floats:
        return np.concatenate([np.empty(0), *(array.ravel() for array in self.potentials.values())])

    def project(self, columns: Group) -> Floats:
        """Expected counts of the cells of any columns."""
        return self.project_all([columns])[0]

    def project_all(self, many: Sequence[Group]) -> list[Floats]:
        """Expected counts for each of many groups of columns; what they have in common is computed once."""
        asked = Projection.of_model(self.propagation, self.beliefs)
        return [self.total * asked.of(tuple(columns)) for columns in many]

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int] | None = None) -> dict[str, Integers]:
        """Rows as cells of each column, given the fixed cells; as near to the expected counts as whole rows allow."""
        beliefs = self.propagation.beliefs(self._vector, fixed) if fixed else self.beliefs
        parts = [drawn(self.propagation, beliefs, min(BATCH, rows - at), rng) for at in range(0, rows, BATCH)]
        parts = parts or [drawn(self.propagation, beliefs, 0, rng)]
        return {name: np.concatenate([part[name] for part in parts]) for name in self.sizes}

    def parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Plain values, and arrays."""
        values = {
            "sizes": self.sizes,
            "total": self.total,
            "potentials": [list(columns) for columns in self.potentials],
            "zeros": [list(columns) for columns in self.zeros],
        }
        arrays: dict[str, Array] = {f"potential {i}": array for i, array in enumerate(self.potentials.values())}
        return values, arrays | {f"zeros {i}": array for i, array in enumerate(self.zeros.values())}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Rebuild it."""
        potentials = {tuple(c): arrays[f"potential {i}"].astype(np.float64) for i, c in enumerate(values["potentials"])}
        zeros = {tuple(c): arrays[f"zeros {i}"].astype(np.bool_) for i, c in enumerate(values["zeros"])}
        return cls(values["sizes"], potentials, values["total"], zeros)
