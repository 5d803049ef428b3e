"""What both networks are given beside noise and rows. A condition draws itself, and the rows that have it.

A condition is made from ``arrays``, which a model keeps, so that it can be drawn without rows.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.encode.modes import PLACE
from hushtable.synthesize.neural.gan.drawn import Drawn
from hushtable.synthesize.neural.gan.parents import NoisyParents, Parents
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.synthesize.neural.structure import Dependence
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.table import Table

__all__ = ["Condition", "Drawn", "Levels", "Unconditional", "categories", "fitted", "stored"]


class Condition(Protocol):
    """A distribution of conditions."""

    width: int
    """Numbers that the networks take of it."""

    def train(self, rows: torch.Tensor) -> Drawn:
        """As many conditions as ``rows``, a part of the training rows, and training rows that have them."""
        ...

    def draw(self, size: int, given: dict[int, int]) -> Drawn:
        """Conditions for rows to be released, fixed where a level is given for a span."""
        ...

    def loss(self, raw: torch.Tensor, drawn: Drawn) -> torch.Tensor:
        """How far the generator is from what it was given."""
        ...

    def arrays(self) -> dict[str, Array]:
        """What ``draw`` needs."""
        ...

    def given_to(self, net: torch.nn.Module) -> torch.nn.Module:
        """The network as it takes the condition, behind its other inputs."""
        ...


class Unconditional:
    """No condition: real rows as they come."""

    width = 0

    def train(self, rows: torch.Tensor) -> Drawn:
        """The rows."""
        return Drawn(torch.zeros(len(rows), 0), torch.zeros(0, dtype=torch.int64), rows)

    def draw(self, size: int, given: dict[int, int]) -> Drawn:
        """Nothing."""
        return self.train(torch.zeros(size, dtype=torch.int64))

    def loss(self, raw: torch.Tensor, drawn: Drawn) -> torch.Tensor:
        """None."""
        return torch.zeros(())

    def arrays(self) -> dict[str, Array]:
        """None."""
        return {}

    def given_to(self, net: torch.nn.Module) -> torch.nn.Module:
        """As it is."""
        return net


class Levels:
    """A column drawn evenly, and one of its levels (Xu et al. 2019): by log-frequency in training, by frequency when drawing.

    ``counts`` has a number for each level of each category, in the order of the wires: counts of rows, or noisy ones.
    """

    def __init__(self, wires: Wires, counts: Array, codes: torch.Tensor | None = None, among: torch.Tensor | None = None) -> None:
        spans = wires.layout.spans
        self.places = categories(wires)
        sizes = [spans[place].levels for place in self.places]
        self.width = sum(sizes)
        self.counts = np.maximum(np.asarray(counts, np.float64), 0)
        column = np.repeat(np.arange(len(sizes)), sizes)
        self.first = np.cumsum([0, *sizes])
        """The cell of each column's first level."""
        self.column = torch.from_numpy(column)
        starts = np.array([wires.starts[place] for place in self.places])
        self.wire = torch.from_numpy(np.arange(self.width) - self.first[column] + starts[column])
        """The place of each cell in a row's vector."""
        self.outside = torch.full((len(sizes), wires.width), -torch.inf)
        for place, (start, size) in enumerate(zip(starts.tolist(), sizes, strict=True)):
            self.outside[place, start : start + size] = 0.0
        self.even = _running(np.log1p(self.counts), column)
        self.true = _running(self.counts, column)
        if codes is not None and among is not None:
            self._list_rows(wires, codes[among], among)

    @classmethod
    def counted(cls, wires: Wires, codes: torch.Tensor, among: torch.Tensor) -> Levels:
        """By the rows ``among`` those coded."""
        counts = torch.bincount(codes[among].flatten().long(), minlength=wires.width).numpy()
        spans = wires.layout.spans
        cells = [counts[(start := wires.starts[place]) : start + spans[place].levels] for place in categories(wires)]
        return cls(wires, np.concatenate([*cells, np.zeros(0)]).astype(np.float64), codes, among)

    def _list_rows(self, wires: Wires, codes: torch.Tensor, among: torch.Tensor) -> None:
        """For every column the rows sorted by level, one column after another; and where those of each cell begin."""
        own = codes[:, [at for at, place in enumerate(wires.choices) if place in self.places]]
        self.sorted = torch.cat([among[column.argsort(stable=True)].int() for column in own.T])
        held = torch.bincount(own.flatten().long(), minlength=wires.width)[self.wire]
        self.held, self.begin = held, held.cumsum(0) - held

    def train(self, rows: torch.Tensor) -> Drawn:
        """Levels by log-frequency, and for each a row that has it."""
        cells = self._cells(self.even, len(rows))
        turn = (torch.rand(len(rows), dtype=torch.float64) * self.held[cells]).long()
        return Drawn(self._vectors(cells), cells, self.sorted[self.begin[cells] + turn].long())

    def draw(self, size: int, given: dict[int, int]) -> Drawn:
        """Levels by frequency; where levels are given, that of one column."""
        fixed = [int(self.first[at]) + given[place] for at, place in enumerate(self.places) if place in given]
        cells = torch.full((size,), fixed[0]) if fixed else self._cells(self.true, size)
        return Drawn(self._vectors(cells), cells, torch.zeros(0, dtype=torch.int64))

    def loss(self, raw: torch.Tensor, drawn: Drawn) -> torch.Tensor:
        """The cross-entropy of the level, by the softmax over the levels of its column."""
        own = (raw + self.outside[self.column[drawn.cells]]).logsumexp(1)
        return (own - raw.gather(1, self.wire[drawn.cells][:, None])[:, 0]).mean()

    def arrays(self) -> dict[str, Array]:
        """The counts."""
        return {"counts": self.counts}

    def given_to(self, net: torch.nn.Module) -> torch.nn.Module:
        """As it is: levels are spread out."""
        return net

    def _vectors(self, cells: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(cells), self.width).scatter_(1, cells[:, None], 1.0)

    def _cells(self, running: torch.Tensor, size: int) -> torch.Tensor:
        cells = torch.searchsorted(running, torch.rand(size, dtype=torch.float64) * running[-1], right=True)
        return cells.clamp_(max=self.width - 1)


def categories(wires: Wires) -> list[int]:
    """The spans whose levels can be a condition, in the order of the vector: not the modes of a number."""
    schema, spans = wires.layout.schema, wires.layout.spans
    names = {place: spans[place].column.name for place in wires.choices if not spans[place].column.numeric}
    return [place for place, name in names.items() if f"{name}:{PLACE}" not in schema]


def _running(weights: Floats, column: Integers) -> torch.Tensor:
    """Running sums over all cells, of weights that sum to one in every column that has any."""
    totals = np.bincount(column, weights) if len(column) else np.zeros(0)
    return torch.from_numpy(np.cumsum(weights / np.where(totals > 0, totals, 1.0)[column]))


def fitted(
    name: str, wires: Wires, codes: torch.Tensor, among: torch.Tensor, table: Table, epsilon: float | None = None
) -> Condition:
    """The condition of this name, on the rows ``among`` those coded; a table without categories has no levels to give.

    ``epsilon``: with the noise that is published for the vectors of a network's levels.
    """
    if name == "network" and epsilon is not None:
        return NoisyParents.noisy(wires, table, among, epsilon)
    if name == "network":
        return Parents.learnt(wires, table, among)
    return Levels.counted(wires, codes, among) if name == "level" and categories(wires) else Unconditional()


def stored(name: str, wires: Wires, arrays: dict[str, Array]) -> Condition:
    """The condition of this name that gave these arrays, to draw from."""
    if name == "network":
        dependence = Dependence.from_arrays(wires.layout.schema, arrays)
        vectors = [arrays[f"vectors/{place}"] for place in dependence.places if f"vectors/{place}" in arrays]
        return NoisyParents(wires, dependence, vectors) if vectors else Parents(wires, dependence)
    return Levels(wires, arrays["counts"]) if name == "level" and "counts" in arrays else Unconditional()
