"""A game whose critic's gradients on real rows are clipped and noisy, as they were published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.encode.layout import Layout
from hushtable.learn.ghost import Tape
from hushtable.privacy import accountant
from hushtable.synthesize.neural.gan import training
from hushtable.synthesize.neural.gan.conditions import Drawn
from hushtable.synthesize.neural.gan.constraints import Constraint
from hushtable.synthesize.neural.gan.game import Game
from hushtable.synthesize.neural.gan.losses import PENALTY
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.synthesize.neural.gan.published import PublishedGan


def train(
    step: PublishedGan,
    table: Table,
    constraints: Sequence[Constraint],
    seed: int,
    report: Callable[[float], None],
    work: Path | None,
) -> dict[str, Any]:
    """Play the noisy game; what its model is made of."""
    batch = training.batch_of(step.batch, table.rows)
    share = min(1.0, batch / table.rows)
    steps = step.epochs * max(1, -(-table.rows // batch)) * step.critic_steps
    multiplier = _multiplier(step.epsilon, min(0.5, 1 / table.rows), share, steps)
    game = partial(NoisyGame, step.bound, multiplier)
    return training.train(step, table, constraints, seed, report, game, scaled(table), work)


class NoisyGame(Game):
    """Clips the critic's gradient on each real row, and adds noise to their sum; that of the penalty is left as it is."""

    def __init__(self, bound: float, multiplier: float, *game: Any) -> None:
        super().__init__(*game)
        self.bound, self.multiplier = bound, multiplier

    def improve_critic(self, real: torch.Tensor, fake: torch.Tensor, drawn: Drawn) -> float:
        """One step; the difference of the mean scores before it."""
        own, other = torch.cat([real, drawn.vectors], 1), torch.cat([fake, drawn.vectors], 1)
        crossed = self.rules.loss == "bce"
        tape = Tape.of(self.critic, lambda: functional.softplus(-self.critic(own)) if crossed else -self.critic(own))
        weights = (self.bound / tape.squared_norms().sqrt().clamp(min=1e-12)).clamp(max=1.0)
        self.criticizing.zero_grad()
        for parameter, total in tape.weighted(weights):
            noise = self.multiplier * self.bound * torch.randn_like(total)
            parameter.grad = (total + noise) / len(own)
        scores = self.critic(other)
        lost = (functional.softplus(scores) if crossed else scores).mean()
        if self.rules.loss == "wgan-gp":
            mixed = torch.lerp(own, other, torch.rand(len(own), 1))
            lost = lost + PENALTY * (self.critic.gradient(mixed).norm(dim=1) - 1).square().mean()
        lost.backward()
        self.criticizing.step()
        if self.rules.clip:
            with torch.no_grad():
                for parameter in self.critic.parameters():
                    parameter.clamp_(-self.rules.clip, self.rules.clip)
        return float(lost.detach())


def scaled(table: Table) -> Layout:
    """Numbers between the least and the largest value that the rows hold, whatever is declared."""
    layout = Layout.of(table)
    spans = []
    for span in layout.spans:
        values = table.floats(span.column.name) if span.column.numeric else np.zeros(0)
        present = values[~np.isnan(values)]
        spans.append(replace(span, low=float(present.min()), high=float(present.max())) if len(present) else span)
    return replace(layout, spans=tuple(spans))


def _multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The noise that Poisson batches of this rate would need."""
    low, high = 0.3, 1e4
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        cost = accountant.curve_epsilon(accountant.sampled_gaussian_curve(rate, middle, steps), delta)
        low, high = (middle, high) if cost > epsilon else (low, middle)
    return high
