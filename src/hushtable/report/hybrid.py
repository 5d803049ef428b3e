"""A grid of hybrids as a page."""

from __future__ import annotations

from typing import Any


def hybrid_page(grid: Any) -> str:
    """Page."""
    return ""


def hybrid_markdown(grid: Any) -> str:
    """Text."""
    return ""
