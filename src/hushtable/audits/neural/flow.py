"""A block neural autoregressive flow (De Cao, Titov and Aziz, 2019): a density of any shape with an exact logarithm.

The flow is an increasing map of each coordinate that depends on the ones before it, by layers whose weights are block
lower triangular: blocks on the diagonal are positive, those below are free, each row is weight-normalized. What the map
does to the volume is the product of its own derivatives, summed over units in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.learn.loop import Descent, seeded
from hushtable.table.arrays import Floats


class Blocks(torch.nn.Module):
    """A linear layer from ``before`` to ``after`` units for each coordinate, and the logarithms of its own derivatives."""

    own: torch.Tensor
    earlier: torch.Tensor

    def __init__(self, dimensions: int, before: int, after: int) -> None:
        super().__init__()
        self.shape = dimensions, after, before
        self.weight = torch.nn.Parameter(torch.randn(dimensions * after, dimensions * before) / math.sqrt(dimensions * before))
        self.length = torch.nn.Parameter(torch.rand(dimensions * after, 1).log() / 2)
        self.bias = torch.nn.Parameter(torch.randn(dimensions * after) / math.sqrt(dimensions))
        order = torch.arange(dimensions)
        out, into = order.repeat_interleave(after)[:, None], order.repeat_interleave(before)[None, :]
        self.register_buffer("own", (out == into).float())
        self.register_buffer("earlier", (out > into).float())

    def forward(self, units: torch.Tensor, logs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Units (n x d a) and the logarithms of their derivatives by their own coordinate (n x d x a), a step on."""
        dimensions, after, before = self.shape
        weight = self.weight.exp() * self.own + self.weight * self.earlier
        scale = self.length - weight.norm(dim=1, keepdim=True).log()
        # Of the diagonal blocks alone: d x after x before.
        diagonal = (self.weight + scale).reshape(dimensions, after, dimensions, before).diagonal(dim1=0, dim2=2).permute(2, 0, 1)
        return functional.linear(units, scale.exp() * weight, self.bias), _log_product(logs, diagonal)


class Bend(torch.nn.Module):
    """One map of the plane onto itself: layers with tanh, and some of the identity, without which its image would be bounded."""

    def __init__(self, dimensions: int, hidden: int, layers: int) -> None:
        super().__init__()
        sizes = [1, *[hidden] * layers, 1]
        self.blocks = torch.nn.ModuleList(Blocks(dimensions, a, b) for a, b in pairwise(sizes))
        self.gate = torch.nn.Parameter(torch.zeros(()))

    def forward(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The image, and the logarithm of its derivative for each coordinate."""
        units, logs = points, torch.zeros_like(points)[:, :, None]
        for place, block in enumerate(self.blocks):
            if place:
                # log(1 - tanh(u)^2), without cancellation
                logs = logs - 2 * (units - math.log(2) + functional.softplus(-2 * units)).reshape(logs.shape)
                units = units.tanh()
            units, logs = block(units, logs)
        share, rest = functional.logsigmoid(self.gate), functional.logsigmoid(-self.gate)
        return share.exp() * units + rest.exp() * points, torch.logaddexp(share + logs[:, :, 0], rest)


class Flow(torch.nn.Module):
    """Bends, each in the opposite order of coordinates of the one before, onto the standard normal distribution."""

    def __init__(self, dimensions: int, hidden: int, layers: int, bends: int) -> None:
        super().__init__()
        self.bends = torch.nn.ModuleList(Bend(dimensions, hidden, layers) for _ in range(bends))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """The logarithm of the density at each point."""
        total = torch.zeros(len(points), dtype=points.dtype)
        for bend in self.bends:
            points, logs = bend(points.flip(1))
            total = total + logs.sum(1)
        return total - (points**2).sum(1) / 2 - points.shape[1] * math.log(2 * math.pi) / 2


def fit(points: Floats, *, hidden: int, layers: int, bends: int, noise: float, descent: Descent, seed: int) -> Flow:
    """Maximum likelihood; ``noise`` is added anew each time a point is seen, so that points on a grid have a density at all.

    No rows are held out and no step is left out: a flow that stops where it generalizes has forgotten the single rows.
    """
    data = torch.from_numpy(points.astype(np.float32))

    def loss(rows: torch.Tensor) -> torch.Tensor:
        logs: torch.Tensor = flow(data[rows] + noise * torch.randn(len(rows), data.shape[1]))
        return -logs.mean()

    with seeded(seed):
        flow = Flow(data.shape[1], hidden, layers, bends)
        descent.fit(flow, loss, torch.arange(len(data)))
    return flow


def logpdf(flow: Flow, points: Floats) -> Floats:
    """The logarithm of the density at each point, a block at a time."""
    with torch.no_grad(), seeded(0):
        return np.concatenate([flow(part).numpy() for part in _blocks(points)]).astype(np.float64)


def _blocks(points: Floats) -> Iterator[torch.Tensor]:
    for at in range(0, len(points), 4096):
        yield torch.from_numpy(points[at : at + 4096].astype(np.float32))


def _log_product(logs: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
    """Give log sum_a exp(logs[n, d, a] + diagonal[d, b, a]), as a product of matrices scaled by their largest entries."""
    one, two = logs.amax(2, keepdim=True).detach(), diagonal.amax(2, keepdim=True).detach()
    product = torch.einsum("nda,dba->ndb", (logs - one).exp(), (diagonal - two).exp())
    return product.clamp_min(1e-37).log() + one + two[None, :, :, 0]
