"""A finding: one number about a release, with its interval, its baseline and its direction."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from hushtable.evidence.case import Case


class Better(StrEnum):
    """Which way is good."""

    LOWER = "lower"
    HIGHER = "higher"


class Subject(StrEnum):
    """What a finding is about."""

    PRIVACY = "privacy"
    UTILITY = "utility"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit found. ``value`` is None where it could not be computed, and ``note`` says why."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    """The same number for people who are not in the table, or for real data: what no release can beat."""
    baseline_bad: float | None = None
    """The end of the baseline's own interval that excuses most: only beyond it is a finding surely worse."""
    better: Better
    subject: Subject
    n: int
    """How many rows, or columns, or pairs it rests on."""
    note: str
    """One sentence for the reader: what it means here."""
    scope: str = ""
    """The column or pair it is about; empty for the whole table."""
    seconds: float = 0.0
    detail: dict[str, Any] = field(default_factory=dict)
    """What a plot needs: histograms, matrices; never a row."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; numbers that are not finite become None."""
        return {key: _plain(value) for key, value in asdict(self).items()}


class Audit(ABC):
    """A frozen dataclass of knobs that turns a case into findings."""

    @abstractmethod
    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Look at train, release and control."""


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, StrEnum) else value
