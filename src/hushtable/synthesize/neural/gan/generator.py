"""The generator in PyTorch that starts from paid tables (``residual`` draws from it without PyTorch)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.synthesize.neural.gan.residual import NOISE, Condition, spans
from hushtable.synthesize.neural.gan.start import Start
from hushtable.table.arrays import Singles

POOL = 20_000
"""Rows of the tables whose conditions are given in training."""
RARE = 0.01
"""Shares below this count as if they were twice as far from nothing."""
TEMPERATURE = 0.5
"""Of the softmax whose gradient stands for that of a drawn level."""


class Made(NamedTuple):
    """Generated rows, and how far what they were drawn from is from the tables."""

    rows: torch.Tensor
    """Level by level."""
    away: torch.Tensor
    """The mean relative entropy of a row's distributions, given its noise and condition."""
    drift: torch.Tensor
    """The difference of the mean shares, given the class, from those of the tables (chi-squared, over all columns)."""


class Generator(torch.nn.Module):
    """Logits of the tables, and what is added to them given noise and a condition; nothing at first."""

    def __init__(self, start: Start, condition: Condition, width: int, seed: int) -> None:
        super().__init__()
        self.spans = list(spans(start.sizes))
        self.held = set(condition.places)
        self.top = start.schema.names.index(start.top[0]) if start.top else 0
        self.classes = start.sizes[self.top] if start.top else 0
        last = torch.nn.Linear(width, sum(start.sizes))
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.zeros_(last.bias)
        first, middle = torch.nn.Linear(NOISE + condition.width, width), torch.nn.Linear(width, width)
        self.net = torch.nn.Sequential(first, torch.nn.ReLU(), middle, torch.nn.ReLU(), last)
        rows = min(POOL, max(1000, 4 * start.network.total))
        self._cells = start.draw(rows, np.random.default_rng(seed))
        self._embedded = torch.from_numpy(condition.embed(self._cells))
        self._logits = torch.from_numpy(start.logits(self._cells)).float()

    def rows(self, count: int) -> Made:
        """So many of them. A column has one level, with the gradient of its softmax (straight through: Jang, Gu and Poole 2017)."""
        picked = torch.randint(len(self._cells), (count,))
        added = self.net(torch.cat([torch.randn(count, NOISE), self._embedded[picked]], dim=1))
        logits, cells = self._logits[picked], torch.from_numpy(self._cells)[picked]
        classes = torch.nn.functional.one_hot(cells[:, self.top], self.classes).float() if self.classes else torch.ones(count, 1)
        classes = classes / classes.sum(0).clamp(min=1)
        present = classes.sum(0) / max(1, int((classes.sum(0) > 0).sum()))
        parts, away, drift = [], torch.zeros(()), torch.zeros(())
        for place, span in enumerate(self.spans):
            if place in self.held:
                parts.append(torch.nn.functional.one_hot(cells[:, place], span.stop - span.start).float())
                continue
            before = torch.log_softmax(logits[:, span], dim=1)
            after = torch.log_softmax(logits[:, span] + added[:, span], dim=1)
            away = away + (after.exp() * (after - before)).sum(1).mean()
            wanted = classes.T @ before.exp()
            drift = drift + ((classes.T @ after.exp() - wanted).square() / (wanted + RARE)).sum(1) @ present
            parts.append(torch.nn.functional.gumbel_softmax(after, tau=TEMPERATURE, hard=True))
        return Made(torch.cat(parts, dim=1), away, drift)

    def layers(self) -> tuple[Singles, ...]:
        """Weights and biases in turn."""
        return tuple(p.detach().numpy().astype(np.float32).copy() for p in self.net.parameters())
