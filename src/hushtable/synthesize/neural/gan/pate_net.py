"""The training of a generator against students of noisy votes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.loop import seeded
from hushtable.synthesize.neural.gan.generator import Generator
from hushtable.synthesize.neural.gan.residual import Condition
from hushtable.synthesize.neural.gan.start import Start
from hushtable.synthesize.neural.gan.student import Student
from hushtable.synthesize.neural.gan.teachers import GRID
from hushtable.table.arrays import Singles

WIDTH, BATCH, RATE = 64, 256, 3e-3
PULL, DRIFT = 0.5, 10.0
"""How much it pays for going away from the tables, row by row and on average."""
LEAST = 0.1
"""The least ratio of densities that a student is believed."""


class Trained:
    """A generator that learns a little after each round of votes."""

    def __init__(self, start: Start, condition: Condition, seed: int) -> None:
        self.seed, self.turn, self.width = seed, 0, sum(start.sizes)
        with seeded(seed):
            self.generator = Generator(start, condition, WIDTH, seed)

    def layers(self) -> tuple[Singles, ...]:
        """Of the generator."""
        return self.generator.layers()

    def please(self, students: Sequence[Student], steps: int) -> None:
        """Raise the logarithm of the ratio that the students give its rows, less how far it has gone from the tables."""
        self.turn += 1
        with seeded(self.seed + self.turn):
            judges = [_Judge(student, self.width) for student in students]
            optimizer = torch.optim.Adam(self.generator.parameters(), lr=RATE)
            for _ in range(steps):
                made = self.generator.rows(BATCH)
                ratio = sum((judge(made.rows) for judge in judges), torch.zeros(BATCH)).mean()
                loss = PULL * made.away + DRIFT * made.drift - ratio
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
                optimizer.step()


class _Judge:
    """A student, on rows level by level."""

    def __init__(self, student: Student, width: int) -> None:
        kernel, places = student.kernel, student.queries + student.kernel.starts
        equal, other = kernel.equal[places] / GRID, kernel.other[places] / GRID
        linear, square = np.zeros((width, len(places))), np.zeros((width, len(places)))
        at = np.broadcast_to(np.arange(len(places))[:, None], places.shape)
        linear[places, at], square[places, at] = equal - other, equal**2 - other**2
        tensors = (linear, other.sum(1), square, (other**2).sum(1), student.weights)
        self.tensors = [torch.from_numpy(np.ascontiguousarray(t)).float() for t in tensors]

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        linear, constant, square, squares, weights = self.tensors
        sums = rows @ linear + constant
        excess = ((sums * sums - (rows @ square + squares)) / 2) @ weights
        return (1 + excess).clamp(min=LEAST).log()
