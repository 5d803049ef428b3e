"""Autoregressive networks over cells: rows of small whole numbers, each field given the fields before it.

Field ``j`` of a row is one of ``cells[j]`` cells. Every layer of ``Autoregressive`` is used once in a forward pass and mixes no
rows, so that the gradient of each single row can be clipped (DP-SGD).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.learn.layers import Batched, Masked

NEVER = -1e4
"""The logit of a cell that cannot be: its chance is exactly 0 in single precision, and the logit finite."""


class Within(NamedTuple):
    """What is known of a field from one field before it, before anything is learnt: which of its cells can be, and how likely."""

    parent: int
    logits: torch.Tensor
    """Cells of the parent x cells of the field; NEVER for what cannot be."""


class Block(NamedTuple):
    """Fields whose heads have the same shape, and so are one batched layer."""

    fields: tuple[int, ...]
    width: int
    cells: int


def widths(cells: Sequence[int], widest: int) -> list[int]:
    """Hidden units for each field: all for more than 24 cells, half of them for up to 8. Three sizes, so that shapes are few."""
    return [max(2, widest * (2 if count <= 8 else 3 if count <= 24 else 4) // 4) for count in cells]


class Fields(torch.nn.Module):
    """What networks over fields share: embeddings of cells, a head for each field, and what is known before anything is learnt."""

    offsets: torch.Tensor
    """Where the embeddings of each field begin; the last field, if there are more, is nobody's input."""
    heads: torch.nn.ModuleList
    """One for each block; a network makes them last, by ``headed``."""

    def __init__(
        self,
        cells: Sequence[int],
        embedding: int,
        hidden: Sequence[int],
        dropout: float = 0.0,
        within: Mapping[int, Within] | None = None,
    ) -> None:
        super().__init__()
        self.cells, self.dropout, self.within = tuple(cells), dropout, dict(within or {})
        self.blocks = _blocks(cells, hidden, self.within)
        inputs = max(1, len(cells) - 1)
        self.register_buffer("offsets", torch.tensor([sum(cells[:j]) for j in range(inputs)], dtype=torch.long), persistent=False)
        self.embedding = torch.nn.Embedding(sum(cells[:inputs]), embedding)

    def headed(self) -> None:
        """Add the heads."""
        self.heads = torch.nn.ModuleList(Batched(len(block.fields), block.width, block.cells) for block in self.blocks)
        for place, block in enumerate(self.blocks):
            self.register_buffer(f"base{place}", self._base(block), persistent=False)

    def losses(self, codes: torch.Tensor) -> torch.Tensor:
        """For each row minus its log-likelihood, in nats."""
        total = torch.zeros(len(codes))
        for block, logits in zip(self.blocks, self(codes), strict=True):
            total = total + surprise(logits, codes[:, block.fields]).sum(dim=1)
        return total

    def start(self, margins: Sequence[torch.Tensor]) -> None:
        """Begin with these log-chances of each field's cells; a field that is known from another begins with what is known."""
        with torch.no_grad():
            for block, head in zip(self.blocks, self.heads, strict=True):
                for place, field in enumerate(block.fields):
                    if field not in self.within:
                        head.get_parameter("bias")[place, : self.cells[field]] = margins[field]

    def _base(self, block: Block) -> torch.Tensor:
        """Fields x cells of the parent (one where there is none) x cells: 0, what is known, or NEVER where a field has no cell."""
        deep = max((len(self.within[field].logits) for field in block.fields if field in self.within), default=1)
        base = torch.full((len(block.fields), deep, block.cells), NEVER)
        for place, field in enumerate(block.fields):
            known = self.within[field].logits if field in self.within else torch.zeros(1, self.cells[field])
            base[place, : len(known), : self.cells[field]] = known
        return base

    def known(self, place: int, block: Block, codes: torch.Tensor) -> torch.Tensor:
        """What is added to the logits of a block: fields x cells, for each row where it depends on the row."""
        base: torch.Tensor = getattr(self, f"base{place}")
        if base.shape[1] == 1:
            return base[:, 0]
        parents = codes[:, [self.within[field].parent for field in block.fields]]
        return base[torch.arange(len(block.fields)), parents]


def surprise(logits: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """For each row and field of a block minus the log-chance of its cell, in nats."""
    losses = functional.cross_entropy(logits.flatten(0, 1), codes.flatten(), reduction="none")
    return losses.reshape(codes.shape)


class Autoregressive(Fields):
    """The logits of each field given the fields before it: embeddings, one masked layer, a small head for each field."""

    def __init__(
        self,
        cells: Sequence[int],
        embedding: int,
        hidden: Sequence[int],
        dropout: float = 0.0,
        within: Mapping[int, Within] | None = None,
    ) -> None:
        super().__init__(cells, embedding, hidden, dropout, within)
        owners = torch.tensor([field for block in self.blocks for field in block.fields for _ in range(block.width)])
        before = torch.arange(len(self.offsets)).repeat_interleave(embedding)
        self.first = Masked((before[None, :] < owners[:, None]).float())
        self.headed()

    def order(self, fields: Sequence[int]) -> None:
        """Begin with embeddings that are smooth in the place of a cell, for fields whose cells lie in order, but the last one.

        Waves of ever higher frequency: what is learnt of a cell is then learnt of its neighbours too.
        """
        starts, size = [0, *torch.tensor(self.cells).cumsum(0).tolist()], self.embedding.embedding_dim
        waves = math.pi * torch.arange(1, size + 1)
        with torch.no_grad():
            for field in fields:
                if field < len(self.offsets) and self.cells[field] > 3:
                    places = torch.linspace(0, 1, self.cells[field] - 1)[:, None]
                    self.embedding.weight[starts[field] : starts[field + 1] - 1] = math.sqrt(2) * torch.cos(waves * places)

    def forward(self, codes: torch.Tensor) -> list[torch.Tensor]:
        """The logits of each block: rows x its fields x cells."""
        embedded = self.embedding(codes[:, : len(self.offsets)] + self.offsets)
        if self.training and self.dropout:
            # A field that is left out is unknown to all that follow, in this row; the others count for more, as many as before.
            kept = (torch.rand(embedded.shape[:2]) >= self.dropout) / (1 - self.dropout)
            embedded = embedded * kept[:, :, None]
        inner = functional.relu(self.first(embedded.flatten(1)))
        logits, start = [], 0
        for place, (block, head) in enumerate(zip(self.blocks, self.heads, strict=True)):
            end = start + len(block.fields) * block.width
            own = head(inner[:, start:end].reshape(-1, len(block.fields), block.width))
            logits.append(own.float() + self.known(place, block, codes))
            start = end
        return logits


def _blocks(cells: Sequence[int], hidden: Sequence[int], within: Mapping[int, Within]) -> list[Block]:
    """Fields of the same width and of similarly many cells: up to 8, 24, 64, 128, 256 and so on."""
    shapes: dict[tuple[bool, int, int], list[int]] = {}
    for field, (count, width) in enumerate(zip(cells, hidden, strict=True)):
        about = 8 if count <= 8 else 24 if count <= 24 else 1 << max(6, (count - 1).bit_length())
        shapes.setdefault((field in within, width, about), []).append(field)
    return [Block(tuple(fields), width, max(2, *(cells[f] for f in fields))) for (_, width, _), fields in shapes.items()]


def autocast() -> torch.autocast:
    """Products in bfloat16 inside, where the processor has instructions for it: half the time, and no worse a network."""
    able: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.autocast("cpu", torch.bfloat16, enabled=bool(able.get("avx512_bf16") or able.get("amx_bf16")))
