"""Training networks: the one loop, the one private descent, and what they share. It knows nothing of how tables are modelled.

Everything here needs PyTorch (the extra ``neural``), and so does every module that defines a network: ``network`` imports them
where they are first used, so that nothing else waits for it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from hushtable.errors import MissingExtra


def network(module: str, purpose: str) -> ModuleType:
    """The module of this name, which imports PyTorch; MissingExtra where that is not installed."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "neural", purpose)
    return import_module(module)
