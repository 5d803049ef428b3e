"""The contrastive encoder: records of which only some columns are known, as points on a sphere.

Two views of one record, each with other columns masked, are drawn together, and views of different records pushed apart
(normalized temperature-scaled cross entropy, Chen et al. 2020, over random column masks).
"""

from __future__ import annotations

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.audits.neural.encoder import EncodedRows
from hushtable.learn.loop import Descent, seeded, split
from hushtable.table.arrays import Floats, Integers, Mask, Singles

TOKEN = 8
"""Numbers that stand for one category."""
DROPOUT = 0.1
LAYERS = 3


class Network(torch.nn.Module):
    """A table of tokens for codes, the numbers beside them, three wide layers, and a point on the unit sphere."""

    starts: torch.Tensor

    def __init__(self, sizes: Integers, numbers: int, width: int, dimensions: int) -> None:
        super().__init__()
        self.register_buffer("starts", torch.from_numpy(np.cumsum(sizes) - sizes))
        self.tokens = torch.nn.Embedding(int(sizes.sum()), TOKEN)
        layers, wide = [], len(sizes) * TOKEN + numbers
        for _ in range(LAYERS):
            layers += [
                torch.nn.Linear(wide, width), torch.nn.LayerNorm(width), torch.nn.GELU(), torch.nn.Dropout(DROPOUT)
            ]  # fmt: skip
            wide = width
        self.layers = torch.nn.Sequential(*layers, torch.nn.Linear(wide, dimensions))

    def forward(self, codes: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Points of length one."""
        tokens = self.tokens(codes + self.starts).flatten(1)
        return functional.normalize(self.layers(torch.cat([tokens, numbers], 1)), dim=1)


def fit(rows: EncodedRows, *, width: int, dimensions: int, temperature: float, descent: Descent, seed: int) -> Network:
    """Train on these rows."""
    codes, values, numeric, sizes = rows
    all_codes, all_values = torch.from_numpy(codes), torch.from_numpy(values[:, numeric])
    which = torch.from_numpy(numeric)

    def view(rows: torch.Tensor) -> torch.Tensor:
        known = ~_masks(len(rows), len(sizes))
        points: torch.Tensor = net(all_codes[rows] * known, all_values[rows] * known[:, which])
        return points

    def loss(rows: torch.Tensor) -> torch.Tensor:
        return info_nce(view(rows), view(rows), temperature)

    with seeded(seed):
        net = Network(sizes, int(numeric.sum()), width, dimensions)
        descent.fit(net, loss, *split(len(codes)))
    return net


def embed(net: Network, codes: Integers, values: Singles, numeric: Mask) -> Floats:
    """The points of these rows, a block at a time."""
    with torch.no_grad(), seeded(0):
        blocks = [
            net(torch.from_numpy(codes[at : at + 4096]), torch.from_numpy(values[at : at + 4096, numeric])).numpy()
            for at in range(0, len(codes), 4096)
        ]
    return np.concatenate(blocks).astype(np.float64)


def info_nce(one: torch.Tensor, two: torch.Tensor, temperature: float) -> torch.Tensor:
    """Cross entropy of finding each view's twin among all twins, both ways round."""
    logits = one @ two.T / temperature
    same = torch.arange(len(one))
    return (functional.cross_entropy(logits, same) + functional.cross_entropy(logits.T, same)) / 2


def _masks(rows: int, columns: int) -> torch.Tensor:
    """For each row: how many columns are masked, from 1 to all but one, then which."""
    count = torch.randint(1, columns, (rows, 1))
    return torch.rand(rows, columns).argsort(1).argsort(1) < count
