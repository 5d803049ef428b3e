"""ClustMix as published: rows from averages of clusters, honest about what they prove."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.api.release import release
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.published.clustmix import ClustMix
from hushtable.synthesize.published.clustmix_slices import random_slices
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
)


@pytest.fixture(scope="module")
def table() -> Table:
    """The class goes with the number, and the level with the class."""
    rng = np.random.default_rng(0)
    ill = (rng.random(1100) < 0.4).astype(np.int32)
    level = np.where(rng.random(1100) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(3 + 4 * ill, 1.0), 0, 10), "level": level, "ill": ill})


def fitted(step: ClustMix, table: Table, seed: int = 0):
    return step.fit(Vault.of(table, entropy=Entropy.seeded(seed)), np.random.default_rng(seed))


def test_each_class_becomes_as_many_rows_as_it_has_clusters_of_l(table):
    model = fitted(ClustMix(l=60), table)
    counts = np.bincount(table["ill"])
    assert np.bincount(model.labels).tolist() == (counts // 60).tolist()
    assert model.sizes.min() >= 60
    assert model.sizes.sum() == table.rows
    drawn = model.sample(None, np.random.default_rng(0))
    assert np.bincount(drawn["ill"]).tolist() == (counts // 60).tolist()
    summary = model.result()
    assert summary["least_cluster"] == model.sizes.min()
    assert summary["claimed_delta"] == pytest.approx(1 / 1100)


def test_rows_keep_what_goes_together(table):
    drawn = fitted(ClustMix(l=100, epsilon0=5.0, draw="shares"), table).sample(4000, np.random.default_rng(0))
    ill = drawn["ill"] == 1
    assert drawn["number"][ill].mean() == pytest.approx(7, abs=0.8)
    assert drawn["number"][~ill].mean() == pytest.approx(3, abs=0.8)
    assert (drawn["level"][ill] == 2).mean() == pytest.approx(0.8, abs=0.1)
    # Twenty per cent of both classes have the middle level; what is not there stays rare.
    assert (drawn["level"][ill] == 0).mean() < 0.1


def test_the_commonest_level_of_an_average_is_its_level(table):
    drawn = fitted(ClustMix(l=100, epsilon0=5.0), table).sample(None, np.random.default_rng(0))
    assert set(drawn["level"][drawn["ill"] == 1]) <= {1, 2}
    assert (drawn["level"][drawn["ill"] == 1] == 2).mean() > 0.5


def test_noise_follows_the_claim_and_l_the_noise_allowed(table):
    mild, strict = (fitted(ClustMix(sigma_max=(0.2,), epsilon0=e), table).result() for e in (4.0, 1.0))
    assert mild["l"] < strict["l"]
    for summary in (mild, strict):
        assert summary["least_cluster"] >= summary["l"]
        assert summary["largest_noise"] <= 0.2


def test_of_several_noises_the_one_that_teaches_best_is_kept(table):
    # With noise of 1 the averages are noise.
    assert fitted(ClustMix(sigma_max=(1.0, 0.1), epsilon0=1.0), table).result()["largest_noise"] <= 0.1
    alone = Table(SCHEMA, dict(table.arrays) | {"ill": np.zeros(1100, np.int32)})
    assert fitted(ClustMix(sigma_max=(1.0, 0.1), epsilon0=1.0), alone).result()["largest_noise"] > 0.1


def test_conditions_are_met_and_shape_the_other_columns(table):
    model = fitted(ClustMix(l=100, epsilon0=5.0), table)
    rng = np.random.default_rng(0)
    ill = model.sample(500, rng, {"ill": "yes"})
    assert (ill["ill"] == 1).all()
    assert ill["number"].mean() > 6
    by_level = model.sample(500, rng, {"level": "c"})
    assert (by_level["level"] == 2).all()
    assert (by_level["ill"] == 1).mean() > 0.8
    by_number = model.sample(None, rng, {"number": "4.5"})
    assert (by_number["number"] == 4.5).all()
    with pytest.raises(InputError, match="no value"):
        model.sample(5, rng, {"level": "d"})


def test_the_release_is_labelled_as_a_claim(table):
    released = release(table, Recipe(recipe="mine", steps=(ClustMix(l=100),)), seed=1)
    assert released.guarantee.epsilon() == math.inf
    (claim,) = released.guarantee.claims
    assert "epsilon = 1 " in claim.statement
    assert len(claim.gaps) == 6
    assert released.table.rows == sum(np.bincount(table["ill"]) // 100)


def test_a_class_with_too_few_rows_is_left_out_and_a_table_with_too_few_refused(table):
    ill = np.zeros(1100, np.int32)
    ill[:30] = 1
    rare = Table(SCHEMA, dict(table.arrays) | {"ill": ill})
    model = fitted(ClustMix(l=40), rare)
    assert set(model.labels) == {0}
    assert model.result()["records_left_out"] == 30
    with pytest.raises(InputError, match="no class has as many as l = 2000"):
        fitted(ClustMix(l=2000), table)


def test_where_no_slice_holds_a_cluster_the_table_is_left_whole():
    rng = np.random.default_rng(0)
    schema = SCHEMA.with_columns(Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(tuple("abcdefgh"))))
    arrays = {"number": rng.random(800), "level": np.zeros(800, np.int32), "ill": np.arange(800, dtype=np.int32) % 8}
    model = fitted(ClustMix(l=90, slices=6), Table(schema, arrays))
    assert np.bincount(model.labels).tolist() == [1] * 8
    assert model.result()["slices"] == 1


def test_noise_that_drowns_the_rows_is_noted_and_noise_beyond_all_bounds_refused(table):
    assert fitted(ClustMix(l=100), table).result()["note"].startswith("only 10 rows: each is the average of about 110 records")
    assert "note" not in fitted(ClustMix(l=10, epsilon0=50.0), table).result()
    summary = fitted(ClustMix(l=20, epsilon0=0.1), table).result()
    assert summary["largest_noise"] > 0.25
    assert "of the width of a column" in summary["note"]
    with pytest.raises(InputError, match="times as wide as a column"):
        fitted(ClustMix(l=20, epsilon0=1e-6, delta0=1e-15), table)


def test_missing_values_and_every_kind_come_through():
    drawn = fitted(ClustMix(l=20, target="sick", epsilon0=50.0, draw="shares"), example(600)).sample(600, np.random.default_rng(0))
    real = example(600)
    for name in real.schema.names:
        assert drawn.missing(name).mean() == pytest.approx(real.missing(name).mean(), abs=0.06), name
    assert np.nanmean(drawn.floats("age")) == pytest.approx(np.nanmean(real.floats("age")), abs=5)
    # Never seen, and drowned in no noise.
    assert (drawn["town"] == 2).mean() < 0.1


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        ({"sigma_max": ()}, "sigma_max"),
        ({"sigma_max": (-1.0,)}, "sigma_max"),
        ({"l": 1}, "at least 2"),
        ({"alpha": 1.5}, "alpha"),
        ({"epsilon0": 0.0}, "epsilon0"),
        ({"delta0": 1.0}, "delta0"),
        ({"depth": 0}, "depth"),
        ({"starts": 0}, "starts"),
        ({"slices": -1}, "slices"),
        ({"steps": -1}, "steps"),
        ({"layout": "words"}, "onehot"),
    ],
)
def test_knobs_out_of_range_are_refused(knobs, text):
    with pytest.raises(InputError, match=text):
        ClustMix(**knobs)


def test_columns_without_a_place_are_refused_by_name():
    with pytest.raises(PlanError, match="'height' is not a category"):
        ClustMix(target="height").plan(example().schema, None)
    with pytest.raises(PlanError, match="no column 'nothing'"):
        ClustMix(target="nothing").plan(example().schema, None)
    with pytest.raises(PlanError, match="beside the class"):
        ClustMix().plan(SCHEMA.select(["ill"]), None)
    words = Schema((*SCHEMA.columns, Column(name="words", kind=Kind.TEXT)))
    with pytest.raises(PlanError, match="words"):
        ClustMix().plan(words, None)


def test_slices_are_a_partition_of_no_fewer_than_the_least():
    rng = np.random.default_rng(0)
    points = np.round(rng.random((500, 3)), 1)
    slices = random_slices(points, 8, 20, rng)
    assert len(slices) == 8
    assert np.array_equal(np.sort(np.concatenate(slices)), np.arange(500))
    assert min(map(len, slices)) >= 20
    assert len(random_slices(np.ones((50, 2)), 5, 5, rng)) == 1
    assert len(random_slices(points, 8, 300, rng)) == 1


@pytest.mark.parametrize(
    "knobs",
    [
        {"l": 4, "target": "school", "steps": 3},
        {"l": 8, "target": "sick", "layout": "codes", "scaling": "normal", "alpha": 0.0, "steps": 3, "slices": 3},
        {"l": 30, "scaling": "declared", "draw": "shares", "starts": 2},
    ],
)
def test_variants_keep_the_contract_on_ordinary_and_awkward_tables(knobs):
    from hushtable.checks import awkward
    from hushtable.checks.steps import _copes, _forgets, _mutates, _rebuilds, _repeats

    step = ClustMix(**knobs)
    assert [check(step) for check in (_mutates, _repeats, _rebuilds, _forgets)] == [""] * 4
    for table in awkward().values():
        assert _copes(step, table) == ""
