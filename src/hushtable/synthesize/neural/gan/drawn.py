"""Conditions of a batch."""

from __future__ import annotations

from typing import NamedTuple

import torch  # noqa: TID253 - this module is imported only where it is used


class Drawn(NamedTuple):
    """Conditions of a batch."""

    vectors: torch.Tensor
    """batch x numbers, as the networks take them."""
    cells: torch.Tensor
    """What each condition is, as numbers of its kind."""
    rows: torch.Tensor
    """Numbers of real rows that have them; empty where nothing but the conditions was asked for."""
