"""The layout of a table for a network, under the name that the networks here import it by."""

from hushtable.encode.layout import Layout, Rows, Span

__all__ = ["Layout", "Rows", "Span"]
