"""Associations between columns: whether the release preserves how pairs of columns depend on one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.measures import catalogue
from hushtable.measures.bins import Fresh, coded, tables
from hushtable.measures.contingency import Pairs, pairs_of
from hushtable.measures.correlation import correlations, ordered
from hushtable.measures.phik import LEVELS as MOST_LEVELS
from hushtable.measures.phik import few_levels, phik_matrix
from hushtable.table.arrays import Floats, Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Matrices = Mapping[str, Floats]
LEVELS = {"low": 0.0, "weak": 0.1, "middle": 0.3, "strong": 0.5}
"""Where each level of Cramer's V begins."""


@dataclass(frozen=True, kw_only=True)
class Association(Utility):
    """Associations of pairs of columns, compared between release and training rows.

    Cramer's V with Bergsma's bias correction (2013), its four levels (Tao et al. 2021; Garg 2025, equation 4.17) and the total
    variation of both columns together are taken from one table of counts for each pair, numbers cut at the training rows' quantiles
    and missing being a value. Pearson's correlation (Garg 2025, equation 4.18) is that of numbers, dates and ordinals in
    the rows that have both values. phi_k (Baak et al. 2020) cuts numbers into equal bins between each table's own extremes.

    A pair of which the training rows show a column in one value only is left out, and the note counts it. Where only the release
    shows one value, the association is lost: it counts as none. Baselines are those of the control rows, scaled to the rows of the
    release (``Fresh``), which for phi_k is some 15 % too strict, since it subtracts what chance explains.
    """

    bins: int = 10
    """Quantile bins for numbers, for Cramer's V and the total variation."""
    levels: int = MOST_LEVELS
    """Columns of more levels than this are left out of phi_k, which needs a table of all pairs of levels."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each measure, over all pairs; the matrices for heat maps in their details."""
        pairs = pairs_of(coded(case, self.bins))
        numbers = ordered(case.train, case.columns)
        pearson = {which: correlations(table, numbers, case.train) for which, table in tables(case).items()}
        few = few_levels(tables(case).values(), case.columns, self.levels)
        strange = len(case.columns) - len(few)
        phik = {which: phik_matrix(table, few) for which, table in tables(case).items()}
        fresh = Fresh.of(case)
        strengths = PairCoefficients.of(case.columns, pairs.cramers_v, fresh)
        linear = PairCoefficients.of(numbers, pearson, fresh, kind="numbers, dates or ordinals")
        any_kind = PairCoefficients.of(
            few, phik, fresh, more=f"; {strange} columns of more than {self.levels} levels are left out" if strange else ""
        )
        return [
            strengths.difference(catalogue.ASSOCIATION, "Cramer's V"),
            _levels_kept(strengths),
            _variation(pairs, fresh),
            linear.similarity(catalogue.PEARSON),
            linear.difference(catalogue.CORRELATION, "Pearson's correlation"),
            any_kind.difference(catalogue.PHIK, "phi_k"),
        ]


@dataclass(frozen=True, eq=False)
class PairCoefficients:
    """A coefficient of every pair of columns that the training rows have one for, in the three tables."""

    columns: tuple[str, ...]
    matrices: Matrices
    first: Integers
    second: Integers
    values: Matrices
    """By table: the coefficient of each such pair; 0 where only this table has none."""
    left_out: int
    fresh: Fresh
    kind: str
    more: str

    @classmethod
    def of(cls, columns: tuple[str, ...], matrices: Matrices, fresh: Fresh, kind: str = "", more: str = "") -> PairCoefficients:
        """From the matrices over these columns; ``kind`` says what columns can have one, ``more`` what a reader must know."""
        upper = np.triu(~np.isnan(matrices["train"]), 1)
        first, second = np.nonzero(upper)
        values = {which: np.nan_to_num(matrix[first, second]) for which, matrix in matrices.items()}
        left_out = len(columns) * (len(columns) - 1) // 2 - len(first)
        return cls(columns, matrices, first, second, values, left_out, fresh, kind, more)

    @property
    def n(self) -> int:
        """The pairs."""
        return len(self.first)

    def gap(self, which: str) -> Floats:
        """By how much each coefficient differs from that of the training rows."""
        return np.abs(self.values[which] - self.values["train"])

    def difference(self, measure: Measure, what: str) -> Finding:
        """The mean difference of this coefficient."""
        if not self.n:
            return measure.finding(None, n=0, note=self.nothing)
        gap = self.gap("release")
        worst = int(gap.argmax())
        pair = f"{self.columns[self.first[worst]]} and {self.columns[self.second[worst]]}"
        note = f"mean over {self.n} pairs of the difference in {what}; the largest, {gap[worst]:.2f}, is for {pair}{self.rest}"
        return measure.finding(
            gap.mean(), baseline=self.fresh.near(0.0, self.gap("control").mean()), n=self.n, note=note,
            detail={"columns": list(self.columns)} | {which: self.matrices[which].tolist() for which in ("train", "release")},
        )  # fmt: skip

    def similarity(self, measure: Measure) -> Finding:
        """The mean of 1 less half the difference."""
        if not self.n:
            return measure.finding(None, n=0, note=self.nothing)
        value, base = (1 - self.gap(which).mean() / 2 for which in ("release", "control"))
        note = f"mean over {self.n} pairs of {self.kind}{self.rest}"
        return measure.finding(value, baseline=self.fresh.near(1.0, base), n=self.n, note=note)

    @property
    def nothing(self) -> str:
        """Why there is no pair."""
        if len(self.columns) < 2:
            kind = f" of {self.kind}" if self.kind else ""
            return f"a pair needs two columns{kind}, there is {len(self.columns) or 'none'}{self.more}"
        return f"in the training rows one column of every pair has a single value, or no two rows have both values{self.more}"

    @property
    def rest(self) -> str:
        """What was left out, and what the baseline is."""
        missing = ""
        if self.left_out:
            missing = f"; {self.left_out} pairs are left out, since a column of theirs has a single value in the training rows"
        return missing + self.more + self.fresh.note


def _levels_kept(strengths: PairCoefficients) -> Finding:
    """The share of pairs that are as strong in words; which level became which is in the detail."""
    if not strengths.n:
        return catalogue.LEVELS_KEPT.finding(None, n=0, note=strengths.nothing)
    limits = list(LEVELS.values())
    levels = {which: np.searchsorted(limits, values, side="right") - 1 for which, values in strengths.values.items()}
    same, fresh = (levels[which] == levels["train"] for which in ("release", "control"))
    counts = np.bincount(levels["train"] * len(LEVELS) + levels["release"], minlength=len(LEVELS) ** 2)
    weaker = int((levels["release"] < levels["train"]).sum())
    note = f"{int(same.sum())} of {strengths.n} pairs keep their level (low, weak, middle, strong); {weaker} became weaker"
    return catalogue.LEVELS_KEPT.finding(
        same.mean(), baseline=strengths.fresh.near(1.0, fresh.mean()), n=strengths.n, note=note + strengths.rest,
        detail={"levels": list(LEVELS), "counts": counts.reshape(len(LEVELS), -1).tolist()},
    )  # fmt: skip


def _variation(pairs: Pairs, fresh: Fresh) -> Finding:
    first, second = np.triu_indices(len(pairs.columns), 1)
    if not len(first):
        return catalogue.PAIR_TVD.finding(None, n=0, note="a pair needs two columns, there is 1")
    release, control = (pairs.variation[which][first, second] for which in ("release", "control"))
    worst = int(release.argmax())
    pair = f"{pairs.columns[first[worst]]} and {pairs.columns[second[worst]]}"
    return catalogue.PAIR_TVD.finding(
        release.mean(), baseline=fresh.near(0.0, control.mean()), n=len(first),
        note=f"mean over {len(first)} pairs; the largest, {release[worst]:.2f}, is for {pair}{fresh.note}",
        detail={"columns": list(pairs.columns), "distance": pairs.variation["release"].tolist()},
    )  # fmt: skip
