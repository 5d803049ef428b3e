"""hushtable: protect a sensitive table, prove what was promised, and attack the result.

>>> import hushtable as ht                                    # doctest: +SKIP
>>> table = ht.read("patients.csv", "schema.yaml")            # doctest: +SKIP
>>> train, control = ht.hold_out(table, 0.2)                  # doctest: +SKIP
>>> made = ht.release(train, "mdav", settings={"k": "10"})    # doctest: +SKIP
>>> print(made.guarantee.explain())                           # doctest: +SKIP
>>> ht.audit(train, made, control).findings                   # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded when first used: importing hushtable imports nothing else.
_WHERE = {
    "read": "hushtable.table.io",
    "draft": "hushtable.table.io",
    "write": "hushtable.table.io",
    "Schema": "hushtable.table.schema",
    "Table": "hushtable.table.table",
    "Recipe": "hushtable.pipeline.recipe",
    "Release": "hushtable.pipeline.release",
    "verify": "hushtable.pipeline.release",
    "release": "hushtable.api",
    "save": "hushtable.api",
    "hold_out": "hushtable.api",
    "audit": "hushtable.api",
    "utility": "hushtable.api",
    "Unit": "hushtable.privacy.unit",
}
__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module 'hushtable' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
