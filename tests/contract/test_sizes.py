"""Every private recipe ends in a release, few columns or many, few rows or many, whatever the epsilon.

A run that dies has spent its budget for nothing: what cannot be done is refused in the plan, and all else is done.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.api.methods import everything
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.unit import Budget, Unit
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

RECIPES = [load(method["name"]) for method in everything()["recipes"]]
PRIVATE = [recipe.recipe for recipe in RECIPES if not recipe.reads_text and any(step.spends for step in recipe.steps)]
MODELS = ("aim", "mst", "mwem", "privbayes")
LEVELS = (2, 16, 7, 42, 0, 5, 9, 0, 2, 0)
"""Of one column after the other, again and again; 0: a whole number."""
DISTINCT = 30_000
"""More rows than this are these again."""


def wide(columns: int, rows: int) -> Table:
    """Columns that hang together by four hidden numbers; the first one is the target."""
    rng = np.random.default_rng(0)
    hidden, count = rng.normal(size=(min(rows, DISTINCT), 4)), min(rows, DISTINCT)
    schema, arrays = [], {}
    for number in range(columns):
        name, levels = f"c{number}", LEVELS[number % len(LEVELS)]
        noisy = hidden @ rng.normal(size=4) + 0.5 * rng.normal(size=count)
        share = noisy.argsort().argsort() / count
        domain = Levels(tuple(f"v{i}" for i in range(levels))) if levels else Bounds(0, 99_999)
        kind, role = Kind.CATEGORY if levels else Kind.INTEGER, Role.PLAIN if number else Role.TARGET
        schema.append(Column(name=name, kind=kind, domain=domain, role=role, required=number % 3 == 0))
        arrays[name] = (share**1.5 * levels).astype(np.int32) if levels else np.exp(11 * share).astype(np.int64)
    return Table(Schema(tuple(schema)), arrays).take(np.arange(rows) % count)


def ends_in_a_release(name: str, columns: int, rows: int, epsilon: float) -> None:
    table, recipe, delta = wide(columns, rows), load(name).quick(), 1e-7
    unit = Unit(relation=recipe.relation)
    plan(recipe, table.schema, budget=Budget(epsilon, delta), unit=unit)
    released = release(table, recipe, epsilon=epsilon, delta=delta, unit=unit)
    assert released.guarantee.epsilon() <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("columns", "epsilon"), [(5, 0.1), (15, 8.0)])
@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_recipe_ends_in_a_release(name, columns, epsilon):
    ends_in_a_release(name, columns, 1000, epsilon)


@pytest.mark.nightly
@pytest.mark.parametrize("columns", [15, 24, 40, 60])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_recipe_ends_in_a_release_on_many_columns(name, columns, epsilon):
    ends_in_a_release(name, columns, 1000, epsilon)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("columns", "rows", "epsilon"),
    [(15, 30_000, 8.0), (40, 30_000, 10.0), (15, 1_000_000, 1.0), (15, 1_000_000, 100.0), (60, 1_000_000, 0.1)],
)
@pytest.mark.parametrize("name", MODELS)
def test_models_of_margins_end_in_a_release_on_many_rows(name, columns, rows, epsilon):
    ends_in_a_release(name, columns, rows, epsilon)
