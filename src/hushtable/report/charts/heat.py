"""Heat maps of association: one triangle each for the training rows, the release and their difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.report.charts.plots import svg, text, titled
from hushtable.report.html import Html, element
from hushtable.report.words import fit, fixed
from hushtable.table.arrays import Floats

COLUMNS = 16
"""At most so many columns are drawn: more would not be readable on a phone or on paper."""
CELL = 18.0
MARGIN = 78.0
LETTER = 12.0


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two symmetric matrices over the same columns."""

    columns: list[str]
    train: Floats
    release: Floats

    @classmethod
    def of(cls, detail: Mapping[str, Any]) -> Pairs | None:
        """From a finding's detail; None if it does not hold two square matrices."""
        columns, train, release = (detail.get(key) for key in ("columns", "train", "release"))
        if not (isinstance(columns, list) and isinstance(train, list) and isinstance(release, list) and len(columns) > 1):
            return None
        square = [
            len(rows) == len(columns) and all(isinstance(r, list) and len(r) == len(columns) for r in rows)
            for rows in (train, release)
        ]
        if not all(square):
            return None
        return cls([str(c) for c in columns], np.array(train, np.float64), np.array(release, np.float64))

    @property
    def gap(self) -> Floats:
        """Release minus train; zero where either is unknown."""
        return np.nan_to_num(self.release - self.train)

    def worst(self, most: int = COLUMNS) -> Pairs:
        """Only the columns with the largest differences, in their own order."""
        if len(self.columns) <= most:
            return self
        size = np.abs(self.gap - np.diag(np.diag(self.gap))).max(axis=1)
        largest = np.sort(np.argsort(-size, kind="stable")[:most])
        cut = np.ix_(largest, largest)
        return Pairs([self.columns[i] for i in largest], self.train[cut], self.release[cut])

    def largest(self, most: int) -> list[tuple[str, str, float, float]]:
        """The pairs that differ most: both names, in train, in the release."""
        rows, columns = np.triu_indices(len(self.columns), 1)
        order = np.argsort(-np.abs(self.gap[rows, columns]), kind="stable")[:most]
        return [
            (self.columns[i], self.columns[j], float(self.train[i, j]), float(self.release[i, j]))
            for i, j in zip(rows[order], columns[order], strict=True)
        ]


def strength_map(columns: Sequence[str], matrix: Floats, label: str) -> Html:
    """Associations from 0 (paper) to 1 (full colour)."""
    return _triangle(columns, matrix, label, 1.0, "unknown")


def difference_map(columns: Sequence[str], gap: Floats, label: str, reach: float) -> Html:
    """Differences: blue where the release is stronger, orange where it is weaker, full colour at ``reach``."""
    return _triangle(columns, gap, label, reach, "weaker")


def reach(gap: Floats) -> float:
    """The difference that gets the full colour: at least 0.1, so that noise does not look like a fault."""
    return max(0.1, float(np.ceil(np.abs(gap).max() * 10 - 1e-9) / 10))


def key(steps: Sequence[tuple[str, float, str]], label: str) -> Html:
    """A colour key: (words, opacity, colour class) for each step."""
    wide = 44.0
    marks = [
        titled(
            title,
            element("rect", class_=colour, x=i * wide, y=0, width=wide - 2, height=9, fill_opacity=opacity),
            text(i * wide, 21, title),
        )
        for i, (title, opacity, colour) in enumerate(steps)
    ]
    return svg(wide * len(steps), 24, label, marks, class_="key")


def _triangle(columns: Sequence[str], matrix: Floats, label: str, full: float, weaker: str) -> Html:
    side = len(columns) * CELL
    cells = []
    for i in range(1, len(columns)):
        for j in range(i):
            value = float(matrix[i, j])
            words = f"{columns[j]}, {columns[i]}: {fixed(value)}"
            cells.append(_cell(j * CELL, i * CELL, value / full, weaker, words))
    # Names stand on the diagonal: a pair is where the row of the lower name meets the column of the upper one.
    names = [
        titled(name, text(i * CELL + 3, i * CELL + 13, fit(name, side - i * CELL + MARGIN - 4, LETTER)))
        for i, name in enumerate(columns)
    ]
    return svg(side + MARGIN, side, label, element("g", cells, class_="release"), names, class_="heat")


def _cell(x: float, y: float, strength: float, weaker: str, words: str) -> Html:
    known = bool(np.isfinite(strength))
    opacity = round(min(1.0, 0.04 + 0.96 * abs(strength)), 2) if known else None
    colour = "unknown" if not known else weaker if strength < 0 else None
    return element("rect", element("title", words), class_=colour, x=x, y=y, width=CELL - 1, height=CELL - 1, fill_opacity=opacity)
