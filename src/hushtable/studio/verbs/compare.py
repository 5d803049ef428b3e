"""Release the table in many ways, and attack and measure each; every cell that is done stays, and is not made again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.api.compare.cell import Cell
from hushtable.api.compare.so_far import SoFar
from hushtable.display import Progress

FOLDER = "comparison"
"""What ``hush compare --out`` names; it lies beside the record of the job."""


def compare(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush compare`` does it, with the options as plain values. Cells that are done can be seen while others are at work."""
    table = ht.read(request["data"], request["schema"], layout=ht.Layout.of(**request.get("layout", {})))
    options = ht.CompareOptions.from_json(request["options"])
    beside = SoFar.open(folder / f"{FOLDER}.so-far.json", table, options)

    def finished(cell: Cell) -> None:
        beside.add(cell)

    comparison = ht.compare(
        table, options, folder=folder / FOLDER, named={name: request["named"][name] for name in ("data", "schema")},
        progress=progress, finished=finished,
    )  # fmt: skip
    best = comparison.best
    return {
        "releases": len(comparison.released),
        "failures": len(comparison.failures),
        "fit": sum(cell.fits for cell in comparison.released),
        "best": "" if best is None else best.id,
        "public": comparison.run.public,
        "recipes": comparison.recipe_names,
        "spends": sorted({cell.recipe for cell in comparison.cells if cell.nominal_epsilon is not None}),
    }
