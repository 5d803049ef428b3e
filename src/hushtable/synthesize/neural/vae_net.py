"""A variational autoencoder of mixed columns (Kingma and Welling 2014; for tables, Xu et al. 2019): its networks and its loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.encode.layout import Layout, Openings, Rows
from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.levels import log_shares, segments
from hushtable.learn.loop import Descent, Epoch, batch_size, seeded, split
from hushtable.synthesize.neural import vae as autoencoder
from hushtable.table.arrays import Singles
from hushtable.table.table import Table

FURTHEST = 30.0
"""Logits stay within this of 0, so that exponents neither vanish nor overflow and need no largest one taken off."""
NARROWEST, WIDEST = 0.01, 1.0
"""The spread of a number around what is decoded, in halves of its range."""
WARM = 0.25
"""The part of the training over which the weight of the divergence rises from 0 to 1 (Bowman et al. 2016)."""


class Vae(torch.nn.Module):
    """Encoder, decoder, the prior of what lies between them, and the spread of each number.

    Levels enter by a sum of weights, one row for each level, which is a dense layer on indicators without the indicators.
    """

    offsets: torch.Tensor
    segments: torch.Tensor
    taken: torch.Tensor
    """Steps so far: part of the state, so that training that goes on later goes on as it would have."""

    def __init__(self, levels: Sequence[int], numbers: int, widths: Sequence[int], latent: int, components: int) -> None:
        super().__init__()
        inputs = max(len(levels) + numbers, 1)
        self.levels = torch.nn.Parameter(torch.empty(sum(levels), widths[0]).uniform_(-1, 1) / math.sqrt(inputs))
        self.values = torch.nn.Linear(numbers, widths[0]) if numbers else None
        self.encoder = _dense(widths)
        self.code = torch.nn.Linear(widths[-1], 2 * latent)
        self.decoder = _dense([latent, *reversed(widths)])
        self.out = torch.nn.Linear(widths[0], sum(levels) + numbers)
        self.spread = torch.nn.Parameter(torch.full((numbers,), math.log(0.1)))
        # A mixture of one component is the standard normal, which is not learnt.
        self.shares = torch.nn.Parameter(torch.zeros(components)) if components > 1 else None
        self.centres = torch.nn.Parameter(torch.randn(components, latent) * (2 / math.sqrt(latent))) if components > 1 else None
        self.scales = torch.nn.Parameter(torch.zeros(components, latent)) if components > 1 else None
        self.register_buffer("taken", torch.zeros((), dtype=torch.int64))
        self.register_buffer("offsets", torch.tensor(np.cumsum([0, *levels])[:-1], dtype=torch.int64))
        self.register_buffer("segments", segments(levels))

    def encode(self, codes: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean and the log-variance of what stands for each row."""
        units = torch.zeros(len(codes), self.levels.shape[1])
        if codes.shape[1]:
            units = functional.embedding_bag(codes + self.offsets, self.levels, mode="sum")
        if self.values is not None:
            units = units + self.values(values)
        mean, log_variance = self.code(self.encoder(functional.relu(units))).chunk(2, dim=1)
        return mean, log_variance.clamp(-12, 4)

    def decode(self, latent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of all levels, and the means of numbers."""
        out = self.out(self.decoder(latent))
        return out[:, : len(self.levels)].clamp(-FURTHEST, FURTHEST), out[:, len(self.levels) :].tanh()

    def sigma(self) -> torch.Tensor:
        """The spread of each number."""
        return self.spread.exp().clamp(NARROWEST, WIDEST)

    def divergence(self, latent: torch.Tensor, mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
        """Of the posterior of each row from the prior: exactly for one component, else by the one point drawn."""
        if self.shares is None or self.centres is None or self.scales is None:
            return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(dim=1)
        own = -0.5 * ((latent - mean).square() / log_variance.exp() + log_variance).sum(dim=1)
        precision = (-2 * self.scales).exp()
        # The square expanded: products of matrices, and no array of rows x components x dimensions.
        distances = latent.square() @ precision.T - 2 * latent @ (precision * self.centres).T
        heights = self.shares.log_softmax(0) - self.scales.sum(dim=1) - 0.5 * (precision * self.centres.square()).sum(dim=1)
        return own - torch.logsumexp(heights - 0.5 * distances, dim=1)


def level_loss(logits: torch.Tensor, own: torch.Tensor, segments: torch.Tensor, beta: float) -> torch.Tensor:
    """For each row, summed over columns: minus the log-probability of its own levels, or the beta-divergence in its stead.

    ``own`` has the place of each column's level among all; ``segments`` the column of each place. -(b+1)/b (p_k^b - 1) +
    sum_j p_j^(b+1) - 1 (Akrami et al. 2022), which tends to -log p_k with b.
    """
    totals = (logits.exp() @ segments).log()
    logs = logits.gather(1, own) - totals
    if not beta:
        return -logs.sum(dim=1)
    powers = ((beta + 1) * logits).exp() @ segments / ((beta + 1) * totals).exp()
    return (-(beta + 1) / beta * torch.expm1(beta * logs) + powers - 1).sum(dim=1)


def number_loss(values: torch.Tensor, means: torch.Tensor, sigma: torch.Tensor, beta: float) -> torch.Tensor:
    """For each number: minus the log-density of a normal distribution, or the beta-divergence in its stead.

    -(b+1)/b ((2 pi s^2)^(-b/2) exp(-b (x-x')^2/(2 s^2)) - 1), and the integral of the density to the power b + 1, less 1: it
    depends on s alone, and without it a learnt s would come out too small.
    """
    logs = -0.5 * ((values - means) / sigma).square() - sigma.log() - 0.5 * math.log(2 * math.pi)
    if not beta:
        return -logs
    integral = (-beta / 2 * (2 * math.pi * sigma.square()).log() - 0.5 * math.log1p(beta)).exp()
    return -(beta + 1) / beta * torch.expm1(beta * logs) + integral - 1


def train(
    step: autoencoder.Vae,
    table: Table,
    layout: Layout,
    rows: Rows,
    openings: Openings,
    seed: int,
    report: Callable[[float], None],
    work: Path | None,
) -> tuple[dict[str, Singles], list[Epoch]]:
    """Fit to the rows, judged on a tenth of them that it does not learn from; the arrays that are drawn from, and the curve.

    ``work`` is where it is kept how far it is.
    """
    places = [place for place, span in enumerate(layout.spans) if span.levels]
    levels = [layout.spans[place].levels for place in places]
    codes, values = torch.from_numpy(rows.codes[:, places]), torch.from_numpy(rows.values)
    counted = torch.from_numpy(openings.of(rows)) if openings.governed else None
    beta = step.beta if step.reconstruction == "beta" else 0.0
    batch = batch_size(step.batch, table.rows)
    descent = Descent(rate=step.rate, decay=step.decay, batch=batch, epochs=step.epochs, patience=step.patience, cycle=True)
    with seeded(seed):
        net = Vae(levels, values.shape[1], step.widths, step.latent, step.components if step.prior == "mixture" else 1)
        known, apart = split(len(codes))
        warm = max(1.0, WARM * descent.total(len(known)))
        with torch.no_grad():
            # An untrained decoder draws margins: else the first epochs would be spent on them.
            net.out.bias[: len(net.levels)] = log_shares(codes, levels)
            if values.shape[1]:
                net.out.bias[len(net.levels) :] = values.mean(dim=0).clamp(-0.99, 0.99).atanh()
                net.spread.copy_(values.std(dim=0, correction=0).clamp(NARROWEST, WIDEST).log())

        def loss(numbers: torch.Tensor) -> torch.Tensor:
            here, there = codes[numbers], values[numbers]
            mean, log_variance = net.encode(here, there)
            drawn = mean + (log_variance / 2).exp() * torch.randn_like(mean)
            logits, means = net.decode(drawn)
            total = net.divergence(drawn, mean, log_variance)
            if net.training:
                # At full weight from the start it would be smallest where a point says nothing of its row, and stay there.
                net.taken += 1
                total = total * (net.taken / warm).clamp(max=1)
            if places:
                total = total + step.factor * level_loss(logits, here + net.offsets, net.segments, beta)
            if values.shape[1]:
                each = number_loss(there, means, net.sigma(), beta)
                total = total + step.factor * (each if counted is None else each * counted[numbers]).sum(dim=1)
            return total.mean()

        curve = descent.fit(net, loss, known, apart, report, Checkpoint.of(work, step, table, seed))
    return _arrays(net), curve


def _dense(widths: Sequence[int]) -> torch.nn.Sequential:
    return torch.nn.Sequential(*(layer for a, b in pairwise(widths) for layer in (torch.nn.Linear(a, b), torch.nn.ReLU())))


def _arrays(net: Vae) -> dict[str, Singles]:
    """What is needed to draw: the decoder, the prior and the spreads."""
    dense = [layer for layer in (*net.decoder, net.out) if isinstance(layer, torch.nn.Linear)]
    arrays: Mapping[str, torch.Tensor] = {f"weight/{place}": layer.weight for place, layer in enumerate(dense)}
    arrays = {**arrays, **{f"bias/{place}": layer.bias for place, layer in enumerate(dense)}, "sigma": net.sigma()}
    if net.shares is not None and net.centres is not None and net.scales is not None:
        arrays = {**arrays, "shares": net.shares.softmax(0), "centres": net.centres, "scales": net.scales.exp()}
    return {name: array.detach().numpy().astype(np.float32) for name, array in arrays.items()}
