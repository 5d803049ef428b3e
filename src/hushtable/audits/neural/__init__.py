"""Attacks by neural networks: a contrastive encoder of partly known records, and densities by a normalizing flow.

The networks need PyTorch (the extra ``neural``). They are trained where they are first used, on the release alone, and
the modules that import PyTorch are imported only then.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from hushtable.errors import MissingExtra


def network(name: str, purpose: str) -> ModuleType:
    """The module of this package that holds a network; MissingExtra where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "neural", purpose)
    return import_module(f"{__name__}.{name}")
