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
from hushtable.privacy import vault
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Unit
from hushtable.synthesize.mixture import sums
from hushtable.table.table import Table

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


def made_of(rows, recipe, entropy=None):
    unit, entropy = Unit(relation=recipe.relation), entropy or Entropy.seeded(5)
    return release_rows(rows, recipe, epsilon=1.0, delta=1e-6, seed=3, entropy=entropy, unit=unit, unproven=True)


def on_disk(table, size, monkeypatch):
    """The rows of the table on disk, asked ``size`` at a time, and never all at once."""

    def whole(self, why):
        raise AssertionError(f"{why} reads all rows at once")

    monkeypatch.setattr(spool, "BATCH", size)
    monkeypatch.setattr(sums, "BATCH", min(size, sums.BATCH))
    monkeypatch.setattr(Spooled.batches, "__defaults__", (size, None))
    monkeypatch.setattr(Spooled, "whole", whole)
    return Spooled.of(table)


def test_the_families_of_differential_privacy_run_on_tables_of_any_size():
    assert FAMILIES - set(NAMES) == set()


def assert_same(expected, found):
    ledgers = [[(entry.step, entry.event, entry.why) for entry in made.guarantee.ledger] for made in (expected, found)]
    assert ledgers[0] == ledgers[1]
    assert found.result == expected.result
    assert found.table.schema == expected.table.schema
    for column in found.table.schema.names:
        np.testing.assert_array_equal(found.table[column], expected.table[column])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PRIVATE)
def test_rows_on_disk_make_the_release_of_rows_in_memory(name, size, town, in_memory, monkeypatch):
    recipe = load(name).quick()
    assert_same(in_memory(recipe), made_of(on_disk(town, size, monkeypatch), recipe))


def forgetting_the_last_batch(monkeypatch):
    spans = Spooled._spans
    monkeypatch.setattr(Spooled, "_spans", lambda self, size: list(spans(self, size))[:-1])


def with_noise_for_every_batch(monkeypatch):
    drawn = vault.discrete_gaussian

    def for_each(variance, count, entropy):
        return sum(drawn(variance, count, entropy) for _ in range(3))

    monkeypatch.setattr(vault, "discrete_gaussian", for_each)


def with_a_coin_for_every_batch(monkeypatch):
    """Somebody upstream of the sum draws from the source that the noise comes from."""
    fold, histograms = Spooled.fold, Spooled.histograms

    def drawing(asked):
        def answer(self, question):
            SOURCE[0].words(3)
            return asked(self, question)

        return answer

    monkeypatch.setattr(Spooled, "fold", drawing(fold))
    monkeypatch.setattr(Spooled, "histograms", drawing(histograms))


def counting_a_batch_twice(monkeypatch):
    spans = Spooled._spans
    monkeypatch.setattr(Spooled, "_spans", lambda self, size: [*(own := list(spans(self, size))), own[-1]])


MUTANTS = (forgetting_the_last_batch, with_noise_for_every_batch, with_a_coin_for_every_batch, counting_a_batch_twice)
SOURCE = [Entropy.seeded(5)]


@pytest.mark.parametrize("mutant", [None, *MUTANTS])
@pytest.mark.parametrize("name", ["independent", "dp-merf", "vine-certified"])
def test_what_goes_wrong_between_batches_is_caught(name, mutant, town, in_memory, monkeypatch):
    """Counts, sums of records, and questions that ask others; without a mutant all is well."""
    recipe = load(name).quick()
    expected, rows = in_memory(recipe), on_disk(town, 1000, monkeypatch)
    assert rows.rows == town.rows
    if mutant is None:
        assert_same(expected, made_of(rows, recipe))
        return
    mutant(monkeypatch)
    SOURCE[0] = Entropy.seeded(5)
    found = made_of(rows, recipe, SOURCE[0])
    with pytest.raises(AssertionError):
        assert_same(expected, found)


def test_places_are_those_of_the_rows(town, in_memory, monkeypatch):
    """Which rows are mixed follows from where they lie, not from where they lie in their batch."""
    recipe = load("dpmix").quick()
    expected, rows = in_memory(recipe), on_disk(town, 1000, monkeypatch)
    spans = Spooled._spans
    monkeypatch.setattr(Spooled, "_spans", lambda self, size: list(spans(self, size))[::-1])
    with pytest.raises(AssertionError):
        assert_same(expected, made_of(rows, recipe))


@pytest.mark.parametrize("name", ["mdav", "v-mdav", "univariate"])
def test_of_rows_on_disk_only_the_columns_that_are_grouped_are_held_at_once(name, town, in_memory, monkeypatch):
    recipe = load(name)
    rows, fetched = on_disk(town, 1000, monkeypatch), []

    def some(self, why):
        fetched.append(self.schema.names)
        return Table.concat(list(self.batches()))

    monkeypatch.setattr(Spooled, "whole", some)
    assert_same(in_memory(recipe), made_of(rows, recipe))
    assert [set(names) for names in fetched] == [set(town.schema.quasi)]
    assert not any_size(recipe)
