"""The networks of the game: generators that turn noise and a condition into a row, critics that score rows or packs of them."""

from __future__ import annotations

from typing import Protocol, cast

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import nn  # noqa: TID253

SLOPE = 0.2
"""Of leaky rectifiers below zero."""
KERNEL = 4
"""Of the convolutions, which halve or double the length (Radford et al. 2016)."""


class Concatenating(nn.Module):
    """Each layer passes its input on beside its own output, normalized over the batch (Xu et al. 2019)."""

    def __init__(self, inputs: int, hidden: int, layers: int, outputs: int) -> None:
        super().__init__()
        sizes = [inputs + hidden * layer for layer in range(layers + 1)]
        self.layers = nn.ModuleList(nn.Linear(size, hidden) for size in sizes[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.last = nn.Linear(sizes[-1], outputs)

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        """What wires turn into rows."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            noise = torch.cat([norm(layer(noise)).relu(), noise], 1)
        out: torch.Tensor = self.last(noise)
        return out


class Dense(nn.Module):
    """Leaky layers one after another, normalized over the batch if wished."""

    def __init__(self, inputs: int, hidden: int, layers: int, outputs: int, *, norm: bool = True) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for layer in range(layers):
            parts += [nn.Linear(hidden if layer else inputs, hidden), nn.LeakyReLU(SLOPE)]
            if norm:
                parts.append(nn.BatchNorm1d(hidden))
        self.layers, self.last = nn.Sequential(*parts), nn.Linear(hidden if layers else inputs, outputs)

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        """What wires turn into rows."""
        out: torch.Tensor = self.last(self.layers(noise))
        return out


class Transposed(nn.Module):
    """Noise becomes a short sequence of many channels, which convolutions double in length and halve in channels."""

    def __init__(self, inputs: int, hidden: int, layers: int, outputs: int) -> None:
        super().__init__()
        self.outputs, self.channels = outputs, max(hidden, 2**layers)
        self.length = -(-outputs // 2**layers)
        self.first = nn.Linear(inputs, self.channels * self.length)
        parts: list[nn.Module] = [nn.BatchNorm1d(self.channels), nn.ReLU()]
        for layer in range(layers):
            now, then = self.channels >> layer, self.channels >> (layer + 1) if layer + 1 < layers else 1
            parts.append(nn.ConvTranspose1d(now, then, KERNEL, stride=2, padding=1))
            if layer + 1 < layers:
                parts += [nn.BatchNorm1d(then), nn.ReLU()]
        self.layers = nn.Sequential(*parts)

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        """What wires turn into rows; what is longer than a row is cut off."""
        sequence = self.first(noise).unflatten(1, (self.channels, self.length))
        out: torch.Tensor = self.layers(sequence).flatten(1)[:, : self.outputs]
        return out


class Critic(Protocol):
    """Scores rows, or packs of them."""

    pac: int

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """A score for each pack."""
        ...

    def gradient(self, rows: torch.Tensor) -> torch.Tensor:
        """The gradient of each pack's score by the pack, packs x numbers; it can itself be differentiated by the weights."""
        ...


class DenseCritic(nn.Module):
    """Leaky layers with dropout. Between its kinks it is linear in a row, so its gradient is a product of its own weights.

    Without dropout no layer mixes rows of a batch: with ``pac`` 1 each row has a gradient of its own.
    """

    def __init__(self, width: int, hidden: int, layers: int, *, dropout: float = 0.5, pac: int = 1) -> None:
        super().__init__()
        sizes = [width * pac, *[hidden] * layers]
        self.layers = nn.ModuleList(nn.Linear(one, two) for one, two in zip(sizes, [*sizes[1:], 1], strict=True))
        self.dropout, self.pac = dropout, pac

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """A score for each pack."""
        return self._passed(rows)[0]

    def gradient(self, rows: torch.Tensor) -> torch.Tensor:
        """The gradient of each pack's score by the pack."""
        _, slopes = self._passed(rows)
        *weights, back = [cast(nn.Linear, layer).weight for layer in self.layers]
        for weight, slope in zip(reversed(weights), reversed(slopes), strict=True):
            back = (back * slope) @ weight
        return back.expand(len(rows) // self.pac, -1)

    def _passed(self, rows: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Scores, and what each layer was multiplied by: its slopes, zero where it was dropped."""
        packs, slopes = rows.reshape(len(rows) // self.pac, -1), []
        for layer in self.layers[:-1]:
            packs = layer(packs)
            with torch.no_grad():
                slope = torch.where(packs > 0, 1.0, SLOPE)
                if self.training and self.dropout:
                    slope *= torch.empty_like(slope).bernoulli_(1 - self.dropout).div_(1 - self.dropout)
            slopes.append(slope)
            packs = packs * slope
        return self.layers[-1](packs).squeeze(1), slopes


class ConvolutionCritic(nn.Module):
    """Convolutions along the row that halve its length and double the channels."""

    def __init__(self, width: int, hidden: int, layers: int, *, dropout: float = 0.5, pac: int = 1) -> None:
        super().__init__()
        self.pac, length, channels = pac, width * pac, 1
        parts: list[nn.Module] = []
        for layer in range(layers):
            then = max(1, hidden >> (layers - 1 - layer))
            parts += [nn.Conv1d(channels, then, KERNEL, stride=2, padding=2), nn.LeakyReLU(SLOPE)]
            length, channels = length // 2 + 1, then
        self.layers = nn.Sequential(*parts, nn.Flatten(), nn.Dropout(dropout), nn.Linear(channels * length, 1))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """A score for each pack."""
        scores: torch.Tensor = self.layers(rows.reshape(len(rows) // self.pac, 1, -1)).squeeze(1)
        return scores

    def gradient(self, rows: torch.Tensor) -> torch.Tensor:
        """The gradient of each pack's score by the pack."""
        packs = rows.detach().reshape(len(rows) // self.pac, -1).requires_grad_()
        (back,) = torch.autograd.grad(self.layers(packs[:, None]).sum(), packs, create_graph=True)
        return back


def generator(net: str, inputs: int, hidden: int, layers: int, outputs: int) -> nn.Module:
    """The generator of this kind."""
    kinds: dict[str, type[nn.Module]] = {"concatenating": Concatenating, "dense": Dense, "convolution": Transposed}
    return kinds[net](inputs, hidden, layers, outputs)


def critic(net: str, width: int, hidden: int, layers: int, *, dropout: float, pac: int) -> DenseCritic | ConvolutionCritic:
    """The critic beside it."""
    kind = ConvolutionCritic if net == "convolution" else DenseCritic
    return kind(width, hidden, layers, dropout=dropout, pac=pac)
