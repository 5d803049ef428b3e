"""The descent of the publication: shuffled batches whose mean gradient is clipped, not the gradient of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import Parameter  # noqa: TID253

from hushtable.learn.ghost import Gradients
from hushtable.table.arrays import Integers


@dataclass(eq=False)
class BatchClipped:
    """Mean gradients of shuffled batches; those of all first and of all second factors of adapters are clipped, each to ``clip``.

    (The gradient of the head, of which the publication does not speak, counts with the second factors.)
    """

    parameters: list[Parameter]
    down: frozenset[int]
    """Which of the parameters, by ``id``, are first factors."""
    rows: int
    batch: int
    epochs: int
    clip: float
    sigma: float
    seed: int

    def __post_init__(self) -> None:
        """Its own random numbers: of the order of rows, and of the noise."""
        self._rng = np.random.default_rng(self.seed)
        self._open: Integers = np.zeros(0, np.int64)

    @property
    def steps(self) -> int:
        """In all."""
        return self.epochs * -(-self.rows // self.batch)

    def batches(self) -> Iterator[Integers]:
        """Parts of shuffled rows."""
        for _ in range(self.epochs):
            order = self._rng.permutation(self.rows)
            for start in range(0, self.rows, self.batch):
                self._open = np.sort(order[start : start + self.batch])
                yield self._open

    def update(self, gradients: Callable[[Integers], Gradients]) -> None:
        """The clipped mean of the batch, with noise of the deviation sigma times clip."""
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)
        for weight, total in gradients(self._open).weighted(torch.full((len(self._open),), 1 / len(self._open))):
            assert weight.grad is not None
            weight.grad += total
        for group in ([p for p in self.parameters if id(p) in self.down], [p for p in self.parameters if id(p) not in self.down]):
            own = [p.grad for p in group if p.grad is not None]
            norm = float(torch.stack([grad.square().sum() for grad in own]).sum().sqrt()) if own else 0.0
            for grad in own:
                grad.mul_(min(1.0, self.clip / norm) if norm else 1.0)
                if self.sigma:
                    noise = self._rng.normal(0.0, self.sigma * self.clip, tuple(grad.shape))
                    grad.add_(torch.from_numpy(noise.astype(np.float32)))
