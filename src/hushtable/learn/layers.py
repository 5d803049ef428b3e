"""Layers that torch does not have. They mix no rows, so that the gradient of each row can be clipped."""

from __future__ import annotations

import math

import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253


class Masked(torch.nn.Linear):
    """A linear layer some of whose weights do not count."""

    mask: torch.Tensor
    """outputs x inputs, as the weights: 1 where one counts."""

    def __init__(self, mask: torch.Tensor) -> None:
        super().__init__(mask.shape[1], mask.shape[0])
        self.register_buffer("mask", mask, persistent=False)
        with torch.no_grad():
            # As large as if there were only the weights that count.
            self.weight.copy_(torch.randn_like(self.weight) * (2 / mask.sum(dim=1, keepdim=True).clamp(min=1)).sqrt() * mask)
            self.bias.zero_()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Rows x outputs."""
        return functional.linear(inputs, self.weight * self.mask, self.bias)


class Batched(torch.nn.Module):
    """Linear layers side by side: each part of the inputs (rows x parts x inputs) goes through weights of its own."""

    def __init__(self, parts: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(parts, inputs, outputs) * (0.1 / math.sqrt(inputs)))
        self.bias = torch.nn.Parameter(torch.zeros(parts, outputs))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Rows x parts x outputs."""
        return torch.einsum("rpi,pio->rpo", inputs, self.weight) + self.bias
