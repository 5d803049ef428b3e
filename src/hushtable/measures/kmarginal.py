"""The k-marginal score: how far the margins of two and three columns lie from the real ones, from 0 to 1,000."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.measures.bins import Fresh
from hushtable.measures.catalogue import K_MARGINAL, K_MARGINAL_GROUP
from hushtable.measures.downstream import target_of
from hushtable.measures.grid import on_public_grid
from hushtable.measures.partition import groups_by
from hushtable.measures.safe_histogram import FEW
from hushtable.measures.small_margins import Distances, Grouped, distances, some_margins
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

FULL = 1000.0
"""The score of a release with exactly the margins of the training rows."""
SIZES = {2: "pairs", 3: "triples"}


@dataclass(frozen=True, kw_only=True)
class KMarginal(Utility):
    """The k-marginal score of the National Institute of Standards and Technology: 1,000 (1 - mean total variation of margins).

    Half of it is the mean over pairs of columns, half that over triples (Ridgeway et al. 2021 take one size at a time; with L1
    distances the score is 1,000 (2 - mean L1) / 2). Margins are counted on a public grid (``grid.cuts``): declared levels, numbers
    at cuts of their declared bounds, zero and missing values by themselves. Triples, where there are many, are drawn by a seed, the
    same for every release of a table.

    The baseline is the ceiling: the expected score of a bootstrap of the training rows with as many rows as the release, which no
    release of drawn rows is expected to exceed, exact and without a draw. A release is called worse than real rows only where it
    is worse than control rows, too, which share no row with the training table and so score less than a bootstrap. The interval is
    that of the infinitesimal jackknife over rows of both tables; for a release whose rows come from the training rows one by one
    it is rather too wide.

    The same is measured within each group of one column, over the other columns. Groups with few rows are not judged; the worst is
    the one that lies furthest below its own ceiling, which is lower for small groups.
    """

    by: str = ""
    """The column whose groups are scored one by one (levels, or quarters of a number); when empty, the target, else a secret."""
    bins: int = 20
    """Bins for numbers of many values."""
    pairs: int = 1000
    """Pairs of columns, at most."""
    triples: int = 400
    """Triples of columns, at most."""
    least: int = 100
    """The fewest training rows of a group."""
    shown: int = 12
    """Groups with findings of their own, the worst ones."""
    seed: int = 0
    """What margins are drawn by."""

    def __post_init__(self) -> None:
        """Nobody is shown alone."""
        counts = ("pairs", "shown")
        check_knobs(
            self,
            bins=(self.bins >= 2, "must be at least 2"),
            triples=(self.triples >= 0, "must be at least 0"),
            least=(self.least >= FEW, f"must be at least {FEW}"),
            **{name: (getattr(self, name) >= 1, "must be at least 1") for name in counts},
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The score, that of the worst group, then the worst groups one by one; nothing is drawn from ``rng``."""
        if self.by and self.by not in case.train.schema:
            raise InputError(f"there is no column {self.by!r}", where="by")
        return [self._whole(case), *self._by_group(case)]

    def _whole(self, case: Case) -> Finding:
        if len(case.columns) < 2:
            return K_MARGINAL.finding(None, n=0, note="a margin of two columns needs two columns, there is 1")
        grouped = Grouped.of(on_public_grid(case, self.bins), case.columns)
        scores = Scores.of(grouped, self._margins(len(case.columns)), Fresh.of(case), np.array([float(case.release.rows)]))
        return scores.finding(K_MARGINAL, 0, n=scores.count, note=scores.note(case.columns), detail=scores.detail)

    def _by_group(self, case: Case) -> list[Finding]:
        name = self.by or target_of(case)
        if name not in case.columns:
            why = f"{name} was not released" if name else "no column has the role target or secret, and none was named"
            return [K_MARGINAL_GROUP.finding(None, n=0, note=why)]
        columns = [other for other in case.columns if other != name]
        groups = groups_by(case, name).large_enough(self.least, 1)
        if len(columns) < 2 or not groups.labels:
            why = (
                f"no group of {name} has {self.least} training rows" if len(columns) > 1 else f"{name} leaves no two other columns"
            )
            return [K_MARGINAL_GROUP.finding(None, n=0, note=why)]
        grouped = Grouped.of(on_public_grid(case, self.bins), columns, groups.groups)
        train = grouped.rows["train"]
        drawn = np.maximum(np.round(train / case.train.rows * case.release.rows), 1.0)
        scores = Scores.of(grouped, self._margins(len(columns)), Fresh.of(case), drawn)
        worst = np.argsort(scores.value - scores.ceiling, kind="stable")[: self.shown].tolist()
        each = [
            scores.finding(
                K_MARGINAL_GROUP, at, n=int(train[at]), among=len(train),
                note=f"{int(train[at]):,} training rows and {int(grouped.rows['release'][at]):,} released ones; a bootstrap of the "
                f"group scores {scores.ceiling[at]:.1f}",
            )
            for at in worst
        ]  # fmt: skip
        first = replace(
            each[0], n=len(train),
            note=f"of {len(train)} groups of {name} the worst is {groups.labels[worst[0]]}: {each[0].note}; the mean of all groups "
            f"is {scores.value.mean():.1f}",
        )  # fmt: skip
        return [first, *(replace(f, scope=groups.labels[at]) for f, at in zip(each, worst, strict=True))]

    def _margins(self, columns: int) -> dict[int, list[tuple[int, ...]]]:
        margins = {k: some_margins(columns, k, most, self.seed) for k, most in ((2, self.pairs), (3, self.triples))}
        return {k: own for k, own in margins.items() if own}


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of each group."""

    by_size: dict[int, Distances]
    value: Floats
    ceiling: Floats
    control: Floats
    """Of control rows, scaled to the rows of the release."""
    error: Floats
    """The standard error of the score."""

    @classmethod
    def of(cls, grouped: Grouped, margins: dict[int, list[tuple[int, ...]]], fresh: Fresh, drawn: Floats) -> Scores:
        """Count; ``drawn`` is how many rows a bootstrap has of each group."""
        by_size = {k: distances(grouped, own, drawn) for k, own in margins.items()}
        release, control = (
            np.mean([one.variation[which].mean(axis=0) for one in by_size.values()], axis=0) for which in ("release", "control")
        )
        ceiling = 1 - np.mean([one.bootstrap for one in by_size.values()], axis=0)
        total = np.zeros(len(drawn))
        for which in ("train", "release"):
            group, rows = grouped.groups[which], np.maximum(grouped.rows[which], 1.0)
            pull = np.mean([one.pull[which] for one in by_size.values()], axis=0)
            mean = np.bincount(group, pull, len(drawn)) / rows
            total += np.maximum(np.bincount(group, pull**2, len(drawn)) / rows - mean**2, 0.0) / rows
        near = np.array([fresh.near(0.0, one) for one in control])
        return cls(by_size, FULL * (1 - release), FULL * ceiling, FULL * (1 - near), FULL * np.sqrt(total))

    @property
    def count(self) -> int:
        """The margins."""
        return sum(len(one.margins) for one in self.by_size.values())

    @property
    def detail(self) -> dict[str, float]:
        """The score and the ceiling of each size of margins."""
        return {
            name: number
            for k, one in self.by_size.items()
            for name, number in (
                (SIZES[k], FULL * (1 - float(one.variation["release"].mean()))),
                (f"{SIZES[k]} ceiling", FULL * (1 - float(one.bootstrap.mean()))),
            )
        } | {"fresh rows": float(self.control[0])}

    def note(self, columns: Sequence[str]) -> str:
        """What was counted, and which margin is the worst."""
        detail = self.detail
        parts = [
            f"{len(one.margins)} {SIZES[k]} of columns score {detail[SIZES[k]]:.1f} (a bootstrap of the real rows "
            f"{detail[f'{SIZES[k]} ceiling']:.1f})"
            for k, one in self.by_size.items()
        ]
        pairs = self.by_size[2]
        worst = int(pairs.variation["release"][:, 0].argmax())
        names = " and ".join(columns[i] for i in pairs.margins[worst])
        return (
            f"{', '.join(parts)}; the furthest pair, {pairs.variation['release'][worst, 0]:.2f} apart, is {names}; fresh real "
            f"rows score {detail['fresh rows']:.1f}"
        )

    def finding(
        self, measure: Measure, at: int, *, n: int, note: str, among: int = 1, detail: dict[str, float] | None = None
    ) -> Finding:
        """Of one group; with ``among`` so many intervals hold at once (Bonferroni), as they must where the worst are picked."""
        value, ceiling = float(self.value[at]), float(self.ceiling[at])
        radius = float(ndtri(1 - 0.025 / among) * self.error[at])
        finding = measure.finding(
            value, n=n, note=note, detail=detail, baseline=ceiling, interval=(max(0.0, value - radius), min(FULL, value + radius))
        )
        return replace(finding, baseline_bad=min(ceiling, float(self.control[at])))
