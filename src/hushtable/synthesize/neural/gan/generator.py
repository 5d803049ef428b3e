"""The generator in PyTorch that starts from paid tables (``residual`` draws from it without PyTorch)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.synthesize.neural.gan.residual import NOISE, SWEEPS, Condition, spans
from hushtable.synthesize.neural.gan.start import Start
from hushtable.table.arrays import Integers, Mask, Singles

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
    """Logits of the tables, and what is added to them given noise and the columns that are held; nothing at first."""

    def __init__(self, start: Start, condition: Condition, width: int, seed: int) -> None:
        super().__init__()
        self.condition, self.spans = condition, list(spans(start.sizes))
        self.top = start.schema.names.index(start.top[0]) if start.top else 0
        self.classes = start.sizes[self.top] if start.top else 0
        last = torch.nn.Linear(width, sum(start.sizes))
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.zeros_(last.bias)
        first, middle = torch.nn.Linear(NOISE + condition.width, width), torch.nn.Linear(width, width)
        self.net = torch.nn.Sequential(first, torch.nn.ReLU(), middle, torch.nn.ReLU(), last)
        self.rng = np.random.default_rng(seed)
        self.cells = start.draw(min(POOL, max(1000, 4 * start.network.total)), self.rng)
        """Rows of the tables to start from."""
        self._logits = torch.from_numpy(start.logits(self.cells)).float()

    def rows(self, count: int) -> Made:
        """So many of them. A column has one level, with the gradient of its softmax (straight through: Jang, Gu and Poole 2017).

        The gradient is that of the last time that columns are drawn anew, given the others as they were before.
        """
        picked = self.rng.integers(0, len(self.cells), count)
        cells, logits = self.cells[picked], self._logits[torch.from_numpy(picked)]
        for _ in range(SWEEPS - 1):
            held = self.condition.masks(count, self.rng)
            with torch.no_grad():
                after = logits + self._added(cells, held)
                gumbel = after - torch.empty_like(after).exponential_().log_()
            drawn = np.stack([gumbel[:, span].argmax(1).numpy() for span in self.spans], axis=1)
            cells = np.where(held, cells, drawn)
        held = self.condition.masks(count, self.rng)
        return self._made(cells, held, logits, self._added(cells, held))

    def _added(self, cells: Integers, held: Mask) -> torch.Tensor:
        embedded = torch.from_numpy(self.condition.embed(cells, held))
        added: torch.Tensor = self.net(torch.cat([torch.randn(len(cells), NOISE), embedded], dim=1))
        return added

    def _made(self, cells: Integers, held: Mask, logits: torch.Tensor, added: torch.Tensor) -> Made:
        now, kept = torch.from_numpy(cells), torch.from_numpy(held)
        classes = torch.nn.functional.one_hot(now[:, self.top], self.classes).float() if self.classes else torch.ones(len(cells), 1)
        parts, away, drift = [], torch.zeros(()), torch.zeros(())
        for place, span in enumerate(self.spans):
            levels = torch.nn.functional.one_hot(now[:, place], span.stop - span.start).float()
            if place in self.condition.places:
                parts.append(levels)
                continue
            free = ~kept[:, place : place + 1]
            before = torch.log_softmax(logits[:, span], dim=1)
            after = torch.log_softmax(logits[:, span] + added[:, span], dim=1)
            parts.append(torch.where(free, torch.nn.functional.gumbel_softmax(after, tau=TEMPERATURE, hard=True), levels))
            away = away + ((after.exp() * (after - before)).sum(1) * free[:, 0]).mean()
            weights = classes * free
            weights = weights / weights.sum(0).clamp(min=1)
            wanted = weights.T @ before.exp()
            apart = ((weights.T @ after.exp() - wanted).square() / (wanted + RARE)).sum(1)
            drift = drift + apart.sum() / max(1, self.classes)
        return Made(torch.cat(parts, dim=1), away, drift)

    def layers(self) -> tuple[Singles, ...]:
        """Weights and biases in turn."""
        return tuple(p.detach().numpy().astype(np.float32).copy() for p in self.net.parameters())
