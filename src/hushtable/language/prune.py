"""Layers that change least: which of a language model's layers can be left out (after Garg 2025, chapter 5).

The cosine of what a layer is given and what it gives, over all tokens and numbers of a text together and without padding, says how
little it does. The publication compares layers on the private rows and asks for their accuracy between two cuts, unpaid; here the
cosines are those of public texts, or one noisy sum over the private ones, and how many layers go is decided beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

UNIT = 2**20
"""Sums of cosines are whole multiples of 1/UNIT."""
MOST = 512
"""The most layers of a model: only the L1 norm of an answer depends on it."""


class Rule(StrEnum):
    """Which cosines judge a layer."""

    PAIRWISE = "pairwise"
    """The mean of the cosines of its output with those of both neighbours."""
    COSINE = "cosine"
    """The cosine of its output with that of the next layer."""


class Texts(StrEnum):
    """Whose texts layers are compared on."""

    PUBLIC = "public"
    """Those of the pool: costs nothing."""
    PRIVATE = "private"
    """Those of the rows, as one noisy sum that is paid for."""


@dataclass(frozen=True, eq=False)
class LayerCosines:
    """The sum over the rows of the cosines of neighbouring layers, one for each layer.

    The cosines of a row are clipped to [-1, 1] and divided by the root of their number, so that a row, added or removed, changes
    the answer by at most ``UNIT`` in Euclidean norm, whatever the model (by sqrt(layers) in cosines).
    """

    text: str
    cosines: Callable[[Sequence[str]], Floats] | None = None
    """Texts x layers; a plan needs none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.text,)

    def answer(self, table: Table) -> Integers:
        """One number for each layer; a missing text is an empty one."""
        assert self.cosines is not None
        found = np.nan_to_num(self.cosines([text or "" for text in table.strings(self.text)]))
        # Towards zero: rounding must not make a row's part longer.
        parts = np.trunc(np.clip(found, -1, 1) * (UNIT / math.sqrt(max(found.shape[1], 1))))
        total: Integers = parts.astype(np.int64).sum(0)
        return total

    def largest(self, schema: Schema, rows: int) -> int:
        """Every row at cosine 1."""
        return rows * UNIT

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """One row's part, or the difference of two."""
        times = 1.0 if relation is Relation.ADD_REMOVE else 2.0
        return times * UNIT * math.sqrt(MOST), times * UNIT, 0


def means(sums: Integers, count: float) -> Floats:
    """The mean cosines of a noisy answer over about so many rows."""
    found: Floats = np.clip(sums * (math.sqrt(len(sums)) / (UNIT * max(count, 1.0))), -1.0, 1.0)
    return found


def kept(cosines: Floats, drop: int, rule: Rule) -> tuple[int, ...]:
    """The layers that stay, by number, when so many of those with the largest scores go (of equals, the deeper).

    ``cosines``: for each layer that of its input with its output. One layer stays whatever is asked for.
    """
    after = np.append(cosines[1:], np.nan)
    # The last layer has one neighbour only (the publication compares it with a layer that does not exist).
    lone = np.isnan(after)
    pairwise = np.where(lone, cosines, (cosines + after) / 2)
    scores = pairwise if rule is Rule.PAIRWISE else np.where(lone, cosines, after)
    order = np.lexsort((-np.arange(len(scores)), -scores))
    gone = set(order[: min(drop, len(scores) - 1)].tolist())
    return tuple(number for number in range(len(scores)) if number not in gone)


def spread(layers: int, left: int) -> tuple[int, ...]:
    """So many layers at even distances, the last among them: how a student is cut out of its teacher."""
    left = max(1, min(left, layers))
    return tuple(sorted({round((number + 1) * layers / left) - 1 for number in range(left)}))
