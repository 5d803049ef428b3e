"""The table of methods says of each recipe what its releases can have."""

from __future__ import annotations

import pytest

import hushtable as ht
from hushtable.api.families import best_assurance
from hushtable.data.people import people
from hushtable.pipeline import recipe as recipes


@pytest.mark.parametrize(
    "name", ["mdav", "mondrian", "mst", "thresholded", "sample-independent", "beta-k-eps", "clustmix", "sequential", "rank-swap"]
)
def test_the_best_evidence_that_is_told_is_what_a_release_has(name: str) -> None:
    recipe = recipes.load(name)
    table = people(300, 0).select(("birth_date", "sex", "smoker", "income"))
    epsilon = 1.0 if any(step.spends for step in recipe.steps) else None
    assert ht.release(table, recipe, epsilon=epsilon).guarantee.assurance is best_assurance(recipe)
