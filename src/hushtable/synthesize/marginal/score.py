"""The score of candidate marginals in the exponential mechanism, for AIM, MST, MWEM and PrivBayes, in whole numbers.

What each method takes off the distance (its bias) and how it weighs candidates stands with the method: ``aim.aim_score`` is AIM's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hushtable.errors import InputError
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

GRID = 1024
"""Counts are compared in units of 1/GRID of a row."""
MOST = float(1 << 33)
"""Released numbers of rows beyond this are noise, and are cut down to it: so no sum of 64-bit integers can wrap around."""


@dataclass(frozen=True, eq=False)
class MarginalScores:
    """The L1 distance between the counts of each candidate marginal and what a released model expects, weighted.

    score_r = w_r (sum over cells |GRID count - round(GRID expected)| - round(GRID bias_r)), all in integers.

    What one record can change: it lies in exactly one cell of each marginal, so adding or removing it moves one count
    by 1, one absolute value by at most GRID (the triangle inequality), and the score by at most w_r GRID. The expected
    counts, the weights and the biases are released or public and do not move. Replacing a record is one removal and one
    addition: at most twice that. (McKenna, Miklau, Sheldon 2021, and McKenna, Mullins, Sheldon, Miklau 2022, in integers.)
    """

    candidates: tuple[tuple[str, ...], ...]
    """The columns of each marginal."""
    model: Sequence[Floats]
    """What the model expects in each cell of each of them: released values only."""
    weights: Sequence[int] = ()
    """A whole number for each candidate; all 1 when empty."""
    bias: Sequence[float] = ()
    """What is taken off each distance, in rows; nothing when empty."""
    checked: bool = field(default=False, repr=False)
    """Whether these are some of the candidates of scores that were checked."""

    def __post_init__(self) -> None:
        """One array, weight and bias for each candidate."""
        if self.checked and self.candidates:
            return
        count = len(self.candidates)
        lengths = {len(self.model), len(self.weights) or count, len(self.bias) or count}
        if not count or lengths != {count}:
            raise InputError("a choice needs candidates, each with its expected counts, weight and bias", where="marginal scores")
        if any(w != int(w) or w < 0 for w in self.weights) or self.heaviest < 1:
            raise InputError("weights are whole numbers, none negative, at least one positive", where="marginal scores")
        if not all(math.isfinite(number) for number in (*(float(m.sum()) for m in self.model), *self.bias)):
            raise InputError("expected counts and biases are finite numbers", where="marginal scores")

    @property
    def heaviest(self) -> int:
        """The largest weight."""
        return int(max(self.weights, default=1))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns of the candidates."""
        return tuple(dict.fromkeys(name for columns in self.candidates for name in columns))

    def among(self, places: Sequence[int]) -> MarginalScores:
        """The same scores for some of the candidates."""
        pick = [int(i) for i in places]
        return MarginalScores(
            tuple(self.candidates[i] for i in pick),
            [self.model[i] for i in pick],
            [self.weights[i] for i in pick] if self.weights else (),
            [self.bias[i] for i in pick] if self.bias else (),
            checked=True,
        )

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The candidates."""
        return self.candidates

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """One score per candidate."""
        far = np.array([distance(counts[i], expected) for i, expected in enumerate(self.model)], np.int64)
        if len(self.bias):
            far -= np.array([round(GRID * min(max(b, -MOST), MOST)) for b in self.bias], np.int64)
        return far * np.array(self.weights, np.int64) if len(self.weights) else far

    def answer(self, table: Table) -> Integers:
        """One score per candidate."""
        return self.finish(table.histograms(self.candidates))

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows where none was expected, those that were, and the bias; half a step of rounding for each cell."""
        return self.heaviest * (GRID * (rows + 2 * int(MOST)) + max(m.size for m in self.model))

    def change(self, schema: Schema, relation: Relation) -> int:
        """The largest weight times GRID; twice that where a record is replaced."""
        return max(self.heaviest, 1) * GRID * (1 if relation is Relation.ADD_REMOVE else 2)


@dataclass(frozen=True, eq=False)
class MarginalDistances:
    """The L1 distance between the counts of each candidate marginal and what a released model expects, in whole rows.

    What one record can change: it lies in one cell of each marginal, so adding or removing it moves each sum of |GRID count -
    round(GRID expected)| by at most GRID, and the whole part of that over GRID by at most 1: m candidates change by at most 1 each,
    m in L1 and sqrt(m) in L2. Replacing a record is a removal and an addition: at most 2 each.
    """

    candidates: tuple[tuple[str, ...], ...]
    model: Sequence[Floats]
    """What the model expects in each cell of each of them: released values only."""
    count: int
    """How many answers there are, at least as many as candidates; further ones are 0, so that it can be known beforehand."""

    def __post_init__(self) -> None:
        """Expected counts for each candidate, finite ones, and room for all answers."""
        if len(self.model) != len(self.candidates) or len(self.candidates) > self.count:
            raise InputError("distances need expected counts and an answer for each candidate", where="marginal distances")
        if not all(math.isfinite(float(m.sum())) for m in self.model):
            raise InputError("expected counts are finite numbers", where="marginal distances")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns of the candidates."""
        return tuple(dict.fromkeys(name for columns in self.candidates for name in columns))

    @property
    def counted(self) -> tuple[tuple[str, ...], ...]:
        """The candidates."""
        return self.candidates

    def finish(self, counts: Sequence[Integers]) -> Integers:
        """One distance for each candidate."""
        answers = np.zeros(self.count, np.int64)
        for i, expected in enumerate(self.model):
            answers[i] = distance(counts[i], expected) // GRID
        return answers

    def answer(self, table: Table) -> Integers:
        """One distance for each candidate."""
        return self.finish(table.histograms(self.candidates))

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows where none was expected, those that were, and half a step of rounding for each cell."""
        return GRID * (rows + int(MOST)) + max((m.size for m in self.model), default=0)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """By at most 1 each, or 2."""
        if relation is Relation.ADD_REMOVE:
            return float(self.count), math.sqrt(self.count), self.count
        return 2.0 * self.count, 2 * math.sqrt(self.count), 0


def distance(counts: Integers, expected: Floats) -> int:
    """Sum of |GRID count - round(GRID expected)|."""
    if counts.shape != expected.shape:
        raise InputError("expected counts have another shape than those of the rows", where="marginal scores")
    expected = expected * min(1.0, MOST / max(float(np.abs(expected).sum()), 1.0))
    return int(np.abs(GRID * counts - np.rint(GRID * expected).astype(np.int64)).sum())
