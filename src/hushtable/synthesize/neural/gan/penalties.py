"""What the generator pays for beside the critic's opinion: broken constraints, lost correlation, rows too near to real ones.

Each penalty takes the real and the fake rows of a batch, as vectors of the wires, and gives a number that can be differentiated by
the fake ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.encode.layout import Span
from hushtable.synthesize.neural.gan.constraints import Constraint, numbers_of
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.table.arrays import Floats
from hushtable.table.broken import COMPARE, level_met
from hushtable.table.rules import ORDER, Comparison, Sign

Penalty = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Codes:
    """Rows as one number a column: a number itself, and the expected place of a category among its levels."""

    def __init__(self, wires: Wires) -> None:
        spans = wires.layout.spans
        self.matrix = torch.zeros(wires.width, len(spans))
        number = 0
        for place, span in enumerate(spans):
            if span.column.numeric:
                self.matrix[number, place] = 1.0
                number += 1
            else:
                start = int(wires.starts[place])
                self.matrix[start : start + span.levels, place] = torch.linspace(-1, 1, span.levels)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """One row for each, one column for each."""
        return rows @ self.matrix


class Correlation:
    """The Frobenius norm of the difference of Pearson matrices of real and fake rows, on expected codes."""

    def __init__(self, wires: Wires) -> None:
        self.codes = Codes(wires)

    def __call__(self, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """Of this batch."""
        return (pearson(self.codes(fake)) - pearson(self.codes(real))).square().sum().add(1e-12).sqrt()


def pearson(codes: torch.Tensor) -> torch.Tensor:
    """Pearson's correlations; about 0 where a column does not vary."""
    centred = codes - codes.mean(0)
    scaled = centred / (centred.square().sum(0) + 1e-6).sqrt()
    return scaled.T @ scaled


class Identifiability:
    """By how much real rows are nearer to a fake row than to another real one, all inside the batch (after Yoon et al. 2020).

    The squared distance in a column is divided by the column's entropy: to share a rare value counts for more. The generator never
    takes a real row as input.
    """

    def __init__(self, wires: Wires, entropies: Floats) -> None:
        weights, number = torch.zeros(wires.width), 0
        for place, span in enumerate(wires.layout.spans):
            weight = 1 / max(float(entropies[place]), 0.05)
            if span.column.numeric:
                weights[number] = weight
                number += 1
            if span.levels:
                # Two rows of different levels differ by one, not by two.
                weights[(start := int(wires.starts[place])) : start + span.levels] = weight / 2
        self.roots = weights.sqrt()

    def __call__(self, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """The mean over real rows."""
        own, other = real * self.roots, fake * self.roots
        among = torch.cdist(own, own).fill_diagonal_(torch.inf).amin(1)
        return (among - torch.cdist(own, other).amin(1)).relu().mean()


def entropies(wires: Wires, codes: torch.Tensor, values: torch.Tensor) -> Floats:
    """Of each column, in nats; numbers in twenty bins."""
    counts = torch.bincount(codes.flatten().long(), minlength=wires.width).double().numpy()
    found, number = np.zeros(len(wires.layout.spans)), 0
    for place, span in enumerate(wires.layout.spans):
        if span.column.numeric:
            held = np.histogram(values[:, number].numpy(), 20, (-1, 1))[0].astype(np.float64)
            number += 1
        else:
            held = counts[(start := wires.starts[place]) : start + span.levels]
        shares = held[held > 0] / max(held.sum(), 1)
        found[place] = -(shares * np.log(shares)).sum()
    return found


class Constrained:
    """How far rows are from what constraints ask for, weighted by how surely they ask for it."""

    def __init__(self, wires: Wires, constraints: Sequence[Constraint]) -> None:
        self.wires, self.constraints = wires, constraints
        self.places = {span.column.name: place for place, span in enumerate(wires.layout.spans)}
        numeric = [span.column.name for span in wires.layout.spans if span.column.numeric]
        self.number = {name: at for at, name in enumerate(numeric)}

    def __call__(self, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """The sum over constraints of the mean over fake rows."""
        total = fake.new_zeros(())
        for constraint in self.constraints:
            weight = fake.new_ones(len(fake))
            for test in constraint.tests:
                weight = weight * self._truth(fake, test)
            for asked in constraint.asked:
                total = total + (weight * self._gap(fake, asked)).mean()
        return total

    def _gap(self, rows: torch.Tensor, asked: Comparison) -> torch.Tensor:
        """0 where a comparison holds: for a number its distance in half ranges, else the weight of the levels that break it."""
        span = self.wires.layout.spans[self.places[asked.column]]
        if asked.sign in (Sign.MISSING, Sign.PRESENT) or not span.column.numeric:
            return 1 - self._truth(rows, asked)
        difference = self._difference(rows, asked, span)
        here = 1 - self._missing(rows, span)
        if asked.sign in ORDER:
            return here * (difference if asked.sign in (Sign.BELOW, Sign.AT_MOST) else -difference)[:, 0].relu()
        return here - self._truth(rows, asked) if asked.sign is Sign.UNEQUAL else here * difference.abs().amin(1)

    def _truth(self, rows: torch.Tensor, test: Comparison) -> torch.Tensor:
        """How surely rows meet a test: the weight of the levels that do; for numbers 0 or 1."""
        span = self.wires.layout.spans[self.places[test.column]]
        if test.sign in (Sign.MISSING, Sign.PRESENT):
            missing = self._missing(rows, span)
            return missing if test.sign is Sign.MISSING else 1 - missing
        if not span.column.numeric:
            levels = [level_met(test, span.column, level) for level in span.column.levels]
            start = int(self.wires.starts[self.places[test.column]])
            return rows[:, start : start + len(levels)] @ torch.tensor(levels, dtype=torch.float32)
        difference = self._difference(rows, test, span).detach()
        if test.sign in ORDER:
            met = torch.as_tensor(COMPARE[test.sign](difference[:, 0], 0))
        else:
            # What is written as the same value is the same.
            near = difference.abs().amin(1) <= max(1e-6, (span.column.step or 0.0) / (span.high - span.low or 1.0))
            met = ~near if test.sign is Sign.UNEQUAL else near
        return met.float() * (1 - self._missing(rows, span))

    def _difference(self, rows: torch.Tensor, test: Comparison, span: Span) -> torch.Tensor:
        """A number less each that it is compared with, in half ranges of its column."""
        own = rows[:, self.number[test.column]]
        half = (span.high - span.low) / 2 or 1.0
        if test.other:
            other = self.wires.layout.spans[self.places[test.other]]
            middle = (other.high + other.low - span.high - span.low) / 2
            return (own - (rows[:, self.number[test.other]] * ((other.high - other.low) / 2) + middle) / half)[:, None]
        wanted = torch.tensor([(number - (span.high + span.low) / 2) / half for number in numbers_of(span.column, test)])
        return own[:, None] - wanted.float()

    def _missing(self, rows: torch.Tensor, span: Span) -> torch.Tensor:
        if not span.missing:
            return rows.new_zeros(len(rows))
        return rows[:, int(self.wires.starts[self.places[span.column.name]]) + span.levels - 1]
