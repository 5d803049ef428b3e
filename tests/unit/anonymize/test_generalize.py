"""Generalization: what it promises holds on the written file, and every released cell covers the value it stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import load_table
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.privacy import criteria
from hushtable.privacy.criteria import Classes
from hushtable.privacy.vault import Vault
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels, Role
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree, PrefixTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MISSING = np.iinfo(np.int64).min
TREE = FileTree("t.csv", (("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")))


@st.composite
def tables(draw) -> Table:
    """Mixed kinds, missing values, rare levels, constant columns."""
    rows = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = draw(st.sampled_from([0.0, 0.1, 0.9]))
    spread = draw(st.sampled_from([0, 1, 10]))
    columns = [
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 30), hierarchy=IntervalTree((5, 10))),
        Column(name="size", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 3.0)),
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b", "c")), hierarchy=TREE),
        Column(name="zip", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("100", "101", "200")), hierarchy=PrefixTree((2, 1))),
        Column(name="rank", kind=Kind.ORDINAL, role=Role.QUASI, domain=Levels(("l", "m", "h", "x"))),
        Column(name="born", kind=Kind.DATE, role=Role.QUASI, domain=Bounds(0, 86400 * 900), hierarchy=DateTree(("month", "year"))),
    ]
    picked = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=4, unique_by=lambda c: c.name))
    secret = Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("x", "y", "z")))
    arrays = {}
    for column in (*picked, secret):
        gone = rng.random(rows) < gaps
        if column.kind is Kind.REAL:
            arrays[column.name] = np.where(gone, np.nan, rng.random(rows) * min(spread, 3))
        elif column.numeric:
            step = 86400 * 30 if column.kind is Kind.DATE else 1
            arrays[column.name] = np.where(gone, MISSING, rng.integers(0, spread + 1, rows) * step)
        else:
            arrays[column.name] = np.where(gone, -1, rng.integers(0, min(len(column.levels), spread + 1), rows)).astype(np.int32)
    return Table(Schema((*picked, secret)), arrays)


knobs = st.fixed_dictionaries(
    {
        "k": st.integers(2, 6),
        "limit": st.sampled_from([0.0, 0.2, 1.0]),
        "l": st.sampled_from([0.0, 2.0]),
        "diversity": st.sampled_from(["distinct", "entropy", "recursive"]),
        "t": st.sampled_from([1.0, 0.4]),
        "suppressed": st.sampled_from(["drop", "star"]),
        "local": st.booleans(),
        "loss": st.sampled_from(["geometric", "entropy", "discernibility", "class-size"]),
    }
)


def covers(column: Column, code: int, text: str | None) -> bool:
    """Whether the released cell could be the value."""
    if not isinstance(column.domain, Cells):
        return True
    if code < 0:
        return text is None
    span = column.domain.cells[code].span
    if span is None:
        return True
    if text is None:
        return False
    return column.number(text) in span if isinstance(span, Interval) else text in span


@settings(max_examples=60)
@given(tables(), knobs)
def test_nothing_released_breaks_what_is_promised(table, asked):
    step = Generalize(**asked)
    try:
        model = step.fit(Vault.of(table).named("generalize"), np.random.default_rng(0))
    except InputError:
        reject()  # too few rows, or nothing holds: tests of their own below
    assume(model.table.rows >= 2)
    released = release(table, Recipe(recipe="r", steps=(step,)), seed=1)
    out, quasi = released.table, table.schema.quasi
    classes = Classes(out, quasi)
    if len(classes.sizes):
        assert criteria.k_anonymity(classes) >= step.k
        if step.l > 0:
            actual = {"distinct": criteria.distinct_l, "entropy": criteria.entropy_l}.get(step.diversity)
            assert (actual(classes, "ill") if actual else criteria.recursive_l(classes, "ill", step.c)) >= step.l - 1e-9
        if step.t < 1:
            assert criteria.t_closeness(classes, "ill", ordered=False) <= step.t + 1e-9
    stars = int(classes.suppressed.sum())
    assert stars == 0 or stars >= step.k, "whoever is missed in every class is among the stars"
    gone = table.rows - out.rows + stars
    assert gone <= step.limit * table.rows + 1e-9
    if model.table.rows == table.rows:
        for name in quasi:
            column, codes = model.table.schema[name], model.table[name]
            texts = table.strings(name)
            assert all(covers(column, int(code), text) for code, text in zip(codes, texts, strict=True) if column.generalized)


@settings(max_examples=15)
@given(tables(), st.booleans())
def test_a_written_release_is_read_back_and_verified(tmp_path_factory, table, local):
    folder = tmp_path_factory.mktemp("release") / "out"
    try:
        release = ht.release(table, "k-anonymity", k=3, limit=1.0, local=local, seed=1, allow_copies="nobody in it exists")
    except InputError:
        reject()
    ht.save(release, folder)
    assert not verify(folder).faults
    again = load_table(folder)
    if criteria.measure(again, table.schema.quasi)["classes"]:
        assert criteria.measure(again, table.schema.quasi)["k"] >= 3


def test_levels_can_be_fixed_and_the_rest_is_searched(small):
    released = release(small, Recipe(recipe="r", steps=(Generalize(k=3, limit=1.0, levels=("age=2", "town=0")),)), seed=1)
    result = released.result["generalize"]["columns"]
    assert (result["age"]["level"], result["town"]["level"]) == (2, 0)
    free = release(small, Recipe(recipe="r", steps=(Generalize(k=3, limit=1.0),)), seed=1).result["generalize"]
    assert free["search"]["value"] <= released.result["generalize"]["search"]["value"]


def test_weights_make_a_column_dearer(small):
    def lost(weights: tuple[str, ...]) -> float:
        step = Generalize(k=5, limit=0.1, weights=weights)
        return release(small, Recipe(recipe="r", steps=(step,)), seed=1).result["generalize"]["columns"]["town"]["lost"]

    assert lost(("town=50",)) < lost(("town=0",))


def test_local_recoding_loses_less_and_suppresses_nothing(small):
    results = {}
    for local in (False, True):
        step = Generalize(k=5, limit=1.0, local=local)
        results[local] = release(small, Recipe(recipe="r", steps=(step,)), seed=1).result["generalize"]
    assert results[True]["losses"]["geometric"] < results[False]["losses"]["geometric"]
    assert results[True]["suppressed_rows"] == 0


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"k": 1}, "at least 2"),
        ({"limit": 1.5}, r"\[0, 1\]"),
        ({"t": -0.1}, r"\[0, 1\]"),
        ({"demands": ("sick:much:2",)}, "secret:variant:value"),
        ({"levels": ("age",)}, "column=number"),
        ({"weights": ("age=x",)}, "column=number"),
        ({"levels": ("age=1",), "local": True}, "cannot go with fixed levels"),
    ],
)
def test_knobs_out_of_range_are_refused(knobs, message):
    with pytest.raises(InputError, match=message):
        Generalize(**knobs)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"columns": ("nobody",)}, "nobody"),
        ({"levels": ("age=99",)}, "levels 0 to"),
        ({"levels": ("sick=0",)}, "not among"),
        ({"weights": ("sick=2",)}, "not among"),
        ({"demands": ("nobody:distinct:2",)}, "nobody"),
        ({"demands": ("age:distinct:2",)}, "quasi-identifier"),
        ({"demands": ("sick:ordered:0.2",)}, "no order"),
        ({"l": 2.0, "secrets": ("nobody",)}, "nobody"),
    ],
)
def test_what_cannot_be_done_is_refused_before_a_row_is_read(knobs, message):
    with pytest.raises(PlanError, match=message):
        Generalize(**knobs).plan(example().schema, None)


def test_a_value_without_a_line_in_its_hierarchy_is_named_with_its_rows():
    schema = Schema((Column(name="t", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b", "d", "c")), hierarchy=TREE),))
    table = Table(schema, {"t": np.array([0, 1, 2, 2, 0], np.int32)})
    with pytest.raises(InputError, match=r"hierarchy of t: has no line for some values \('d'\); rows 3, 4"):
        ht.release(table, "k-anonymity", settings={"k": "2"})


def test_what_cannot_be_reached_says_how_far_one_can_get(small):
    with pytest.raises(InputError, match=r"no generalization keeps .* suppresses them all"):
        ht.release(small, "k-anonymity", settings={"l": "3"})


def test_a_search_cut_short_says_so(small):
    release = ht.release(small, "k-anonymity", settings={"seconds": "0.000000001", "limit": "1"}, seed=1)
    result = release.result["generalize"]["search"]
    assert not result["optimal"]
    assert result["gap"] > 0
    best = ht.release(small, "k-anonymity", settings={"limit": "1"}, seed=1).result["generalize"]["search"]
    assert best["optimal"]
    assert result["value"] - result["gap"] <= best["value"] <= result["value"]


def test_stars_that_would_be_fewer_than_k_are_dropped():
    column = Column(name="a", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("x", "y", "z")))
    table = Table(Schema((column,)), {"a": np.array([0] * 8 + [1] * 2, np.int32)})
    step = Generalize(k=4, limit=0.5, suppressed="star", levels=("a=0",))
    assert release(table, Recipe(recipe="r", steps=(step,)), seed=1).table.rows == 8
    many = Table(Schema((column,)), {"a": np.array([0] * 8 + [1] * 3 + [2] * 3, np.int32)})
    remaining = release(many, Recipe(recipe="r", steps=(step,)), seed=1).table
    assert remaining.rows == 14
    assert sorted(set(remaining.strings("a"))) == ["*", "x"]


def test_a_secret_without_any_value_is_named_where_l_is_asked_for():
    table = example(60)
    secret = table.schema.secrets[0]
    empty = table.with_columns((replace(table.schema[secret], required=False), np.full(60, -1, table[secret].dtype)))
    assert empty.missing(secret).all()
    with pytest.raises(InputError, match=f"secret {secret}: all values are missing"):
        Generalize(k=2, l=2).fit(Vault.of(empty), np.random.default_rng(0))
