"""Put a first step before a recipe that learns undeclared kinds and domains, for a share of the privacy budget."""

from __future__ import annotations

from dataclasses import replace

from hushtable.errors import InputError
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe

SHARE = 0.1
"""Of the whole budget, what learning the domains may spend."""


def learning_domains(recipe: Recipe, share: float = SHARE) -> Recipe:
    """The recipe with a first step that learns undeclared domains, for this share of the whole budget."""
    others = sum(float(getattr(step, "share", 1.0)) for step in recipe.steps if step.spends)
    if not others:
        raise InputError(f"{recipe.recipe} spends no privacy budget, so nothing pays for a domain", where="learn-domain")
    first = registry.find("learn-domain", registry.steps(), "step")(share=others * share / (1 - share))
    return replace(recipe, steps=(first, *recipe.steps))
