"""Ways to share one table, side by side: what each promises, what attacks gain, what it is still good for, and which to take."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Loaded when first used: a saved comparison is shown without loading what attacks releases.
_WHERE = {
    "compare": "hushtable.api.compare.run",
    "CompareOptions": "hushtable.api.compare.options",
    "Comparison": "hushtable.api.compare.comparison",
}
__all__ = ["CompareOptions", "Comparison", "compare"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
