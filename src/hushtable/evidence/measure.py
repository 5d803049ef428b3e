"""What a number about a release is: its name, which way is good, and the range it lies in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.evidence.metrics import Metric


class Page(StrEnum):
    """The part of a report that a measure of utility belongs to."""

    MARGINS = "margins"
    ASSOCIATIONS = "associations"
    RULES = "rules"
    JOINT = "joint"
    DOWNSTREAM = "downstream"
    QUERIES = "queries"
    LOSSES = "losses"
    GROUPS = "groups"
    TEXTS = "texts"
    COMPOSITE = "composite"


@dataclass(frozen=True, kw_only=True)
class Measure(Metric):
    """One measure of utility. Every finding of it has this direction and lies in this range."""

    name: str
    page: Page
    better: Better = Better.LOWER
    ideal: float | None = None
    """The best value, where that is not an end of the range."""
    low: float | None = 0.0
    """The least value there can be; None if there is no such bound."""
    high: float | None = 1.0
    """The largest value there can be; None if there is no such bound."""

    def finding(
        self,
        value: float | None,
        *,
        n: int,
        note: str,
        baseline: float | None = None,
        interval: tuple[float, float] | None = None,
        scope: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> Finding:
        """A finding of this measure; a value that is not finite counts as none, and then the note says why."""
        low, high = interval if interval is not None else (None, None)
        return Finding(
            name=self.name, scope=scope, value=_finite(value), low=_finite(low), high=_finite(high), baseline=_finite(baseline),
            better=self.better, ideal=self.ideal, subject=Subject.UTILITY, n=n, note=note, detail=dict(detail or {}),
            span=(self.low, self.high),
        )  # fmt: skip


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
