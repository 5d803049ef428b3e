"""The summary of a generalization for the card: what each column became and lost, and its loss by every measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.lattice.losses import LossName, Priced, make
from hushtable.anonymize.lattice.recode import Recoding
from hushtable.anonymize.lattice.search import Solution
from hushtable.pipeline.publish import private_domain
from hushtable.table.cell import ANY_TEXT
from hushtable.table.columns import Column
from hushtable.table.hierarchy import FileTree
from hushtable.table.trees import Level


def summary(solution: Solution, recoding: Recoding, loss: LossName, *, local: bool, fixed: tuple[str, ...]) -> dict[str, Any]:
    """Fit for the public card: levels, losses, class sizes and the search; no value of a row, and no share of a private domain."""
    lattice, classes = recoding.lattice, recoding.classes
    sizes = classes.sizes[recoding.staying(classes)]
    shares = Priced.of(lattice, LossName.ARITHMETIC).of_levels(recoding.levels, recoding.gone)
    columns = {
        ladder.column.name: {
            "level": _level(row[~recoding.gone]),
            "height": ladder.top,
            "lost": None if private_domain(ladder.column) else lost,
            "ladder": rungs(ladder.column, ladder.levels),
        }
        for ladder, row, lost in zip(lattice.ladders, recoding.levels, shares, strict=True)
    }
    # Only measures that use no shares of a domain that was read off the rows may be published.
    closed = any(private_domain(ladder.column) for ladder in lattice.ladders)
    publishable = [name for name in LossName if not (closed and name in (LossName.GEOMETRIC, LossName.ARITHMETIC))]
    return {
        "k": solution.goal.k,
        "rows": lattice.rows,
        "suppressed_rows": recoding.suppressed,
        "classes": len(sizes),
        "smallest_class": int(sizes.min(initial=lattice.rows)),
        "largest_class": int(sizes.max(initial=0)),
        "columns": columns,
        "local": local,
        "losses": {str(name): _loss(name, recoding, solution.goal.k) for name in publishable},
        "search": {
            "loss": str(loss),
            "value": solution.value if loss in publishable else None,
            "optimal": solution.optimal,
            "gap": solution.gap if loss in publishable else None,
            "nodes": lattice.nodes,
            "checked": solution.checks,
            "fixed": list(fixed),
        },
    }


def _level(levels: NDArray[np.int16]) -> int | list[int]:
    """One level, or with local recoding those that occur."""
    used: list[int] = np.unique(levels).tolist()
    return used[0] if len(used) == 1 else used


def rungs(column: Column, levels: Sequence[Level]) -> list[dict[str, Any]]:
    """Each level above the values: how many cells it has, and how one of them is written.

    Of a domain that was read off the rows neither may be published (the ends of a range can be somebody's), but for ``*``
    and the labels of a file.
    """
    tree = column.hierarchy
    if isinstance(tree, FileTree):
        labels = [list(groups) for groups in tree.groups[: len(levels) - 1]]
    else:
        labels = [[cell.text for cell in level.cells] for level in levels[:-1]]
    closed = private_domain(column)
    below = [{"cells": None if closed else len(texts), "example": "" if closed else texts[len(texts) // 2]} for texts in labels]
    return [*below, {"cells": 1, "example": ANY_TEXT}]


def _loss(name: LossName, recoding: Recoding, k: int) -> float:
    """By one measure, whichever was minimized: they prefer different columns."""
    classes, lattice = recoding.classes, recoding.lattice
    if name in (LossName.DISCERNIBILITY, LossName.CLASS_SIZE):
        return make(name, lattice, ()).value((), classes, recoding.staying(classes), k)
    prices = Priced.of(lattice, name)
    return prices.combined(prices.of_levels(recoding.levels, recoding.gone))
