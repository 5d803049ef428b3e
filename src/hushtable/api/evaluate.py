"""Judge one choice of levels without a search, and the choices one rung away from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict, Unpack

from hushtable.anonymize.lattice.choices import Choice, Choices, Rung
from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.api.persons import released
from hushtable.display import Shown
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.table.rows import Rows

RECIPE = "k-anonymity"


class DemandFields(TypedDict, total=False):
    """What is demanded of the classes, as the step ``generalize`` takes it."""

    k: int
    l: float  # noqa: E741 - its name in the field
    t: float
    limit: float


DEMAND = DemandFields(k=5, l=0.0, t=1.0, limit=0.05)
"""What is demanded where nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class Evaluation(Shown):
    """One choice of levels, what one rung more or less would change, and the recipe that releases it; as private as the rows."""

    choice: Choice
    recipe: Recipe = field(repr=False)
    """With these levels fixed: a release by it makes exactly this choice."""
    choices: Choices = field(repr=False)
    """All others, each of which is judged in a moment."""

    @cached_property
    def around(self) -> tuple[Rung, ...]:
        """The choices with one column a level lower or higher."""
        return tuple(self.choices.around(self.choice.levels))

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return {
            "private": "computed from raw rows: for whoever holds them alone",
            "choice": self.choice.to_json(),
            "around": [rung.to_json() for rung in self.around],
        }


def evaluate(
    table: Rows,
    levels: Mapping[str, int],
    *,
    person: str | None = None,
    rows_per_person: int | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    **demand: Unpack[DemandFields],
) -> Evaluation:
    """What one choice of levels keeps, suppresses and loses, as a release with these levels would.

    Columns that are not named stay as they are. Demanded are ``k`` (5), ``l`` (0) and ``t`` (1), with no more than a share
    ``limit`` (0.05) of the rows suppressed. ``person`` is the key that identifies people, if they hold several rows, and
    ``rows_per_person`` how many rows of each a release reads: all when absent, else so many at random, which ``seed`` fixes as that
    of the release does. ``settings`` are further knobs of the step ``generalize``. Whoever judges many choices of one table groups
    its rows once, with ``choices``.

    >>> import hushtable as ht
    >>> ht.evaluate(ht.people(300), {"birth_date": 4}).choice.met
    False
    """
    recipe = _recipe({**DEMAND, **demand, **(settings or {})})
    found = _choices(table, recipe, person, rows_per_person, seed)
    choice = found.at(levels)
    return Evaluation(choice=choice, recipe=fixed(recipe, choice.levels), choices=found)


def choices(
    table: Rows,
    *,
    person: str | None = None,
    rows_per_person: int | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    **demand: Unpack[DemandFields],
) -> Choices:
    """All choices of levels of a table, its rows grouped once: ``at``, ``around`` and ``along`` then judge each in a moment."""
    recipe = _recipe({**DEMAND, **demand, **(settings or {})})
    return _choices(table, recipe, person, rows_per_person, seed)


def fixed(recipe: Recipe, levels: Mapping[str, int]) -> Recipe:
    """A recipe whose generalization has these levels, of these columns, and searches for none."""
    return recipe.set({"columns": tuple(levels), "levels": tuple(f"{name}={level}" for name, level in levels.items())})


def _recipe(settings: Mapping[str, Any]) -> Recipe:
    recipe = recipes.load(RECIPE).set(settings)
    step = recipe.steps[0]
    assert isinstance(step, Generalize)
    if step.levels or step.local:
        raise InputError("the levels are given, so neither levels nor local can be a setting", where="evaluate")
    return recipe


def _choices(table: Rows, recipe: Recipe, person: str | None, rows_per_person: int | None, seed: int | None) -> Choices:
    step = recipe.steps[0]
    assert isinstance(step, Generalize)
    return step.choices(released(table, "generalize", person, rows_per_person, seed))
