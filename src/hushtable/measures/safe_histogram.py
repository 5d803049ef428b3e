"""Histograms that may be drawn: shares of two tables in ranges and levels that disclose nobody's own value."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hushtable.measures.bins import Bins, above, quantiles
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import DAY, Column, Kind
from hushtable.table.table import Table

FEW = 5
"""What fewer training rows hold is not shown by itself."""
CELLS = 50
"""Limits are shown on a grid that cuts the middle nine tenths of the training rows' values into about so many cells."""
MONTHS = (1, 3, 12, 60, 120, 1200)
"""The grids for dates."""
MONTH = 30.44 * DAY


def safe_histogram(cells: Bins, train: Table, release: Table, bins: int) -> dict[str, object]:
    """Shares of two tables as they may be drawn: of nothing that fewer than ``FEW`` training rows hold by itself.

    A quantile is the value of somebody, an extreme of the one who is known for it. So limits are rounded to a coarse grid
    (dates to months or years), except the two of a value that ``FEW`` rows and a quantile share; the outermost ranges are
    open; and ranges and levels of fewer rows are put together.
    """
    column = cells.column
    if column.numeric:
        edges = _coarse(column, train.floats(column.name), bins)
        labels = [span(*(_limit(column, edge) for edge in pair)) for pair in pairwise(edges)]
        cells = Bins(column, edges, [*labels, "missing"], len(labels))
        one, other = cells.mass(train), cells.mass(release)
        return {"labels": cells.labels, "train": one.tolist(), "release": other.tolist()}
    one, other = cells.mass(train), cells.mass(release)
    rare = np.append(np.round(one[: cells.known] * train.rows) < FEW, np.zeros(len(one) - cells.known, bool))
    held = int(((one > 0) | (other > 0))[rare].sum())
    own = np.flatnonzero(~rare)
    labels = [cells.labels[i] for i in own]
    masses = [mass[own].tolist() for mass in (one, other)]
    if held:
        labels.insert(-1, f"rare levels ({held})")
        for mass, bars in zip((one, other), masses, strict=True):
            bars.insert(-1, float(mass[rare].sum()))
    return {"labels": labels, "train": masses[0], "release": masses[1]}


def _coarse(column: Column, values: Floats, bins: int) -> Floats:
    """Limits of ranges of at least ``FEW`` rows each, none of them one person's value."""
    present = np.sort(values[~np.isnan(values)])
    cuts, spike = quantiles(present, bins)
    often = np.searchsorted(present, cuts, side="right") - np.searchsorted(present, cuts) >= FEW
    common = spike & often & (column.kind is not Kind.DATE)
    rough = _rounded(column, cuts, _width(cuts))
    rough[[0, -1]] = -np.inf, np.inf
    edges = np.unique(np.concatenate([np.where(common, cuts, rough), above(column, cuts[common])]))
    counts = np.bincount(np.searchsorted(edges, present, side="right"), minlength=len(edges) + 1)[1:-1]
    limits, held = [edges[0]], 0
    for edge, count in zip(edges[1:], counts.tolist(), strict=True):
        held += count
        if held >= FEW:
            limits.append(edge)
            held = 0
    return np.array([*(limits[:-1] or limits), edges[-1]])


def coarse_cuts(column: Column, present: Floats, bins: int) -> Floats:
    """Limits at about so many quantiles of sorted values, on a coarse grid: where one lies shows nobody's value."""
    cuts, _ = quantiles(present, bins)
    return np.unique(_rounded(column, cuts, _width(cuts)))


def on_coarse_grid(column: Column, values: Floats, present: Floats) -> Mask:
    """Which values lie on the grid of ``coarse_cuts``, so that a limit there shows nobody's value."""
    return np.asarray(_rounded(column, values, _width(quantiles(present, 20)[0])) == values, np.bool_)


def _width(cuts: Floats) -> float:
    """Of the middle nine tenths, where they are not all one value: a lone extreme must not set the scale."""
    return float(np.diff(np.quantile(cuts, [0.05, 0.95]))[0] or cuts[-1] - cuts[0] or 1.0)


def _rounded(column: Column, values: Floats, width: float) -> Floats:
    """On a grid of about ``CELLS`` cells in this width."""
    if column.kind is Kind.DATE:
        unit = int(next((m for m in MONTHS if m * MONTH >= width / CELLS), MONTHS[-1]))
        since = values.astype(np.int64).astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
        months: Integers = since // unit * unit - 1970 * 12
        return months.astype("datetime64[M]").astype("datetime64[s]").astype(np.float64)
    rough = max(width / CELLS, column.step or 0.0)
    digits = int(np.floor(np.log10(rough) + 1e-9))
    cell = next(m * 10.0**digits for m in (1, 2, 5, 10) if m * 10.0**digits >= rough * (1 - 1e-9))
    return np.round(np.round(values / cell) * cell, -digits) + 0.0


def _limit(column: Column, edge: float) -> str:
    if np.isinf(edge):
        return ""
    if column.kind is Kind.DATE:
        return str(np.datetime64(int(edge), "s").astype("datetime64[M]"))
    # The next real above 0 is 0 to any reader.
    return f"{edge if abs(edge) > 1e-300 else 0:.6g}" if column.step is None else column.write(edge)


def span(low: str, high: str) -> str:
    """A range in words; an empty limit is none."""
    if low and high:
        return f"{low} to {high}"
    if high:
        return f"up to {high}"
    return f"from {low}" if low else "all values"
