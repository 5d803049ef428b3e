"""M-MDAV as a step: what it releases, what it promises, and what it costs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.microaggregate import geodesic
from hushtable.anonymize.microaggregate.geodesic import Centre, Geodesic
from hushtable.anonymize.microaggregate.geodesic_groups import partition
from hushtable.errors import InputError, PlanError
from hushtable.numerics.manifold.ambient import Scale
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import neighbourhood
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Kind
from hushtable.table.table import Table
from tests.random_tables import tables


def grouped(table: Table, **knobs: object) -> Table:
    return Geodesic(**knobs).fit(Vault.of(table), np.random.default_rng(0)).table


@settings(max_examples=25)
@given(tables(), st.sampled_from(Centre), st.sampled_from(Scale), st.integers(2, 4), st.sampled_from([None, 0.5, 3.0]))
def test_any_table_becomes_k_anonymous_inside_its_domains(table, centre, scale, k, radius):
    step = Geodesic(k=k, centre=centre, scale=scale, neighbours=3, radius=radius, columns=table.schema.names)
    if table.rows < k:
        with pytest.raises(InputError, match=r"geodesic\.k: k = "):
            step.fit(Vault.of(table), np.random.default_rng(0))
        return
    released = step.fit(Vault.of(table), np.random.default_rng(0)).table
    assert released.schema == table.schema
    assert released.rows == table.rows
    assert k_anonymity(Classes(released, table.schema.names)) >= k


def test_the_release_says_what_holds(small):
    out = release(small, Recipe(recipe="x", steps=(Geodesic(k=6),)), seed=1)
    assert out.guarantee.assurance is Assurance.VERIFIED
    assert str(out.guarantee.promises[0]) == "k-anonymity with k = 6 over age, height, town, school"
    assert out.guarantee.criteria["k"] >= 6
    assert out.result["geodesic"]["smallest_group"] >= 6
    assert out.result["geodesic"]["largest_group"] < 12
    assert not any("verbatim" in c for c in out.guarantee.caveats)


def test_a_medoid_is_a_record_of_its_group_and_the_card_says_so(small):
    out = grouped(small, k=6, centre=Centre.MEDOID)
    rows = set(zip(*(small.strings(n).tolist() for n in small.schema.quasi), strict=True))
    assert set(zip(*(out.strings(n).tolist() for n in small.schema.quasi), strict=True)) <= rows
    plan = Geodesic(centre=Centre.MEDOID).plan(small.schema, None)
    assert any("verbatim" in caveat for caveat in plan.caveats)
    mean = set(zip(*(grouped(small, k=6).strings(n).tolist() for n in small.schema.quasi), strict=True))
    assert not mean <= rows


def test_distances_go_along_the_manifold():
    """Two arms of a spiral: across them it is near, along them it is far, and groups do not mix the arms."""
    along = np.linspace(2 * np.pi, 6 * np.pi, 120)
    points = np.column_stack([along * np.cos(along), along * np.sin(along)])
    for paths, mixes in ((Paths.of(neighbourhood(points, 3)), False), (Paths.of(neighbourhood(points, 119)), True)):
        labels = partition(paths, np.arange(120), 20, anchors=120, order=np.arange(120))
        widest = max(np.ptp(along[labels == label]) for label in range(labels.max() + 1))
        assert (widest > 2 * np.pi) == mixes


def test_one_column_of_a_table_can_be_taken_and_the_rest_is_reported(small):
    plan = Geodesic(columns=("age",)).plan(small.schema, None)
    assert plan.promises[0].quasi == ("age",)
    assert any("height" in caveat for caveat in plan.caveats)
    out = grouped(small, k=5, columns=("age",))
    np.testing.assert_array_equal(out["town"], small["town"])


@pytest.mark.parametrize("knobs", [{"k": 1}, {"neighbours": 0}, {"radius": 0.0}, {"radius": np.inf}, {"anchors": 0}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        Geodesic(**knobs)


def test_text_and_nothing_are_refused(small):
    with pytest.raises(PlanError, match="no column 'x'"):
        Geodesic(columns=("x",)).plan(small.schema, None)
    with pytest.raises(PlanError, match="no column to work on"):
        Geodesic().plan(small.select(["sick"]).schema, None)


def test_a_radius_that_links_everything_is_refused_before_memory_is_gone(small, monkeypatch):
    from hushtable.numerics.manifold import graph

    monkeypatch.setattr(graph, "LINKS", 1000)
    with pytest.raises(InputError, match="radius"):
        grouped(small, radius=100.0)


def test_a_table_too_wide_for_memory_is_refused_by_the_widest_column(small, monkeypatch):
    from hushtable.numerics.manifold import ambient

    monkeypatch.setattr(ambient, "LIMIT", 500)
    with pytest.raises(InputError, match="column town"):
        grouped(small)


def test_in_a_large_table_anchors_lose_little_and_memory_stays_linear(monkeypatch):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1500, 3))
    paths = Paths.of(neighbourhood(points, 8))

    def loss(anchors: int) -> float:
        labels = partition(paths, np.arange(1500), 10, anchors=anchors, order=rng.permutation(1500))
        sizes = np.bincount(labels)
        assert sizes.min() >= 10
        means = np.array([np.bincount(labels, row) / sizes for row in points.T])
        return float(((points.T - means[:, labels]) ** 2).sum())

    tracemalloc.start()
    few = loss(50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * 1500 * 8 / 4
    assert few == pytest.approx(loss(1500), rel=0.05)
    monkeypatch.setattr(geodesic, "EXACT", 100)
    table = Table(*_plane(rng, 200))
    model = Geodesic(k=5, anchors=30).fit(Vault.of(table), np.random.default_rng(0))
    assert model.result()["anchors"] == 30
    assert k_anonymity(Classes(model.table, ("a", "b"))) >= 5


def _plane(rng: np.random.Generator, rows: int):
    from hushtable.table.columns import Bounds, Column, Role
    from hushtable.table.schema import Schema

    columns = tuple(Column(name=n, kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 1.0)) for n in "ab")
    return Schema(columns), {n: rng.random(rows) for n in "ab"}


@pytest.mark.parametrize("name", ["m-mdav", "m-isomdav", "m-llemdav"])
def test_the_recipes_keep_their_promise(small, name):
    out = release(small, recipes.load(name).set({"k": "5"}), seed=3)
    again = release(small, recipes.load(name).set({"k": "5"}), seed=3)
    assert out.guarantee.assurance is Assurance.VERIFIED
    assert out.guarantee.criteria["k"] >= 5
    assert ("y1" in out.table.schema) == (name != "m-mdav")
    assert ("age" in out.table.schema) == (name == "m-mdav")
    for column in out.table.schema.names:
        np.testing.assert_array_equal(out.table[column], again.table[column])
