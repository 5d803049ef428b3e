"""Training the autoregressive network on the cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.loop import Descending, Descent, Epoch, seeded, split
from hushtable.learn.nets import NEVER, Autoregressive, Within, autocast, widths
from hushtable.table.arrays import Array, Integers, Singles

Weights = dict[str, Singles]
FALLEN = 0.9
"""The share of the training after which no column is hidden any more."""


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
        curve = how.run(_Hiding(how, net, loss, how.total(len(rows))), rows, held, report, keep)
        return weights(net), curve


class _Hiding(Descending):
    """A descent in which ever fewer columns are hidden, and at the end none, so that chances are right for whole rows."""

    def __init__(self, how: Descent, net: Autoregressive, loss: Callable[[torch.Tensor], torch.Tensor], total: int) -> None:
        super().__init__(how, net, loss, total)
        self.dropout, self.total = net.dropout, total

    def update(self, rows: torch.Tensor) -> float:
        assert isinstance(self.net, Autoregressive)
        assert self.schedule is not None
        # The schedule knows how many steps were taken, also where the training was stopped in between.
        self.net.dropout = self.dropout * max(0.0, 1 - self.schedule.last_epoch / (FALLEN * self.total))
        return super().update(rows)


def overfitted(
    codes: Integers,
    shape: Shape,
    how: Descent,
    seed: int,
    judge: Callable[[Weights], float],
    ratios: Sequence[float],
) -> list[tuple[float, Weights]]:
    """Weights along one training on all rows, whenever the ratio of the loss to the least one reaches another of ``ratios``.

    First those of the least loss; then, with their losses, those after which it had risen so far; at the end the last, if some
    ratio was not reached.
    """
    with seeded(seed):
        net, loss = _net(codes, shape)
        rows = torch.arange(len(codes))
        learner = _Climbing(how, net, loss, how.total(len(rows)), judge, ratios)
        how.run(learner, rows, rows)
        return [learner.best, *learner.kept, *([] if learner.done else [learner.last])]


class _Climbing(Descending):
    """A descent that is judged by other rows, keeps the weights at each rung, and stands still when the last is reached."""

    def __init__(
        self,
        how: Descent,
        net: Autoregressive,
        loss: Callable[[torch.Tensor], torch.Tensor],
        total: int,
        judged: Callable[[Weights], float],
        ratios: Sequence[float],
    ) -> None:
        super().__init__(how, net, loss, total)
        self.judged, self.ratios = judged, sorted(ratio for ratio in ratios if ratio > 1)
        self.best: tuple[float, Weights] = (float("inf"), {})
        self.last = self.best
        self.kept: list[tuple[float, Weights]] = []

    @property
    def done(self) -> bool:
        return len(self.kept) == len(self.ratios)

    def update(self, rows: torch.Tensor) -> float:
        return 0.0 if self.done else super().update(rows)

    def judge(self, rows: torch.Tensor) -> float:
        if self.done:
            return float("inf")
        assert isinstance(self.net, Autoregressive)
        now = weights(self.net)
        if (loss := self.judged(now)) < self.best[0]:
            # What was a rung above a loss that was not the least is none.
            self.best, self.kept = (loss, now), []
        self.last = (loss, now)
        while not self.done and loss >= self.ratios[len(self.kept)] * self.best[0]:
            self.kept.append((loss, now))
        return loss


def weights(net: Autoregressive) -> Weights:
    """What field ``j`` needs, as ``j/...``: embeddings, its rows of the first layer and of its head, and what was known of it."""
    size, start = net.embedding.embedding_dim, 0
    found: Weights = {}
    first, offset = (net.first.weight * net.first.mask).T, net.first.bias
    embeddings = torch.split(net.embedding.weight, list(net.cells[: len(net.offsets)]))
    for block, head in zip(net.blocks, net.heads, strict=True):
        for place, field in enumerate(block.fields):
            end, count = start + block.width, net.cells[field]
            own = {"first": first[: field * size, start:end], "offset": offset[start:end]}
            own |= {"head": head.get_parameter("weight")[place, :, :count], "bias": head.get_parameter("bias")[place, :count]}
            if field < len(net.cells) - 1:
                own["embedding"] = embeddings[field]
            if field in net.within:
                own["known"] = net.within[field].logits
            found |= {f"{field}/{name}": part.detach().numpy().copy() for name, part in own.items()}
            start = end
    return found


def _net(codes: Integers, shape: Shape) -> tuple[Autoregressive, Callable[[torch.Tensor], torch.Tensor]]:
    within = {field: Within(field - 1, _logs(counts)) for field, counts in enumerate(shape.counts) if counts.ndim > 1}
    net = Autoregressive(shape.cells, shape.embedding, widths(shape.cells, shape.hidden), shape.dropout, within)
    net.start([_logs(counts) if counts.ndim == 1 else torch.empty(0) for counts in shape.counts])
    net.order(shape.ordered)
    rows = torch.from_numpy(codes)

    def loss(part: torch.Tensor) -> torch.Tensor:
        with autocast():
            return net.losses(rows[part].long()).mean()

    return net, loss


def _logs(counts: Integers) -> torch.Tensor:
    """The logarithms of shares; NEVER where nothing was counted."""
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    logs: Array = np.log(shares, out=np.full(counts.shape, NEVER), where=counts > 0)
    return torch.from_numpy(logs.astype(np.float32))
