"""Single columns: how far the distribution of the release lies from that of the training rows (D4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject
from hushtable.evidence.reading import floats_like
from hushtable.table.columns import Column, Kind
from hushtable.table.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class MarginDistances(Audit):
    """Total variation of every column, Kolmogorov-Smirnov and Wasserstein of those with an order.

    Numbers are cut at the training rows' quantiles for the total variation, missing values being a bin of their own;
    the Wasserstein distance is divided by the width of the domain. Baselines compare the control rows with the
    training rows: no release needs to be closer than that.
    """

    bins: int = 20
    """Quantile bins for numbers."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Three findings for the table (means over columns), then three for each column."""
        found: dict[str, list[Finding]] = {"TVD": [], "KS": [], "Wasserstein": []}
        for name in case.columns:
            cells = binned(case.train, name, self.bins, others=(case.ordinary(), case.control))
            masses = {which: cells.mass(table) for which, table in _tables(case).items()}
            detail = {"labels": cells.labels, "train": masses["train"].tolist(), "release": masses["release"].tolist()}
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


@dataclass(frozen=True, eq=False)
class Bins:
    """One column cut for counting: levels as they are, numbers at quantiles of a reference table; missing is last.

    Levels that the reference table has not are one bin before the last.
    """

    column: Column
    edges: Floats
    labels: list[str]
    known: int
    """Bins of values that the reference table may hold."""

    def codes(self, table: Table) -> NDArray[np.int64]:
        """The bin of each row."""
        array = table[self.column.name]
        if self.column.numeric:
            values = table.floats(self.column.name)
            cells = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, len(self.edges) - 2)
            return np.where(np.isnan(values), len(self.labels) - 1, cells)
        index = {label: code for code, label in enumerate(self.labels[: self.known])}
        words = table.words(self.column.name)
        own = np.array([index.get(str(w), self.known) for w in words] + [len(self.labels) - 1])
        return own[array.astype(np.int64)]

    def mass(self, table: Table) -> Floats:
        """The share of rows in each bin."""
        return np.bincount(self.codes(table), minlength=len(self.labels)) / max(table.rows, 1)


def binned(table: Table, name: str, bins: int, others: Iterable[Table] = ()) -> Bins:
    """Bins of a column, from the reference table; ``others`` are further tables that will be counted in them."""
    column = table.schema[name]
    if not column.numeric:
        words = [str(word) for word in table.words(name)]
        strange = any({str(word) for word in other.words(name)} - set(words) for other in others)
        return Bins(column, np.empty(0), [*words, *["other levels"] * strange, "missing"], len(words))
    values = table.floats(name)
    present = values[~np.isnan(values)]
    cuts = np.quantile(present, np.linspace(0, 1, bins + 1), method="lower") if len(present) else np.zeros(2)
    # A value that holds two quantiles is a spike: it gets a bin of its own, which ends right above it.
    spikes = cuts[:-1][np.diff(cuts) == 0]
    edges = np.unique(np.concatenate([cuts, spikes + column.step if column.step else np.nextafter(spikes, np.inf)]))
    spans = [f"{column.write(a)} to {column.write(b)}" for a, b in pairwise(edges)]
    return Bins(column, edges, [*spans, "missing"], len(spans))


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
