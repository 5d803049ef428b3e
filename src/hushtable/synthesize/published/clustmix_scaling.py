"""The scaling of ClustMix: numbers brought to the unit interval by the least and greatest value, or the quantiles, of the rows.

The scale is not paid for: one record with an extreme value moves all others, and the published proof takes the scale as given.
The certified twin, the step ``clustmix-certified``, scales by declared domains.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
from scipy.special import ndtri

from hushtable.synthesize.published.clustmix_encoding import Encoding
from hushtable.table.arrays import Floats

_KNOTS = 513
_TAIL = 1e-3
"""Normal scores are cut off at the quantiles of this share and of one minus it."""


class Scaling(StrEnum):
    """What the unit interval of a number is."""

    DECLARED = "declared"
    """Its declared domain."""
    RANGE = "range"
    """From the least to the greatest value of the rows (min-max scaling)."""
    NORMAL = "normal"
    """Normal scores of the rows' quantiles."""


@dataclass(frozen=True, eq=False)
class Scaler:
    """For each coordinate that is a place in a domain: knots in the declared domain, and where they go."""

    encoding: Encoding
    knots: dict[int, tuple[Floats, Floats]]

    @classmethod
    def of(cls, encoding: Encoding, vectors: Floats, scaling: Scaling) -> Self:
        """Read off the rows; places that are missing or do not vary stay as they are."""
        knots = {}
        for axis, span in zip(encoding.axes, encoding.spans, strict=True):
            if scaling is Scaling.DECLARED or not axis.ordered:
                continue
            there = vectors[:, span.start] if axis.column.required else vectors[vectors[:, span.start + 1] == 0, span.start]
            if not len(there) or there.min() == there.max():
                continue
            if scaling is Scaling.NORMAL:
                knots[span.start] = _normal(there)
            else:
                knots[span.start] = np.array([there.min(), there.max()]), np.array([0.0, 1.0])
        return cls(encoding, knots)

    def apply(self, vectors: Floats) -> Floats:
        """From places in the declared domain; missing ones stay in the middle."""
        scaled = vectors.copy()
        for place, (raw, new) in self.knots.items():
            absent = self._absent(vectors, place)
            scaled[:, place] = np.where(absent > 0.5, 0.5, np.interp(vectors[:, place], raw, new))
        return scaled

    def undo(self, vectors: Floats) -> Floats:
        """Back to places in the declared domain; of an average with missing records, the part that is not missing."""
        places = vectors.copy()
        for place, (raw, new) in self.knots.items():
            absent = self._absent(vectors, place)
            present = (vectors[:, place] - absent / 2) / np.maximum(1 - absent, 1e-9)
            places[:, place] = (1 - absent) * np.interp(present, new, raw) + absent / 2
        return places

    def _absent(self, vectors: Floats, place: int) -> Floats:
        axis = next(a for a, span in zip(self.encoding.axes, self.encoding.spans, strict=True) if span.start == place)
        return np.zeros(len(vectors)) if axis.column.required else np.clip(vectors[:, place + 1], 0.0, 1.0)


def _normal(values: Floats) -> tuple[Floats, Floats]:
    """Distinct values against the normal scores of their mean ranks, the whole scaled to the unit interval."""
    distinct, counts = np.unique(values, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2) / counts.sum()
    if len(distinct) > _KNOTS:
        knots = np.unique(np.searchsorted(ranks, np.linspace(0, 1, _KNOTS)).clip(0, len(distinct) - 1))
        knots = np.union1d(knots, [0, len(distinct) - 1])
        distinct, ranks = distinct[knots], ranks[knots]
    top = ndtri(1 - _TAIL)
    # Tied tails would make the inverse ambiguous: scores rise by a little everywhere.
    scores = np.clip(ndtri(ranks), -top, top) + 1e-9 * np.arange(len(ranks))
    return distinct, (scores - scores[0]) / (scores[-1] - scores[0])
