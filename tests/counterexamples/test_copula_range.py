"""A copula whose margins end where the rows end prints the one person at the end of the range; a private one does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit
from hushtable.synthesize.copula.kendall import KendallCopula
from hushtable.table.columns import Bounds
from hushtable.table.table import Table
from tests.unit.privacy.cases import SCHEMA, people, recipe

REPLACED = Unit(relation=Relation.REPLACE_ONE)


def town(canary: int) -> Table:
    """Three hundred people between 20 and 59, and one more."""
    crowd = people(300)
    age = np.append(20 + crowd["age"] % 40, canary)
    return Table(SCHEMA, {"age": age, **{name: np.resize(crowd[name], len(age)) for name in ("town", "ill")}})


def observed(table: Table) -> Table:
    """The same rows, with the bounds of the ages read off them."""
    ages = table["age"]
    column = replace(table.schema["age"], domain=Bounds(int(ages.min()), int(ages.max()), observed=True))
    return table.with_column(column, ages)


def oldest(canary: int, runs: int = 20) -> int:
    return max(int(release(observed(town(canary)), load("gaussian-copula"), seed=seed).table["age"].max()) for seed in range(runs))


def test_the_end_of_the_output_is_the_canary():
    without, with_canary = oldest(40), oldest(97)
    assert without <= 59
    assert 59 < with_canary <= 97
    released = release(observed(town(97)), load("gaussian-copula"))
    assert released.guarantee.epsilon() == math.inf


@pytest.mark.parametrize("name", ["dpcopula-kendall", "dpcopula-mle", "dpcopula-hybrid-certified"])
def test_a_private_copula_refuses_bounds_that_were_read_off_the_rows(name):
    with pytest.raises(GuaranteeRefused, match="age"):
        release(observed(town(97)), load(name), epsilon=2.0, unit=REPLACED)


def test_under_declared_bounds_the_release_does_not_tell_how_extreme_the_canary_is():
    """The same noise and the same seed: two canaries in one bin of the declared domain give one release, bit by bit."""
    steps = recipe(Bins(bins=8), KendallCopula())
    one, two = (
        release(town(canary), steps, epsilon=2.0, unit=REPLACED, entropy=Entropy.seeded(1), seed=1, unproven=True).table
        for canary in (97, 99)
    )
    for name in SCHEMA.names:
        np.testing.assert_array_equal(one[name], two[name])
