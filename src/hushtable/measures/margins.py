"""Single columns: how far the distribution of the release lies from that of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject
from hushtable.evidence.reading import floats_like
from hushtable.measures.bins import Bins, above, binned, quantiles
from hushtable.table.columns import DAY, Column, Kind
from hushtable.table.table import Table

Floats = NDArray[np.float64]
FEW = 5
"""What fewer training rows hold is not shown by itself."""
CELLS = 50
"""Limits are shown on a grid that cuts the middle nine tenths of the training rows' values into about so many cells."""
MONTHS = (1, 3, 12, 60, 120, 1200)
"""The grids for dates."""
MONTH = 30.44 * DAY


@dataclass(frozen=True, kw_only=True)
class MarginDistances(Audit):
    """Total variation of every column, Kolmogorov-Smirnov and Wasserstein of those with an order.

    Numbers are cut at the training rows' quantiles for the total variation, missing values being a bin of their own;
    the Wasserstein distance is divided by the width of the domain. Baselines compare the control rows with the
    training rows: no release needs to be closer than that. What is kept to be drawn is coarser than what is compared:
    see ``shown``.
    """

    bins: int = 20
    """Quantile bins for numbers."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Three findings for the table (means over columns), then three for each column."""
        found: dict[str, list[Finding]] = {"TVD": [], "KS": [], "Wasserstein": []}
        for name in case.columns:
            cells = binned(case.train, name, self.bins, others=(case.ordinary(), case.control))
            masses = {which: cells.mass(table) for which, table in _tables(case).items()}
            detail = shown(cells, case.train, case.ordinary(), self.bins)
            tvd, fresh = (float(np.abs(masses[w] - masses["train"]).sum()) / 2 for w in ("release", "control"))
            found["TVD"].append(_finding("TVD", name, tvd, fresh, case, "total variation distance, 0 (same) to 1", detail))
            if case.train.schema[name].kind is Kind.CATEGORY:
                continue
            for metric, (value, base) in _ordered(case, name).items():
                found[metric].append(_finding(metric, name, value, base, case, _MEANING[metric], {}))
        means = [_mean(metric, items, case) for metric, items in found.items() if items]
        return [*means, *(item for items in found.values() for item in items)]


_MEANING = {
    "KS": "largest difference of the cumulative distributions, 0 (same) to 1",
    "Wasserstein": "how far values must move on average, as a share of the domain",
}


def shown(cells: Bins, train: Table, release: Table, bins: int) -> dict[str, object]:
    """Shares of two tables as they may be drawn: of nothing that fewer than ``FEW`` training rows hold by itself.

    A quantile is the value of somebody, an extreme of the one who is known for it. So limits are rounded to a coarse grid
    (dates to months or years), except the two of a value that ``FEW`` rows and a quantile share; the outermost ranges are
    open; and ranges and levels of fewer rows are put together.
    """
    column = cells.column
    if column.numeric:
        edges = _coarse(column, train.floats(column.name), bins)
        labels = [_span(*(_limit(column, edge) for edge in pair)) for pair in pairwise(edges)]
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
        for mass, kept in zip((one, other), masses, strict=True):
            kept.insert(-1, float(mass[rare].sum()))
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
    kept, held = [edges[0]], 0
    for edge, count in zip(edges[1:], counts.tolist(), strict=True):
        held += count
        if held >= FEW:
            kept.append(edge)
            held = 0
    return np.array([*(kept[:-1] or kept), edges[-1]])


def _width(cuts: Floats) -> float:
    """Of the middle nine tenths, where they are not all one value: a lone extreme must not set the scale."""
    return float(np.diff(np.quantile(cuts, [0.05, 0.95]))[0] or cuts[-1] - cuts[0] or 1.0)


def _rounded(column: Column, values: Floats, width: float) -> Floats:
    """On a grid of about ``CELLS`` cells in this width."""
    if column.kind is Kind.DATE:
        unit = int(next((m for m in MONTHS if m * MONTH >= width / CELLS), MONTHS[-1]))
        since = values.astype(np.int64).astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
        months: NDArray[np.int64] = since // unit * unit - 1970 * 12
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


def _span(low: str, high: str) -> str:
    if low and high:
        return f"{low} to {high}"
    return f"up to {high}" if high else f"from {low}" if low else "all values"


def _tables(case: Case) -> dict[str, Table]:
    return {"train": case.train, "release": case.ordinary(), "control": case.control}


def _ordered(case: Case, name: str) -> dict[str, tuple[float, float]]:
    """KS and Wasserstein of release and control against train, on present values."""
    samples = {which: _present(table, name, case.train) for which, table in _tables(case).items()}
    pairs = [_distances(samples[which], samples["train"]) for which in ("release", "control")]
    base = case.train.schema[name].base
    width = float(base.high - base.low) if hasattr(base, "high") else float(len(case.train.schema[name].levels) - 1)
    (ks, moved), (ks0, moved0) = pairs
    width = width or 1.0
    return {"KS": (ks, ks0), "Wasserstein": (moved / width, moved0 / width)}


def _present(table: Table, name: str, reference: Table) -> Floats:
    values = floats_like(table, name, reference)
    return values[~np.isnan(values)]


def _distances(one: Floats, other: Floats) -> tuple[float, float]:
    """Kolmogorov-Smirnov and Wasserstein-1 of two samples; NaN if one is empty."""
    if not len(one) or not len(other):
        return np.nan, np.nan
    points = np.unique(np.concatenate([one, other]))
    gap = np.abs(_cumulative(one, points) - _cumulative(other, points))
    return float(gap.max()), float((gap[:-1] * np.diff(points)).sum())


def _cumulative(values: Floats, points: Floats) -> Floats:
    return np.searchsorted(np.sort(values), points, side="right") / len(values)


def _finding(metric: str, name: str, value: float, base: float, case: Case, note: str, detail: dict[str, object]) -> Finding:
    ok = np.isfinite(value)
    return Finding(
        name=metric, scope=name, value=value if ok else None, baseline=base if np.isfinite(base) else None, better=Better.LOWER,
        subject=Subject.UTILITY, n=case.release.rows, note=note if ok else "no value is present", detail=detail,
    )  # fmt: skip


def _mean(metric: str, items: list[Finding], case: Case) -> Finding:
    values = [f.value for f in items if f.value is not None]
    bases = [f.baseline for f in items if f.baseline is not None]
    return Finding(
        name=f"mean {metric}", value=float(np.mean(values)) if values else None, baseline=float(np.mean(bases)) if bases else None,
        better=Better.LOWER, subject=Subject.UTILITY, n=len(values),
        note=f"mean over {len(values)} columns; the baseline is what control rows of the real table show",
    )  # fmt: skip
