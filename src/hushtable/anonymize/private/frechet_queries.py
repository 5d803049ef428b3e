"""The query of private Frechet means: sums of tangent vectors over the cells of given centres, in whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.ball import cell_sums
from hushtable.numerics.ball_map import BallMap
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

STEPS = 1 << 10
"""The longest vector in steps of the grid. Finer would only slow the noise down: it is wider than this already."""


@dataclass(frozen=True, eq=False)
class TangentSums:
    """For each centre: ``weight`` times the number of records nearest to it, and the sum of their tangent vectors.

    A record goes to its nearest centre in the ball (the first on a tie), becomes the tangent vector at that centre's base, is
    clipped to the length ``reach``, and rounded to whole multiples of reach / STEPS. All of it is a function of the
    record alone, the centres being public or released before. With Q = STEPS, w = weight and D dimensions, a record is one
    row (w, q) of whole numbers with |q|_2 <= Q, hence |q|_1 <= sqrt(D) Q:

    - one record more or less: L2 sqrt(w^2 + Q^2), L1 w + sqrt(D) Q;
    - one replaced: the same centre 2Q (L1: 2 sqrt(D) Q), or two centres sqrt(2) and 2 times the numbers above.

    |q| <= Q holds for the rounded vector: it is shortened to Q - sqrt(D)/2 - 1 before it is rounded by at most sqrt(D)/2,
    and checked in whole numbers after.
    """

    additive: ClassVar[bool] = True
    ball: BallMap
    centres: Floats
    bases: Floats
    """Where the tangent vectors of each centre start: the centre itself, or the origin."""
    reach: float
    weight: int

    def __post_init__(self) -> None:
        """The rounding must be small against the vectors."""
        if math.sqrt(self.ball.dimension) > STEPS / 4:
            raise PlanError(
                f"frechet: the table has {self.ball.dimension} coordinates, too many for a sum of vectors; leave out columns"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.ball.schema.names

    @property
    def reads(self) -> tuple[str, ...]:
        """All of them."""
        return self.columns

    @property
    def step(self) -> float:
        """The length of one step of the grid."""
        return self.reach / STEPS

    def answer(self, table: Table) -> Integers:
        """For each centre its weighted count, then its sum."""
        points = self.ball.points(table)
        sums: Integers = cell_sums(points, self.centres, self.bases, STEPS / self.reach, STEPS, self.weight)
        return sums.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """All at one centre."""
        return rows * max(self.weight, STEPS)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As above; rounded up."""
        longest = math.isqrt(self.ball.dimension * STEPS**2)
        one1, one2 = self.weight + longest, _root_up(self.weight**2 + STEPS**2)
        if relation is Relation.ADD_REMOVE:
            return float(one1), one2, 0
        same1, same2 = math.isqrt(4 * self.ball.dimension * STEPS**2), 2.0 * STEPS
        if len(self.centres) == 1:
            return float(same1), same2, 0
        return float(max(same1, 2 * one1)), max(same2, _root_up(2 * (self.weight**2 + STEPS**2))), 0

    def read(self, answer: Integers) -> tuple[Floats, Floats]:
        """Counts and sums of vectors, of an answer with noise."""
        rows = answer.reshape(len(self.centres), -1).astype(np.float64)
        return rows[:, 0] / self.weight, rows[:, 1:] * self.step


def _root_up(square: int) -> float:
    """A float that is not below the root."""
    return math.nextafter(math.sqrt(square), math.inf)
