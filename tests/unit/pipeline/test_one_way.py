"""One-way coders: what they made is what leaves, and promises speak of the columns that are there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.geodesic import Geodesic
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Method as Sampling
from hushtable.anonymize.sample import Sample
from hushtable.checks import check
from hushtable.encode.bins import Bins
from hushtable.encode.embed import Embed, Embedded, Method
from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.numerics.manifold.ambient import Scale
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy.preserve import Form
from hushtable.synthesize.sequential.sequential import Sequential


def recipe(*steps: object) -> Recipe:
    return Recipe(recipe="test", steps=steps)


CHAINS = {
    "embed": ((Embed(), Microaggregate(k=4)), ("born", "sick", "pay", "y1", "y2")),
    "bins, embed": ((Bins(columns=("born",)), Embed(), Microaggregate(k=4)), ("born", "sick", "pay", "y1", "y2")),
    "embed, bins": ((Embed(), Bins(columns=("pay",)), Microaggregate(k=4)), ("born", "sick", "pay", "y1", "y2")),
    "embed twice": ((Embed(), Embed(columns=("y1", "y2"), name="z"), Microaggregate(k=4)), ("born", "sick", "pay", "z1", "z2")),
    "pca": ((Embed(method=Method.PCA), Sequential()), ("age", "height", "town", "school", "born", "sick", "pay")),
}


@pytest.mark.parametrize(("steps", "names"), CHAINS.values(), ids=CHAINS)
def test_the_table_stays_encoded_from_the_last_one_way_coder_on(small, steps, names):
    released = release(small, recipe(*steps), seed=1)
    assert set(released.table.schema.names) == set(names)


def test_what_stands_before_a_one_way_coder_is_not_undone_and_what_stands_behind_it_is(small):
    before = release(small, recipe(*CHAINS["bins, embed"][0]), seed=1)
    behind = release(small, recipe(*CHAINS["embed, bins"][0]), seed=1)
    assert before.table.schema["born"].coded
    assert behind.table.schema["pay"].numeric


def test_the_next_core_is_planned_on_the_encoded_table(small):
    course = plan(recipe(Embed(), Microaggregate(k=4), Sample(method=Sampling.STRATIFIED, by=("y1",))), small.schema)
    assert course.steps[-1].plan.schema.names == ("born", "sick", "pay", "y1", "y2")
    with pytest.raises(PlanError, match="age"):
        plan(recipe(Embed(), Microaggregate(k=4), Microaggregate(k=4, columns=("age",))), small.schema)
    undone = plan(recipe(Embed(method=Method.PCA), Microaggregate(k=4), Microaggregate(k=4, columns=("age",))), small.schema)
    assert "age" in undone.steps[-1].plan.schema


def test_a_promise_on_coordinates_that_lead_back_is_one_on_the_columns(small):
    released = release(small, recipe(Embed(method=Method.PCA, dimensions=6), Geodesic(k=4, scale=Scale.NONE)), seed=1)
    (promise,) = released.guarantee.promises
    assert promise.quasi == ("age", "height", "town", "school")
    assert released.guarantee.criteria["k"] >= 4
    with pytest.raises(GuaranteeRefused, match="was promised"):
        release(small, recipe(Embed(method=Method.PCA, dimensions=6), Geodesic(k=4, columns=("y1",))), seed=1)


def test_an_earlier_promise_on_columns_that_are_gone_is_only_derived(small):
    released = release(small, recipe(Microaggregate(k=5), Embed(), Sample(beta=1.0)), seed=1)
    (promise,) = released.guarantee.promises
    assert (promise.form, promise.quasi) == (Form.DERIVED, ("age", "height", "town", "school"))
    both = release(small, recipe(Microaggregate(k=5), Embed(), Geodesic(k=7)), seed=1)
    assert [(p.value, p.form) for p in both.guarantee.promises] == [(5, Form.DERIVED), (7, Form.SYNTACTIC)]
    assert both.guarantee.criteria["quasi"] == ["y1", "y2"]


def test_the_card_names_the_quasi_identifiers_that_leave_uncovered_and_no_others(small):
    covered = release(small, recipe(Embed(), Microaggregate(k=4)), seed=1)
    assert not any("does not cover" in caveat for caveat in covered.guarantee.caveats)
    bare = release(small, recipe(Embed(), Microaggregate(k=4, columns=("y1",))), seed=1)
    assert any("does not cover the quasi-identifiers y2" in caveat for caveat in bare.guarantee.caveats)


def test_a_release_of_coordinates_is_saved_and_verified(small, tmp_path):
    released = release(small, recipe(Embed(), Geodesic(k=5, scale=Scale.NONE)), seed=1)
    assert not verify(released.save(tmp_path / "out")).faults


@dataclass(frozen=True, kw_only=True)
class Denies(Embed):
    """One-way, and does not say so."""

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), one_way=False)


class _Restless(Embedded):
    def apply(self, table):
        encoded = super().apply(table)
        drawn = np.random.default_rng().random(table.rows) * encoded.schema["y1"].bounds.high
        return encoded.with_column(encoded.schema["y1"], drawn)


@dataclass(frozen=True, kw_only=True)
class Restless(Embed):
    """One-way, and never the same twice."""

    def fit(self, vault, rng):
        return _Restless(**vars(super().fit(vault, rng)))


@pytest.mark.parametrize("kind", [Denies, Restless])
def test_the_battery_finds_a_broken_one_way_coder(kind):
    assert any("one-way" in v.asks for v in check(kind) if not v.passed)
