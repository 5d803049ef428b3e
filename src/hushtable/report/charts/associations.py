"""Pairs of columns as maps: in the training rows, in the release, and the difference; and the pairs that differ most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable.evidence.finding import Finding
from hushtable.report.charts import heat
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.words import fixed, number
from hushtable.table.arrays import Floats

MOST = 8
"""So many pairs are listed."""
COEFFICIENTS = {
    "association difference": "Cramer's V",
    "phi_k difference": "phi_k",
    "correlation difference": "Pearson's correlation",
    "Pearson similarity": "Pearson's correlation",
}
SIGNED = [("−1", 1.0, "weaker"), ("−0.5", 0.52, "weaker"), ("0", 0.04, "release"), ("0.5", 0.52, "release"), ("1", 1.0, "release")]


def maps(finding: Finding) -> Html | None:
    """Three triangles for two matrices, one for a single one; None if the finding brought neither."""
    pairs = heat.Pairs.of(finding.detail)
    if pairs is not None:
        return _three(pairs, COEFFICIENTS.get(finding.name, finding.name))
    alone = heat.Pairs.of(_doubled(finding.detail))
    return _one(alone, finding) if alone is not None else None


def levels(finding: Finding) -> Html | None:
    """Which strength became which, as a table of counts."""
    names, counts = finding.detail.get("levels"), finding.detail.get("counts")
    if not isinstance(names, list) or not isinstance(counts, list) or len(counts) != len(names):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in counts):
        return None
    rows: list[list[Child]] = [[str(n), *(number(int(c)) for c in row)] for n, row in zip(names, counts, strict=True)]
    heads = ["In the training rows", *(f"{name} in the release" for name in names)]
    return join(
        element("h3", "Which strength became which"),
        table(
            heads,
            rows,
            label="Pairs by their strength, before and after",
            numbers=range(1, len(heads)),
            class_="narrow",
            sortable=False,
        ),
    )


def _three(pairs: heat.Pairs, what: str) -> Html:
    shown = pairs.worst()
    full = heat.reach(shown.gap)
    count = _count(shown, pairs)
    signed = bool((np.nan_to_num(shown.train) < 0).any() or (np.nan_to_num(shown.release) < 0).any())
    label = f"{what} of {count}"
    sides = [("Training rows", shown.train, "in the training rows"), ("Release", shown.release, "in the release")]
    draw = heat.difference_map if signed else _strength
    figures = [
        (name, draw(shown.columns, matrix, f"{label} {where}", 1.0), _scale(what, signed=signed)) for name, matrix, where in sides
    ]
    steps = [(number(x * full), 0.04 + 0.96 * abs(x), "weaker" if x < 0 else "release") for x in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    change = heat.key(steps, f"Colour key: difference from {number(-full)} (less in the release) to {number(full)} (more)")
    gap = heat.difference_map(shown.columns, shown.gap, f"Differences in {what} of {count}, release minus train", full)
    figures.append(("Difference", gap, change))
    rows: list[list[Child]] = [[a, b, fixed(x), fixed(y), fixed(y - x, signed=True)] for a, b, x, y in pairs.largest(MOST)]
    return join(
        element("h3", what),
        element("p", f"{label}. A pair is where the row of the lower name meets the column of the upper one."),
        element("div", [_map(*figure) for figure in figures], class_="maps"),
        element("h4", f"Pairs that differ most in {what}"),
        table(
            ["Column", "Column", "Train", "Release", "Difference"],
            rows,
            label=f"Pairs that differ most in {what}",
            numbers=[2, 3, 4],
        ),
    )


def _one(pairs: heat.Pairs, finding: Finding) -> Html:
    shown = pairs.worst()
    label = f"{finding.name} of {_count(shown, pairs)}"
    drawing = heat.strength_map(shown.columns, shown.release, label)
    rows: list[list[Child]] = [[a, b, fixed(y)] for a, b, _, y in pairs.largest(MOST)]
    return join(
        element("h3", finding.name),
        element("div", _map("Distance of each pair", drawing, _scale("distance", signed=False)), class_="maps"),
        element("h4", "Pairs that lie furthest apart"),
        table(["Column", "Column", "Distance"], rows, label=f"Pairs with the largest {finding.name}", numbers=[2], class_="narrow"),
    )


def _map(name: str, drawing: Html, key: Html) -> Html:
    return element("figure", element("figcaption", element("strong", name)), drawing, key)


def _strength(columns: list[str], matrix: Floats, label: str, reach: float) -> Html:
    return heat.strength_map(columns, matrix, label)


def _scale(what: str, *, signed: bool) -> Html:
    steps = SIGNED if signed else [(number(x), 0.04 + 0.96 * x, "release") for x in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return heat.key(steps, f"Colour key: {what} from {steps[0][0]} to 1")


def _count(shown: heat.Pairs, pairs: heat.Pairs) -> str:
    if len(shown.columns) == len(pairs.columns):
        return f"{len(pairs.columns)} columns"
    return f"the {len(shown.columns)} of {len(pairs.columns)} columns with the largest differences"


def _doubled(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A single matrix of distances as a difference from none at all."""
    distance = detail.get("distance")
    if not isinstance(distance, list):
        return {}
    none = [[0.0] * len(row) if isinstance(row, list) else row for row in distance]
    return {"columns": detail.get("columns"), "train": none, "release": distance}
