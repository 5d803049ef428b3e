"""What a release is good for, as a small set: the score, associations between columns, and combinations that cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hushtable.api.compare.knee import NOISE
from hushtable.evidence.finding import Better
from hushtable.measures import catalogue

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.api.compare.cell import Cell

RULES = "rules broken"
"""The share of released rows that break a rule which real rows keep; measured where the audit ``rules`` is there."""
USES = (catalogue.ASSOCIATION.name, RULES)
"""The measures that are shown and weighed beside the score."""

SHOWN = (*USES, catalogue.MEAN_TVD.name, catalogue.DISCRIMINATOR.name)
"""The order in which measures are shown beside the score: those that are weighed, then of single columns and of whole rows."""


@dataclass(frozen=True)
class Weakness:
    """The use for which a release is worst, compared with the others that were tried."""

    label: str
    value: float
    best: Cell
    """The release that is best for it."""
    best_value: float
    baseline: float | None
    """Of fresh real rows."""
    share: float
    """How far it lies on the way from the best to the worst that was tried: 1 if it is the worst."""


def weakness(take: Cell, cells: Sequence[Cell], axis: Axis) -> Weakness | None:
    """Where a release is worst of score, associations and rules; None if it is within noise of the best in all of them."""
    tried = [cell for cell in cells if not cell.failed]
    found = [one for name in (axis.name, *USES) if (one := _of(take, tried, axis, name)) is not None]
    return max(found, key=lambda one: one.share, default=None)


def _of(take: Cell, tried: Sequence[Cell], axis: Axis, name: str) -> Weakness | None:
    score = name == axis.name
    values = {cell.id: value for cell in tried if (value := _value(cell, name, score=score)) is not None}
    known = [cell for cell in tried if cell.id in values]
    if take.id not in values or len(known) < 2:
        return None
    sign = 1.0 if score or take.measures[name].better == Better.HIGHER else -1.0
    best = max(known, key=lambda cell: sign * values[cell.id])
    behind = sign * (values[best.id] - values[take.id])
    if behind <= NOISE:
        return None
    span = sign * (values[best.id] - min(values.values(), key=lambda value: sign * value))
    baseline = axis.baseline if score else take.measures[name].baseline
    return Weakness(axis.label if score else name, values[take.id], best, values[best.id], baseline, behind / span)


def _value(cell: Cell, name: str, *, score: bool) -> float | None:
    if score:
        return None if cell.score is None else cell.score.value
    measure = cell.measures.get(name)
    return None if measure is None else measure.value
