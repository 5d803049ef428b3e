"""Levels of several columns as a network has them, one column after another: sums by column, and the shares it starts from."""

from __future__ import annotations

from collections.abc import Sequence

import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253


def segments(levels: Sequence[int]) -> torch.Tensor:
    """Levels x columns, 1 where a level is of the column: products with it are sums by column."""
    columns = torch.arange(len(levels)).repeat_interleave(torch.tensor(levels, dtype=torch.int64))
    return functional.one_hot(columns, max(len(levels), 1)).float()


def log_shares(codes: torch.Tensor, levels: Sequence[int]) -> torch.Tensor:
    """Of every level among the rows: with them in its last biases, a network that has learnt nothing yet draws margins."""
    shares = [torch.bincount(column, minlength=size) + 0.5 for column, size in zip(codes.T, levels, strict=True)]
    return torch.cat([(share / share.sum()).log() for share in shares]) if shares else torch.zeros(0)
