"""Training the autoregressive network on the cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.descents import Hiding, Weights, climbed
from hushtable.learn.loop import Descent, Epoch, seeded, split
from hushtable.learn.nets import NEVER, Autoregressive, Fields, Within, autocast, widths
from hushtable.table.arrays import Array, Integers


class Shape(NamedTuple):
    """The fields of a row, how often each of their cells was met, and the size of the network."""

    counts: tuple[Integers, ...]
    """Rows by cell; for a part of a column, rows by cell of the field before it and cell."""
    ordered: tuple[int, ...]
    """Fields whose cells lie in order, missing last."""
    embedding: int
    hidden: int
    dropout: float

    @property
    def cells(self) -> tuple[int, ...]:
        """Of each field."""
        return tuple(counts.shape[-1] for counts in self.counts)


def fitted(
    codes: Integers, shape: Shape, how: Descent, seed: int, report: Callable[[float], None], keep: Checkpoint | None = None
) -> tuple[Weights, list[Epoch]]:
    """The weights that are best on a tenth of the rows (rows x fields), trained on the others; and the training curve."""
    with seeded(seed):
        rows, held = split(len(codes))
        net, loss = _net(codes, shape)
        curve = how.run(Hiding(how, net, loss, how.total(len(rows))), rows, held, report, keep)
        return weights(net), curve


def overfitted(
    codes: Integers,
    shape: Shape,
    how: Descent,
    seed: int,
    judge: Callable[[Weights], float],
    ratios: Sequence[float],
) -> list[tuple[float, Weights]]:
    """Weights along one training on all rows, as the ratio of the loss to the least one reaches another of ``ratios``."""
    return climbed(lambda: _net(codes, shape), weights, len(codes), how, seed, judge, ratios)


def weights(net: Fields) -> Weights:
    """What field ``j`` needs, as ``j/...``: what every network has, and its rows of the first layer."""
    assert isinstance(net, Autoregressive)
    size, start = net.embedding.embedding_dim, 0
    first, offset = (net.first.weight * net.first.mask).T, net.first.bias
    found = field_weights(net)
    for block in net.blocks:
        for field in block.fields:
            end = start + block.width
            own = {"first": first[: field * size, start:end], "offset": offset[start:end]}
            found |= {f"{field}/{name}": part.detach().numpy().copy() for name, part in own.items()}
            start = end
    return found


def field_weights(net: Fields) -> Weights:
    """What every network has for field ``j``: embeddings of its cells, its head, and what was known of it."""
    found: Weights = {}
    embeddings = torch.split(net.embedding.weight, list(net.cells[: len(net.offsets)]))
    for block, head in zip(net.blocks, net.heads, strict=True):
        for place, field in enumerate(block.fields):
            count = net.cells[field]
            own = {"head": head.get_parameter("weight")[place, :, :count], "bias": head.get_parameter("bias")[place, :count]}
            if field < len(net.cells) - 1:
                own["embedding"] = embeddings[field]
            if field in net.within:
                own["known"] = net.within[field].logits
            found |= {f"{field}/{name}": part.detach().numpy().copy() for name, part in own.items()}
    return found


def _net(codes: Integers, shape: Shape) -> tuple[Autoregressive, Callable[[torch.Tensor], torch.Tensor]]:
    net = Autoregressive(
        shape.cells, shape.embedding, widths(shape.cells, shape.hidden), shape.dropout, parts_of_cells(shape.counts)
    )
    net.start(margins(shape.counts))
    net.order(shape.ordered)
    rows = torch.from_numpy(codes)

    def loss(part: torch.Tensor) -> torch.Tensor:
        with autocast():
            return net.losses(rows[part].long()).mean()

    return net, loss


def parts_of_cells(counts: Sequence[Integers]) -> dict[int, Within]:
    """For each field that is a part of a column: how likely its cells are by the cell of the field before it."""
    return {field: Within(field - 1, _logs(own)) for field, own in enumerate(counts) if own.ndim > 1}


def margins(counts: Sequence[Integers]) -> list[torch.Tensor]:
    """The log-chances of the cells of each field; nothing for a part of a column."""
    return [_logs(own) if own.ndim == 1 else torch.empty(0) for own in counts]


def _logs(counts: Integers) -> torch.Tensor:
    """The logarithms of shares; NEVER where nothing was counted."""
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    logs: Array = np.log(shares, out=np.full(counts.shape, NEVER), where=counts > 0)
    return torch.from_numpy(logs.astype(np.float32))
