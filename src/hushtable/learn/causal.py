"""The causal transformer over cells: each field looks back at all fields before it, layer by layer (Vaswani et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.learn.nets import Fields, Within, surprise

WIDER = 2
"""Units inside a layer, times its width."""


class Layer(torch.nn.Module):
    """Attention to what stands before, then two dense layers; each is normed first and added to what came in."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.heads = heads
        self.look = torch.nn.LayerNorm(width)
        self.into = torch.nn.Linear(width, 3 * width)
        self.back = torch.nn.Linear(width, width)
        self.think = torch.nn.LayerNorm(width)
        self.wide = torch.nn.Linear(width, WIDER * width)
        self.narrow = torch.nn.Linear(WIDER * width, width)
        for last in (self.back, self.narrow):
            # What 2 x layers such parts add together is at first no larger than what came in.
            torch.nn.init.normal_(last.weight, std=0.1 / math.sqrt(2 * layers))
            torch.nn.init.zeros_(last.bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Rows x places x width; a place is not changed by those after it."""
        rows, places, width = inputs.shape
        split = self.into(self.look(inputs)).reshape(rows, places, 3, self.heads, width // self.heads)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        inputs = inputs + self.back(seen.transpose(1, 2).reshape(rows, places, width))
        passed: torch.Tensor = inputs + self.narrow(functional.relu(self.wide(self.think(inputs))))
        return passed


class Causal(Fields):
    """The logits of each field given the fields before it: place ``j`` holds the embedding of field ``j - 1`` and gives ``j``."""

    def __init__(
        self,
        cells: Sequence[int],
        width: int,
        layers: int,
        heads: int,
        dropout: float = 0.0,
        within: Mapping[int, Within] | None = None,
    ) -> None:
        super().__init__(cells, width, [width] * len(cells), dropout, within)
        torch.nn.init.normal_(self.embedding.weight, std=0.5)
        self.places = torch.nn.Parameter(0.5 * torch.randn(len(cells), width))
        self.layers = torch.nn.ModuleList(Layer(width, heads, layers) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)
        self.headed()

    def forward(self, codes: torch.Tensor, shown: torch.Tensor | None = None) -> list[torch.Tensor]:
        """The logits of each block: rows x its fields x cells. Fields that are not ``shown`` (rows x fields) are unknown."""
        inputs = len(self.cells) - 1
        embedded = self.embedding(codes[:, :inputs] + self.offsets[:inputs])
        if shown is not None:
            embedded = embedded * shown[:, :inputs, None]
        if self.training and self.dropout:
            # A field that is left out is unknown to all that follow, in this row.
            embedded = embedded * (torch.rand(embedded.shape[:2]) >= self.dropout)[:, :, None]
        inner = functional.pad(embedded, (0, 0, 1, 0)) + self.places
        for layer in self.layers:
            inner = layer(inner)
        inner = self.norm(inner)
        heads = enumerate(zip(self.blocks, self.heads, strict=True))
        return [head(inner[:, block.fields]) + self.known(place, block, codes) for place, (block, head) in heads]

    def losses(self, codes: torch.Tensor, shown: torch.Tensor | None = None) -> torch.Tensor:
        """For each row minus its log-likelihood, in nats; of fields that are not shown nothing counts."""
        if shown is None:
            return super().losses(codes)
        total = torch.zeros(len(codes))
        for block, logits in zip(self.blocks, self(codes, shown), strict=True):
            total = total + (surprise(logits, codes[:, block.fields]) * shown[:, block.fields]).sum(dim=1)
        return total
