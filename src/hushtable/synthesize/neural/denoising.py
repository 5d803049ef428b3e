"""Diffusion of rows in numpy: how noise comes over levels and numbers, and how a network takes it off again.

Forwards, a number keeps the root of a share of itself and gets normal noise for the rest (Ho, Jain and Abbeel 2020); a level
stays with the chance of that share, and is any level of its column otherwise (Hoogeboom et al. 2021). Backwards, a network says
what each value was without noise, and the value of an earlier time is drawn given that and the noisy one. Both have a closed form
between any two times, so that fewer strides lead back than noise had times to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hushtable.synthesize.refined import effective
from hushtable.table.arrays import Array, Floats, Integers, Singles

OFFSET = 0.008
"""Keeps the first steps of the cosine from being too small (Nichol and Dhariwal 2021)."""
STEEPEST = 0.999
"""The largest part of what is left that one time takes away."""
WIDE = 32
"""Columns of more levels are embedded where others are indicators."""
FURTHEST = 30.0
"""Logits stay within this of 0, so that exponents neither vanish nor overflow and need no largest one taken off."""
ENOUGH = 0.5
"""Weighted rows are drawn anew when they are worth fewer than this part of their number."""


def kept(times: int) -> Floats:
    """The share of a clean row that is left after each time, from 0 to ``times``: by a cosine from 1 to hardly anything."""
    curve = np.cos((np.arange(times + 1) / times + OFFSET) / (1 + OFFSET) * np.pi / 2) ** 2
    return np.append(1.0, np.cumprod(np.maximum(curve[1:] / curve[:-1], 1 - STEEPEST)))


class Choices:
    """The levels of all columns, one column after another."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes: Integers = np.array(sizes, np.int64)
        self.starts: Integers = np.cumsum(self.sizes) - self.sizes
        self.columns: Integers = np.repeat(np.arange(len(self.sizes)), self.sizes)
        """Of each level."""
        self.segments: Singles = (self.columns[:, None] == np.arange(len(self.sizes))).astype(np.float32)
        """Levels x columns: products with it are sums by column."""

    def narrow(self) -> Integers:
        """Columns whose levels are indicators."""
        return np.flatnonzero(self.sizes <= WIDE)

    def wide(self) -> Integers:
        """Columns whose levels are embedded."""
        return np.flatnonzero(self.sizes > WIDE)

    def shares(self, logits: Singles) -> Singles:
        """The softmax of each column."""
        exponents = np.exp(np.clip(logits, -FURTHEST, FURTHEST))
        return np.asarray(exponents / (exponents @ self.segments)[:, self.columns])

    def pick(self, shares: Singles, rng: np.random.Generator) -> Integers:
        """One level of each column and row, by its share."""
        # The shares of a column sum to one: in one running sum over all of them, column j lies between j and j + 1.
        points = rng.random((len(shares), len(self.sizes)), np.float32) + np.arange(len(self.sizes), dtype=np.float32)
        passed = (shares.cumsum(axis=1) <= points[:, self.columns]).astype(np.float32) @ self.segments
        return np.minimum(passed.astype(np.int64), self.sizes - 1)


class State(NamedTuple):
    """Rows at some time, with what they are conditional on, which has no noise."""

    codes: Integers
    """rows x columns of levels."""
    values: Singles
    """rows x numbers, standardized."""
    classes: Integers | None

    def take(self, rows: Integers) -> State:
        """These of them."""
        return State(self.codes[rows], self.values[rows], None if self.classes is None else self.classes[rows])


class Stride(NamedTuple):
    """Back from one time to an earlier one: the share of a clean row that is left at each."""

    later: float
    earlier: float

    @property
    def step(self) -> float:
        """What is left at the later time of what was there at the earlier one."""
        return self.later / self.earlier

    def chances(self, shares: Array, now: Array, same: Array, sizes: Array) -> Array:
        """Of levels at the earlier time, given those at the later one and ``shares``, the chances of the clean ones.

        (a [k = k'] + (1 - a) / K) (b s_k + (1 - b) / K), over its sum: ``same`` says where k = k', ``now`` is s_k', a is ``step``
        and b ``earlier``. What is mixed is normalized at the end, so s are the chances of the clean level given all that is
        noisy *but* this level; with them it is exact for any stride.
        """
        sums = self.step * (self.earlier * now + (1 - self.earlier) / sizes) + (1 - self.step) / sizes
        found = (self.step * same + (1 - self.step) / sizes) * (self.earlier * shares + (1 - self.earlier) / sizes) / sums
        return np.asarray(found)

    def levels(self, codes: Integers, now: Array, fresh: Integers, sizes: Integers, rng: np.random.Generator) -> Integers:
        """Levels at the earlier time: the later ones, clean ones, which were drawn as ``fresh``, or any."""
        likely = self.step * (self.earlier * now + (1 - self.earlier) / sizes)
        stays = rng.random(codes.shape) * (likely + (1 - self.step) / sizes) < likely
        anything = (rng.random(codes.shape) * sizes).astype(np.int64)
        other = np.where(rng.random(codes.shape) < self.earlier, fresh, anything)
        return np.where(stays, codes, other)

    def normal(self, values: Array, clean: Array, noise: float) -> tuple[Array, float]:
        """Mean and variance of numbers at the earlier time, ``noise`` from 0 (Song, Meng and Ermon 2021) to 1 (Ho et al. 2020)."""
        variance = noise**2 * (1 - self.earlier) / (1 - self.later) * (1 - self.step)
        off = (values - np.sqrt(self.later) * clean) / np.sqrt(1 - self.later)
        return np.sqrt(self.earlier) * clean + np.sqrt(max(0.0, 1 - self.earlier - variance)) * off, variance


@dataclass(frozen=True, eq=False)
class Denoiser:
    """A trained network: the chances of every clean level, and every clean number, given noisy rows."""

    sizes: tuple[int, ...]
    times: int
    arrays: dict[str, Singles] = field(repr=False)

    @cached_property
    def choices(self) -> Choices:
        """Where levels are."""
        return Choices(self.sizes)

    @cached_property
    def kept(self) -> Floats:
        """The share of a clean row that is left after each time."""
        return kept(self.times)

    def clean(self, noisy: State, time: int) -> tuple[Singles, Singles]:
        """The shares of all levels, one column after another, and the numbers."""
        units = self._first(noisy, time)
        last = sum(name.startswith("weight/") for name in self.arrays) - 1
        for place in range(last):
            np.maximum(units, 0, out=units)
            units = units @ self.arrays[f"weight/{place}"] + self.arrays[f"bias/{place}"]
        out = np.maximum(units, 0) @ self.arrays[f"weight/{last}"] + self.arrays[f"bias/{last}"]
        left, count = np.float32(self.kept[time]), len(self.choices.columns)
        numbers = np.sqrt(left) * noisy.values - np.sqrt(1 - left) * out[:, count:]
        return self.choices.shares(out[:, :count]), numbers

    def _first(self, noisy: State, time: int) -> Singles:
        choices, codes = self.choices, noisy.codes
        units: Singles = noisy.values @ self.arrays["numbers"] + self.arrays["times"][time]
        if len(narrow := choices.narrow()):
            sizes = choices.sizes[narrow]
            ones = np.zeros((len(codes), int(sizes.sum())), np.float32)
            np.put_along_axis(ones, codes[:, narrow] + np.cumsum(sizes) - sizes, 1.0, axis=1)
            units += ones @ self.arrays["narrow"]
        start = 0
        for column in choices.wide().tolist():
            units += self.arrays["wide"][start + codes[:, column]]
            start += self.sizes[column]
        if noisy.classes is not None:
            units += self.arrays["classes"][noisy.classes]
        return units

    def noise(self, classes: Integers | None, rows: int, rng: np.random.Generator) -> State:
        """Nothing but noise, under these classes."""
        codes = (rng.random((rows, len(self.sizes))) * self.choices.sizes).astype(np.int64)
        return State(codes, rng.standard_normal((rows, len(self.arrays["numbers"])), np.float32), classes)

    def draw(self, noisy: State, strides: int, rng: np.random.Generator, held: Held | None = None) -> State:
        """Clean rows of nothing but noise, in so many strides; numbers get no new noise on the way, levels do.

        With columns ``held`` rows are weighed by how likely the network finds what is held, and drawn anew by their weights.
        """
        logs = np.zeros(len(noisy.codes))
        if held:
            noisy = held.noise(noisy, self.kept[-1], self.choices.sizes, rng)
        times = np.unique(np.round(np.linspace(0, self.times, min(strides, self.times) + 1)).astype(np.int64))[::-1]
        for time, earlier in pairwise(times.tolist()):
            stride = Stride(float(self.kept[time]), float(self.kept[earlier]))
            shares, numbers = self.clean(noisy, time)
            now = np.take_along_axis(shares, noisy.codes + self.choices.starts, axis=1)
            codes = stride.levels(noisy.codes, now, self.choices.pick(shares, rng), self.choices.sizes, rng)
            after = State(codes, stride.normal(noisy.values, numbers, 0.0)[0].astype(np.float32), noisy.classes)
            if held:
                after, gained = held.step(stride, noisy, after, shares, numbers, self.choices, rng)
                logs += gained
                if not earlier or effective(np.exp(logs - logs.max())) < ENOUGH:
                    after, logs = after.take(resampled(logs, rng)), np.zeros(len(logs))
            noisy = after
        return noisy


class Held(NamedTuple):
    """Columns whose clean value is known. They go back from noise to it without the network; how likely it finds them is weighed.

    A particle filter (after Trippe et al. 2023 and Wu et al. 2023): the more rows, the nearer to the distribution given the values.
    """

    columns: Integers
    levels: Integers
    numbers: Integers
    values: Singles

    def noise(self, state: State, left: float, sizes: Integers, rng: np.random.Generator) -> State:
        """The last time: hardly anything is left."""
        codes, values = state.codes.copy(), state.values.copy()
        stays = rng.random((len(codes), len(self.columns))) < left
        codes[:, self.columns] = np.where(stays, self.levels, codes[:, self.columns])
        values[:, self.numbers] = np.sqrt(left) * self.values + np.sqrt(1 - left) * values[:, self.numbers]
        return State(codes, values, state.classes)

    def step(
        self,
        stride: Stride,
        before: State,
        after: State,
        shares: Singles,
        numbers: Singles,
        choices: Choices,
        rng: np.random.Generator,
    ) -> tuple[State, Floats]:
        """One stride of these columns, and for each row the logarithm of how much likelier the network finds it than it was."""
        sizes, starts = choices.sizes[self.columns], choices.starts[self.columns]
        old, levels = before.codes[:, self.columns], np.broadcast_to(self.levels, (len(shares), len(self.levels)))
        known = (old == levels).astype(np.float64)
        new = stride.levels(old, known, levels, sizes, rng)
        guessed, now = (np.take_along_axis(shares, starts + codes, axis=1) for codes in (new, old))
        same = (new == old).astype(np.float64)
        ratio = stride.chances(guessed, now, same, sizes) / stride.chances(new == levels, known, same, sizes)
        logs = np.log(np.maximum(ratio, 1e-300)).sum(axis=1)
        mean, variance = stride.normal(before.values[:, self.numbers], self.values, 1.0)
        other, _ = stride.normal(before.values[:, self.numbers], numbers[:, self.numbers], 1.0)
        values = mean + np.sqrt(variance) * rng.standard_normal(mean.shape)
        # At time 0 nothing varies; a number is then as far from what the network makes of it as noise can have moved it.
        spread = variance or (1 - stride.later) / stride.later
        logs += ((values - mean) ** 2 - (values - other) ** 2).sum(axis=1) / (2 * spread)
        after.codes[:, self.columns], after.values[:, self.numbers] = new, values
        return after, logs


def resampled(logs: Floats, rng: np.random.Generator) -> Integers:
    """As many rows, each about as often as its weight says: an even grid over the running weights."""
    running = np.cumsum(np.exp(logs - logs.max()))
    grid = (rng.random() + np.arange(len(logs))) / len(logs) * running[-1]
    return np.asarray(np.minimum(np.searchsorted(running, grid, side="right"), len(logs) - 1))
