"""The one training loop: epochs of batches, judged on held-out rows, the same bits for the same seed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch  # noqa: TID253 - this module is imported only where it is used


class Learner(Protocol):
    """What is trained: networks with their optimizers, one step at a time."""

    def state(self) -> Mapping[str, Any]:
        """Everything that a step changes, by name: networks, optimizers, schedules. Each has ``state_dict``."""
        ...

    def update(self, rows: torch.Tensor) -> float:
        """Take one gradient step on the rows of these numbers; the loss before it."""
        ...

    def judge(self, rows: torch.Tensor) -> float:
        """How bad it is on the rows of these numbers, which it was not trained on; smaller is better."""
        ...


class Epoch(NamedTuple):
    """A point of the training curve."""

    loss: float
    """Mean over the steps of the epoch."""
    held: float | None
    """On the held-out rows; None where there are none, or where this epoch was not judged."""


@dataclass(frozen=True, kw_only=True)
class Loop:
    """How long to train. Bounded in steps, not in seconds: a clock would make the result depend on the load of the machine."""

    batch: int = 1024
    epochs: int = 300
    steps: int = 0
    """Gradient steps in all, whatever the epochs say; 0 sets no bound."""
    patience: int = 10
    """Judgements without a better one before it stops; the best weights are kept."""
    every: int = 1
    """Epochs from one judgement to the next."""

    def total(self, rows: int) -> int:
        """The steps that it takes on so many rows, if nothing stops it early."""
        all_epochs = self.epochs * max(1, -(-rows // self.batch))
        return min(all_epochs, self.steps) if self.steps else all_epochs

    def run(
        self,
        learner: Learner,
        rows: torch.Tensor,
        held: torch.Tensor | None = None,
        report: Callable[[float], None] = lambda share: None,
    ) -> list[Epoch]:
        """Train on ``rows``, to the end if no rows are held out; else keep the weights that were best on ``held``."""
        nets = {name: part for name, part in learner.state().items() if isinstance(part, torch.nn.Module)}
        total, taken, waited, best = self.total(len(rows)), 0, 0, float("inf")
        weights = {name: copy.deepcopy(net.state_dict()) for name, net in nets.items()}
        curve: list[Epoch] = []
        while taken < total and waited < self.patience:
            for net in nets.values():
                net.train()
            losses = []
            for part in batches(rows[torch.randperm(len(rows))], self.batch)[: total - taken]:
                losses.append(learner.update(part))
                taken += 1
                report(taken / total)
            judged = None
            if held is not None and ((len(curve) + 1) % self.every == 0 or taken == total):
                judged, waited = _judged(learner, nets, held), waited + 1
                if judged < best:
                    best, waited = judged, 0
                    weights = {name: copy.deepcopy(net.state_dict()) for name, net in nets.items()}
            curve.append(Epoch(sum(losses) / len(losses), judged))
        for name, net in nets.items():
            if held is not None:
                net.load_state_dict(weights[name])
            net.eval()
        return curve


@dataclass(frozen=True, kw_only=True)
class Descent(Loop):
    """Adam on the mean of a loss: what most networks need."""

    rate: float = 1e-3
    """Learning rate; the largest, where there is a cycle."""
    decay: float = 0.0
    """Of the weights."""
    cycle: bool = False
    """Whether the rate rises and falls once over the training (Smith and Topin 2019)."""

    def fit(
        self,
        net: torch.nn.Module,
        loss: Callable[[torch.Tensor], torch.Tensor],
        rows: torch.Tensor,
        held: torch.Tensor | None = None,
        report: Callable[[float], None] = lambda share: None,
    ) -> list[Epoch]:
        """Fit ``net`` to the mean of ``loss``, which takes row numbers, over ``rows``."""
        return self.run(Descending(self, net, loss, self.total(len(rows))), rows, held, report)


class Descending:
    """One network, one loss, one optimizer."""

    def __init__(self, how: Descent, net: torch.nn.Module, loss: Callable[[torch.Tensor], torch.Tensor], total: int) -> None:
        self.net, self.loss, self.batch = net, loss, how.batch
        self.optimizer = torch.optim.Adam(net.parameters(), lr=how.rate, weight_decay=how.decay, fused=True)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, how.rate, total_steps=total + 1) if how.cycle else None

    def state(self) -> dict[str, Any]:
        """The network, its optimizer and the schedule of the rate."""
        parts = {"net": self.net, "optimizer": self.optimizer, "schedule": self.schedule}
        return {name: part for name, part in parts.items() if part is not None}

    def update(self, rows: torch.Tensor) -> float:
        """One step of Adam; the loss before it."""
        self.optimizer.zero_grad()
        loss = self.loss(rows)
        loss.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()
        return float(loss.detach())

    def judge(self, rows: torch.Tensor) -> float:
        """The mean loss."""
        parts = batches(rows, self.batch)
        return sum(float(self.loss(part)) * len(part) for part in parts) / len(rows)


def split(rows: int, share: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    """Row numbers to fit and row numbers to hold out; a handful of rows is both."""
    order = torch.randperm(rows)
    held = max(2, round(share * rows))
    return (order[held:], order[:held]) if rows >= 4 * held else (order, order)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers from this seed, and one thread, inside; outside, everything as it was.

    How many threads there are decides the order of sums, and so the last bits; and threads that wait for one another cost more
    than they bring as soon as something else runs beside them.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


def batches(rows: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Parts of nearly equal size, so that none is too small to learn from."""
    return list(rows.tensor_split(max(1, -(-len(rows) // size))))


def _judged(learner: Learner, nets: Mapping[str, torch.nn.Module], held: torch.Tensor) -> float:
    """On held-out rows, always with the same random numbers, so that epochs can be compared."""
    for net in nets.values():
        net.eval()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return learner.judge(held)
