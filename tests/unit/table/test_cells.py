"""Generalized values: every written form is read as the set it means, and written again it is the same set."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.table.cell import ANYTHING, Interval, parse_interval, parse_set, set_text
from hushtable.table.columns import DAY, Bounds, Column, Kind, Levels
from hushtable.table.hierarchy import FileTree, PrefixTree
from hushtable.table.trees import read_cell
from tests import strategies

INF = math.inf
AGE = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 120))
DOSE = Column(name="dose", kind=Kind.REAL, domain=Bounds(0.0, 100.0))
PRICE = Column(name="price", kind=Kind.REAL, decimals=1, domain=Bounds(0.0, 100.0))
BORN = Column(name="born", kind=Kind.DATE, domain=Bounds(0, 20_000 * DAY))
GERMAN = replace(BORN, format="%d.%m.%Y")
ENGLISH = replace(BORN, format="%b %d, %Y")
MONTHS = replace(BORN, format="%Y-%m")
TOWN = Column(
    name="town", kind=Kind.CATEGORY, domain=Levels(("73131", "73139", "73999", "a", "b", "a, b", "c", 'q"q', "{x}", "7*"))
)


@pytest.mark.parametrize(
    ("column", "text", "span"),
    [
        (AGE, "[20, 30)", Interval(20, 29)),
        (AGE, "[20, 40[", Interval(20, 39)),
        (AGE, "]20, 40]", Interval(21, 40)),
        (AGE, "(20; 40)", Interval(21, 39)),
        (AGE, "20-29", Interval(20, 29)),
        (AGE, "20 – 29", Interval(20, 29)),
        (AGE, "20..29", Interval(20, 29)),
        (AGE, "20 to 29", Interval(20, 29)),
        (AGE, "<20", Interval(-INF, 19)),
        (AGE, "<=20", Interval(-INF, 20)),
        (AGE, "≤ 20", Interval(-INF, 20)),
        (AGE, ">=90", Interval(90, INF)),
        (AGE, "≥90", Interval(90, INF)),
        (AGE, "> 90", Interval(91, INF)),
        (AGE, "90+", Interval(90, INF)),
        (AGE, "[90, inf]", Interval(90, INF)),
        (AGE, "39", Interval(39, 39)),
        (AGE, "39.0", Interval(39, 39)),
        (AGE, "[-10, 5]", Interval(-10, 5)),
        (AGE, "-10-5", Interval(-10, 5)),
        (AGE, "-1..1", Interval(-1, 1)),
        (DOSE, "[20, 30)", Interval(20, 30, False, True)),
        (DOSE, "]0.5; 1e1]", Interval(0.5, 10, True, False)),
        (DOSE, "<2.5", Interval(-INF, 2.5, False, True)),
        (DOSE, "> 2.5", Interval(2.5, INF, True, False)),
        (PRICE, "[0.3, 0.7)", Interval(0.3, 0.6)),
        (PRICE, "(0.3, 0.7]", Interval(0.4, 0.7)),
        (BORN, "[1970-01-02, 1970-01-31]", Interval(DAY, 30 * DAY)),
        (BORN, "[1970-01-02, 1970-01-31)", Interval(DAY, 29 * DAY)),
        (BORN, "1970-01-02..1970-01-31", Interval(DAY, 30 * DAY)),
        (BORN, "<1970-02-01", Interval(-INF, 30 * DAY)),
        (BORN, "1970-02-01", Interval(31 * DAY, 31 * DAY)),
        (GERMAN, "[02.01.1970, 31.01.1970[", Interval(DAY, 29 * DAY)),
        (GERMAN, "<01.02.1970", Interval(-INF, 30 * DAY)),
        (GERMAN, ">= 01.02.1970", Interval(31 * DAY, INF)),
        (ENGLISH, "[Jan 02, 1970, Jan 31, 1970]", Interval(DAY, 30 * DAY)),
        (MONTHS, "[1970-01, 1970-03]", Interval(0, 59 * DAY)),
        (MONTHS, "1970-03", Interval(59 * DAY, 59 * DAY)),
        (TOWN, "{a, b}", frozenset({"a", "b"})),
        (TOWN, '{"a, b", c}', frozenset({"a, b", "c"})),
        (TOWN, '{"q""q", "{x}"}', frozenset({'q"q', "{x}"})),
        (TOWN, "7313*", frozenset({"73131", "73139"})),
        (TOWN, "731**", frozenset({"73131", "73139"})),
        (TOWN, "7*", frozenset({"7*"})),
        (TOWN, "{x}", frozenset({"{x}"})),
        (TOWN, "a, b", frozenset({"a, b"})),
    ],
)
def test_every_written_form_is_read_as_the_set_it_means(column, text, span):
    cell = read_cell(column, f" {text} ")
    assert cell.span == span
    assert cell.text == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[20, 30]", ("20", "30", False, False)),
        ("(20, 30)", ("20", "30", True, True)),
        ("]2e1; 3.5[", ("2e1", "3.5", True, True)),
        ("20..29", ("20", "29", False, False)),
        ("<=20", ("-inf", "20", False, False)),
        (">20", ("20", "inf", True, False)),
        ("90 +", ("90", "inf", False, False)),
        ("2020-01-01-2020-02-01", ("2020-01-01", "2020-02-01", False, False)),
        ("20", None),
        ("[20]", None),
    ],
)
def test_a_range_is_cut_into_its_ends(text, parts):
    assert parse_interval(text) == parts


@pytest.mark.parametrize("column", [AGE, DOSE, BORN, TOWN])
def test_a_star_covers_anything(column):
    assert read_cell(column, " * ") is ANYTHING
    assert ANYTHING.anything


@pytest.mark.parametrize(
    ("column", "text"),
    [
        *(
            (AGE, text)
            for text in ("", "old", "30-20", "(20, 21)", "[20, 30", "20, 30", "[a, b]", "20.5", "{20, 21}", "[1, 2, 3]", "inf")
        ),
        *((AGE, text) for text in ("121", "[121, 130]", "<0", ">120", "nan", "1_0")),
        *((BORN, text) for text in ("1970-13-01", "20-29", "[1970-01-01, soon]", "2200-01-01")),
        *((TOWN, text) for text in ("z", "{a, z}", "{}", "8*", "{a", "[a, b]", '{"a" b, c}', "{a\nb}")),
        (Column(name="free", kind=Kind.TEXT), "a"),
    ],
)
def test_what_is_no_set_of_values_of_the_domain_is_refused(column, text):
    with pytest.raises(ValueError):
        read_cell(column, text)


@pytest.mark.parametrize("form", strategies.FORMATS)
@given(data=st.data())
@settings(max_examples=25)
def test_intervals_of_dates_read_back_in_any_format(form, data):
    column = Column(name="d", kind=Kind.DATE, format=form)
    low, high = sorted(data.draw(st.tuples(strategies.moments(form), strategies.moments(form))))
    cell = column.interval_cell(Interval(low, high))
    assert cell.span == Interval(low, high)
    assert read_cell(column, cell.text) == cell


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.booleans(), st.booleans())
def test_intervals_of_reals_read_back(one, other, open_low, open_high):
    span = Interval(min(one, other), max(one, other), open_low and one != other, open_high and one != other)
    cell = Column(name="x", kind=Kind.REAL).interval_cell(span)
    assert cell.span == span
    assert read_cell(Column(name="x", kind=Kind.REAL), cell.text) == cell


@given(st.integers(0, 6), st.integers(-(10**6), 10**6), st.integers(1, 1000), st.booleans(), st.booleans())
def test_a_closed_interval_on_a_decimal_grid_holds_exactly_the_grid_points_of_the_open_one(
    decimals, first, length, open_low, open_high
):
    points = [k / 10**decimals for k in range(first, first + length + 1)]
    expected = points[open_low : len(points) - open_high]
    span = Interval(points[0], points[-1], open_low, open_high)
    if not expected:
        with pytest.raises(ValueError, match="low <= high"):
            span.closed(10.0**-decimals)
        return
    closed = span.closed(10.0**-decimals)
    assert (closed.low, closed.high) == (expected[0], expected[-1])
    cell = Column(name="x", kind=Kind.REAL, decimals=decimals).interval_cell(span)
    assert cell.span == closed
    assert read_cell(Column(name="x", kind=Kind.REAL, decimals=decimals), cell.text) == cell


@given(st.integers(-(2**62), 2**62), st.integers(0, 50), st.booleans(), st.booleans())
def test_big_whole_ends_are_not_rounded(low, length, open_low, open_high):
    closed = Interval(low, low + length + 2, open_low, open_high).closed(1)
    assert (closed.low, closed.high) == (low + open_low, low + length + 2 - open_high)


@settings(max_examples=50)
@given(st.frozensets(strategies.values, min_size=1, max_size=5))
def test_sets_of_odd_levels_read_back(levels):
    assert parse_set(set_text(levels)) == levels


@settings(max_examples=50)
@given(st.lists(strategies.values, min_size=2, max_size=6, unique=True), st.data())
def test_a_set_cell_is_written_in_the_order_of_the_domain(levels, data):
    column = Column(name="x", kind=Kind.ORDINAL, domain=Levels(tuple(levels)))
    subset = data.draw(st.frozensets(st.sampled_from(levels), min_size=2))
    assert column.set_cell(subset).text == set_text([level for level in levels if level in subset])


def test_a_level_that_is_a_star_is_not_taken_for_anything():
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(("*", "a")))
    cell = column.set_cell(frozenset({"*"}))
    assert read_cell(column, cell.text) == cell
    assert not cell.anything


def test_a_label_of_the_hierarchy_means_the_values_of_the_domain_under_it():
    tree = FileTree("f.csv", (("a", "X", "*"), ("b", "X", "*"), ("z", "X", "*"), ("c", "Y", "*"), ("y", "W", "*")))
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), hierarchy=tree)
    assert read_cell(column, "X").span == frozenset({"a", "b"})
    assert read_cell(column, "c").span == frozenset({"c"})
    with pytest.raises(ValueError):
        read_cell(column, "W")


def test_one_end_open_to_infinity_is_written_so_that_it_reads_back():
    for column in (AGE, DOSE, BORN, Column(name="d", kind=Kind.DATE, format="%d.%m.%Y")):
        for span in (Interval(-INF, 20 * DAY), Interval(0, INF), Interval(-INF, INF)):
            cell = Column(name="x", kind=column.kind, format=column.format).interval_cell(span)
            assert read_cell(Column(name="x", kind=column.kind, format=column.format), cell.text).span == span


@pytest.mark.parametrize(("low", "high"), [(2, 1), (math.nan, 1), (1, math.nan)])
def test_an_empty_interval_is_refused(low, high):
    with pytest.raises(ValueError):
        Interval(low, high)
    with pytest.raises(ValueError, match="empty"):
        Interval(1, 1, open_high=True)


@pytest.mark.parametrize("text", ["United-States", "a-b", "State-gov", "1-", "+", "2020-01", ">50K", "<=50K", "Self-emp"])
def test_ordinary_levels_are_not_taken_for_ranges(text):
    assert parse_interval(text) in (None, ("2020", "01", False, False))


def test_masked_codes_are_one_prefix_whatever_the_number_of_stars():
    column = Column(name="zip", kind=Kind.CATEGORY, domain=Levels(("10115", "10117", "20095")), hierarchy=PrefixTree((3, 1)))
    assert read_cell(column, "101*").span == read_cell(column, "101**").span == frozenset({"10115", "10117"})
