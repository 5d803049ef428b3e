"""A comparison while it runs: the cells that are done, ranked, and nothing recommended; what others would take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from hushtable.api.compare.axis import Axis, target_of
from hushtable.api.compare.cell import Cell, in_one_unit
from hushtable.api.compare.choice import front, ranked
from hushtable.api.compare.comparison import Comparison, Constraint, RunInfo
from hushtable.api.compare.options import CompareOptions
from hushtable.table.disk import read_text, whole_file
from hushtable.table.table import Table


@dataclass
class SoFar:
    """The cells that are done, in a file that appears whole each time one more is."""

    path: Path
    axis: Axis
    options: CompareOptions
    cells: dict[str, Cell] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, table: Table, options: CompareOptions) -> SoFar:
        """With the cells of before, which a comparison that goes on does not tell of again."""
        so_far = cls(path, Axis.of(table.schema, target_of(table, options.target)), options)
        if path.exists():
            so_far.cells = {cell.id: cell for cell in read_so_far(path).cells}
        return so_far

    def add(self, cell: Cell) -> None:
        """One more is done."""
        self.cells[cell.id] = cell
        with whole_file(self.path, private=True) as partial:
            partial.write_text(json.dumps(self.comparison().to_json(), ensure_ascii=False), encoding="utf-8")

    def comparison(self) -> Comparison:
        """The cells that are done, compared."""
        cells = in_one_unit(list(self.cells.values()))
        best = front(cells)
        return Comparison(
            run=RunInfo(runs=self.options.runs, seed=self.options.seed, public=self.options.public),
            constraints=tuple(map(Constraint.of, self.options.conditions)),
            axis=self.axis,
            cells=tuple(ranked([replace(cell, front=cell.id in best) for cell in cells], None)),
        )


def read_so_far(path: Path) -> Comparison:
    """The comparison of a file, finished or not."""
    return Comparison.from_json(json.loads(read_text(path, path.name)))


def seconds_of(cells: Sequence[Cell], recipe: str) -> float | None:
    """What a cell of this recipe took, on average; None where none is done, as others say nothing of it."""
    known = [cell.seconds / max(cell.runs, 1) for cell in cells if cell.recipe == recipe and not cell.failed]
    return fmean(known) if known else None


def within(cells: Sequence[Cell], axis: Axis, risk: float) -> Cell | None:
    """The best score among cells from which no attack gains more than this, by its upper bound; None where there is none."""
    return axis.best([cell for cell in cells if not cell.failed and cell.score and cell.worst and cell.worst.upper <= risk])
