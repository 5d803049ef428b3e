"""Counting and range queries: how far their answers from the release are off."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.confidence import NORMAL
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.measures.bins import Fresh, tables
from hushtable.measures.catalogue import COUNTING_ABSOLUTE, COUNTING_RELATIVE, RANGE_ABSOLUTE, RANGE_RELATIVE
from hushtable.measures.jackknife import jackknife
from hushtable.measures.query_answers import answers
from hushtable.measures.query_conditions import Question, by_range, by_value, counting, ranges
from hushtable.table.arrays import Floats, Mask
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

SANITY = 0.001
"""Relative errors are taken of at least this share of the rows: an answer of one row instead of two is not far off."""
LIMITS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Selectivities are put together between these."""
FEWEST = 5
"""A median of fewer queries is not shown."""
RESAMPLES = 200


@dataclass(frozen=True, kw_only=True)
class Queries(Utility):
    """Random counting and range queries, asked of the training rows, the release and the control rows.

    A counting query asks for values or sets of levels, a range query for ranges of numbers, dates and ordinals, of one to
    three columns, around training rows drawn by lot, so that none is empty and their selectivities are spread. An answer is a
    share of the rows of the table that is asked, so that tables of any size can be compared. Errors are absolute, and relative
    to the true share or, where it is smaller, to a thousandth of the rows (the sanity bound of Xiao et al. 2011). A generalized
    row counts by the share of its cells' values that meet the conditions. The interval allows for other rows (a jackknife, which
    is wide where errors are chance alone) and for other questions drawn the same way (a bootstrap); the baseline is the error of
    the control rows, scaled to the rows of the release (``Fresh``).
    """

    queries: int = 500
    """Questions of each kind."""
    columns: int = 3
    """The most columns in one question."""

    def __post_init__(self) -> None:
        """There must be something to query."""
        for knob in ("queries", "columns"):
            if getattr(self, knob) < 1:
                raise InputError(f"must be at least 1, got {getattr(self, knob)}", where=knob)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The mean absolute and the median relative error of each kind, then the same by the number of columns asked for."""
        findings = [finding for family in FAMILIES for finding in self._ask(family, case, rng)]
        return [f for f in findings if not f.scope] + [f for f in findings if f.scope]

    def _ask(self, family: Family, case: Case, rng: np.random.Generator) -> list[Finding]:
        columns = family.usable(case.train, case.columns)
        if not columns:
            return [measure.finding(None, n=0, note=family.reason) for measure in (family.absolute, family.relative)]
        questions = family.draw(case.train, columns, self.columns, self.queries, rng)
        errors = Errors.of(case, questions, rng)
        findings = errors.findings(family, "", rng, errors.by_selectivity())
        sizes = np.array([len(question) for question in questions])
        for size in np.unique(sizes).tolist() if sizes.min() < sizes.max() else []:
            scope = "1 column" if size == 1 else f"{size} columns"
            findings += errors.of_these(sizes == size).findings(family, scope, rng, {})
        return findings


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of question."""

    usable: Callable[[Table, Sequence[str]], list[str]]
    """The columns that it can ask for."""
    draw: Callable[[Table, Sequence[str], int, int, np.random.Generator], list[Question]]
    reason: str
    """Why nothing can be asked, where no column is usable."""
    absolute: Measure
    relative: Measure


FAMILIES = (
    Family(
        usable=by_value, draw=counting, reason="no column has levels, or whole numbers of few values",
        absolute=COUNTING_ABSOLUTE, relative=COUNTING_RELATIVE,
    ),
    Family(
        usable=by_range, draw=ranges, reason="no column has values with an order", absolute=RANGE_ABSOLUTE, relative=RANGE_RELATIVE
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Errors:
    """The true answers to some questions, and by how much those of the release and of the control rows are off.

    A column is a question. The first line is that of all rows, each further one leaves out a lot of them.
    """

    truth: Floats
    release: Floats
    control: Floats
    """Scaled to the rows of the release."""
    more: str = ""
    """What a reader must know of the baselines."""

    @classmethod
    def of(cls, case: Case, questions: Sequence[Question], rng: np.random.Generator) -> Errors:
        """Ask all three tables."""
        read = tables(case).items()
        shares = {w: answers(case.tables[w], plain, questions, rng.permutation(plain.rows)) for w, plain in read}
        truth = shares["train"]
        fresh = Fresh.of(case)
        return cls(truth, np.abs(shares["release"] - truth), np.abs(shares["control"] - truth) * fresh.ratio, fresh.note)

    def of_these(self, questions: Mask) -> Errors:
        """Of some of the questions."""
        return Errors(self.truth[:, questions], self.release[:, questions], self.control[:, questions], self.more)

    def relative(self, errors: Floats) -> Floats:
        """To the true share, or to the sanity bound."""
        return errors / np.maximum(self.truth, SANITY)

    def findings(self, family: Family, scope: str, rng: np.random.Generator, detail: dict[str, Any]) -> list[Finding]:
        """The mean absolute and the median relative error."""
        truth, release, control = self.truth[0], self.release[0], self.control[0]
        parts, fresh = self.relative(self.release), self.relative(self.control)[0]
        n, worst = len(truth), int(release.argmax())
        extremes = {
            "squared": float((release**2).mean()), "baseline_squared": float((control**2).mean()),
            "worst": float(release[worst]), "baseline_worst": float(control.max()),
        }  # fmt: skip
        return [
            family.absolute.finding(
                float(release.mean()), n=n, scope=scope, baseline=float(control.mean()), detail=extremes,
                interval=_interval(self.release, np.mean, rng, 1.0),
                note=f"mean over {n:,} random queries; the worst is off by {release[worst]:.1%} of the rows, "
                f"where the truth is {truth[worst]:.1%}{self.more}",
            ),
            family.relative.finding(
                float(np.median(parts[0])), n=n, scope=scope, baseline=float(np.median(fresh)), detail=detail,
                interval=_interval(parts, np.median, rng, np.inf),
                note=f"median of {n:,} random queries; one in ten is off by {np.quantile(parts[0], 0.9):.0%} or more"
                f"{self.more}",
            ),
        ]  # fmt: skip

    def by_selectivity(self) -> dict[str, list[float]]:
        """Median relative errors of questions that find about as many rows."""
        truth, release, control = self.truth[0], self.relative(self.release)[0], self.relative(self.control)[0]
        bins = np.searchsorted(LIMITS, truth, side="left")
        groups = [rows for b in np.unique(bins) if (rows := bins == b).sum() >= FEWEST]
        columns = {"selectivity": truth, "relative": release, "baseline": control}
        middles = {key: [float(np.median(values[rows])) for rows in groups] for key, values in columns.items()}
        return {**middles, "queries": [float(rows.sum()) for rows in groups]}


def _interval(errors: Floats, statistic: Callable[..., Any], rng: np.random.Generator, most: float) -> tuple[float, float]:
    """Of a mean or median of errors, for the chance of the rows and that of the questions together."""
    lines, n = statistic(errors, axis=1), errors.shape[1]
    draws = statistic(errors[0][rng.integers(0, n, (RESAMPLES, n))], axis=1)
    radius = math.hypot(jackknife(lines), NORMAL * float(draws.std(ddof=1)))
    return max(0.0, float(lines[0]) - radius), min(most, float(lines[0]) + radius)
