"""The network that leads from coordinates back to columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import nn  # noqa: TID253
from torch.nn.functional import cross_entropy  # noqa: TID253

from hushtable.encode.layout import Layout, Rows
from hushtable.learn.loop import Descent, Epoch, seeded, split
from hushtable.table.arrays import Singles

PLACES = 10.0
"""What a squared error of a number in [-1, 1] weighs beside the cross-entropy of a level."""


class How(Protocol):
    """The knobs of the training."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the layers."""
        ...

    @property
    def epochs(self) -> int:
        """Times that each row is seen."""
        ...

    @property
    def batch(self) -> int:
        """Rows at a time."""
        ...

    @property
    def rate(self) -> float:
        """The greatest learning rate."""
        ...


def fitted(
    layout: Layout, rows: Rows, coordinates: Singles, how: How, seed: int, report: Callable[[float], None]
) -> tuple[list[Singles], list[Epoch]]:
    """The weights and biases of each layer, and the training curve."""
    with seeded(seed):
        codes, values, inputs = (torch.from_numpy(np.ascontiguousarray(a)) for a in (rows.codes, rows.values, coordinates))
        sizes = [inputs.shape[1], *how.hidden, layout.width]
        layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        net = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))[:-1]
        numbers = torch.from_numpy(layout.numbers)
        choices = [(place, span.choice) for place, span in enumerate(layout.spans) if span.levels > 1]

        def loss(some: torch.Tensor) -> torch.Tensor:
            out = net(inputs[some])
            total = PLACES * ((torch.tanh(out[:, numbers]) - values[some]) ** 2).sum(1).mean()
            for place, choice in choices:
                total = total + cross_entropy(out[:, choice], codes[some, place])
            return total

        descent = Descent(batch=how.batch, epochs=how.epochs, rate=how.rate, cycle=True, patience=how.epochs)
        curve = descent.fit(net, loss, *split(len(inputs)), report)
        return [part.detach().numpy().copy() for layer in layers for part in (layer.weight, layer.bias)], curve
