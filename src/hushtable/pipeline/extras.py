"""What the steps of a recipe need beside this package: known without importing it, and asked for before a row is read."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from hushtable.errors import MissingExtra
from hushtable.pipeline.step import Step

LIBRARIES = {"language": "transformers", "neural": "torch", "vine": "pyvinecopulib"}
"""The library that each extra of a step is there for."""


def missing_extras(steps: Iterable[Step | type[Step]]) -> tuple[str, ...]:
    """The extras that these steps need and that are not installed here."""
    needed = dict.fromkeys(step.extra for step in steps)
    return tuple(extra for extra in needed if extra in LIBRARIES and find_spec(LIBRARIES[extra]) is None)


def require_extras(steps: Iterable[Step], purpose: str) -> None:
    """MissingExtra, with the one command to type, where a step cannot be run here."""
    for extra in missing_extras(steps):
        raise MissingExtra(LIBRARIES[extra], extra, purpose)
