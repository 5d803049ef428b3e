"""Records as whole numbers for a mean embedding: levels one by one, random Fourier features of numbers and of pairs of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from hushtable.numerics.integers import GRID, Axes
from hushtable.privacy.allowance import Allowance
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field, IntegerEncoding
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

COARSE, SMOOTH = 0.005, 1.0
"""The widths of the kernel of a single number, as shares of a domain: drawn between these, since estimating one costs budget."""
FINE = 0.03
"""The least width of the kernel of a column in a pair."""
SINGLE = 32
"""Frequencies of each number by itself."""
BLUR = 0.03
"""The noise of a mean feature of a pair that their number is chosen for."""
ROWS = 10_000
"""The number of rows that it is chosen for, unless the schema declares one."""
ORDERED = 8
"""The number of classes that it is chosen for where they have an order, as those of a number that was cut into bins."""
WEIGHTS = 0.05, 0.5
"""The least and the largest weight of the features of pairs."""
MOST, ENOUGH = 2000, 40
"""The most features that are chosen, of all pairs and of each."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """A record as whole numbers: its levels one by one, flags of missing numbers, random Fourier features of numbers and of pairs.

    A feature is a cosine and a sine of an angle, times an amplitude and cut towards zero: together never longer than the
    amplitude, because cos^2 + sin^2 = 1 and cutting lengthens nothing. For a number alone the angle is its frequency times its
    place in [0, 1] (a missing one in the middle). For a pair of columns it is the sum of an angle of each: of a level without an
    order any angle, of any other value its frequency times its place. (A kernel on the pair is the product of kernels on the
    two.) With m numbers and S frequencies of single ones the amplitude is STEPS sqrt(m/S); with d columns and F features of pairs
    it is STEPS sqrt(w d/F), w being their weight. A counted column has length STEPS, a flag STEPS or 0. So for c counted columns
    and f flags a record is at most STEPS sqrt(c + f + m + w d) long, and two are at most STEPS sqrt(2c + f + 4m + 4wd) apart.
    Frequencies and angles are public.
    """

    encoding: IntegerEncoding
    frequencies: Floats
    """Numbers by frequencies, each of one number."""
    ends: Integers
    """Features of pairs by the two fields."""
    angles: tuple[Floats, ...]
    """For each field: codes by features of pairs, the angle of each code; for a number one row, its frequencies. 0 where it is not
    one of the two."""
    weight: float
    """Of the features of pairs: w."""

    @classmethod
    def drawn(cls, encoding: IntegerEncoding, count: int, weight: float, rng: np.random.Generator) -> Self:
        """Frequencies of Gaussian kernels of many widths; ``count`` features of pairs, about as many of each pair."""
        numbers = sum(not f.counted for f in encoding.fields)
        frequencies = np.zeros((numbers, numbers * SINGLE))
        for number in range(numbers):
            widths = np.exp(rng.uniform(math.log(COARSE), math.log(SMOOTH), SINGLE))
            frequencies[number, number * SINGLE : (number + 1) * SINGLE] = rng.normal(size=SINGLE) / widths
        pairs = rng.permutation(np.array(list(combinations(range(len(encoding.fields)), 2)), np.int64).reshape(-1, 2))
        ends = pairs[np.arange(count if len(pairs) else 0) % max(len(pairs), 1)]
        angles = []
        for number, f in enumerate(encoding.fields):
            mine = (ends == number).any(axis=1)
            widths = np.exp(rng.uniform(math.log(FINE), math.log(SMOOTH), len(ends)))
            frequency = rng.normal(size=len(ends)) / widths
            if not f.counted:
                angle = frequency[None]
            else:
                angle = rng.uniform(0, 2 * math.pi, (f.cells, len(ends)))
                if f.ordered:
                    valued = f.cells - (not f.column.required)
                    angle[:valued] = np.outer(np.arange(valued) / max(valued - 1, 1), frequency)
            angles.append(np.where(mine, angle, 0.0))
        return cls(encoding, frequencies, ends, tuple(angles), weight)

    @property
    def schema(self) -> Schema:
        """Of the table."""
        return self.encoding.schema

    @cached_property
    def counted(self) -> tuple[Field, ...]:
        """The columns counted level by level."""
        return tuple(f for f in self.encoding.fields if f.counted)

    @cached_property
    def numbers(self) -> tuple[Field, ...]:
        """The other columns."""
        return tuple(f for f in self.encoding.fields if not f.counted)

    @cached_property
    def flags(self) -> tuple[Field, ...]:
        """Numbers that may be missing."""
        return tuple(f for f in self.numbers if not f.column.required)

    @property
    def amplitude(self) -> float:
        """Of the features of single numbers."""
        return STEPS * math.sqrt(len(self.numbers) / max(self.frequencies.shape[1], 1))

    @property
    def pair_amplitude(self) -> float:
        """Of the features of pairs."""
        return STEPS * math.sqrt(self._paired / max(len(self.ends), 1))

    @property
    def _paired(self) -> float:
        """The square of the length of a record's features of pairs, in steps: w d."""
        return self.weight * len(self.encoding.fields) if len(self.ends) else 0.0

    @property
    def dimension(self) -> int:
        """Levels, flags, cosines and sines."""
        return sum(f.width for f in self.counted) + len(self.flags) + 2 * (int(self.frequencies.shape[1]) + len(self.ends))

    @property
    def longest(self) -> tuple[int, int]:
        """L1, and L2 squared, of one record: the features' L1 is at most the root of their number times their L2."""
        ones, m = len(self.counted) + len(self.flags), len(self.numbers)
        waves = math.sqrt(2 * self.frequencies.shape[1] * m) + math.sqrt(2 * len(self.ends) * self._paired)
        return STEPS * ones + math.ceil(STEPS * waves), STEPS**2 * (ones + m) + math.ceil(STEPS**2 * self._paired)

    @property
    def farthest(self) -> tuple[int, int]:
        """L1, and L2 squared, of the difference of two records."""
        c, f, m = len(self.counted), len(self.flags), len(self.numbers)
        waves = math.sqrt(2 * self.frequencies.shape[1] * m) + math.sqrt(2 * len(self.ends) * self._paired)
        return STEPS * (2 * c + f) + math.ceil(2 * STEPS * waves), STEPS**2 * (2 * c + f + 4 * m) + math.ceil(
            4 * STEPS**2 * self._paired
        )

    def coordinates(self, table: Table) -> Integers:
        """Records by coordinates."""
        parts = [f.encode(table) for f in self.counted]
        parts += [f.column.is_missing(table[f.column.name])[:, None] * np.int64(STEPS) for f in self.flags]
        places = [Axes(f.column).places(table[f.column.name]) / GRID for f in self.numbers]
        if places:
            # A product of matrices would add up in an order that depends on the place of a row: here each record is by itself.
            angles = sum(place[:, None] * row for place, row in zip(places, self.frequencies, strict=True))
            parts += _waves(angles, self.amplitude)
        if len(self.ends):
            parts += _waves(self._angles(table, places), self.pair_amplitude)
        return np.concatenate(parts, axis=1)

    def _angles(self, table: Table, places: list[Floats]) -> Floats:
        """Records by features of pairs."""
        left = iter(places)
        angles = np.zeros((table.rows, len(self.ends)))
        for number, (f, angle) in enumerate(zip(self.encoding.fields, self.angles, strict=True)):
            mine = np.flatnonzero((self.ends == number).any(axis=1))
            angles[:, mine] += angle[f.codes(table)][:, mine] if f.counted else next(left)[:, None] * angle[:, mine]
        return angles


def _waves(angles: Floats, amplitude: float) -> list[Integers]:
    # A little less than the amplitude, so that no rounding of a cosine leads beyond.
    most = amplitude * (1 - 1e-9)
    return [np.trunc(most * wave(angles)).astype(np.int64) for wave in (np.cos, np.sin)]


def best_features(encoding: IntegerEncoding, allowance: Allowance) -> tuple[int, float]:
    """How many features of pairs, and their weight: so many that the noise of the mean of each is about ``BLUR``. Public.

    With n rows in a class (a class has its part of the declared size), Gaussian noise of a mean of F features is about
    sqrt(F/rho)/n, Laplace noise about 2F/(epsilon n). Where that allows for less than one feature a pair, they weigh less too.
    How many levels an ordered class has may follow from noisy answers, which must not decide what the features cost: it counts as
    one of ``ORDERED`` levels.
    """
    fields = len(encoding.fields)
    pairs = fields * (fields - 1) / 2
    ordered = encoding.target and encoding.schema[encoding.target].kind is Kind.ORDINAL
    rows = (encoding.schema.size or ROWS) / (ORDERED if ordered else encoding.classes)
    if allowance.rho is not None:
        worth = (BLUR * rows) ** 2 * allowance.rho
    else:
        worth = BLUR * rows * float(allowance.epsilon or 0.0) / 2
    most = min(ENOUGH * pairs, MOST)
    return int(np.clip(worth, min(pairs, most), most)), float(np.clip(worth / max(pairs, 1.0), *WEIGHTS))
