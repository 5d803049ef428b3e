"""Single columns: how far the distribution of the release lies from that of the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import kolmogorov

from hushtable.evidence.confidence import holm
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.evidence.reading import floats_like
from hushtable.measures import catalogue
from hushtable.measures.bins import Coded, Fresh, coded, tables
from hushtable.measures.divergence import (
    ChiSquare,
    jensen_shannon,
    relative_entropy,
    total_variation,
    transported,
    two_samples,
    wider,
)
from hushtable.measures.safe_histogram import safe_histogram
from hushtable.table.arrays import Floats
from hushtable.table.columns import Bounds, Kind

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

BOTH = ("release", "control")
LEVEL = 0.05
"""A column is distinguished where the corrected p-value of its test is below this."""
NOTES = {
    catalogue.TVD: "total variation distance, 0 (same) to 1",
    catalogue.JENSEN_SHANNON: "Jensen-Shannon distance, 0 (same) to 1 (nothing in common)",
    catalogue.KL: "relative entropy in nats, half a row added to every bin that either holds, so that it is finite",
    catalogue.KS: "largest difference of the cumulative distributions, 0 (same) to 1",
    catalogue.WASSERSTEIN: "how far values must move on average, as a share of the domain (at most all of it)",
}
MEANS = {
    catalogue.TVD: catalogue.MEAN_TVD,
    catalogue.KS: catalogue.MEAN_KS,
    catalogue.WASSERSTEIN: catalogue.MEAN_WASSERSTEIN,
    catalogue.JENSEN_SHANNON: catalogue.MEAN_JENSEN_SHANNON,
    catalogue.KL: catalogue.MEAN_KL,
}
Pair = tuple[float, float]
"""A number for the release and the same for the control, each against the training rows; NaN where there is none."""


@dataclass(frozen=True, kw_only=True)
class MarginDistances(Utility):
    """How far every column lies from that of the training rows, by its bins and, where it has an order, by its values.

    Total variation, Jensen-Shannon, relative entropy and the chi-square test count rows in bins: numbers are cut at the training
    rows' quantiles, missing values being a bin of their own. Kolmogorov-Smirnov and Wasserstein compare the values that are
    present, as they are; the Wasserstein distance is divided by the width of the domain. The test takes released rows for
    independent draws; those of an anonymized table are not, and can lie closer to the training rows than draws would.

    Baselines compare the control rows with the training rows, scaled to the rows of the release (``Fresh``; the chi-square
    statistic is not, which by chance is as large in tables of any size): no release needs to be closer than that. What is drawn
    is coarser than what is compared: see ``safe_histogram``.

    The detail of a column's distance holds the p-value of a test whether chance explains it: Kolmogorov's (1933) for the largest
    gap of cumulative distributions, chi-square for what counts rows in bins, none for the Wasserstein distance.
    """

    bins: int = 20
    """Quantile bins for numbers."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Means over the columns and the share distinguished, then every distance of every column."""
        cells = coded(case, self.bins)
        findings: dict[Measure, list[Finding]] = {measure: [] for measure in MEANS}
        tests: dict[str, tuple[ChiSquare | None, ChiSquare | None]] = {}
        for name in case.columns:
            tests[name] = _test(cells, "release", name), _test(cells, "control", name)
            for measure, pair in {**_counted(cells, name), **_ordered(case, name)}.items():
                detail = (
                    safe_histogram(cells.bins[name], case.train, case.ordinary(), self.bins) if measure is catalogue.TVD else {}
                )
                chance = _kolmogorov(case, name, pair[0]) if measure is catalogue.KS else _p(measure, tests[name][0])
                findings[measure].append(_finding(measure, name, pair, case, detail | chance))
        means = [_mean(measure, items, Fresh.of(case).note) for measure, items in findings.items() if items]
        tested = [_tested(name, *pair, case) for name, pair in tests.items()]
        return [*means, _distinguished(tests), *(item for items in findings.values() for item in items), *tested]


def _counted(cells: Coded, name: str) -> dict[Measure, Pair]:
    """The distances of shares and counts of bins."""
    real, release, control = (cells.counts(which, name) for which in ("train", *BOTH))
    share, one, two = (cells.mass(which, name) for which in ("train", *BOTH))
    return {
        catalogue.TVD: (total_variation(one, share), total_variation(two, share)),
        catalogue.JENSEN_SHANNON: (jensen_shannon(one, share), jensen_shannon(two, share)),
        catalogue.KL: (relative_entropy(real, release), relative_entropy(real, control)),
    }


def _ordered(case: Case, name: str) -> dict[Measure, Pair]:
    """The distances of values that have an order; none for a column that has not."""
    column = case.train.schema[name]
    if column.kind is Kind.CATEGORY or not column.valued:
        return {}
    samples = {which: _present(floats_like(table, name, case.train)) for which, table in tables(case).items()}
    (ks, moved), (ks0, moved0) = (transported(samples[which], samples["train"]) for which in BOTH)
    width = column.base.high - column.base.low if isinstance(column.base, Bounds) else len(column.levels) - 1
    share, share0 = (min(1.0, m / (width or 1.0)) if np.isfinite(m) else np.nan for m in (moved, moved0))
    return {catalogue.KS: (ks, ks0), catalogue.WASSERSTEIN: (share, share0)}


def _present(values: Floats) -> Floats:
    return np.sort(values[~np.isnan(values)])


def _test(cells: Coded, which: str, name: str) -> ChiSquare | None:
    real, other = cells.counts("train", name), cells.counts(which, name)
    bins = cells.bins[name]
    return two_samples(*(wider(real, other, bins.known) if bins.column.numeric else (real, other)))


def _p(measure: Measure, test: ChiSquare | None) -> dict[str, object]:
    return {"p": test.p} if test is not None and measure is not catalogue.WASSERSTEIN else {}


def _kolmogorov(case: Case, name: str, distance: float) -> dict[str, object]:
    """Kolmogorov's limit, which is rather too large for few rows and for values that are tied."""
    rows = [int((~tables(case)[which].missing(name)).sum()) for which in ("train", "release")]
    return {"p": float(kolmogorov(distance * np.sqrt(rows[0] * rows[1] / sum(rows))))} if min(rows) else {}


def _finding(measure: Measure, name: str, pair: Pair, case: Case, detail: Mapping[str, object]) -> Finding:
    value, fresh = pair[0], Fresh.of(case)
    # Relative entropy is the square of a distance to first order.
    base = pair[1] * fresh.ratio ** (2 if measure is catalogue.KL else 1)
    note = NOTES[measure] + fresh.note if np.isfinite(value) else f"{name}: {_empty(case, name)} no value"
    return measure.finding(value, baseline=base, n=case.release.rows, note=note, scope=name, detail=detail)


def _empty(case: Case, name: str) -> str:
    """Who has no value to compare."""
    sides = {"train": "the training rows have", "release": "the release has"}
    empty = [words for which, words in sides.items() if tables(case)[which].missing(name).all()]
    return " and ".join(empty) or "of the levels of the training rows the release has"


def _mean(measure: Measure, items: list[Finding], more: str) -> Finding:
    values, bases = [f.value for f in items if f.value is not None], [f.baseline for f in items if f.baseline is not None]
    note = f"mean over {len(values)} columns{more or '; the baseline is that of the control rows'}"
    if not values:
        note = "no column has values in both tables"
    return MEANS[measure].finding(_average(values), baseline=_average(bases), n=len(values), note=note)


def _average(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _tested(name: str, test: ChiSquare | None, fresh: ChiSquare | None, case: Case) -> Finding:
    n, base = case.release.rows, fresh.statistic if fresh else None
    if test is None:
        note = f"{name}: too few rows or bins for a test, which needs two bins with 5 expected rows each"
        return catalogue.CHI_SQUARE.finding(None, baseline=base, n=n, note=note, scope=name)
    meaning = "the release differs from the real rows" if test.p < LEVEL else "no difference from the real rows is shown"
    note = f"{test.freedom} degrees of freedom, p {test.p:.2g} before any correction: {meaning}"
    detail = {"p": test.p, "freedom": test.freedom}
    return catalogue.CHI_SQUARE.finding(test.statistic, baseline=base, n=n, note=note, scope=name, detail=detail)


def _distinguished(tests: Mapping[str, tuple[ChiSquare | None, ChiSquare | None]]) -> Finding:
    """The share of columns that a test distinguishes, corrected for the number of tests (Holm 1979)."""
    apart = _rejected({name: test for name, (test, _) in tests.items()})
    fresh = _rejected({name: test for name, (_, test) in tests.items()})
    n = len(apart)
    if not apart:
        return catalogue.DISTINGUISHED.finding(None, n=0, note="no column has enough rows in two bins for a test")
    names = [name for name, rejected in apart.items() if rejected]
    more = " and others" if len(names) > 5 else ""
    which = f": {', '.join(names[:5])}{more}" if names else ""
    return catalogue.DISTINGUISHED.finding(
        len(names) / n,
        baseline=sum(fresh.values()) / len(fresh) if fresh else None,
        n=n,
        note=f"{len(names)} of {n} columns by chi-square at {LEVEL:.0%}{which}; with more rows smaller differences are detected",
    )


def _rejected(tests: Mapping[str, ChiSquare | None]) -> dict[str, bool]:
    held = {name: test.p for name, test in tests.items() if test is not None}
    return {name: p < LEVEL for name, p in zip(held, holm(list(held.values())), strict=True)}
