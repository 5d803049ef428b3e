"""Running a grid of hybrids, on the machinery of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hushtable.api.compare.cell import Cell
from hushtable.api.compare.run import Wanted, compare_trials
from hushtable.api.hybrid.grid import Grid
from hushtable.api.hybrid.options import HybridOptions
from hushtable.api.hybrid.result import HybridGrid, gathered
from hushtable.display import Progress, silent
from hushtable.table.arguments import require_tables
from hushtable.table.table import Table


def hybrid(
    table: Table,
    options: HybridOptions | None = None,
    *,
    folder: str | Path | None = None,
    named: Mapping[str, str] | None = None,
    progress: Progress = silent,
    finished: Callable[[Cell], None] = lambda cell: None,
    **settings: Any,
) -> HybridGrid:
    """Anonymize, sample, bring back and synthesize a table in all combinations; attack each, and say what each part does.

    What is tried and asked for is in ``HybridOptions``: give it whole, or its fields and those of ``CompareOptions`` by name, as in
    ``hybrid(table, k=[5, 20], generators="sequential", constraints=["max_gain<0.02"], seed=0)``. Beside the hybrids the original,
    the anonymized tables and the generators alone are attacked and measured. With a folder every cell is saved as soon as it is
    done, and the same call goes on where one was stopped. In a script, more than one worker needs ``if __name__ == "__main__":``.
    """
    require_tables(table=table)
    asked = HybridOptions.of(options, settings)
    grids = list[Grid]()

    def wanted(train: Table) -> Wanted:
        grids.append(Grid.of(asked, train))
        return Wanted(grids[-1].trials, grids[-1].notes, grids[-1].beside)

    outcome = compare_trials(
        table, asked.comparison, wanted, folder=folder, named=named, progress=progress, finished=finished
    )  # fmt: skip
    result = gathered(outcome.comparison, grids[-1].places, outcome.runs)
    if folder is not None:
        outcome.write(result.files())
    return result
