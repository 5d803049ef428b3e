"""Single choices of levels, judged without a search: what each keeps, suppresses and loses, and those one rung away from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hushtable.anonymize.lattice.demands import Judge
from hushtable.anonymize.lattice.losses import Loss, LossName, Priced
from hushtable.anonymize.lattice.nodes import Lattice, Node
from hushtable.display import meant
from hushtable.errors import Fault, InputError

ROUNDING = 1e-9
"""What rounding may take from a share of the rows; the same as where a search keeps to it."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One choice of levels. People are rows where every row is a person of its own. It was computed from raw rows."""

    levels: dict[str, int]
    """The level of each quasi-identifier; 0 is the value itself."""
    classes: int
    """Groups of rows that are alike, before any is suppressed."""
    smallest: int
    """People in the smallest of them."""
    alone: int
    """People who are alone in one of them."""
    kept: int
    """Classes that hold what is demanded, and stay."""
    k: int
    """People in the smallest class that stays; 0 where none does."""
    suppressed: int
    """Rows in classes that do not stay."""
    suppressed_share: float
    suppressed_people: int
    """People who hold one of these rows."""
    losses: dict[str, float]
    """What each column loses of its information, from 0 (nothing) to 1 (all is ``*`` or suppressed)."""
    loss: float
    """What is lost in all, by the loss that was asked for."""
    loss_name: str
    met: bool
    """Whether what is demanded holds, with no more rows suppressed than the limit allows."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A choice one rung away from another."""

    column: str
    up: bool
    """Whether values of the column are coarser by one level; else finer by one."""
    choice: Choice

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return {"column": self.column, "up": self.up, "choice": self.choice.to_json()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Choices:
    """All choices of levels of some rows. The rows are grouped once, so that each further choice is judged in a moment."""

    lattice: Lattice
    judge: Judge
    cost: Loss
    """The loss of a whole choice."""
    shares: Priced
    """That of each column: the share of its domain that each value might be."""
    loss_name: LossName
    k: int
    limit: float

    @property
    def heights(self) -> dict[str, int]:
        """The highest level of each quasi-identifier, on which all of it is ``*``."""
        return {ladder.column.name: ladder.top for ladder in self.lattice.ladders}

    def at(self, levels: Mapping[str, int]) -> Choice:
        """Judge one choice; a column that is not named stays as it is. InputError for a column or level that does not exist."""
        return self._judged(self._node(levels))

    def around(self, levels: Mapping[str, int]) -> Iterator[Rung]:
        """The choices with one column a level lower or higher, column by column, each judged when it is asked for."""
        node = self._node(levels)
        for place, ladder in enumerate(self.lattice.ladders):
            for level in (node[place] - 1, node[place] + 1):
                if 0 <= level <= ladder.top:
                    other = (*node[:place], level, *node[place + 1 :])
                    yield Rung(column=ladder.column.name, up=level > node[place], choice=self._judged(other))

    def along(self, levels: Mapping[str, int], column: str) -> Iterator[Choice]:
        """The choices that every level of one column makes, from 0 up, the other columns at these levels."""
        self._node({column: 0})
        for level in range(self.heights[column] + 1):
            yield self.at({**levels, column: level})

    def uniform(self, level: int) -> dict[str, int]:
        """Every column at this level, or at the top of its ladder where that is lower."""
        return {name: min(level, top) for name, top in self.heights.items()}

    def lowest_uniform(self) -> int:
        """The lowest level at which all columns together hold what is demanded within the limit, or else the coarsest.

        Found in a few steps, by halves: k and l never get worse with coarser levels. t can, by rows that were suppressed before;
        then it is a level that holds, and one lower does not.
        """
        low, high = 0, max(self.heights.values(), default=0)
        while low < high:
            middle = (low + high) // 2
            if self.at(self.uniform(middle)).met:
                high = middle
            else:
                low = middle + 1
        return low

    def _node(self, levels: Mapping[str, int]) -> Node:
        faults = []
        for name, level in levels.items():
            top = self.heights.get(name)
            if top is None:
                known = ", ".join(self.heights)
                faults.append(Fault("levels", f"{name!r} is not generalized{meant(name, self.heights)}; there are {known}"))
            elif level != int(level) or not 0 <= level <= top:
                faults.append(Fault("levels", f"{name} has the levels 0 to {top}, not {level:g}"))
        if faults:
            raise InputError(faults)
        return tuple(int(levels.get(name, 0)) for name in self.heights)

    def _judged(self, node: Node) -> Choice:
        lattice, classes = self.lattice, self.lattice.classes(node)
        judgement = self.judge.keep(classes, self.k)
        stays, rows, gone = judgement.classes, lattice.rows, judgement.suppressed
        alone = lattice.persons(np.where(classes.persons[classes.of] == 1, 0, -1), 1)
        return Choice(
            levels=dict(zip(self.heights, node, strict=True)),
            classes=len(classes.sizes),
            smallest=int(classes.persons.min(initial=rows)),
            alone=int(alone[0]),
            kept=int(stays.sum()),
            k=int(classes.persons[stays].min()) if stays.any() else 0,
            suppressed=gone,
            suppressed_share=gone / max(rows, 1),
            suppressed_people=judgement.people,
            losses=dict(zip(self.heights, self.shares.parts(node, classes, stays), strict=True)),
            loss=self.cost.value(node, classes, stays, self.k),
            loss_name=str(self.loss_name),
            met=gone < rows and gone <= math.floor(self.limit * rows + ROUNDING),
        )
