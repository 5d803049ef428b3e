"""A table: immutable rows under a schema, and the three questions it answers."""

from __future__ import annotations

import copy
import time
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.table.columns import MISSING_CODE, MISSING_INTEGER, Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import CELL_LIMIT, Table
from hushtable.table.values import from_mapping

SCHEMA = Schema.parse(
    "columns: {c: {kind: category, domain: [a, b, c]}, i: {kind: integer, domain: [-2, 2]},"
    " r: {kind: real, domain: [0, 9], required: true}, d: date, t: text, k: key}"
)
ROWS = {
    "c": ["a", "b", None, "a", "c"],
    "i": [-2, 2, 0, None, -2],
    "r": [0.5, 9, 0.5, 1, 2],
    "d": ["2020-01-02", None, "2020-01-01", "2020-01-02", "2020-01-03"],
    "t": ["x", "y", "x", None, "z"],
    "k": ["1", "2", "3", "4", "5"],
}


@pytest.fixture
def table() -> Table:
    return from_mapping(SCHEMA, ROWS)


def content(table: Table) -> dict[str, list[str | None]]:
    return {name: list(table.strings(name)) for name in table.schema.names}


@pytest.mark.parametrize("name", SCHEMA.names)
def test_no_array_of_a_table_can_be_written_to(table, name):
    for held in (
        table,
        table.take(np.array([0, 1])),
        table.take(np.array([True] * 5)),
        table.select([name]),
        next(table.batches(2)),
    ):
        with pytest.raises(ValueError, match="read-only"):
            held[name][0] = held[name][1]
        with pytest.raises(ValueError, match="WRITEABLE"):
            held.take(np.array([0])).arrays[name][:].setflags(write=True)


def test_texts_and_the_map_of_arrays_cannot_be_written_to_either(table):
    with pytest.raises(ValueError, match="read-only"):
        table.words("t")[0] = "other"
    with pytest.raises(TypeError):
        table.arrays["c"] = table.arrays["c"]
    with pytest.raises(FrozenInstanceError):
        table.schema = SCHEMA


def test_a_table_does_not_change_with_the_array_it_was_made_from():
    array = np.array([0, 1, 0], np.int32)
    table = Table(Schema((Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b"))),)), {"c": array})
    array[0] = 1
    assert list(table.strings("c")) == ["a", "b", "a"]


@pytest.mark.parametrize("arrays", [{}, {"a": [1]}, {"a": [1], "b": [1, 2]}, {"a": [1], "b": [1], "c": [1]}])
def test_columns_and_schema_must_be_the_same_and_equally_long(arrays):
    schema = Schema((Column(name="a", kind=Kind.INTEGER), Column(name="b", kind=Kind.INTEGER)))
    with pytest.raises(InputError, match="columns and schema differ"):
        Table(schema, {name: np.array(values) for name, values in arrays.items()})


def test_the_strings_are_what_was_read(table):
    assert content(table) == {
        **ROWS,
        "i": ["-2", "2", "0", None, "-2"],
        "r": ["0.5", "9.0", "0.5", "1.0", "2.0"],
    }
    assert len(table) == table.rows == 5
    assert table.floats("i").tolist()[:3] == [-2, 2, 0]
    assert np.isnan(table.floats("i")[3])
    assert np.isnan(table.floats("d")[1])


@pytest.mark.parametrize("rows", [np.array([4, 0, 0]), np.array([True, False, False, True, False]), np.array([], int)])
def test_taken_rows_are_these_rows_in_this_order(table, rows):
    positions = np.arange(5)[rows]
    assert content(table.take(rows)) == {name: [values[i] for i in positions] for name, values in content(table).items()}


def test_selected_columns_stand_in_the_order_asked_for(table):
    chosen = table.select(["t", "c"])
    assert chosen.schema.names == ("t", "c")
    assert content(chosen) == {"t": ROWS["t"], "c": ROWS["c"]}
    with pytest.raises(InputError, match="no column 'zz'"):
        table.select(["zz"])


def test_a_column_is_replaced_or_added_and_the_old_table_stays(table):
    column = Column(name="c", kind=Kind.ORDINAL, domain=Levels(("lo", "hi")))
    new = table.with_column(column, np.array([0, 1, 1, MISSING_CODE, 0], np.int32))
    assert list(new.strings("c")) == ["lo", "hi", "hi", None, "lo"]
    assert list(table.strings("c")) == ROWS["c"]
    assert new.with_column(replace(column, name="e"), new["c"]).schema.names == (*SCHEMA.names, "e")
    coded = table.with_column(replace(column, name="t"), new["c"])
    assert list(coded.strings("t")) == ["lo", "hi", "hi", None, "lo"]
    assert list(coded.strings("k")) == ROWS["k"]


def test_counts_have_a_last_cell_for_missing_unless_the_column_is_required(table):
    assert table.counts(["c"]).tolist() == [2, 1, 1, 1]
    assert table.counts(["i"]).tolist() == [2, 0, 1, 0, 1, 1]
    assert table.counts(["c", "i"]).shape == (4, 6)
    assert table.counts(["c", "i"])[0].tolist() == [1, 0, 0, 0, 0, 1]
    assert table.counts([]) == 5
    required = Schema.parse(
        "columns: {c: {kind: category, domain: [a, b, c], required: true}, i: {kind: integer, domain: [-2, 2]}}"
    )
    whole = from_mapping(required, {"c": ["a", "c", "c"], "i": [2, None, -2]})
    assert whole.sizes(["c", "i"]) == (3, 6)
    assert whole.counts(["c"]).tolist() == [1, 0, 2]
    assert whole.counts(["i", "c"])[-1].tolist() == [0, 0, 1]
    assert whole.take(np.array([], int)).counts(["c", "i"]).sum() == 0


@pytest.mark.parametrize(
    ("column", "array"),
    [
        (Column(name="i", kind=Kind.INTEGER, domain=Bounds(0, 3)), np.array([0, 4])),
        (Column(name="i", kind=Kind.INTEGER, domain=Bounds(0, 3)), np.array([-1, 2])),
        (Column(name="i", kind=Kind.INTEGER, domain=Bounds(0, 3), required=True), np.array([1, MISSING_INTEGER])),
        (Column(name="i", kind=Kind.CATEGORY, domain=Levels(("a", "b")), required=True), np.array([0, MISSING_CODE], np.int32)),
        (Column(name="i", kind=Kind.CATEGORY, domain=Levels(("a", "b"))), np.array([0, 2], np.int32)),
    ],
)
def test_a_row_outside_its_domain_is_refused(column, array):
    reason = "declared required" if column.required else "outside the domain"
    with pytest.raises(InputError, match=f"column i: .*{reason}; row"):
        Table(Schema((column,)), {"i": array})


def test_a_table_lists_all_faults_of_its_arrays_and_shows_no_value():
    schema = Schema(
        (
            Column(name="a", kind=Kind.INTEGER, domain=Bounds(0, 3), required=True),
            Column(name="b", kind=Kind.REAL, domain=Bounds(0, 1)),
            Column(name="c", kind=Kind.REAL),
            Column(name="d", kind=Kind.KEY),
            Column(name="e", kind=Kind.TEXT),
        )
    )
    arrays = {
        "a": np.array([MISSING_INTEGER, 77, 1]),
        "b": np.array([0.5, np.inf, np.nan], np.float32),
        "c": np.zeros(3),
        "d": np.zeros(3, np.int32),
        "e": np.array([0, 1, -1], np.int32),
    }
    with pytest.raises(InputError) as caught:
        Table(schema, arrays, {"e": np.array(["only"], object)})
    assert [str(fault) for fault in caught.value.faults] == [
        "table, column a: values outside the domain; row 2",
        "table, column a: has missing values, but is declared required; row 1",
        "table, column b: holds float32 numbers where a real column holds float64",
        "table, column c: has no domain: declare levels or bounds, or read the rows with hushtable.read",
        "table, column d: is key, but the texts its codes stand for are not given",
        "table, column e: values outside the domain; row 2",
    ]


@pytest.mark.parametrize("name", ["r", "d", "t", "k"])
def test_what_has_no_cells_cannot_be_counted(table, name):
    with pytest.raises(InputError, match=f"{name}: a {SCHEMA[name].kind} column must be cut into bins"):
        table.counts([name])


def test_a_histogram_beyond_the_limit_is_refused_before_it_is_built():
    wide = Schema.parse("columns: {a: {kind: integer, domain: [0, 99999]}, b: {kind: integer, domain: [0, 99999]}}")
    table = from_mapping(wide, {"a": [1, 2], "b": [1, 2]})
    assert CELL_LIMIT < 100_001**2
    with pytest.raises(InputError, match="100001 x 100001 cells is too large"):
        table.counts(["a", "b"])


def test_quantiles_are_actual_values_of_those_present(table):
    assert table.quantiles("i", (s for s in (0.0, 0.5, 0.99, 1.0))).tolist() == [-2, -2, 0, 2]
    assert table.quantiles("r", [0.5]).tolist() == [1.0]
    empty = from_mapping(Schema.parse("columns: {r: real}"), {"r": [None, None]})
    assert np.isnan(empty.quantiles("r", [0.1, 0.9])).tolist() == [True, True]


@pytest.mark.parametrize("size", [1, 2, 5, 7])
def test_batches_are_the_rows_in_order(table, size):
    batches = list(table.batches(size))
    assert [len(batch) for batch in batches] == [min(size, 5 - start) for start in range(0, 5, size)]
    joined = Table.concat(batches)
    assert content(joined) == content(table)


def test_groups_hold_missing_as_a_value_of_its_own(table):
    codes, count = table.groups(["c"])
    assert count == 4
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 4
    assert table.groups([])[1] == 1
    assert table.take(np.array([], int)).groups(["c"])[1] == 0
    twice = from_mapping(Schema.parse("columns: {r: real, d: date}"), {"r": [None, None, 1], "d": [None, None, "2020-01-01"]})
    assert twice.groups(["r", "d"])[0].tolist() in ([0, 0, 1], [1, 1, 0])


def test_tables_with_other_words_are_joined_by_their_words():
    schema = Schema.parse("columns: {t: text, k: key, i: integer}")
    bounds = replace(schema["i"], domain=Bounds(0, 9))
    one = from_mapping(schema.with_columns(bounds), {"t": ["x", "y", None], "k": ["1", "2", "3"], "i": [1, 2, 3]})
    other = from_mapping(schema.with_columns(bounds), {"t": ["y", "z"], "k": ["9", "1"], "i": [4, None]})
    joined = Table.concat([one, other, one])
    assert content(joined) == {name: content(one)[name] + content(other)[name] + content(one)[name] for name in schema.names}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("columns: {c: category}", "columns: {c: category}"),
        ("columns: {c: {kind: category, domain: [a, b, c]}}", "columns: {c: {kind: category, domain: [b, a, c]}}"),
        ("columns: {c: category}", "columns: {c: text}"),
        ("columns: {c: text}", "columns: {e: text}"),
    ],
)
def test_tables_whose_codes_mean_different_things_are_not_joined(one, other):
    first = from_mapping(Schema.parse(one), {"c": ["a", "b"]})
    second = from_mapping(Schema.parse(other), {"c": ["b", "c"], "e": ["b", "c"]})
    with pytest.raises(InputError, match="column 'c' has another kind or domain in table 2"):
        Table.concat([first, second])


@pytest.mark.parametrize(
    ("column", "floats", "expected"),
    [
        (Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 9)), [1.4, 1.6, -3, 99, np.nan], [1, 2, 0, 9, MISSING_INTEGER]),
        (Column(name="x", kind=Kind.DATE, domain=Bounds(0, 86400 * 9)), [40_000, 50_000, np.nan], [0, 86400, MISSING_INTEGER]),
        (Column(name="x", kind=Kind.REAL, decimals=1, domain=Bounds(0, 0.7)), [0.31, 0.66, 5, np.nan], [0.3, 0.7, 0.7, np.nan]),
        (Column(name="x", kind=Kind.REAL), [0.31, np.nan], [0.31, np.nan]),
    ],
)
def test_floats_come_back_on_the_grid_and_inside_the_bounds(column, floats, expected):
    result = column.from_floats(np.array(floats, float))
    assert np.array_equal(result, np.array(expected, result.dtype), equal_nan=column.kind is Kind.REAL)
    assert np.array_equal(column.from_floats(column.floats(result)), result, equal_nan=column.kind is Kind.REAL)


def test_a_domain_must_fit_the_kind():
    with pytest.raises(ValueError, match="levels does not fit kind real"):
        Column(name="x", kind=Kind.REAL, domain=Levels(("a",)))
    with pytest.raises(ValueError, match="bounds does not fit kind text"):
        Column(name="x", kind=Kind.TEXT, domain=Bounds(0, 1))


def test_a_view_of_an_array_that_somebody_else_can_write_to_is_copied():
    owned = np.array([1, 2, 3])
    view = owned[:]
    view.setflags(write=False)
    table = Table(Schema((Column(name="a", kind=Kind.INTEGER, domain=Bounds(0, 9)),)), {"a": view})
    owned[0] = 77
    assert table["a"].tolist() == [1, 2, 3]


def test_many_columns_are_replaced_in_one_pass():
    columns = [Column(name=f"c{i}", kind=Kind.INTEGER, domain=Bounds(0, 1)) for i in range(2000)]
    table = Table(Schema(tuple(columns)), {c.name: np.zeros(3, np.int64) for c in columns})
    start = time.perf_counter()
    changed = table.with_columns(*((c, np.ones(3, np.int64)) for c in columns))
    assert time.perf_counter() - start < 2
    assert changed["c1999"].tolist() == [1, 1, 1]


def test_persons_follow_their_rows_and_are_never_written():
    key = Column(name="pid", kind=Kind.KEY, role=Role.IDENTIFIER)
    age = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99))
    table = Table(
        Schema((key, age)),
        {"pid": np.array([0, 1, 0, -1, -1], np.int32), "age": np.array([1, 2, 3, 4, 5])},
        {"pid": np.array(["a", "b"], object)},
    ).held_by("pid")
    assert len(set(table.persons.tolist())) == 4
    assert table.persons[0] == table.persons[2]
    rest = table.select(["age"]).take(np.array([2, 1, 0])).with_column(age, np.array([7, 8, 9]))
    assert rest.persons[0] == rest.persons[2] != rest.persons[1]
    assert rest.frame().columns.tolist() == ["age"]
    assert copy.deepcopy(rest).persons.tolist() == rest.persons.tolist()
    assert table.held_by(None).persons is None
    with pytest.raises(ValueError):
        rest.persons[0] = 1
    with pytest.raises(InputError, match="no column 'who'"):
        table.held_by("who")


def test_whole_64_bits_are_told_apart():
    from hushtable.table.table import identities

    high = np.array([2**63 + 1, 2**63, 2**63 + 1, 2**63 + 3], np.uint64)
    assert identities((high,), 4).tolist() == [1, 0, 1, 2]
    small = np.array([-100, 100, -100], np.int8)
    assert identities((small,), 3).tolist() == [0, 1, 0]
