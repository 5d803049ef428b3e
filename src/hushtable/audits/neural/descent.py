"""Gradient descent with early stopping, the same bits for the same seed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch  # noqa: TID253 - this module is imported only where it is used


@dataclass(frozen=True)
class Descent:
    """How long to train. Bounded in steps, not in seconds: a clock would make the result depend on the load of the machine."""

    rate: float = 1e-3
    """Learning rate of Adam."""
    batch: int = 1024
    epochs: int = 300
    steps: int = 3000
    """Gradient steps in all, whatever the epochs say."""
    patience: int = 10
    """Epochs without a better loss on the held-out rows before it stops; the best weights are kept."""

    def run(
        self,
        net: torch.nn.Module,
        loss: Callable[[torch.Tensor], torch.Tensor],
        rows: torch.Tensor,
        held: torch.Tensor | None = None,
    ) -> None:
        """Fit ``net`` to the mean of ``loss``, which takes row numbers, over ``rows``; to the end, if no rows are held out."""
        optimizer = torch.optim.Adam(net.parameters(), lr=self.rate)
        best, weights, waited, taken = float("inf"), copy.deepcopy(net.state_dict()), 0, 0
        for _ in range(self.epochs):
            net.train()
            for part in _batches(rows[torch.randperm(len(rows))], self.batch)[: self.steps - taken]:
                optimizer.zero_grad()
                loss(part).backward()  # type: ignore[no-untyped-call] # torch does not annotate it
                optimizer.step()
                taken += 1
            if held is not None:
                now, waited = _mean_loss(net, loss, held, self.batch), waited + 1
                if now < best:
                    best, weights, waited = now, copy.deepcopy(net.state_dict()), 0
            if waited >= self.patience or taken >= self.steps:
                break
        if held is not None:
            net.load_state_dict(weights)
        net.eval()


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


def _batches(rows: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Parts of nearly equal size, so that none is too small to learn from."""
    return list(rows.tensor_split(max(1, -(-len(rows) // size))))


def _mean_loss(net: torch.nn.Module, loss: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor, size: int) -> float:
    """On held-out rows, always with the same random numbers, so that epochs can be compared."""
    net.eval()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        parts = _batches(rows, size)
        return sum(float(loss(part)) * len(part) for part in parts) / len(rows)
