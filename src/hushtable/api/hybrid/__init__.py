"""A grid of hybrids of one table: anonymize, sample, bring back and synthesize, every combination attacked and measured."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Loaded when first used: a saved grid is shown without loading what attacks releases.
_WHERE = {
    "hybrid": "hushtable.api.hybrid.run",
    "HybridOptions": "hushtable.api.hybrid.options",
    "HybridGrid": "hushtable.api.hybrid.result",
}
__all__ = ["HybridGrid", "HybridOptions", "hybrid"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
