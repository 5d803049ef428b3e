"""Training the autoregressive network on the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.loop import Descent, Epoch, seeded, split
from hushtable.learn.nets import NEVER, Autoregressive, Within, autocast, widths
from hushtable.table.arrays import Floats, Integers, Singles


class Shape(NamedTuple):
    """The fields of a row, and what is known of them before anything is learnt."""

    cells: tuple[int, ...]
    margins: tuple[Floats, ...]
    """Rows in each cell of a field."""
    within: Mapping[int, tuple[int, Floats]]
    """A field's parent, and the rows by cell of the parent and cell of the field."""


def fitted(codes: Integers, shape: Shape, how: Descent, knobs, seed: int, report) -> tuple[dict[str, Singles], list[Epoch]]:
    with seeded(seed):
        within = {field: Within(parent, _logs(rows)) for field, (parent, rows) in shape.within.items()}
        net = Autoregressive(shape.cells, knobs["embedding"], widths(shape.cells, knobs["hidden"]), knobs["dropout"], within)
        net.start([_logs(rows) for rows in shape.margins])
        data = torch.from_numpy(codes)
        rows, held = split(len(data))

        def loss(part: torch.Tensor) -> torch.Tensor:
            with autocast():
                return net.losses(data[part]).mean()

        curve = how.fit(net, loss, rows, held, report)
        return arrays(net), curve


def _logs(rows: Floats) -> torch.Tensor:
    shares = rows / np.maximum(rows.sum(axis=-1, keepdims=True), 1)
    return torch.from_numpy(np.where(rows > 0, np.log(np.maximum(shares, 1e-30)), NEVER).astype(np.float32))


def arrays(net: Autoregressive) -> dict[str, Singles]:
    """For each field: its embeddings, its rows of the first layer, its head."""
    e = net.embedding.embedding_dim
    found = {}
    starts = np.cumsum([0, *net.cells])
    first = (net.first.weight * net.first.mask).detach().numpy()
    at = 0
    for place, (block, head) in enumerate(zip(net.blocks, net.heads)):
        base = getattr(net, f"base{place}").numpy()
        for spot, field in enumerate(block.fields):
            n = net.cells[field]
            found[f"{field}/first"] = first[at : at + block.width, : field * e].T.copy()
            found[f"{field}/offset"] = net.first.bias.detach().numpy()[at : at + block.width].copy()
            found[f"{field}/head"] = head.weight.detach().numpy()[spot, :, :n].copy()
            found[f"{field}/bias"] = head.bias.detach().numpy()[spot, :n].copy()
            if field < len(net.cells) - 1:
                found[f"{field}/embedding"] = net.embedding.weight.detach().numpy()[starts[field] : starts[field + 1]].copy()
            if field in net.within:
                found[f"{field}/known"] = base[spot, : net.cells[net.within[field].parent], :n].copy()
            at += block.width
    return found
