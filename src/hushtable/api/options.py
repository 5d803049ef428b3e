"""Options as plain values: what a YAML or JSON file holds of them, and how it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from hushtable.pipeline.card import Card
from hushtable.pipeline.recipe import Recipe


def plain(value: object) -> Any:
    """A value as a file holds it: a recipe that is an object as its YAML, a card as its plain values."""
    if isinstance(value, Recipe):
        return {"recipe": value.dump()}
    if isinstance(value, Card):
        return value.to_json()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    return value


def recipe_of(value: Any) -> Any:
    """A recipe as a file of options holds it. Of one that is inside the file only steps of this package are built."""
    return Recipe.parse(value["recipe"], trust=False) if isinstance(value, Mapping) else value
