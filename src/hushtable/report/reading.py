"""Findings as the report reads them: plain values made safe, and the word that judges each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hushtable.evidence.verdict import LEVEL
from hushtable.report import words
from hushtable.report.meanings import Metric, metric

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
    risk: str = ""
    """Which of the three risks an attack is an instance of; its value is then a residual risk."""
    p: float | None = None
    p_adjusted: float | None = None
    """Corrected for all tests of the audit."""
    detectable: float | None = None
    """The smallest planted leak that it noticed."""
    tried: float | None = None
    """The largest leak that was planted; None if none was."""
    span: tuple[float | None, float | None] | None = None
    """The least and the largest value there can be, if it is known."""
    detail: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, finding: Mapping[str, Any], tried: float | None = None) -> Reading:
        """From ``Finding.to_json()``; a missing key is an empty value. ``tried`` is the largest leak that was planted."""
        text = {key: str(finding.get(key) or "") for key in ("name", "scope", "better", "subject", "note", "risk")}
        numbers = ("value", "low", "high", "baseline", "baseline_bad", "p", "p_adjusted", "detectable")
        known = {key: _finite(finding.get(key)) for key in numbers}
        if known["baseline_bad"] is None:
            known["baseline_bad"] = known["baseline"]
        span = finding.get("span")
        ends = (_finite(span[0]), _finite(span[1])) if isinstance(span, (list, tuple)) and len(span) == 2 else None
        return cls(**text, **known, n=int(finding.get("n") or 0), tried=tried, span=ends, detail=finding.get("detail") or {})

    @property
    def metric(self) -> Metric | None:
        """What is known about the metric; None for a plugin's."""
        return metric(self.name)

    @property
    def label(self) -> str:
        """Name and scope."""
        return f"{self.name}, {self.scope}" if self.scope else self.name

    @property
    def numbers(self) -> list[float]:
        """Everything a plot of it must hold."""
        return [x for x in (self.value, self.low, self.high, self.baseline) if x is not None]

    @property
    def tested(self) -> bool:
        """Whether it brought an exact test against people outside the table."""
        return self.p_adjusted is not None

    @property
    def percent(self) -> bool:
        """Whether it is told in percent: a residual risk always is."""
        return bool(self.risk) or bool(self.metric and self.metric.share)

    @property
    def page(self) -> str:
        """The part of a report that it belongs to; empty for what is not a known measure of utility."""
        return self.metric.page if self.metric else ""

    @property
    def direction(self) -> str:
        """Which way is good."""
        return f"{self.better} is better" if self.better else ""

    @property
    def reach(self) -> str:
        """The range it can lie in; empty if it is not known."""
        low, high = (0.0, 1.0) if self.risk else self.span or (None, None)
        if low is not None and high is not None:
            return f"{self.told(low)} to {self.told(high)}"
        if low is not None:
            return f"{self.told(low)} and up"
        return f"up to {self.told(high)}" if high is not None else ""

    def told(self, value: float | None) -> str:
        """A number in the unit of the metric."""
        return words.share(value) if self.percent else words.number(value)

    def interval(self) -> str:
        """The interval in the unit of the metric; empty if there is none."""
        return words.interval(self.low, self.high, percent=self.percent)

    @property
    def excess(self) -> float | None:
        """How much worse than its baseline, in the bad direction; None if it has none."""
        if self.value is None or self.baseline is None:
            return None
        return (self.baseline - self.value) if self.better == "higher" else (self.value - self.baseline)

    @property
    def surely_worse(self) -> bool:
        """Whether chance does not explain it: by its corrected test, else if its whole interval is worse than the baseline.

        A finding of utility without an interval goes by the p of its own test (and must be worse at all), else, on a scale of 0 to
        1, by whether it is further off than ``CLOSE``; on other scales there is nothing to judge it by.
        """
        if self.p_adjusted is not None:
            return self.p_adjusted <= LEVEL
        if self.baseline_bad is None or self.value is None:
            return False
        end = self.high if self.better == "higher" else self.low
        if end is None and self.subject == "utility":
            excess = self.excess or 0.0
            return excess > 0 and self.chance <= LEVEL if self.chance is not None else self.scaled and excess > CLOSE
        end = self.value if end is None else end
        return end < self.baseline_bad if self.better == "higher" else end > self.baseline_bad

    @property
    def scaled(self) -> bool:
        """Whether it lies on a scale that ends at 1, so that it can be said how far is far."""
        return bool(self.metric and self.metric.scaled)

    @property
    def chance(self) -> float | None:
        """The p-value of its own test that the release is drawn as real rows are; None if it has none."""
        return _finite(self.detail.get("p"))

    @property
    def verdict(self) -> Verdict:
        """The word on it. No excess is never called safe."""
        if self.value is None:
            return Verdict(Tone.OPEN, "not computed")
        if self.baseline is None and not self.tested:
            return Verdict(Tone.OPEN, "no baseline to compare with")
        return self._privacy() if self.subject == "privacy" else self._utility()

    @property
    def power(self) -> str:
        """What it made of leaks that were planted to try it out; empty if none was."""
        if self.detectable is not None:
            return f"would have noticed a leak of {words.share(self.detectable)}"
        return f"would have missed even a leak of {words.share(self.tried)}" if self.tested and self.tried is not None else ""

    def _privacy(self) -> Verdict:
        if self.surely_worse:
            return Verdict(Tone.ALARM, "worse than for people outside" if self.tested else "worse than fresh rows")
        return Verdict(Tone.OPEN, "no excess found (not a proof of safety)")

    def _utility(self) -> Verdict:
        excess, judged = self.excess or 0.0, self.low is not None or self.high is not None or self.chance is not None
        if excess > 0 and not judged and not self.scaled:
            return Verdict(Tone.OPEN, "no interval to judge it by")
        if excess <= 0 or (judged and not self.surely_worse):
            return Verdict(Tone.CALM, "no worse than real rows")
        if not self.scaled:
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
