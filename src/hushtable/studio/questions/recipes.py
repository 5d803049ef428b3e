"""The recipes, and the knobs of one."""

from __future__ import annotations

from typing import Any

from hushtable.api.methods import by_family, describe
from hushtable.studio.questions.room import Opened, Watcher


def recipes(opened: Opened | None, *, watch: Watcher) -> list[dict[str, Any]]:
    """All recipes by family, each with its promise in a sentence."""
    return [
        {
            "family": family,
            "recipes": [
                {
                    "name": recipe.recipe, "title": recipe.title, "assurance": str(recipe.assurance), "guarantee": recipe.guarantee,
                    "spends": any(step.spends for step in recipe.steps),
                }
                for recipe in members
            ],
        }
        for family, members in by_family().items()
    ]  # fmt: skip


def knobs(opened: Opened | None, *, watch: Watcher, recipe: str) -> dict[str, Any]:
    """The steps of a recipe with their knobs: name, value, and what each does."""
    return describe(recipe)
