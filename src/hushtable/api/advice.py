"""What is said of recipes and audits for people who choose among them: what each does, when to take it, and when not."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hushtable.pipeline.recipe import Recipe


def advised(recipe: Recipe) -> dict[str, list[str]]:
    """When to take it and when not: its own line first, then what holds for its family."""
    sources = _sources(recipe)
    return {side: [str(source[side]) for source in sources if side in source] for side in ("use", "avoid")}


def happens(recipe: Recipe) -> str:
    """What becomes of the values, in a sentence; empty where nobody wrote one."""
    return next((str(source["values"]) for source in _sources(recipe) if "values" in source), "")


def usual_seconds(recipe: Recipe) -> float | None:
    """What it took for 10,000 people of the bundled town on one core; None where that was not measured."""
    found = _advice()["seconds"].get(recipe.recipe)
    return None if found is None else float(found)


@cache
def overview(kind: str) -> dict[str, str]:
    """What each recipe does, or each audit asks, in a sentence."""
    return dict(_texts("overview.yaml")[kind])


def _sources(recipe: Recipe) -> list[dict[str, Any]]:
    advice = _advice()
    return [advice["recipes"].get(recipe.recipe, {}), advice["families"].get(recipe.family, {})]


@cache
def _advice() -> dict[str, Any]:
    return _texts("advice.yaml")


def _texts(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8")))
