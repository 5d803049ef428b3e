"""Exact integer noise: discrete Laplace and discrete Gaussian, from the system's entropy, vectorized.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithms 1 to 3, on whole arrays.
Every comparison is between integers, so no floating-point number ever touches a sample: the output has exactly the
stated distribution (Mironov 2012 shows what happens otherwise). Scales are rounded *up* to a rational number first,
so the noise is never less than what was paid for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Array, Integers, Mask

_SAFE = 1 << 62
"""Above this a product of 64-bit integers could overflow, and Python's own integers take over."""


def _system_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@dataclass(frozen=True)
class Entropy:
    """A source of random 64-bit words. Only the system's source is secure; a seed is for tests and says so."""

    words: Callable[[int], NDArray[np.uint64]] = field(default=_system_words, repr=False)
    secure: bool = True

    @classmethod
    def seeded(cls, seed: int) -> Entropy:
        """Reproducible and therefore worthless as privacy: whoever knows the seed subtracts the noise."""
        generator = np.random.default_rng(seed)
        return cls(lambda count: generator.integers(0, 2**64, count, dtype=np.uint64, endpoint=False), secure=False)

    def below(self, bound: int, count: int) -> Array:
        """``count`` integers, uniform on [0, bound), by rejection."""
        if bound > _SAFE:
            return np.array([self._large(bound) for _ in range(count)], dtype=object)
        limit = np.uint64((1 << 64) // bound * bound - 1)
        out = np.empty(count, np.int64)
        open_ = np.arange(count)
        while len(open_):
            words = self.words(len(open_))
            good = words <= limit
            out[open_[good]] = (words[good] % np.uint64(bound)).astype(np.int64)
            open_ = open_[~good]
        return out

    def _large(self, bound: int) -> int:
        words = bound.bit_length() // 64 + 2
        span = 1 << (64 * words)
        limit = span // bound * bound
        while True:
            value = int.from_bytes(self.words(words).tobytes(), "little")
            if value < limit:
                return value % bound


SYSTEM = Entropy()


def discrete_laplace(scale: Fraction, count: int, entropy: Entropy = SYSTEM) -> Integers:
    """Integers x with probability proportional to exp(-|x|/scale)."""
    if not 0 < scale < 1 << 50:
        raise ValueError(f"a noise scale lies between 0 and 2^50, got {scale}")
    top, bottom = scale.numerator, scale.denominator
    out = np.zeros(count, np.int64)
    open_ = np.arange(count)
    while len(open_):
        m = len(open_)
        unit = entropy.below(top, m)
        accepted = exp_minus(unit, top, entropy)
        tail = _run_of_successes(m, entropy)
        if top * (int(tail.max()) + 1) >= _SAFE:
            unit = unit.astype(object)
        size = (unit + top * tail.astype(unit.dtype)) // bottom
        negative = entropy.below(2, m).astype(bool)
        accepted &= ~(negative & (size == 0))
        out[open_[accepted]] = np.where(negative, -size, size)[accepted].astype(np.int64)
        open_ = open_[~accepted]
    return out


def discrete_gaussian(variance: Fraction, count: int, entropy: Entropy = SYSTEM) -> Integers:
    """Integers x with probability proportional to exp(-x^2/(2 variance)).

    Accepts discrete Laplace proposals of scale t = floor(sigma) + 1 with probability exp(-(|x| - variance/t)^2/(2 variance)).
    """
    if variance <= 0:
        raise ValueError(f"a variance is positive, got {variance}")
    t = math.isqrt(variance.numerator // variance.denominator) + 1
    a, b = variance.numerator, variance.denominator
    denominator = 2 * a * b * t * t
    out = np.zeros(count, np.int64)
    open_ = np.arange(count)
    while len(open_):
        proposal = discrete_laplace(Fraction(t), len(open_), entropy)
        largest = int(np.abs(proposal).max())
        exact_64 = max((largest * t * b + a) ** 2, 64 * denominator) < _SAFE
        size = np.abs(proposal) if exact_64 else np.abs(proposal).astype(object)
        exponent = (size * (t * b) - a) ** 2
        accepted = exp_minus(exponent, denominator, entropy)
        out[open_[accepted]] = proposal[accepted]
        open_ = open_[~accepted]
    return out


def laplace_scale(scale: float) -> Fraction:
    """A rational scale for ``discrete_laplace``, never below the one asked for."""
    return _round_up(scale, 1 << 16)


def gaussian_variance(sigma: float) -> Fraction:
    """A rational variance for ``discrete_gaussian``, never below sigma^2.

    It is t h with t = floor(sigma) + 1 and h on a dyadic grid, which keeps the sampler's integers within 64 bits.
    """
    t = math.floor(sigma) + 1
    return t * _round_up(Fraction(sigma) ** 2 / t, 1 << max(0, 16 - t.bit_length()))


def _round_up(value: float | Fraction, grid: int) -> Fraction:
    exact = Fraction(value)
    steps = -(-exact.numerator * grid // exact.denominator)
    return Fraction(steps, grid)


def exp_minus(numerator: Array, denominator: int, entropy: Entropy) -> Mask:
    """True with probability exp(-numerator/denominator), elementwise and exactly."""
    whole = numerator // denominator
    part = numerator % denominator
    accepted = _exp_minus_fraction(part, denominator, entropy)
    far = np.flatnonzero(np.asarray(whole > 0, dtype=np.bool_))
    if len(far):
        accepted[far] &= np.asarray(_run_of_successes(len(far), entropy) >= whole[far], dtype=np.bool_)
    return accepted


def _exp_minus_fraction(part: Array, denominator: int, entropy: Entropy) -> Mask:
    """True with probability exp(-part/denominator) for 0 <= part <= denominator.

    Count how often a coin of bias x/1, x/2, x/3, ... succeeds before it fails: the count is even with probability e^-x.
    """
    even = np.ones(len(part), bool)
    open_ = np.arange(len(part))
    k = 1
    while len(open_):
        draw = entropy.below(denominator * k, len(open_))
        success = np.asarray(draw < part[open_], dtype=np.bool_)
        open_ = open_[success]
        even[open_] ^= True
        k += 1
    return even


def _run_of_successes(count: int, entropy: Entropy) -> Integers:
    """How many times in a row a coin of bias 1/e succeeds."""
    runs = np.zeros(count, np.int64)
    open_ = np.arange(count)
    one = np.ones(1, np.int64)
    while len(open_):
        open_ = open_[_exp_minus_fraction(np.broadcast_to(one, (len(open_),)), 1, entropy)]
        runs[open_] += 1
    return runs
