"""Descents that do more than lower a loss: one that hides ever fewer columns, one that goes on until it memorizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.loop import Descending, Descent, seeded
from hushtable.learn.nets import Fields
from hushtable.table.arrays import Singles

Weights = dict[str, Singles]
Loss = Callable[[torch.Tensor], torch.Tensor]
FALLEN = 0.9
"""The share of the training after which no column is hidden any more."""
PAST = 1.02
"""The ratio at which it has surely passed the least loss: where it stops if no larger one was asked for."""


class Hiding(Descending):
    """A descent in which ever fewer columns are hidden, and at the end none, so that chances are right for whole rows."""

    def __init__(self, how: Descent, net: Fields, loss: Loss, total: int) -> None:
        super().__init__(how, net, loss, total)
        self.dropout, self.total = net.dropout, total

    def update(self, rows: torch.Tensor) -> float:
        """One step, with as many columns hidden as are to be by now."""
        assert isinstance(self.net, Fields)
        assert self.schedule is not None
        # The schedule knows how many steps were taken, also where the training was stopped in between.
        self.net.dropout = self.dropout * max(0.0, 1 - self.schedule.last_epoch / (FALLEN * self.total))
        return super().update(rows)


def climbed(
    make: Callable[[], tuple[Fields, Loss]],
    weights: Callable[[Fields], Weights],
    rows: int,
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
        net, loss = make()
        numbers = torch.arange(rows)
        learner = _Climbing(how, net, loss, how.total(rows), lambda: weights(net), judge, ratios)
        how.run(learner, numbers, numbers, stop=lambda: learner.done)
        return [learner.best, *learner.kept, *([] if learner.done else [learner.last])]


class _Climbing(Descending):
    """A descent that is judged by other rows, keeps the weights at each rung, and is done when the last is reached."""

    def __init__(
        self,
        how: Descent,
        net: Fields,
        loss: Loss,
        total: int,
        weights: Callable[[], Weights],
        judged: Callable[[Weights], float],
        ratios: Sequence[float],
    ) -> None:
        super().__init__(how, net, loss, total)
        self.weights, self.judged = weights, judged
        self.ratios = sorted(ratio for ratio in ratios if ratio > 1) or [PAST]
        self.best: tuple[float, Weights] = (float("inf"), {})
        self.last = self.best
        self.kept: list[tuple[float, Weights]] = []

    @property
    def done(self) -> bool:
        return len(self.kept) == len(self.ratios)

    def judge(self, rows: torch.Tensor) -> float:
        now = self.weights()
        if (loss := self.judged(now)) < self.best[0]:
            # What was a rung above a loss that was not the least is none.
            self.best, self.kept = (loss, now), []
        self.last = (loss, now)
        while not self.done and loss >= self.ratios[len(self.kept)] * self.best[0]:
            self.kept.append((loss, now))
        return loss
