"""The one private descent: DP-SGD (Abadi et al. 2016) with the sampling that is accounted for.

Each step tosses a coin for every unit, sums the clipped gradients of the rows that it takes, and adds normal noise to the sum. That
noisy sum is all that a step hands out, so the network, and whatever is trained against it, is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from numpy.typing import NDArray
from torch.nn import Parameter  # noqa: TID253

from hushtable.learn.ghost import Gradients
from hushtable.learn.normal import normals
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.sampled import GRID
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers, Mask

ROOM = 1 - 2.0**-10
"""Gradients are clipped to this part of the bound: rounding in single precision must not carry a sum beyond it."""


@dataclass(frozen=True, kw_only=True)
class PrivateDescent:
    """How many private steps there are, and with how much noise. All of it is fixed in the plan."""

    rate: float
    """The chance of each unit (a record, or a person with all rows) to be in a batch, by itself and anew in each step."""
    steps: int
    multiplier: float
    """The standard deviation of the noise beside ``clip``."""
    clip: float
    """The largest Euclidean norm of what one unit adds to the sum of a batch, over all parameters together."""
    part: int = 1024
    """Rows whose gradients are worked out at a time: of memory only."""

    @classmethod
    def of(cls, happened: SampledGaussian, clip: float) -> PrivateDescent:
        """The descent that a planned event pays for."""
        return cls(rate=happened.rate, steps=happened.steps, multiplier=happened.multiplier, clip=clip)

    @property
    def event(self) -> SampledGaussian:
        """What all steps together are."""
        return SampledGaussian(self.multiplier, self.rate, self.steps, GRID)

    def start(
        self, vault: Vault, parameters: list[Parameter], count: float, why: str = "trains on clipped gradients"
    ) -> Descending:
        """Pay for all steps, and begin. ``count`` is the number of rows as it was paid for: the true one is private."""
        return Descending(self, vault, parameters, count, why)


class Descending:
    """A private descent under way: for each batch one update.

    ::

        run = descent.start(vault, list(net.parameters()), count)
        for rows in run.batches():
            run.update(lambda part: Tape.of(net, lambda: net.losses(codes[part])))  # sets .grad
            optimizer.step()

    One unit more or less changes each sum, before the noise, by at most ``clip``: it is in the batch by its own coin only, and the
    norms of its rows' gradients together are clipped to that, which bounds the norm of their sum. An empty batch has its noise like
    any other. What is added to ``.grad`` after ``update`` (the gradient of generated rows) must not depend on rows of the vault.
    """

    def __init__(self, how: PrivateDescent, vault: Vault, parameters: list[Parameter], count: float, why: str) -> None:
        self.how, self.parameters, self.entropy, self._recorded = how, parameters, vault.entropy, vault.recorded
        self.table, self._units = vault.open_sampled(how.event, why)
        self._bound = how.clip * ROOM
        self._divisor = how.rate * max(count, 1.0)
        self._number = int(self._units.max(initial=-1)) + 1
        self._taken = 0
        self._open: Integers | None = None
        self.order: Integers | None = None
        """For each row a number by which the rows of a batch are worked out, those of like length together: of time only."""

    @property
    def units(self) -> Integers:
        """For each row the number of its unit."""
        return self._units

    def batches(self, chances: Floats | None = None) -> Iterator[Integers]:
        """The rows of each batch, as many batches as were paid for.

        ``chances``: of each unit, where they are to differ; none may be above the rate, and each must follow from the unit's own
        rows and from what is public. (A smaller chance is the same mechanism behind one more coin.)
        """
        if chances is not None and (len(chances) != self._number or not np.all((chances >= 0) & (chances <= self.how.rate))):
            raise ValueError("there is one chance for each unit, none of them above the rate that is accounted for")
        below: NDArray[np.uint64] = np.array([_words(self.how.rate)], np.uint64)
        if chances is not None:
            distinct, which = np.unique(chances, return_inverse=True)
            below = np.array([_words(chance) for chance in distinct.tolist()], np.uint64)[which]
        while self._taken < self.how.steps:
            self._taken += 1
            self._open = np.flatnonzero(self._coins(below)[self._units])
            yield self._open
            if self._open is not None:
                raise ValueError("a batch was taken without an update: what was seen of it must have its noise")

    def update(self, gradients: Callable[[Integers], Gradients]) -> None:
        """Put the noisy mean gradient of the open batch into ``.grad``; ``gradients`` gives those of the rows of some numbers."""
        if self._open is None:
            raise ValueError("there is one update for each batch")
        # Random numbers that are drawn for rows come from a source of their own: how many there are depends on the batch, and would
        # move all later ones of the network's, which a seed may repeat.
        batch = self._open

        def noisy() -> list[Floats]:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(int(self.entropy.words(1)[0]) >> 1)
                return [self._noisy(exact) for exact in self._sums(batch, gradients)]

        sums = self._recorded(f"{self.how.event!r}, step {self._taken}", noisy)
        self._open = None
        for parameter, own in zip(self.parameters, sums, strict=True):
            parameter.grad = torch.from_numpy(own / self._divisor).to(parameter.dtype)

    def _sums(self, batch: Integers, gradients: Callable[[Integers], Gradients]) -> list[Floats]:
        """For each parameter the sum of the clipped gradients of the batch."""
        sums = [np.zeros(tuple(p.shape)) for p in self.parameters]
        place = {id(p): number for number, p in enumerate(self.parameters)}
        for part in self._parts(batch) if sums else ():
            rows, found = self._finite(part, gradients)
            if found is None:
                continue
            for parameter, total in found.weighted(self._weights(found.squared_norms(), self._units[rows])):
                # In double precision from here on, however many parts a batch has.
                sums[place[id(parameter)]] += total.numpy(force=True)
        return sums

    def _coins(self, below: NDArray[np.uint64]) -> Mask:
        """One for each unit. From the entropy that the noise is from too: a sample that a seed draws again would be no secret."""
        return self.entropy.words(self._number) < below

    def _parts(self, batch: Integers) -> Iterator[Integers]:
        """The rows in parts of about ``part``, all rows of a unit in one of them."""
        if len(batch) == len(np.unique(self._units[batch])):
            batch = batch if self.order is None else batch[np.argsort(self.order[batch], kind="stable")]
            yield from np.split(batch, range(self.how.part, len(batch), self.how.part))
            return
        batch = batch[np.argsort(self._units[batch], kind="stable")]
        begins = np.flatnonzero(np.diff(self._units[batch], prepend=-1))
        numbers = begins // self.how.part
        yield from np.split(batch, begins[np.flatnonzero(np.diff(numbers)) + 1])

    @staticmethod
    def _finite(rows: Integers, gradients: Callable[[Integers], Gradients]) -> tuple[Integers, Gradients | None]:
        """The rows that have a gradient, and those: a row whose loss is no number would spoil the sum of all."""
        while len(rows):
            found = gradients(rows)
            fine = found.squared_norms().isfinite().numpy(force=True)
            if fine.all():
                return rows, found
            rows = rows[fine]
        return rows, None

    def _weights(self, squared: torch.Tensor, units: Integers) -> torch.Tensor:
        """What the gradient of each row is multiplied by, so that those of a unit together are no longer than ``clip``."""
        own = torch.from_numpy(np.unique(units, return_inverse=True)[1])
        norms = squared.double().sqrt()
        together = torch.zeros(int(own.max()) + 1, dtype=torch.float64).index_add_(0, own, norms)
        return (self._bound / together[own]).clamp(max=1.0).float()

    def _noisy(self, exact: Floats) -> Floats:
        """The sum with its noise, rounded to the grid."""
        scale = self.how.multiplier * self.how.clip
        step = scale * GRID
        noisy = exact + scale * normals(exact.size, self.entropy).reshape(exact.shape)
        return np.round(noisy / step) * step


def _words(chance: float) -> int:
    """A 64-bit word is below this with at most this probability; every word, and so certainly, at 1."""
    return min(int(chance * 2.0**64), 2**64 - 1)
