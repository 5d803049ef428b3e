"""The score of a comparison: the one measure of utility that cells are ranked by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.api.compare.cell import Cell
from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.evidence.finding import Better, Finding
from hushtable.measures import catalogue
from hushtable.table.columns import CODED, Role
from hushtable.table.lenient import finite
from hushtable.table.schema import Schema
from hushtable.table.table import Table

GUESSES = {catalogue.AUC.name: 0.5, catalogue.R2.name: 0.0}
"""What guessing scores, where that is known."""


@dataclass(frozen=True)
class Axis:
    """The measure that is the score."""

    name: str
    label: str
    meaning: str
    better: Better = Better.HIGHER
    baseline: float | None = None
    """The score of the real rows."""
    scope: str = ""
    """The column that the measure is about, if it is about one."""
    turned: bool = False
    """Whether the score is one less the measure, a distance."""

    @classmethod
    def of(cls, schema: Schema, target: str) -> Axis:
        """A model's success on the target, where there is one; else how alike pairs of columns are."""
        if target:
            measure = catalogue.AUC if schema[target].kind in CODED else catalogue.R2
            word = measure.name.rpartition(": ")[2]
            return cls(measure.name, f"{word} for {target}", measure.meaning, scope=target)
        measure, what = catalogue.MEAN_TVD, "columns"
        if len(schema.released) > 1:
            measure, what = catalogue.PAIR_TVD, "pairs of columns"
        meaning = f"how alike {what} are: 1 less {measure.meaning}"
        return cls(measure.name, f"1 - {measure.name}", meaning, turned=True)

    @property
    def guess(self) -> float | None:
        """What guessing scores; None where that is not known."""
        return GUESSES.get(self.name)

    @property
    def most(self) -> float | None:
        """The best score that there can be, also where it is one less a distance; None where that is not known."""
        measure = catalogue.MEASURES.get(self.name)
        return measure.high if measure is not None and self.higher else None

    @property
    def higher(self) -> bool:
        """Whether a larger score is better."""
        return self.better is Better.HIGHER

    def finding(self, findings: Sequence[Finding]) -> Finding | None:
        """The finding that the score is read from, if it has a value."""
        known = [f for f in findings if f.name == self.name and f.scope in (self.scope, "") and f.value is not None]
        return min(known, key=lambda f: f.scope != self.scope, default=None)

    def read(self, value: float) -> float:
        """A value of the measure as a score."""
        return 1 - value if self.turned else value

    def beats(self, one: Cell, other: Cell) -> bool:
        """Whether the score of one is better than that of the other."""
        if one.score is None or other.score is None:
            return False
        return one.score.value > other.score.value if self.higher else one.score.value < other.score.value

    def best(self, cells: Sequence[Cell]) -> Cell | None:
        """The first of the cells with the best score; None if there is no cell."""
        best = None
        for cell in cells:
            if best is None or self.beats(cell, best):
                best = cell
        return best

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {
            "name": self.name,
            "label": self.label,
            "better": str(self.better),
            "baseline": self.baseline,
            "meaning": self.meaning,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Axis:
        """Read it back; what is missing is empty."""
        name = str(given.get("name") or "score")
        better = Better.LOWER if given.get("better") == "lower" else Better.HIGHER
        return cls(name, str(given.get("label") or name), str(given.get("meaning") or ""), better, finite(given.get("baseline")))


def target_of(table: Table, target: str) -> str:
    """The column to predict: the one named, else one whose role is target; empty if there is none. One value alone is refused."""
    if not target:
        named = [name for name in table.schema.role(Role.TARGET) if name in table.schema.released]
        return next((name for name in named if not _constant(table, name)), "")
    if target not in (known := table.schema.released):
        near = meant(target, known)
        raise InputError(f"there is no column {target!r} to predict{near}; there are {', '.join(known)}", where="target")
    if _constant(table, target):
        raise InputError("shows a single value; there is nothing to predict", where=f"target {target}")
    return target


def _constant(table: Table, name: str) -> bool:
    known = table[name][~table.missing(name)]
    return len(np.unique(known)) < 2
