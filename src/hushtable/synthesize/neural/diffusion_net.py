"""The network that takes noise off rows (Kotelnikov et al. 2023), what it is trained to lower, and its training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.levels import log_shares, segments
from hushtable.learn.loop import Descent, Epoch, batch_size, seeded, split
from hushtable.learn.nets import autocast
from hushtable.synthesize.neural import denoising, diffusion
from hushtable.synthesize.neural.denoising import FURTHEST, Choices, State, kept
from hushtable.table.arrays import Singles
from hushtable.table.table import Table

EMBEDDED = 16
"""Numbers that stand for a level of a wide column."""
LONGEST = 10_000.0
"""The longest wave that a time is written in, by the shortest; times count as if there were a thousand."""
JUDGED = 4
"""How often each held-out row is judged, at other times and with other noise: one judgement of each would say too little."""


class Denoiser(torch.nn.Module):
    """Dense layers on noisy rows: indicators of levels, embeddings where there are many, and numbers, with time and class added."""

    small: torch.Tensor
    large: torch.Tensor
    waves: torch.Tensor

    def __init__(self, choices: Choices, numbers: int, classes: int, widths: Sequence[int], times: int, dropout: float) -> None:
        super().__init__()
        self.narrow, self.wide = choices.narrow().tolist(), choices.wide().tolist()
        small, large = (torch.from_numpy(choices.sizes[columns]) for columns in (self.narrow, self.wide))
        self.register_buffer("small", small.cumsum(0) - small, persistent=False)
        self.register_buffer("large", large.cumsum(0) - large, persistent=False)
        self.register_buffer("waves", waves(times, widths[0]), persistent=False)
        self.indicators, self.levels = int(small.sum()), len(choices.columns)
        self.embedding = torch.nn.Embedding(int(large.sum()), EMBEDDED) if self.wide else None
        self.first = torch.nn.Linear(self.indicators + EMBEDDED * len(self.wide) + numbers, widths[0])
        self.time = torch.nn.Sequential(
            torch.nn.Linear(widths[0], widths[0]), torch.nn.SiLU(), torch.nn.Linear(widths[0], widths[0])
        )
        self.classes = torch.nn.Embedding(classes, widths[0]) if classes else None
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in pairwise(widths))
        self.dropout = torch.nn.Dropout(dropout)
        self.out = torch.nn.Linear(widths[-1], self.levels + numbers)
        torch.nn.init.zeros_(self.out.weight)
        torch.nn.init.zeros_(self.out.bias)

    def forward(
        self, codes: torch.Tensor, values: torch.Tensor, times: torch.Tensor, classes: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the clean levels, and for numbers what their noise is predicted by."""
        parts = [values]
        if self.embedding is not None:
            parts.insert(0, self.embedding(codes[:, self.wide] + self.large).flatten(1))
        if self.narrow:
            parts.insert(0, torch.zeros(len(codes), self.indicators).scatter_(1, codes[:, self.narrow] + self.small, 1.0))
        units = self.first(torch.cat(parts, dim=1)) + self.time(self.waves)[times]
        if self.classes is not None and classes is not None:
            units = units + self.classes(classes)
        units = self.dropout(functional.relu(units))
        for layer in self.hidden:
            units = self.dropout(functional.relu(layer(units)))
        out = self.out(units).float()
        return out[:, : self.levels].clamp(-FURTHEST, FURTHEST), out[:, self.levels :]

    def arrays(self) -> dict[str, Singles]:
        """What is needed to draw: embeddings and times as what they add to the first layer."""
        with torch.no_grad():
            ends = torch.tensor([self.indicators, self.indicators + EMBEDDED * len(self.wide)])
            narrow, wide, numbers = self.first.weight.T.tensor_split(ends)
            found = {"narrow": narrow, "numbers": numbers, "times": self.time(self.waves) + self.first.bias}
            if self.embedding is not None:
                tables = self.embedding.weight.tensor_split(self.large[1:])
                found["wide"] = torch.cat(
                    [table @ part for table, part in zip(tables, wide.tensor_split(len(self.wide)), strict=True)]
                )
            if self.classes is not None:
                found["classes"] = self.classes.weight
            for place, layer in enumerate((*self.hidden, self.out)):
                found |= {f"weight/{place}": layer.get_parameter("weight").T, f"bias/{place}": layer.get_parameter("bias")}
        return {name: np.ascontiguousarray(array.detach().numpy(), np.float32) for name, array in found.items()}


def waves(times: int, width: int) -> torch.Tensor:
    """Times 0 to ``times`` in cosines and sines of ever longer waves (Vaswani et al. 2017)."""
    half = (width + 1) // 2
    speeds = torch.exp(-math.log(LONGEST) * torch.arange(half) / half)
    angles = torch.arange(times + 1)[:, None] * (1000 / times) * speeds
    return torch.cat([angles.cos(), angles.sin()], dim=1)[:, :width]


class Divergence:
    """Of the posterior of levels at the time before, given the clean level, from the one that the network's chances give."""

    def __init__(self, choices: Choices) -> None:
        self.sizes, self.starts = torch.from_numpy(choices.sizes), torch.from_numpy(choices.starts)
        self.columns, self.segments = torch.from_numpy(choices.columns), segments(choices.sizes.tolist())

    def __call__(
        self, logits: torch.Tensor, clean: torch.Tensor, noisy: torch.Tensor, step: torch.Tensor, before: torch.Tensor
    ) -> torch.Tensor:
        """Rows x columns, in nats; ``step`` and ``before`` are those of ``denoising.Stride``, a column of one for each row.

        Both posteriors are w_k m_k over their sums, with the same w_k = a [k = noisy] + u. Given the clean level, m_k is
        b [k = clean] + v: so only one sum over all levels is needed, that of the logarithms of the network's own m.
        """
        u, v = (1 - step) / self.sizes, (1 - before) / self.sizes
        exponents = logits.exp()
        shares = exponents / (exponents @ self.segments)[:, self.columns]
        logs = (before * shares + v[:, self.columns]).log()
        here, there = logs.gather(1, noisy + self.starts), logs.gather(1, clean + self.starts)
        same = (clean == noisy).float()
        most, least = (before + v).log(), v.clamp(min=1e-30).log()
        total = step * (before * same + v) + u
        cross = u * (v * (logs @ self.segments) + before * there) + step * (v + before * same) * here
        own = u * ((before + v) * most + (self.sizes - 1) * v * least)
        own = own + step * (before * same + v) * torch.where(same > 0, most, least)
        return (own - cross) / total - total.log() + (step * here.exp() + u).log()


def train(
    step: diffusion.Diffusion,
    table: Table,
    sizes: Sequence[int],
    classes: int,
    rows: State,
    seed: int,
    report: Callable[[float], None],
    work: Path | None,
) -> tuple[denoising.Denoiser, list[Epoch]]:
    """Fit to the rows, judged on a tenth of them that it does not learn from; what is drawn from, and the curve.

    ``work`` is where it is kept how far it is.
    """
    choices = Choices(sizes)
    codes, values = torch.from_numpy(rows.codes), torch.from_numpy(rows.values)
    labels = None if rows.classes is None else torch.from_numpy(rows.classes)
    left, divergence = torch.from_numpy(kept(step.times)).float(), Divergence(choices)
    descent = Descent(
        rate=step.rate,
        decay=step.decay,
        batch=batch_size(step.batch, table.rows),
        epochs=step.epochs,
        patience=step.patience,
        cycle=True,
    )
    with seeded(seed):
        net = Denoiser(choices, values.shape[1], classes, step.widths, step.times, step.dropout)
        known, apart = split(len(codes))
        with torch.no_grad():
            # An untrained network draws margins: else the first epochs would be spent on them.
            net.out.bias[: net.levels] = log_shares(codes, choices.sizes.tolist())

        def loss(numbers: torch.Tensor) -> torch.Tensor:
            here, there = codes[numbers], values[numbers]
            # Times lie evenly over the batch: the loss of one time differs much from that of another.
            places = (torch.arange(len(numbers)) / len(numbers) + torch.rand(1)) % 1
            times = 1 + (places * step.times).long().clamp(max=step.times - 1)
            now, before = left[times][:, None], left[times - 1][:, None]
            noise = torch.randn_like(there)
            seen = now.sqrt() * there + (1 - now).sqrt() * noise
            anything = (torch.rand(here.shape) * divergence.sizes).long()
            noisy = torch.where(torch.rand(here.shape) < now, here, anything)
            with autocast():
                logits, turned = net(noisy, seen, times, None if labels is None else labels[numbers])
            total = torch.zeros(())
            if sizes:
                each = divergence(logits, here, noisy, now / before, before)
                total = total + step.times * each.mean()
            if there.shape[1]:
                predicted = (1 - now).sqrt() * seen + now.sqrt() * turned
                total = total + (predicted - noise).square().mean()
            return total

        curve = descent.fit(net, loss, known, apart.repeat(JUDGED), report, Checkpoint.of(work, step, table, seed))
    return denoising.Denoiser(tuple(sizes), step.times, net.arrays()), curve
