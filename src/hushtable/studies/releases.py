"""The methods of a study, and what their releases are: as they leave, as they were drawn before refinement, and what is proven."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import UNPUBLISHED
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Unit
from hushtable.synthesize.refined import Refined
from hushtable.table.table import Table

DRAWN = ", not refined"
"""After the name of a method: its draws as they are, which is what publications have."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One line of a table: a recipe of ours under the name that the source has for it."""

    name: str
    recipe: str
    epsilon: float = 1.0
    """The budget, if it is one that keeps a budget."""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    """What is not as the recipe has it."""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """What is different once more where little time is to be spent: shorter training."""

    def turned(self, *, quick: bool) -> Recipe:
        """The recipe with its knobs."""
        return recipes.load(self.recipe).set({**self.knobs, **(self.quick if quick else {})})

    @property
    def proven(self) -> bool:
        """Whether it keeps a budget."""
        return any(step.spends for step in recipes.load(self.recipe).steps)


@dataclass(frozen=True, eq=False)
class Made:
    """A release of a study."""

    table: Table
    drawn: Table | None
    """As many rows of the same model before refinement; None if it has none."""
    proven: str
    seconds: float
    """Of processor time."""


def make(recipe: Recipe, train: Table, *, epsilon: float, delta: float, seed: int) -> Made:
    """A release of these rows; with the budget if the recipe keeps one. The noise of differential privacy is fresh."""
    start = time.process_time()
    if any(step.spends for step in recipe.steps):
        unit = Unit(relation=recipe.relation)
        made = release(train, recipe, epsilon=epsilon, delta=delta, unit=unit, seed=seed, allow_copies=UNPUBLISHED)
        proven = f"epsilon {made.guarantee.epsilon():.3g}, {unit.relation}"
    else:
        made = release(train, recipe, seed=seed, allow_copies=UNPUBLISHED)
        proven = "nothing (claimed)" if recipe.assurance is Assurance.CLAIMED else "nothing"
        if recipe.assurance is Assurance.VERIFIED:
            proven = "; ".join(str(promise) for promise in made.guarantee.promises) or "nothing"
    seconds = time.process_time() - start
    return Made(made.table, _drawn(made, train.rows, seed), proven, seconds)


def _drawn(made: Release, rows: int, seed: int) -> Table | None:
    if made.fitted is None or not isinstance(made.fitted.model, Refined):
        return None
    return replace(made.fitted, model=made.fitted.model.model).draw(rows, seed)
