"""Training networks: the one loop, the one private descent, and what they share. It knows nothing of how tables are modelled.

Everything here needs PyTorch (the extra ``neural``), and so does every module that defines a network: ``network`` imports them
where they are first used, so that nothing else waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from hushtable.errors import MissingExtra


def network(module: str, purpose: str) -> ModuleType:
    """The module of this name, which imports PyTorch; MissingExtra where that is not installed."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "neural", purpose)
    return import_module(module)


def training(curve: Iterable[tuple[float, float | None]], epochs: int) -> dict[str, Any]:
    """A training curve as a model keeps it and a card draws it: losses by epoch, and how many epochs were planned."""
    # An epoch that must not be kept has no number either.
    losses = [
        [None if value is None or math.isnan(value) else round(value, 4) for value in line] for line in zip(*curve, strict=True)
    ]
    loss, held = losses or ([], [])
    return {"loss": loss, "held": held, "epochs": epochs}
