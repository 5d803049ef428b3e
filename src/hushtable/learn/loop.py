"""The one training loop: epochs of batches, judged on held-out rows, the same bits for the same seed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.checkpoint import Checkpoint

STEPS, LEAST = 60, 32
"""Steps of a pass over a small table, and the least rows a step."""


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
        keep: Checkpoint | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> list[Epoch]:
        """Train on ``rows``, to the end if no rows are held out; else keep the weights that were best on ``held``.

        ``keep`` is where it was stopped, if it was: after each epoch everything is written there. ``stop`` is asked before each
        epoch, and ends the training like patience that ran out.
        """
        nets = {name: part for name, part in learner.state().items() if isinstance(part, torch.nn.Module)}
        total = self.total(len(rows))
        at = _Place(best={name: copy.deepcopy(net.state_dict()) for name, net in nets.items()})
        if keep is not None and (state := keep.load()) is not None:
            at = at.restored(state, learner)
            report(at.taken / total)
        while at.taken < total and at.waited < self.patience and not stop():
            for net in nets.values():
                net.train()
            losses = []
            for part in batches(rows[torch.randperm(len(rows))], self.batch)[: total - at.taken]:
                losses.append(learner.update(part))
                at.taken += 1
                report(at.taken / total)
            judged = None
            if held is not None and ((len(at.curve) + 1) % self.every == 0 or at.taken == total):
                judged, at.waited = _judged(learner, nets, held), at.waited + 1
                if judged < at.least:
                    at.least, at.waited = judged, 0
                    at.best = {name: copy.deepcopy(net.state_dict()) for name, net in nets.items()}
            at.curve.append(Epoch(sum(losses) / len(losses), judged))
            if keep is not None:
                keep.save(at.state(learner))
        for name, net in nets.items():
            if held is not None:
                net.load_state_dict(at.best[name])
            net.eval()
        return at.curve


@dataclass
class _Place:
    """How far a training is."""

    best: dict[str, Any]
    """The weights that were best on held-out rows."""
    least: float = float("inf")
    taken: int = 0
    waited: int = 0
    curve: list[Epoch] = field(default_factory=list)

    def state(self, learner: Learner) -> dict[str, Any]:
        """Everything that the rest of the training follows from, the state of the random numbers included."""
        parts = {name: part.state_dict() for name, part in learner.state().items()}
        plain = {"best": self.best, "least": self.least, "taken": self.taken, "waited": self.waited}
        return {**plain, "curve": [list(epoch) for epoch in self.curve], "parts": parts, "random": torch.get_rng_state()}

    def restored(self, state: Mapping[str, Any], learner: Learner) -> _Place:
        """The place that was saved, with the learner and the random numbers as they were there."""
        for name, part in learner.state().items():
            part.load_state_dict(state["parts"][name])
        torch.set_rng_state(state["random"])
        curve = [Epoch(*epoch) for epoch in state["curve"]]
        return _Place(state["best"], state["least"], state["taken"], state["waited"], curve)


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
        keep: Checkpoint | None = None,
    ) -> list[Epoch]:
        """Fit ``net`` to the mean of ``loss``, which takes row numbers, over ``rows``."""
        return self.run(Descending(self, net, loss, self.total(len(rows))), rows, held, report, keep)


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


def batch_size(most: int, rows: int) -> int:
    """Rows a step: fewer than ``most`` where the table is small, so that a pass has enough steps."""
    return min(most, max(LEAST, rows // STEPS))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers from this seed, and one thread, inside; outside, everything as it was.

    How many threads there are decides the order of sums, and so the last bits; and threads that wait for one another cost more
    than they bring as soon as something else runs beside them.
    """
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside; outside, as many as there were."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
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
