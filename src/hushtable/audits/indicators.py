"""Indicators: whether the release repeats, or crowds around, the very rows it was made from (C1).

Each number stands beside the same number for fresh real rows that the release never saw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import Rate, clopper_pearson, residual_risk, wilson
from hushtable.evidence.finding import Audit, Better, Finding, Subject

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class IdenticalMatches(Audit):
    """Identical match share: released rows that equal a training row, and people who are published verbatim.

    The baseline of the first is the share of control rows that equal a training row: what chance alone repeats. The
    second is a residual risk, (r - c)/(1 - c), with r the share of training rows and c the share of control rows that
    stand in the release; its interval is made of the two Wilson intervals.
    """

    level: float = 0.95
    """Confidence of the intervals."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Two findings; no distance is computed."""
        ids = case.row_ids()
        copied = np.isin(ids["release"], ids["train"])
        chance = np.isin(ids["control"], ids["train"])
        share = clopper_pearson(int(copied.sum()), len(copied), self.level)
        fresh = clopper_pearson(int(chance.sum()), len(chance), self.level)
        published = np.isin(ids["train"], ids["release"])
        others = np.isin(ids["control"], ids["release"])
        attack = wilson(int(published.sum()), len(published), self.level)
        control = wilson(int(others.sum()), len(others), self.level)
        risk = residual_risk(attack, control)
        excess = max(0.0, float(published.mean() - others.mean())) / max(1 - float(others.mean()), 1e-12)
        return [
            Finding(
                name="identical match share",
                value=share.value, low=share.low, high=share.high, baseline=fresh.value, baseline_bad=fresh.high,
                better=Better.LOWER, subject=Subject.PRIVACY, n=len(copied),
                note=_told(
                    share.low > fresh.high,
                    f"{_percent(share.value)} of the released rows equal a training row; of fresh rows {_percent(fresh.value)} do",
                ),
            ),
            Finding(
                name="published verbatim",
                value=min(max(excess, risk.low), risk.high), low=risk.low, high=risk.high, baseline=0.0,
                better=Better.LOWER, subject=Subject.PRIVACY, n=len(published),
                note=_told(
                    risk.low > 0,
                    f"{_percent(float(published.mean()))} of the training rows stand in the release as they are, and "
                    f"{_percent(float(others.mean()))} of the control rows, which it never saw",
                ),
            ),
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ClosestRecord(Audit):
    """Distance to the closest record, as a score from 0 (like fresh rows) to 1 (every row too close).

    Let t be the alpha-quantile of the distances from control rows to their nearest training row. The score is
    (s - c)/(1 - c), with s the share of released rows, and c that of control rows, within t of a training row. This is
    the percentile form of Lu et al. with two repairs: both sides are searched in the same training rows, so the score
    does not drift with the size of the release or of the control, and rows *at* distance t count on both sides, so that
    it still sees something where many real rows repeat one another.
    """

    alpha: float = 0.02
    """The quantile that calls a distance suspiciously small."""
    bootstrap: int = 1000
    """Resamples for the interval."""
    level: float = 0.95
    """Confidence of the interval."""

    def __post_init__(self) -> None:
        """Alpha inside (0, 1)."""
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha lies between 0 and 1, got {self.alpha}", where="ClosestRecord")

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, and the distributions for a plot."""
        generalized = case.generalized
        # A cell covers many people at distance 0: read as a value drawn from it, it is compared like with like.
        case = case.read_as_values()
        release = case.nearest("release", "train").distance[:, 0]
        control = case.nearest("control", "train").distance[:, 0]
        threshold = _threshold(control, self.alpha)
        chance = float((control <= threshold).mean())
        if chance == 1:
            return [_nothing(len(release), threshold)]
        value = self._score(release, control)
        draws = np.array([self._score(_resample(release, rng), _resample(control, rng)) for _ in range(self.bootstrap)])
        low, high = np.quantile(draws, [(1 - self.level) / 2, (1 + self.level) / 2])
        # Wholly below zero: no excess, but the interval says how much could have hidden, and is never a point.
        hidden = float(high) if high > 0 else min(1.0, float(high - low) / 2)
        score = Rate(max(0.0, value), max(0.0, float(low)), hidden)
        edges, heights = _densities({"release": release, "control": control})
        reading = "; intervals, sets and * were read as values drawn from them" if generalized else ""
        verdict = (
            "more released rows lie very close to a training row than fresh real rows do"
            if low > 0
            else "no excess of close rows was found, which is no proof that there is none"
        )
        return [
            Finding(
                name="closest record score",
                value=score.value, low=score.low, high=score.high, baseline=0.0,
                better=Better.LOWER, subject=Subject.PRIVACY, n=len(release),
                note=f"{verdict} (median distance {np.median(release):.3g}, fresh rows {np.median(control):.3g}){reading}",
                detail={"edges": edges, **heights, "threshold": threshold, "chance": chance},
            )
        ]  # fmt: skip

    def _score(self, release: Floats, control: Floats) -> float:
        threshold = _threshold(control, self.alpha)
        chance = float((control <= threshold).mean())
        # A resample in which every fresh row is close says nothing about an excess.
        return (float((release <= threshold).mean()) - chance) / (1 - chance) if chance < 1 else 0.0


def _nothing(rows: int, threshold: float) -> Finding:
    reason = f"every fresh real row lies within {threshold:.3g} of a training row: no release can be closer than that"
    return Finding(
        name="closest record score", value=None, better=Better.LOWER, subject=Subject.PRIVACY, n=rows, note=reason
    )  # fmt: skip


def _threshold(control: Floats, alpha: float) -> float:
    return float(np.quantile(control, alpha, method="higher"))


def _resample(values: Floats, rng: np.random.Generator) -> Floats:
    return values[rng.integers(0, len(values), len(values))]


def _densities(samples: dict[str, Floats], bins: int = 40) -> tuple[list[float], dict[str, list[float]]]:
    """Shares of each sample in common bins; the far tail goes into the last one."""
    top = max(float(np.quantile(v, 0.995)) for v in samples.values()) or 1.0
    edges = np.linspace(0, top, bins + 1)
    return edges.tolist(), {n: (np.histogram(np.minimum(v, top), edges)[0] / len(v)).tolist() for n, v in samples.items()}


def _told(excess: bool, text: str) -> str:
    if excess:
        return f"{text}: more than chance explains"
    return f"{text}: no more than chance explains, which is no proof of safety"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
