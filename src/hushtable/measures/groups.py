"""Whether a release is as close to the real rows for small groups of people as for large ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.bins import Fresh, coded
from hushtable.measures.catalogue import GROUP_GAP, GROUP_SCORE, GROUP_SHARE, GROUP_TVD
from hushtable.measures.downstream import target_of
from hushtable.measures.group_scores import Scores
from hushtable.measures.jackknife import jackknife
from hushtable.measures.partition import BINS, Bars, Draw, Partition, distances, partitions
from hushtable.measures.safe_histogram import FEW
from hushtable.table.arrays import Floats, Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

PARTS = 4
"""The most parts of the larger table that are compared."""
THIRDS = 6
"""Small groups are held against large ones where there are at least so many groups."""


@dataclass(frozen=True, kw_only=True)
class Groups(Utility):
    """For each group of people, how far the release lies from the real rows of this group, and how well it serves as data.

    Groups share a level, a quarter of a number, or two of these. Distances are mean total variations of the other columns
    inside the group. They shrink with the rows behind them, so the larger one of release and control is compared in parts as
    large as the smaller: a release of fresh real rows then has the distances of the control, group by group, and what lies
    beyond is the excess. Groups too small to expect some control rows of them are left out. Where there is a target, models
    that learnt from the release and from the training rows (the ones of ``downstream``) are scored on the group's control rows.

    Groups with findings of their own are picked, so their intervals hold for all groups at once (Bonferroni). That of a distance
    allows for the chance in its baseline, too; that of a size takes released rows for independent draws.
    """

    target: str = ""
    """The column to predict; when empty, the one with role target, else the first secret."""
    least: int = 30
    """The fewest training rows of a group."""
    fresh: int = 10
    """The fewest control rows that a group must be expected to have, by its share of the training rows."""
    shown: int = 12
    """Groups with findings of their own, the worst ones."""
    drawn: int = 60
    """Groups that a plot shows: the worst, and others of all sizes."""

    def __post_init__(self) -> None:
        """Nobody is shown alone."""
        if self.least < FEW:
            raise InputError(f"must be at least {FEW}, got {self.least}", where="least")
        for knob in ("fresh", "shown", "drawn"):
            if getattr(self, knob) < 1:
                raise InputError(f"must be at least 1, got {getattr(self, knob)}", where=knob)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Four findings for the table, then the worst groups of each kind."""
        if self.target and self.target not in case.train.schema:
            raise InputError(f"there is no column {self.target!r}", where="target")
        groups = partitions(case, self.least, self.fresh)
        if not groups:
            why = f"no group has at least {self.least} training rows and, by its share of them, {self.fresh} control rows"
            return [measure.finding(None, n=0, note=why) for measure in (GROUP_TVD, GROUP_GAP, GROUP_SHARE, GROUP_SCORE)]
        measured = Measured.of(case, groups, rng)
        scores = self._scored(case, groups, rng)
        worst = np.argsort(-measured.excess, kind="stable")
        whole, each = measured.distances(worst[: self.shown], measured.drawn(self.drawn, scores))
        size, sizes = measured.sizes(self.shown)
        score, losses = scores.findings(measured.labels, self.shown)
        return [whole, measured.gap(), size, score, *each, *sizes, *losses]

    def _scored(self, case: Case, groups: Sequence[Partition], rng: np.random.Generator) -> Scores:
        target = self.target or target_of(case)
        if not target:
            return Scores.nothing(groups, "no column has the role target or secret, and none was named")
        return Scores.of(case, target, groups, rng)


@dataclass(frozen=True, eq=False)
class Measured:
    """All groups, one after the other: how many rows they have, and how far release and control lie from the training rows."""

    labels: tuple[str, ...]
    rows: Floats
    """Training rows."""
    share: Floats
    """Of the training rows."""
    released: Floats
    """Of the released rows."""
    fresh: Floats
    """Of the control rows."""
    lines: Floats
    """How far the release lies from the training rows: all rows, then without each lot of them."""
    base_lines: Floats
    """The same of the control rows."""
    error: Floats
    """The standard error of the ratio of the released share to the real one."""
    scale: float
    """What sizes in the control are scaled by, to the rows of the release."""

    @classmethod
    def of(cls, case: Case, groups: Sequence[Partition], rng: np.random.Generator) -> Measured:
        """Count."""
        cut, draw = coded(case, BINS), Draw.of(case, PARTS, rng)
        columns = {name: Bars.of(cut, name) for name in case.columns}
        apart = [distances(partition, columns, draw) for partition in groups]
        shares = {which: np.concatenate([p.rows(which) for p in groups]) / t.rows for which, t in case.tables.items()}
        labels = tuple(label for p in groups for label in p.labels)
        share, released = shares["train"], np.maximum(shares["train"], shares["release"])
        part = released / share
        error = part * np.sqrt((1 / released - 1) / case.release.rows + (1 / share - 1) / case.train.rows)
        return cls(
            labels, np.concatenate([p.rows("train") for p in groups]).astype(np.float64),
            shares["train"], shares["release"], shares["control"],
            np.concatenate([part["release"] for part in apart], axis=1),
            np.concatenate([part["control"] for part in apart], axis=1), error, Fresh.of(case).ratio,
        )  # fmt: skip

    @property
    def distance(self) -> Floats:
        """How far the release lies from the training rows."""
        return np.asarray(self.lines[0], dtype=np.float64)

    @property
    def baseline(self) -> Floats:
        """How far the control rows do."""
        return np.asarray(self.base_lines[0], dtype=np.float64)

    @property
    def excess(self) -> Floats:
        """How much further the release lies than the control."""
        return self.distance - self.baseline

    def distances(self, worst: Integers, detail: dict[str, Any]) -> tuple[Finding, list[Finding]]:
        """The mean over groups, and the worst ones."""
        if np.isnan(self.distance).all():
            return GROUP_TVD.finding(None, n=0, note="there is no column other than those that define the groups"), []
        listed = [at for at in worst.tolist() if not np.isnan(self.distance[at])]
        at = listed[0]
        whole = GROUP_TVD.finding(
            float(np.nanmean(self.distance)), n=len(self.labels), baseline=float(np.nanmean(self.baseline)), detail=detail,
            interval=_around(np.nanmean(self.lines, axis=1), 0.0),
            note=f"mean over {len(self.labels)} groups; furthest beyond its baseline is {self.labels[at]}: "
            f"{self.distance[at]:.3f}, where fresh real rows have {self.baseline[at]:.3f}",
        )  # fmt: skip
        each = [
            GROUP_TVD.finding(
                float(self.distance[at]), n=int(self.rows[at]), baseline=float(self.baseline[at]), scope=self.labels[at],
                interval=_around(self.lines[:, at], 0.0, jackknife((self.lines - self.base_lines)[:, at], len(self.labels))),
                note=f"{int(self.rows[at]):,} training rows; {self.share[at]:.1%} of them, {self.released[at]:.1%} of the release",
            )
            for at in listed
        ]  # fmt: skip
        return whole, each

    def gap(self) -> Finding:
        """The mean excess of the smallest third of the groups less that of the largest third.

        Groups overlap, so the interval leaves out rows, not groups.
        """
        known = np.flatnonzero(~np.isnan(self.distance))
        if len(known) < THIRDS:
            return GROUP_GAP.finding(
                None, n=len(known), note=f"there are {len(known)} groups; a comparison of small with large groups needs {THIRDS}"
            )
        order = known[np.argsort(self.rows[known], kind="stable")]
        third = len(order) // 3
        lines = self.lines - self.base_lines
        small, large = lines[:, order[:third]].mean(1), lines[:, order[-third:]].mean(1)
        return GROUP_GAP.finding(
            float(small[0] - large[0]), n=2 * third, interval=_around(small - large, -1.0), baseline=0.0,
            note=f"the {third} smallest groups (up to {self.rows[order[third - 1]]:,.0f} training rows) lie {small[0]:+.3f} "
            f"beyond their baselines, the {third} largest (from {self.rows[order[-third]]:,.0f}) {large[0]:+.3f}",
        )  # fmt: skip

    def sizes(self, most: int) -> tuple[Finding, list[Finding]]:
        """By how much the shares of groups differ, the largest difference, and the groups that have the largest."""
        off, base = np.abs(self.released / self.share - 1), np.abs(self.fresh / self.share - 1) * self.scale
        radius = self.error * ndtri(1 - 0.025 / len(off))
        worst = np.argsort(-off, kind="stable")[:most].tolist()
        each = [
            GROUP_SHARE.finding(
                float(off[at]), n=int(self.rows[at]), baseline=float(base[at]), scope=self.labels[at],
                interval=(max(0.0, float(off[at] - radius[at])), float(off[at] + radius[at])),
                note=f"{self.share[at]:.2%} of the training rows, {self.released[at]:.2%} of the release",
            )
            for at in worst
        ]  # fmt: skip
        whole = GROUP_SHARE.finding(
            float(off.max()), n=len(off), baseline=float(base.max()), interval=(each[0].low or 0.0, each[0].high or 0.0),
            note=f"the worst of {len(off)} groups is {self.labels[worst[0]]}: {each[0].note}; the baseline is the worst group of "
            "the control rows",
        )  # fmt: skip
        return whole, each

    def drawn(self, most: int, scores: Scores) -> dict[str, Any]:
        """What a plot needs: the half that is worst, and others of all sizes."""
        worst = np.argsort(-np.nan_to_num(self.excess), kind="stable")
        rest = worst[most // 2 :]
        rest = rest[np.argsort(self.rows[rest], kind="stable")]
        places = np.unique(np.linspace(0, len(rest) - 1, min(len(rest), most - most // 2)).astype(np.int64))
        selected = np.concatenate([worst[: most // 2], rest[places]]) if len(rest) else worst
        numbers = {
            "rows": self.rows, "distance": self.distance, "baseline": self.baseline,
            "score": scores.release, "score_baseline": scores.train,
        }  # fmt: skip
        return {
            "groups": [self.labels[at] for at in selected.tolist()],
            **{key: value[selected].tolist() for key, value in numbers.items()},
        }


def _around(lines: Floats, least: float, radius: float | None = None) -> tuple[float, float]:
    """The interval of a value that cannot be less than this, nor more than 1; by the jackknife unless a radius is given."""
    radius = jackknife(lines) if radius is None else radius
    return max(least, float(lines[0]) - radius), min(1.0, float(lines[0]) + radius)
