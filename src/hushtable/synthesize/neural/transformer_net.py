"""Training the causal transformer on the tokens of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.causal import Causal, Layer
from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.descents import Hiding, Loss, Weights, climbed
from hushtable.learn.loop import Descent, Epoch, seeded, split
from hushtable.learn.nets import Fields
from hushtable.synthesize.neural.autoregressive_net import field_weights, margins, parts_of_cells
from hushtable.table.arrays import Integers

Check = Callable[[Weights, int], tuple[float, bool]]
"""How near a network of these weights draws to training rows after so many epochs, and whether that is too near."""


class Shape(NamedTuple):
    """The fields of a row, how often each of their cells was met, and the size of the network."""

    counts: tuple[Integers, ...]
    """Rows by cell; for a part of a column, rows by cell of the field before it and cell."""
    width: int
    layers: int
    heads: int
    dropout: float
    mask: float

    @property
    def cells(self) -> tuple[int, ...]:
        """Of each field."""
        return tuple(counts.shape[-1] for counts in self.counts)


class Watching(NamedTuple):
    """When a training is compared with copying, and when that ends it."""

    checking: Callable[[Integers], Check | None]
    """Given the numbers of the rows that are trained on: what compares with them."""
    every: int
    """Epochs from one comparison to the next; 0 compares never."""
    strikes: int
    """Alarms in a row that end the training."""


class Fitted(NamedTuple):
    """What a training led to."""

    weights: Weights
    curve: list[Epoch]
    checks: list[tuple[int, float]]
    """The epochs after which it was compared with copying, and what that gave."""


def fitted(
    codes: Integers,
    shape: Shape,
    how: Descent,
    seed: int,
    report: Callable[[float], None],
    keep: Checkpoint | None,
    watching: Watching,
) -> Fitted:
    """The weights that are best on a tenth of the rows (rows x fields), trained on the others; none that draw too near."""
    with seeded(seed):
        rows, held = split(len(codes))
        check = watching.checking(rows.numpy()) if watching.every else None
        # Compiled kernels that are used for the first time in a process set the number of threads for everyone.
        torch.set_num_threads(1)
        net, loss = _net(codes, shape)
        watch = _Watch(check, watching.every, watching.strikes, lambda: weights(net))
        learner = _Watched(how, net, loss, how.total(len(rows)), watch)
        curve = how.run(learner, rows, held, report, keep, stop=lambda: watch.struck)
        return Fitted(weights(net), curve, watch.found)


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


class _Watch:
    """Whether the network draws copies, as far as it was looked at."""

    def __init__(self, check: Check | None, every: int, strikes: int, now: Callable[[], Weights]) -> None:
        self.check, self.every, self.strikes, self.now = check, every, strikes, now
        self.epochs, self.alarms = 0, 0
        self.found: list[tuple[int, float]] = []

    @property
    def struck(self) -> bool:
        return self.alarms >= self.strikes

    def near(self) -> bool:
        """One epoch later: whether the last comparison gave an alarm."""
        self.epochs += 1
        if self.check is not None and self.epochs % self.every == 0:
            value, alarm = self.check(self.now(), self.epochs)
            self.found.append((self.epochs, value))
            self.alarms = self.alarms + 1 if alarm else 0
        return self.alarms > 0

    def state_dict(self) -> dict[str, Any]:
        return {"epochs": self.epochs, "alarms": self.alarms, "found": [list(pair) for pair in self.found]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.epochs, self.alarms = state["epochs"], state["alarms"]
        self.found = [(epoch, value) for epoch, value in state["found"]]


class _Watched(Hiding):
    """A descent whose network is compared with copying now and then: where it is too near, it does not count as better."""

    def __init__(self, how: Descent, net: Causal, loss: Loss, total: int, watch: _Watch) -> None:
        super().__init__(how, net, loss, total)
        self.watch = watch

    def state(self) -> dict[str, Any]:
        return {**super().state(), "watch": self.watch}

    def judge(self, rows: torch.Tensor) -> float:
        loss = super().judge(rows)
        return float("nan") if self.watch.near() else loss


def weights(net: Fields) -> Weights:
    """What field ``j`` needs, as ``j/...``, the ``places``, and the layers, each dense one outputs x inputs."""
    assert isinstance(net, Causal)
    found = field_weights(net)
    scale, shift = (part.detach().double().numpy() for part in (net.norm.weight, net.norm.bias))
    for field in range(len(net.cells)):
        # In double precision: where an array lies in memory decides the last bits of a product.
        head = found[f"{field}/head"].astype(np.float64)
        found[f"{field}/bias"] = (found[f"{field}/bias"] + shift @ head).astype(np.float32)
        found[f"{field}/head"] = (scale[:, None] * head).astype(np.float32)
    found["places"] = net.places.detach().numpy().copy()
    for place, layer in enumerate(net.layers):
        assert isinstance(layer, Layer)
        dense = {"into": (layer.into, layer.look), "back": (layer.back, None)}
        dense |= {"wide": (layer.wide, layer.think), "narrow": (layer.narrow, None)}
        for name, (linear, norm) in dense.items():
            found |= {f"layer/{place}/{name}{end}": array for end, array in _folded(linear, norm).items()}
    return found


def _folded(linear: torch.nn.Linear, norm: torch.nn.LayerNorm | None) -> dict[str, Any]:
    """A dense layer, with the scale and the shift of the norm before it taken in."""
    weight, offset = linear.weight.detach().double(), linear.bias.detach().double()
    if norm is not None:
        weight, offset = weight * norm.weight.detach(), offset + weight @ norm.bias.detach().double()
    return {"": weight.float().numpy(), "_offset": offset.float().numpy()}


def _net(codes: Integers, shape: Shape) -> tuple[Causal, Loss]:
    net = Causal(shape.cells, shape.width, shape.layers, shape.heads, shape.dropout, parts_of_cells(shape.counts))
    net.start(margins(shape.counts))
    rows = torch.from_numpy(codes)
    # What is masked stays so from epoch to epoch: the network never sees the whole of a row.
    shown = (torch.rand(codes.shape) >= shape.mask).float() if shape.mask else None

    def loss(part: torch.Tensor) -> torch.Tensor:
        own = rows[part].long()
        if shown is None or not net.training:
            return net.losses(own).mean()
        return net.losses(own, shown[part]).mean() / (1 - shape.mask)

    return net, loss
