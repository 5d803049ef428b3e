"""Embeddings as coders: what is replaced, what stays, who finds a place, and the way back where there is one."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.checks import awkward, example
from hushtable.checks.private import stability
from hushtable.checks.steps import _copes, _mutates, _plans, _repeats
from hushtable.encode.embed import Embed, Embedded, Method
from hushtable.errors import InputError, MissingExtra, PlanError
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Kind, Role
from hushtable.table.table import Table
from tests.random_tables import tables

QUICK = (Method.ISOMAP, Method.LLE, Method.PCA)


def fitted(table: Table, **knobs: object) -> Embedded:
    return Embed(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def coordinates(table: Table) -> np.ndarray:
    return np.column_stack([table.floats(n) for n in table.schema.names if n.startswith("y")])


@pytest.mark.parametrize("method", [Method.LLE, Method.PCA])
def test_variants_work_on_ordinary_and_awkward_tables(method):
    step = Embed(method=method)
    assert _plans(step) == _mutates(step) == _repeats(step) == stability(step) == ""
    assert all(_copes(step, table) == "" for table in awkward().values())


@settings(max_examples=15)
@given(tables(), st.sampled_from(QUICK), st.integers(1, 4))
def test_any_table_gets_coordinates_inside_bounds_that_are_marked(table, method, dimensions):
    code = fitted(table, method=method, dimensions=dimensions, columns=table.schema.names, neighbours=3)
    released = code.apply(table)
    assert released.schema == code.schema
    assert released.schema.names == tuple(f"y{i + 1}" for i in range(dimensions))
    assert released.rows == table.rows
    assert all(c.kind is Kind.REAL and c.role is Role.QUASI and c.observed for c in released.schema)
    assert np.isfinite(coordinates(released)).all()


@pytest.mark.parametrize("method", QUICK)
def test_rows_that_were_learnt_keep_their_place_in_any_order(small, method):
    code = fitted(small, method=method)
    whole = coordinates(code.apply(small))
    order = np.random.default_rng(1).permutation(small.rows)[:50]
    np.testing.assert_array_equal(coordinates(code.apply(small.take(order))), whole[order])
    twice = Table.concat([small, small.take(np.arange(30))])
    again = coordinates(fitted(twice, method=method).apply(twice))
    np.testing.assert_array_equal(again[:30], again[small.rows :])


@pytest.mark.parametrize("method", QUICK)
def test_other_rows_are_placed_beside_those_they_resemble(method):
    table = example(400)
    code = fitted(table.take(np.arange(350)), method=method, neighbours=8, columns=("age", "height"))
    known, new = coordinates(code.apply(table.take(np.arange(350)))), coordinates(code.apply(table.take(np.arange(350, 400))))
    original = np.column_stack([(v - v.mean()) / v.std() for v in (table.floats("age"), table.floats("height"))])
    like = ((original[350:, None] - original[None, :350]) ** 2).sum(axis=2).argmin(axis=1)
    near = np.sqrt(((new - known[like]) ** 2).sum(axis=1))
    usual = np.sqrt(((new - known[np.roll(like, 7)]) ** 2).sum(axis=1))
    assert np.median(near) < 0.3 * np.median(usual)


def test_tsne_has_no_place_for_rows_it_has_not_seen_and_shows_none_of_them():
    table = example(60)
    code = fitted(table, method=Method.TSNE)
    whole = coordinates(code.apply(table))
    assert np.isfinite(whole).all()
    np.testing.assert_array_equal(coordinates(code.apply(table.take(np.arange(59, -1, -1)))), whole[::-1])
    np.testing.assert_array_equal(coordinates(fitted(table, method=Method.TSNE).apply(table)), whole)
    alike = awkward()["every row the same"]
    assert not coordinates(fitted(alike, method=Method.TSNE).apply(alike)).any()
    with pytest.raises(InputError, match=r"40 rows are not among those") as caught:
        code.apply(example(40, seed=9))
    assert not any(str(v) in str(caught.value) for v in example(40, seed=9).floats("height"))


def test_columns_are_the_quasi_identifiers_or_all_numbers_and_the_others_stay(small):
    released = fitted(small).apply(small)
    assert released.schema.names == ("born", "sick", "pay", "y1", "y2")
    np.testing.assert_array_equal(released["pay"], small["pay"])
    rest = small.select(["born", "sick", "pay"])
    assert fitted(rest).apply(rest).schema.names == ("sick", "y1", "y2")


def test_principal_components_lead_back(small):
    code = fitted(small, method=Method.PCA, dimensions=30)
    back = code.undo(code.apply(small), np.random.default_rng(0))
    assert back.schema == small.schema
    for name in small.schema.names:
        np.testing.assert_array_equal(back[name], small[name])
    few = fitted(small, method=Method.PCA, dimensions=2)
    near = few.undo(few.apply(small), np.random.default_rng(0))
    assert near.schema == small.schema  # on the grid and inside the domain, or the table would refuse it
    assert not np.array_equal(near["age"], small["age"])


def test_the_plan_says_what_is_one_way_and_what_is_read(small):
    for method in Method:
        plan = Embed(method=method).plan(small.schema, None)
        assert plan.one_way == (method is not Method.PCA)
        assert all(isinstance(event, Raw) for event in plan.events)
        assert plan.stability == 1
        assert plan.schema.names == ("born", "sick", "pay", "y1", "y2")
        assert all(plan.schema[name].observed for name in ("y1", "y2"))


def test_what_cannot_be_done_is_refused_by_name(small):
    with pytest.raises(PlanError, match="no column 'x'"):
        Embed(columns=("x",)).plan(small.schema, None)
    taken = small.schema.with_columns(replace(small.schema["pay"], name="born1"))
    with pytest.raises(PlanError, match="born1"):
        Embed(name="born").plan(taken, None)
    for knobs in ({"dimensions": 0}, {"dimensions": 4, "method": Method.TSNE}, {"neighbours": 1}, {"radius": -1.0}, {"name": " "}):
        with pytest.raises(InputError, match=next(iter(knobs))):
            Embed(**knobs)


@pytest.mark.nightly  # its compilation alone takes a quarter of a minute
def test_umap_embeds_repeats_itself_and_places_other_rows(small):
    pytest.importorskip("umap", reason="umap-learn is not installed: pip install hushtable[manifold]")
    codes = [Embed(method=Method.UMAP).fit(Vault.of(small).named("embed"), np.random.default_rng(3)) for _ in range(2)]
    one, two = (code.apply(small) for code in codes)
    assert one.schema.names == two.schema.names
    np.testing.assert_array_equal(one["y1"], two["y1"])
    assert np.ptp(one["y1"]) > 0
    assert codes[0].apply(small.take(np.arange(5))).rows == 5


def test_umap_names_the_command_to_type(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtra, match=r"hushtable\[manifold\]"):
        fitted(small, method=Method.UMAP)
