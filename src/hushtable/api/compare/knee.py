"""The knee of the front: the strictest release from which no step to a better score is worth what it gives up.

Without conditions nobody has said how much may be given up, and the best score is then that of the weakest promise. So a better
score has a price: for each doubling of epsilon (or of what attacks may gain, or halving of k) it must grow by ``RATE``, and for a
weaker kind of evidence by ``KIND``. Proven, verified and measured are not added up: the largest of these prices counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.api.compare.cell import Cell, Score
from hushtable.privacy.guarantee import Assurance

NOISE = 0.01
"""Scores that differ by no more than this are taken for equal, whatever their intervals say."""
MOST = 0.05
"""Scores that differ by more than this are not, however wide: an interval that holds everything says that nothing is known."""
RATE = 0.02
"""What a doubling of epsilon, or of what attacks may gain, or a halving of k must add to the score: twice what counts as noise."""
KIND = 0.05
"""What giving up a proof for a verified promise must add to the score, and that for none; both for both."""
LEAST = 0.02
"""Upper bounds of what attacks gain below this are taken for equal: on most tables they cannot be smaller."""


def alike(one: Score, other: Score) -> bool:
    """Whether two scores cannot be distinguished: within ``NOISE``, or within ``MOST`` and the lesser may be the larger."""
    less, more = sorted((one, other), key=lambda score: score.value)
    gap = more.value - less.value
    return gap <= NOISE + 1e-9 or (gap <= MOST + 1e-9 and less.upper >= more.value)


@dataclass(frozen=True)
class Step:
    """From one release to another: what the score grows by, and what is given up."""

    start: Cell
    stop: Cell

    @property
    def grown(self) -> float:
        """By how much the score is larger; negative if it is smaller."""
        return (self.stop.score.value if self.stop.score else 0.0) - (self.start.score.value if self.start.score else 0.0)

    @property
    def noise(self) -> bool:
        """Whether the two scores cannot be distinguished."""
        return self.start.score is not None and self.stop.score is not None and alike(self.start.score, self.stop.score)

    @property
    def exposes(self) -> bool:
        """Whether attacks may gain much more: the worst of many attacks varies by chance, by less than a factor of two."""
        return _doublings(_bound(self.start), _bound(self.stop)) >= 1

    @property
    def price(self) -> float:
        """By how much the score must grow; 0 where nothing is given up."""
        if self.stop.strength < self.start.strength:
            return KIND * (self.start.strength - self.stop.strength)
        measured = RATE * _doublings(_bound(self.start), _bound(self.stop)) if self.exposes else 0.0
        if self.stop.strength > self.start.strength:
            return measured
        promised = _doublings(*_promises(self.start, self.stop))
        return max(measured, NOISE, RATE * promised) if promised > 0 else measured

    @property
    def worth(self) -> bool:
        """Whether the score grows by more than its price. Where nothing is given up, any better score is worth it."""
        return self.grown > self.price + 1e-9 and (self.price == 0 or not self.noise)


def knee(cells: Sequence[Cell]) -> Cell | None:
    """Of cells that have a score, the strictest from which no step is worth its price; None if there is no cell.

    Of cells that are equally strict the one with the smallest bound comes first. Cells with alarms take part only if all have some.
    """
    calm = [cell for cell in cells if not cell.alarms] or list(cells)
    order = sorted(calm, key=lambda cell: (*cell.strictness, -_bound(cell)), reverse=True)
    settled = (cell for cell in order if not any(Step(cell, other).worth for other in calm))
    return next(settled, None)


def _bound(cell: Cell) -> float:
    """What attacks may gain; all where that is not known."""
    return max(LEAST, 1.0 if cell.worst is None else cell.worst.upper)


def _promises(start: Cell, stop: Cell) -> tuple[float, float]:
    """What the promises of two cells with the same kind of evidence allow, the larger the weaker."""
    if start.assurance is Assurance.PROVEN:
        return start.guarantee.epsilon or 0.0, stop.guarantee.epsilon or 0.0
    return 1 / (start.guarantee.k or 1.0), 1 / (stop.guarantee.k or 1.0)


def _doublings(start: float, stop: float) -> float:
    """How often a number was doubled, at least 0."""
    return max(0.0, math.log2(stop / start)) if start > 0 and stop > 0 else 0.0
