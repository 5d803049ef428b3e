"""Microaggregation as a step: what it promises holds for every method, centre and kind of column, and it promises no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.anonymize.microaggregate import diverse, univariate
from hushtable.anonymize.microaggregate.diverse import Demand
from hushtable.anonymize.microaggregate.microaggregate import Method, Microaggregate
from hushtable.anonymize.microaggregate.space import Centre, Scale, Space
from hushtable.anonymize.secrets import Diversity
from hushtable.checks import example
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy import criteria
from hushtable.privacy.criteria import Classes
from hushtable.privacy.preserve import Promise, Syntactic, unmet
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.random_tables import rows_of, tables


def released(table: Table, **knobs):
    return release(table, Recipe(recipe="x", steps=(Microaggregate(**knobs),)), seed=0)


def fitted(table: Table, **knobs):
    return Microaggregate(**knobs).fit(Vault.of(table), np.random.default_rng(0))


@given(tables(), st.integers(2, 7), st.sampled_from(Method), st.sampled_from(Centre), st.sampled_from(Scale))
@settings(max_examples=100)
def test_what_is_promised_holds_on_any_table(table, k, method, centre, scale):
    assume(table.rows >= k)
    step = Microaggregate(k=k, method=method, centre=centre, scale=scale)
    plan = step.plan(table.schema, None)
    output = step.fit(Vault.of(table), np.random.default_rng(0)).table
    assert output.rows == table.rows
    assert plan.promises
    assert not [why for promise in plan.promises if (why := unmet(promise, output))]
    joint = Promise(kind=Syntactic.K_ANONYMITY, value=k, quasi=table.schema.names)
    assert method is Method.UNIVARIATE or joint in plan.promises


@given(tables(), st.integers(2, 4), st.data())
@settings(max_examples=100)
def test_l_and_t_hold_on_any_table_or_are_refused(table, k, data):
    assume(table.rows >= k)
    kind = data.draw(st.sampled_from([Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER]))
    domain = Bounds(0, 9) if kind is Kind.INTEGER else Levels(("a", "b", "c", "d"))
    secret = Column(name="secret", kind=kind, role=Role.SECRET, domain=domain)
    table = table.with_column(secret, rows_of(secret, table.rows, np.random.default_rng(data.draw(st.integers(0, 99)))))
    step = Microaggregate(
        k=k,
        l=data.draw(st.sampled_from([0.0, 2.0, 3.0])),
        diversity=data.draw(st.sampled_from(Diversity)),
        c=data.draw(st.sampled_from([0.5, 1.0, 3.0])),
        t=data.draw(st.sampled_from([0.0, 0.1, 0.4, 1.0])),
    )
    whole = Classes(table.with_column(table.schema["c0"], np.full_like(table["c0"], table["c0"][0])), ("c0",))
    most = {
        Diversity.DISTINCT: lambda: criteria.distinct_l(whole, "secret"),
        Diversity.ENTROPY: lambda: criteria.entropy_l(whole, "secret"),
        Diversity.RECURSIVE: lambda: criteria.recursive_l(whole, "secret", step.c),
    }[step.diversity]()
    if most < step.l - 1e-9:
        with pytest.raises(InputError, match=f"at most {most:.4g} is possible"):
            step.fit(Vault.of(table), np.random.default_rng(0))
        return
    plan = step.plan(table.schema, None)
    output = step.fit(Vault.of(table), np.random.default_rng(0)).table
    asked = 1 + (step.l > 0) + (step.t < 1)
    assert len(plan.promises) == asked
    assert not [why for promise in plan.promises if (why := unmet(promise, output))]


def two_columns(rows: int = 40) -> Table:
    """Two columns of distinct numbers that have nothing to do with one another."""
    rng = np.random.default_rng(0)
    columns = [Column(name=name, kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 999)) for name in ("a", "b")]
    return Table(Schema(tuple(columns)), {c.name: rng.permutation(rows).astype(np.int64) for c in columns})


def test_columns_by_themselves_promise_nothing_together():
    release = released(two_columns(), k=5, method=Method.UNIVARIATE)
    assert [p.quasi for p in release.guarantee.promises] == [("a",), ("b",)]
    assert all(criteria.k_anonymity(Classes(release.table, (name,))) >= 5 for name in ("a", "b"))
    assert criteria.k_anonymity(Classes(release.table, ("a", "b"))) < 5
    assert any("not for two of them together" in caveat for caveat in release.guarantee.caveats)


def test_a_joint_promise_over_columns_by_themselves_is_refused():
    class Overstated(Microaggregate):
        def plan(self, schema, budget):
            promise = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=schema.names)
            return replace(super().plan(schema, budget), promises=(promise,))

    with pytest.raises(GuaranteeRefused, match="k-anonymity with k = 5 over a, b"):
        release(two_columns(), Recipe(recipe="x", steps=(Overstated(method=Method.UNIVARIATE),)), seed=0)


def test_grouping_columns_apart_keeps_no_earlier_promise():
    steps = (Microaggregate(k=5), Microaggregate(k=2, method=Method.UNIVARIATE))
    outcome = release(two_columns(), Recipe(recipe="x", steps=steps), seed=0)
    assert [(p.value, p.quasi) for p in outcome.guarantee.promises] == [(2, ("a",)), (2, ("b",))]


def test_one_column_by_itself_is_the_whole_promise():
    table = two_columns().select(["a"])
    release = released(table, k=4, method=Method.UNIVARIATE)
    assert [str(p) for p in release.guarantee.promises] == ["k-anonymity with k = 4 over a"]
    assert not any("by itself" in caveat for caveat in release.guarantee.caveats)
    assert release.result["microaggregate"]["sse"] <= released(table, k=4).result["microaggregate"]["sse"]


@pytest.mark.parametrize("gone", [0, 1, 3, 4, 9, 17, 20])
def test_missing_values_are_a_group_of_their_own_or_join_another(gone):
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 99))
    array = np.arange(20)
    array[:gone] = np.iinfo(np.int64).min
    labels = univariate.partition(column, array, 4)
    assert np.bincount(labels).min() >= 4
    apart = gone >= 4 and 20 - gone >= 4
    assert (len(np.intersect1d(labels[:gone], labels[gone:])) == 0) == (apart or gone in (0, 20))


def test_few_missing_values_join_the_group_nearest_to_the_mean():
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, 99.0))
    labels = univariate.partition(column, np.array([0.0, 1.0, 50.0, 51.0, 98.0, 99.0, np.nan]), 2)
    assert labels[6] == labels[2] == labels[3] != labels[0]


def test_rare_levels_are_put_together_the_more_frequent_first():
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(tuple("abcdefg")))
    codes = np.repeat(np.arange(7), [9, 2, 3, 1, 2, 1, 1]).astype(np.int32)
    labels = univariate.partition(column, codes, 4)
    # c and b make five, e and three single ones make five, a stays.
    groups = {frozenset(codes[labels == g].tolist()) for g in np.unique(labels)}
    assert groups == {frozenset({0}), frozenset({1, 2}), frozenset({3, 4, 5, 6})}


def test_a_last_parcel_that_is_too_small_joins_the_smallest_group():
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(tuple("abc")))
    codes = np.repeat(np.arange(3), [9, 5, 1]).astype(np.int32)
    labels = univariate.partition(column, codes, 4)
    assert [np.unique(labels[codes == c]).tolist() for c in range(3)] == [[0], [1], [1]]


def test_a_medoid_is_a_record_and_says_so(small):
    release = released(small, k=6, centre=Centre.MEDOID)
    names = release.table.schema.quasi
    before, after = ({tuple(row) for row in zip(*(t.strings(n) for n in names), strict=True)} for t in (small, release.table))
    assert after <= before
    assert any(
        caveat.startswith("verbatim: what stands for a group is a real person's record") for caveat in release.guarantee.caveats
    )
    assert not any("verbatim" in caveat for caveat in released(small, k=6).guarantee.caveats)


def test_weights_say_how_much_a_column_counts():
    table = two_columns(200)
    spread = {}
    for weights in ((), ("a=100",), ("a=0",)):
        output = fitted(table, k=10, weights=weights).table
        spread[weights] = float(np.abs(output.floats("a") - table.floats("a")).mean())
    assert spread[("a=100",)] < 0.5 * spread[()] < 0.5 * spread[("a=0",)]
    for text in ("a", "a=-1", "a=many", "=2", "a=inf"):
        with pytest.raises(InputError, match="column=number"):
            Microaggregate(weights=(text,))
    with pytest.raises(PlanError, match="nobody has a weight"):
        Microaggregate(weights=("nobody=2",)).plan(table.schema, None)


def test_a_weight_scales_the_squared_distance(small):
    plain, heavy = (Space.of(small, ("height", "town"), Scale.STANDARD, w) for w in (None, {"height": 4.0, "town": 3.0}))
    np.testing.assert_allclose(heavy.numbers, 2 * plain.numbers)
    np.testing.assert_allclose(heavy.weights, 3 * plain.weights)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"k": 1}, "at least 2"),
        ({"gamma": 0.5}, "for v-mdav only"),
        ({"gamma": -1.0, "method": Method.V_MDAV}, "not negative"),
        ({"l": 1.0}, "more than 1"),
        ({"l": 2.5}, "whole number unless by entropy"),
        ({"l": 2.0, "method": Method.UNIVARIATE}, "whole records"),
        ({"t": 0.5, "method": Method.UNIVARIATE}, "whole records"),
        ({"t": 1.5}, "between 0 and 1"),
        ({"c": 0.0}, "positive"),
        ({"secrets": ("sick",)}, "l and t only"),
        ({"weights": ("age=2",), "method": Method.UNIVARIATE}, "whole records"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, message):
    with pytest.raises(InputError, match=message):
        Microaggregate(**knobs)


def test_a_secret_that_would_be_replaced_is_refused():
    with pytest.raises(PlanError, match="sick cannot be changed as a quasi-identifier and be a secret"):
        Microaggregate(l=2.0, columns=("age", "sick")).plan(example().schema, None)


def test_groups_of_one_secret_are_merged_and_no_others():
    # Pairs on a line; the secrets of the first two pairs are constant, the others mixed.
    x = np.array([0.0, 0.1, 1.0, 1.1, 5.0, 5.1, 9.0, 9.1])
    table = Table(
        Schema((
            Column(name="x", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 10.0)),
            Column(name="s", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes"))),
        )),
        {"x": x, "s": np.array([0, 0, 1, 1, 0, 1, 0, 1], np.int32)},
    )  # fmt: skip
    space = Space.of(table, ("x",), Scale.STANDARD)
    groups = diverse.merge(space, table, np.repeat(np.arange(4), 2), ("s",), Demand(l=2.0))
    np.testing.assert_array_equal(groups, [0, 0, 0, 0, 1, 1, 2, 2])
    assert fitted(table, k=2, l=2.0).result()["merged"] == 1
    assert fitted(table, k=2).result().get("merged") is None


def test_an_impossible_l_is_refused_with_the_most_that_is_possible(small):
    with pytest.raises(InputError, match=r"l = 3 \(distinct\) is more than the whole table has: at most 2 is possible"):
        released(small, k=3, l=3.0)


def test_progress_is_reported(small):
    result = []
    table = two_columns(400)
    knobs = [{}, {"method": Method.V_MDAV}, {"method": Method.V_MDAV, "gamma": 0.2}]
    for more in knobs:
        recipe = Recipe(recipe="x", steps=(Microaggregate(k=3, **more),))
        release(table, recipe, seed=0, progress=lambda step, share: result.append(share))
        assert result[-1] == 1.0
        assert len(result) > 3
        assert result == sorted(result)
        result.clear()
