"""Values of JSON files that another version or another hand wrote: what is not of the expected kind is left out, never an error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


def finite(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def whole(value: object) -> int | None:
    """A count, or None."""
    known = finite(value)
    return None if known is None else int(known)


def text(value: object) -> str:
    """A text; empty for what is missing."""
    return "" if value is None else str(value)


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list; one text is a list of itself."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(item) for item in value if item) if isinstance(value, Iterable) else ()


def mapping(value: object) -> dict[str, Any]:
    """A mapping; empty for anything else."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[dict[str, Any]]:
    """The mappings of a list; anything else in it is left out."""
    return [mapping(item) for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []
