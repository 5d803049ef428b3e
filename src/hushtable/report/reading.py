"""Findings as the report reads them: plain values made safe, what each metric means, and the word that judges each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hushtable.report import words

CLOSE, OFF = 0.02, 0.1
"""Up to so much worse than real rows is "close to real"; beyond the second it is "far from real"."""


class Tone(StrEnum):
    """How a verdict sounds; always shown with its words, never by colour alone."""

    ALARM = "alarm"
    WATCH = "watch"
    CALM = "calm"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """A word on one finding, from its own numbers alone."""

    tone: Tone
    words: str


@dataclass(frozen=True)
class Metric:
    """What a known metric means. All run from 0 to 1, so one rule says what is close; ``share`` if it is told in percent."""

    meaning: str
    share: bool = False


METRICS = {
    "identical match share": Metric(
        "the share of released rows that equal a training row, beside the same share of fresh real rows", share=True
    ),
    "published verbatim": Metric(
        "the share of training rows that stand in the release as they are, beyond what chance repeats", share=True
    ),
    "closest record score": Metric(
        "0 if released rows lie no closer to training rows than fresh real rows do, 1 if every one lies suspiciously close"
    ),
    "mean TVD": Metric("the mean over all columns of the total variation distance"),
    "mean KS": Metric("the mean of the Kolmogorov-Smirnov distance over the columns that have an order"),
    "mean Wasserstein": Metric("the mean of the Wasserstein distance over the columns that have an order"),
    "TVD": Metric("total variation distance of one column: the share of rows that would have to change to make the two alike"),
    "KS": Metric("Kolmogorov-Smirnov distance of one column: the largest gap between the two cumulative distributions"),
    "Wasserstein": Metric("how far the values of one column would have to move on average, as a share of its domain"),
    "association difference": Metric(
        "the mean over all pairs of columns of the difference in Cramer's V, from 0 (no association) to 1"
    ),
    "train on release, test on real: AUC": Metric(
        "how well a model that learnt from the release ranks real people it never saw: 1 is perfect, 0.5 is guessing"
    ),
    "train on release, test on real: R2": Metric(
        "how much of a number a model that learnt from the release explains for real people: 1 is all, 0 is none"
    ),
    "train on release, test on real": Metric("how well a model that learnt from the release predicts real people it never saw"),
}


@dataclass(frozen=True)
class Reading:
    """One finding; numbers that are missing or not finite are None."""

    name: str
    scope: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    baseline_bad: float | None
    better: str
    subject: str
    n: int
    note: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, finding: Mapping[str, Any]) -> Reading:
        """From ``Finding.to_json()``; a missing key is an empty value."""
        name, scope, better, subject, note = (str(finding.get(key) or "") for key in ("name", "scope", "better", "subject", "note"))
        value, low, high, baseline, bad = (
            _finite(finding.get(key)) for key in ("value", "low", "high", "baseline", "baseline_bad")
        )
        n, detail = int(finding.get("n") or 0), finding.get("detail") or {}
        return cls(name, scope, value, low, high, baseline, baseline if bad is None else bad, better, subject, n, note, detail)

    @property
    def metric(self) -> Metric | None:
        """What is known about the metric; None for a plugin's."""
        return METRICS.get(self.name)

    @property
    def label(self) -> str:
        """Name and scope."""
        return f"{self.name}, {self.scope}" if self.scope else self.name

    @property
    def numbers(self) -> list[float]:
        """Everything a plot of it must hold."""
        return [x for x in (self.value, self.low, self.high, self.baseline) if x is not None]

    @property
    def direction(self) -> str:
        """Which way is good."""
        return f"{self.better} is better" if self.better else ""

    def told(self, value: float | None) -> str:
        """A number in the unit of the metric."""
        return words.share(value) if self.metric and self.metric.share else words.number(value)

    def interval(self) -> str:
        """The interval in the unit of the metric; empty if there is none."""
        return words.interval(self.low, self.high, percent=bool(self.metric and self.metric.share))

    @property
    def excess(self) -> float | None:
        """How much worse than its baseline, in the bad direction; None if it has none."""
        if self.value is None or self.baseline is None:
            return None
        return (self.baseline - self.value) if self.better == "higher" else (self.value - self.baseline)

    @property
    def surely_worse(self) -> bool:
        """Whether even the favourable end of the interval is worse than the baseline and what excuses it."""
        if self.baseline_bad is None or self.value is None:
            return False
        if self.better == "higher":
            return (self.value if self.high is None else self.high) < self.baseline_bad
        return (self.value if self.low is None else self.low) > self.baseline_bad

    @property
    def verdict(self) -> Verdict:
        """The word on it. No excess is never called safe."""
        if self.value is None:
            return Verdict(Tone.OPEN, "not computed")
        if self.baseline is None:
            return Verdict(Tone.OPEN, "no baseline to compare with")
        return self._privacy() if self.subject == "privacy" else self._utility()

    def _privacy(self) -> Verdict:
        if self.surely_worse:
            return Verdict(Tone.ALARM, "worse than fresh rows")
        return Verdict(Tone.OPEN, "no excess found (not a proof of safety)")

    def _utility(self) -> Verdict:
        excess = self.excess or 0.0
        if not self.surely_worse:
            return Verdict(Tone.CALM, "no worse than real rows")
        if self.metric is None:
            return Verdict(Tone.WATCH, "worse than real rows")
        if excess <= CLOSE:
            return Verdict(Tone.CALM, "close to real")
        return Verdict(Tone.WATCH, "noticeably off") if excess <= OFF else Verdict(Tone.ALARM, "far from real")


def worst_first(reading: Reading) -> tuple[bool, bool, float]:
    """A sort key: surely worse than the baseline, then by how much, then what has no value."""
    excess = reading.excess
    return (not reading.surely_worse, excess is None, -(excess or 0.0))


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
