"""What of a column is drawn: its ranges in order, or its largest levels with the rest folded together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hushtable.measures.safe_histogram import span

LEVELS = 12
"""So many levels are drawn on their own."""
RANGES = 24
"""At most so many ranges of a number; neighbours are put together beyond that."""


@dataclass(frozen=True)
class Bar:
    """A level or range, and its share of the training rows and of the release."""

    label: str
    train: float
    release: float

    @property
    def size(self) -> float:
        """The larger of the two shares."""
        return max(self.train, self.release)


def bars(detail: Mapping[str, Any]) -> list[Bar]:
    """The bars of a margin's detail as they come, the last one being the missing values; empty if it is not one."""
    labels, train, release = (detail.get(key) for key in ("labels", "train", "release"))
    if not (isinstance(labels, list) and isinstance(train, list) and isinstance(release, list)):
        return []
    if not len(labels) == len(train) == len(release) or any(isinstance(x, list) for x in (*train, *release)):
        return []
    return [Bar(str(label), float(a or 0.0), float(b or 0.0)) for label, a, b in zip(labels, train, release, strict=True)]


def limits(shares: list[Bar]) -> list[str]:
    """The limits of ranges that follow one another ("1 to 3", "3 to 8"); empty if the labels are not such ranges.

    An open range ("up to 3" at the beginning, "from 8" at the end) has an empty one.
    """
    parts = [_limits(bar.label) for bar in shares[:-1]]
    if not parts or any(len(part) != 2 for part in parts) or any(a[1] != b[0] or not a[1] for a, b in pairwise(parts)):
        return []
    return [parts[0][0], *(part[1] for part in parts)]


def _limits(label: str) -> list[str]:
    if label.startswith("up to "):
        return ["", label.removeprefix("up to ")]
    return [label.removeprefix("from "), ""] if label.startswith("from ") else label.split(" to ")


def ranges(shares: list[Bar], most: int = RANGES) -> tuple[list[Bar], list[str], Bar | None]:
    """Ranges in order, neighbours put together if there are too many; what to write at their limits; the missing values if any."""
    ends = limits(shares)
    size = -(-(len(ends) - 1) // most)
    ends = [*ends[:-1:size], ends[-1]]
    inner = shares[:-1]
    groups = [inner[i : i + size] for i in range(0, len(inner), size)]
    shown = [_together(span(a, b), group) for (a, b), group in zip(pairwise(ends), groups, strict=True)]
    ends = [ends[0] or shown[0].label, *ends[1:-1], ends[-1] or shown[-1].label]
    return shown, ends, shares[-1] if shares[-1].size else None


def levels(shares: list[Bar], *, ordered: bool, most: int = LEVELS) -> list[Bar]:
    """The largest levels, the rest as one bar, then the missing values; by size, or in their own order if they have one."""
    inner, missing = [bar for bar in shares[:-1] if bar.size], shares[-1]
    largest = sorted(inner, key=lambda bar: -bar.size)[: most if len(inner) > most + 1 else most + 1]
    rest = [bar for bar in inner if bar not in largest]
    shown = [bar for bar in inner if bar in largest] if ordered else sorted(largest, key=lambda bar: (-bar.train, -bar.release))
    folded = [_together(f"other ({len(rest)} levels)", rest)] if rest else []
    return [*shown, *folded, *([missing] if missing.size else [])]


def _together(label: str, parts: Iterable[Bar]) -> Bar:
    sums = np.array([(bar.train, bar.release) for bar in parts]).sum(axis=0)
    return Bar(label, float(sums[0]), float(sums[1]))
