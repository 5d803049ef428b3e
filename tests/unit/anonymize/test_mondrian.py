"""Mondrian as a step: what it promises holds on the written file, and every cell covers what it stands for."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.anonymize.recoding.mondrian import Mondrian
from hushtable.anonymize.recoding.mondrian_cells import Axis, Written, lettered
from hushtable.anonymize.secrets import Diversity
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.verify import verify
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.preserve import unmet
from hushtable.privacy.vault import Vault
from hushtable.table import io
from hushtable.table.cell import ANYTHING, Cell, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.mixed import mixed, uncovered


def fitted(table: Table, **knobs):
    return Mondrian(**knobs).fit(Vault.of(table), np.random.default_rng(0))


def holds_k(table: Table, k: int, quasi: tuple[str, ...]) -> bool:
    sizes = Classes(table, quasi).sizes
    return not len(sizes) or k_anonymity(Classes(table, quasi)) >= k


@given(mixed(), st.integers(2, 6), st.sampled_from(Written), st.booleans())
@settings(max_examples=120)
def test_every_class_has_k_rows_and_every_cell_covers(table, k, cells, strict):
    if table.rows < k:
        with pytest.raises(InputError, match=f"k = {k} is larger"):
            fitted(table, k=k)
        return
    model = fitted(table, k=k, cells=cells, strict=strict)
    quasi = table.schema.quasi
    assert model.table.rows == table.rows
    assert model.table["secret"] is table["secret"]
    assert holds_k(model.table, k, quasi)
    assert [uncovered(model.table, table, name) for name in quasi] == [0] * len(quasi)
    assert 0 <= model.result().get("loss", 0) <= 1
    sizes = np.bincount(model.table.groups(quasi)[0])
    result = (model.result()[key] for key in ("classes", "smallest_class", "largest_class", "discernibility"))
    assert tuple(result) == (len(sizes), sizes.min(), sizes.max(), (sizes**2).sum())


@given(mixed(), st.integers(2, 4))
@settings(max_examples=60)
def test_strict_classes_are_disjoint_boxes(table, k):
    if table.rows < k:
        return
    model = fitted(table, k=k, cells=Written.RANGES)
    quasi = table.schema.quasi
    groups, count = model.table.groups(quasi)
    ranks = [Axis.of(table, name).ranks for name in quasi]
    boxes = [[(r[groups == g].min(), r[groups == g].max()) for r in ranks] for g in range(count)]
    for one, other in combinations(boxes, 2):
        assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, other, strict=True))


@given(table=mixed(), cells=st.sampled_from(Written))
@settings(max_examples=25)
def test_k_holds_on_the_file_as_it_is_read_back(tmp_path_factory, table, cells):
    if table.rows < 3:
        return
    released = fitted(table, k=3, cells=cells).table
    path = tmp_path_factory.mktemp("release") / "data.csv"
    io.write(released, path)
    again = io.read(path, released.schema)
    assert again.schema == released.schema
    assert holds_k(again, 3, table.schema.quasi)
    assert again.groups(table.schema.quasi)[1] == released.groups(table.schema.quasi)[1]


@given(
    mixed(rows=60), st.sampled_from(Diversity), st.sampled_from([0.0, 2.0, 3.0]), st.sampled_from([0.1, 0.3, 1.0]), st.booleans()
)
@settings(max_examples=80)
def test_l_and_t_hold_in_every_class(table, diversity, least, t, strict):
    if table.rows < 2:
        return
    step = Mondrian(k=2, l=least, t=t, diversity=diversity, strict=strict, cells=Written.RANGES)
    whole = table.with_columns(*((c, np.full_like(table[c.name], table[c.name][0])) for c in table.schema if c.role is Role.QUASI))
    if any(unmet(promise, whole) for promise in step.plan(table.schema, None).promises[1:]):
        with pytest.raises(InputError, match="not even in the whole table"):
            step.fit(Vault.of(table), np.random.default_rng(0))
        return
    model = step.fit(Vault.of(table), np.random.default_rng(0))
    for promise in step.plan(table.schema, None).promises:
        if len(Classes(model.table, promise.quasi).sizes):
            assert unmet(promise, model.table) == ""


def test_without_the_test_of_both_sides_l_does_not_hold():
    """The broken twin: the same cuts made for k alone leave classes with one secret."""
    table = example()
    promise = Mondrian(k=3, l=2).plan(table.schema, None).promises[1]
    assert unmet(promise, fitted(table, k=3, l=2).table) == ""
    assert unmet(promise, fitted(table, k=3).table) != ""


AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99))
JOBS = ("cook", "judge", "baker", "lawyer")
TREE = FileTree("jobs.csv", (("cook", "food", "*"), ("judge", "court", "*"), ("baker", "food", "*"), ("lawyer", "court", "*")))
JOB = Column(name="job", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(JOBS), hierarchy=TREE)


def staff(ages: list[int], jobs: list[int]) -> Table:
    return Table(Schema((AGE, JOB)), {"age": np.array(ages), "job": np.array(jobs, np.int32)})


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("ranges", [("[20, 21]", "{cook, baker}"), ("[50, 70]", "{judge, lawyer}")]),
        ("sets", [("[20, 21]", "{cook, baker}"), ("[50, 70]", "{judge, lawyer}")]),
        ("ancestor", [("[20, 24]", "food"), ("[40, 79]", "court")]),
    ],
)
def test_what_is_written(cells, expected):
    released = fitted(staff([20, 21, 70, 50], [0, 2, 1, 3]), k=2, cells=Written(cells)).table
    rows = list(zip(released.strings("age"), released.strings("job"), strict=True))
    assert rows == [expected[0]] * 2 + [expected[1]] * 2


def test_what_is_written_alike_is_one_cell():
    choices = [(Cell("x", frozenset("a")), 0.1), (None, 0.1), (Cell("x", frozenset("b")), 0.2), (ANYTHING, 1.0)]
    codes, shares, cells = lettered(choices, np.array([0, 1, 2]))
    assert cells == (Cell("x", frozenset("ab")),)
    assert codes.tolist() == [0, -1, 0, -1]
    assert shares.tolist() == [0.1, 0.1, 0.2, 1.0]
    ages = [(Cell("20", Interval(20, 29)), 0.1), (Cell("20", Interval(20, 20)), 0.0), (Cell("*", Interval(0, 50)), 0.5)]
    assert lettered(ages, np.arange(3))[2] == (Cell("20", Interval(20, 29)), ANYTHING)


def test_levels_are_cut_between_nodes_of_the_hierarchy():
    """In the order of the levels cook and judge are neighbours; in the tree they are not."""
    released = fitted(staff([30] * 8, [0, 1, 2, 3] * 2), k=4).table
    assert released.strings("job").tolist() == ["food", "court", "food", "court"] * 2


def test_missing_values_come_apart_where_they_are_k():
    table = staff([30] * 9, [-1] * 4 + [0] * 5)
    released = fitted(table, k=4).table
    assert released.strings("job").tolist() == [None] * 4 + ["cook"] * 5
    fewer = fitted(table.take(np.arange(1, 9)), k=4).table
    assert fewer.strings("job").tolist() == ["*"] * 8


def test_a_class_of_missing_and_present_values_says_only_a_star():
    released = fitted(staff([30] * 5, [-1, 0, 0, 0, 0]), k=3).table
    assert released.strings("job").tolist() == ["*"] * 5


def test_no_strict_cut_and_a_relaxed_one():
    table = staff([30] * 9 + [31], [0] * 10)
    assert fitted(table, k=5).result()["classes"] == 1
    release = fitted(table, k=5, strict=False, cells=Written.RANGES).table
    assert sorted(release.strings("age").tolist()) == ["30"] * 5 + ["[30, 31]"] * 5


def test_secrets_that_cannot_be_diverse_are_named():
    table = example()
    constant = table.with_column(table.schema["sick"], np.zeros(table.rows, np.int32))
    with pytest.raises(InputError, match=r"column sick: is not even in the whole table so diverse \(distinct, l = 2\)"):
        fitted(constant, l=2)


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ({"k": 1}, "k: must be at least 2"),
        ({"l": 1}, "l: must be more than 1"),
        ({"l": 2.5}, "l: must be more than 1"),
        ({"l": 2, "c": 0.0}, "c: must be positive"),
        ({"t": 1.5}, "t: must lie between 0 and 1"),
        ({"secrets": ("sick",)}, "secrets: are for l and t only"),
    ],
)
def test_knobs_out_of_range(knobs, what):
    with pytest.raises(InputError, match=what):
        Mondrian(**knobs)


def test_columns_that_cannot_be_cut_are_refused_by_name():
    schema = example().schema
    with pytest.raises(PlanError, match="sick cannot be changed as a quasi-identifier and be a secret"):
        Mondrian(l=2, columns=("age", "sick")).plan(schema, None)
    big = schema.with_columns(replace(schema["age"], domain=Bounds(0, 2**60)))
    with pytest.raises(PlanError, match="age is not a column that can be cut"):
        Mondrian().plan(big, None)
    cells = schema.with_columns(schema["town"].generalize((ANYTHING,)))
    with pytest.raises(PlanError, match="town is not a column that can be cut"):
        Mondrian().plan(cells, None)
    plain = replace(schema, columns=tuple(replace(c, role=Role.PLAIN) for c in schema))
    with pytest.raises(PlanError, match="no column to work on"):
        Mondrian(l=2, columns=("age",)).plan(plain, None)


def test_promises_name_the_definition():
    schema = example().schema
    step = Mondrian(l=2, diversity=Diversity.RECURSIVE, c=3.0, t=0.4, secrets=("sick", "pay"))
    kinds = [(str(p.kind), p.secret, p.variant, p.c) for p in step.plan(schema, None).promises]
    assert kinds == [
        ("k_anonymity", None, "", 0.0),
        ("l_diversity", "sick", "recursive", 3.0),
        ("t_closeness", "sick", "equal", 0.0),
        ("l_diversity", "pay", "recursive", 3.0),
        ("t_closeness", "pay", "ordered", 0.0),
    ]


def test_a_release_with_labels_of_a_hierarchy_is_saved_and_verified(tmp_path):
    rng = np.random.default_rng(0)
    secret = Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")))
    table = staff(rng.integers(0, 100, 60).tolist(), rng.integers(-1, 4, 60).tolist())
    table = table.with_column(secret, rng.integers(0, 2, 60).astype(np.int32))
    settings_ = {"k": "4", "l": "2", "diversity": "recursive", "c": "3", "t": "0.5"}
    release = ht.release(table, "mondrian", settings=settings_, seed=1)
    ht.save(release, tmp_path / "release")
    assert not verify(tmp_path / "release").faults
    assert release.guarantee.criteria["k"] >= 4
