"""Pairs of columns: whether the release keeps how they hang together (D4, D5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject
from hushtable.measures.bins import binned

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Association(Audit):
    """Cramer's V of every pair of columns, with Bergsma's bias correction, compared between release and training rows.

    Numbers are cut at the training rows' quantiles, so one measure serves all kinds; missing is a value.
    """

    bins: int = 10
    """Quantile bins for numbers."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The mean absolute difference over all pairs, and the matrices for a heat map."""
        names = case.columns
        if len(names) < 2:
            return [_nothing(case)]
        cuts = [binned(case.train, name, self.bins, others=(case.ordinary(), case.control)) for name in names]
        tables = {"train": case.train, "release": case.ordinary(), "control": case.control}
        matrices = {which: _matrix([cut.codes(table) for cut in cuts]) for which, table in tables.items()}
        upper = np.triu_indices(len(names), 1)
        gap, fresh = (np.abs(matrices[w] - matrices["train"])[upper] for w in ("release", "control"))
        worst = int(gap.argmax())
        pair = f"{names[upper[0][worst]]} and {names[upper[1][worst]]}"
        return [
            Finding(
                name="association difference", value=float(gap.mean()), baseline=float(fresh.mean()),
                better=Better.LOWER, subject=Subject.UTILITY, n=len(gap),
                note=f"mean over {len(gap)} pairs of the difference in Cramer's V; the largest, {gap[worst]:.2f}, is for {pair}",
                detail={"columns": list(names), "train": matrices["train"].tolist(), "release": matrices["release"].tolist()},
            )
        ]  # fmt: skip


def cramers_v(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Cramer's V of two coded columns, bias-corrected (Bergsma 2013)."""
    width, n = int(other.max()) + 1, len(one)
    height = int(one.max()) + 1
    pairs = one * width + other
    # Only pairs that occur count, so that two columns of many levels need no table of all of them.
    if height * width <= 4 * n:
        counts = np.bincount(pairs)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(pairs, return_counts=True)
    down, across = np.bincount(one), np.bincount(other)
    rows, columns = int((down > 0).sum()), int((across > 0).sum())
    if rows < 2 or columns < 2 or n < 2:
        return 0.0
    phi = float((counts**2 / (down[cells // width] * across[cells % width])).sum()) - 1
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    shrunk = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1))
    return float(np.sqrt(phi / (shrunk - 1))) if shrunk > 1 else 0.0


def _matrix(columns: list[NDArray[np.int64]]) -> Floats:
    matrix = np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        matrix[i, j] = matrix[j, i] = min(1.0, cramers_v(columns[i], columns[j]))
    return matrix


def _nothing(case: Case) -> Finding:
    return Finding(
        name="association difference", value=None, better=Better.LOWER, subject=Subject.UTILITY, n=0,
        note=f"a pair needs two columns, the release has {len(case.columns)}",
    )  # fmt: skip
