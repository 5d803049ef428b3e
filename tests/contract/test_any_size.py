"""Every recipe whose steps say that they work wherever the rows are makes the same release of rows on disk, bit for bit.

With noise from a seed. Rows out of memory refuse to be in memory here, so that a step which says too much is caught.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.api.methods import any_size, everything
from hushtable.data.people import people
from hushtable.engine import spool
from hushtable.engine.spool import Spooled
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release_rows
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Unit

NAMES = [line["name"] for line in everything()["recipes"] if any_size(load(line["name"]))]
PRIVATE = [name for name in NAMES if any(step.spends for step in load(name).steps)]
FAMILIES = {
    *("independent", "mst", "aim", "privsyn", "best", "mwem", "field-groups", "privbayes", "privbayes-published", "thresholded"),
    *("dpcopula-marginals", "dpcopula-kendall", "vine-certified", "dp-merf", "dpmix", "clustmix-certified", "frechet"),
}
SIZES = (1_000, 1_000_000)


@pytest.fixture(scope="module")
def town():
    return people(2500, seed=4)


@pytest.fixture(scope="module")
def in_memory(town):
    made = {}

    def of(recipe):
        if recipe.recipe not in made:
            made[recipe.recipe] = made_of(town, recipe)
        return made[recipe.recipe]

    return of


def made_of(rows, recipe):
    return release_rows(
        rows, recipe, epsilon=1.0, delta=1e-6, seed=3, entropy=Entropy.seeded(5), unit=Unit(relation=recipe.relation), unproven=True
    )


def on_disk(table, size, monkeypatch):
    """The rows of the table on disk, asked ``size`` at a time, and never all at once."""

    def whole(self, why):
        raise AssertionError(f"{why} reads all rows at once")

    monkeypatch.setattr(spool, "BATCH", size)
    monkeypatch.setattr(Spooled.batches, "__defaults__", (size, None))
    monkeypatch.setattr(Spooled, "whole", whole)
    return Spooled.of(table)


def test_the_families_of_differential_privacy_run_on_tables_of_any_size():
    assert FAMILIES - set(NAMES) == set()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PRIVATE)
def test_rows_on_disk_make_the_release_of_rows_in_memory(name, size, town, in_memory, monkeypatch):
    recipe = load(name).quick()
    expected, found = in_memory(recipe), made_of(on_disk(town, size, monkeypatch), recipe)
    assert [(entry.step, entry.event, entry.why) for entry in found.guarantee.ledger] == [
        (entry.step, entry.event, entry.why) for entry in expected.guarantee.ledger
    ]
    assert found.result == expected.result
    assert found.table.schema == expected.table.schema
    for column in found.table.schema.names:
        np.testing.assert_array_equal(found.table[column], expected.table[column])
