"""A generator that is trained outside a release, to be attacked: one core, on rows as coders write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Code, Coder, Core
from hushtable.privacy.vault import Vault
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class Coded:
    """A recipe of one core after coders, which are fitted. Nothing of it is for release."""

    recipe: Recipe
    codes: tuple[Code, ...]

    @classmethod
    def of(cls, given: str | Recipe, train: Table, rng: np.random.Generator) -> Coded:
        """A recipe, by name or as it is, its coders fitted to these rows; InputError where it is not of this form."""
        recipe = given if isinstance(given, Recipe) else recipes.load(given)
        *coders, core = recipe.steps
        if not isinstance(core, Core) or any(isinstance(step, Core) for step in coders) or any(s.spends for s in recipe.steps):
            raise InputError(
                f"recipe {recipe.recipe} gives no likelihood of rows: only one core does, after coders, and none that spends",
                where="overfit",
            )
        codes: list[Code] = []
        for coder in coders:
            assert isinstance(coder, Coder)
            codes.append(coder.fit(Vault.of(train), rng))
            train = codes[-1].apply(train)
        return cls(recipe, tuple(codes))

    @property
    def core(self) -> Core:
        """What is trained."""
        core = self.recipe.steps[-1]
        assert isinstance(core, Core)
        return core

    def turned(self, settings: Mapping[str, str]) -> Coded:
        """The same with knobs changed; coders stay as they are."""
        return replace(self, recipe=self.recipe.set(settings))

    def encoded(self, table: Table) -> Table:
        """Rows as the core gets them."""
        for code in self.codes:
            table = code.apply(table)
        return table

    def fitted(self, train: Table, rng: np.random.Generator) -> Any:
        """A model of encoded rows that knows how likely others are; InputError where it does not."""
        model = self.core.fit(Vault.of(train), rng)
        if not hasattr(model, "log_likelihood"):
            raise InputError(
                f"the model of recipe {self.recipe.recipe} gives no likelihood of rows that it has not seen", where="overfit"
            )
        return model

    def drawn(self, model: Any, rows: int, rng: np.random.Generator) -> Table:
        """So many rows of a model, as they were before they were encoded."""
        table: Table = model.sample(rows, rng)
        for code in reversed(self.codes):
            table = code.undo(table, rng)
        return table
