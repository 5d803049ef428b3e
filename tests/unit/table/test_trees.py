"""Every hierarchy at work is a tree: the cells of a level part the domain, and each level is a coarsening of the one below."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.errors import InputError
from hushtable.table.cell import Cell
from hushtable.table.columns import DAY, MISSING_CODE, MISSING_INTEGER, Bounds, Column, Kind, Levels
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree, PrefixTree
from hushtable.table.trees import Level, build, leaf_share, read_cell
from tests import strategies


def covers(cell: Cell, column: Column, value: float) -> bool:
    if cell.span is None:
        return True
    return column.levels[int(value)] in cell.span if column.coded else value in cell.span


def assert_is_a_tree(column: Column, values: np.ndarray) -> tuple[Level, ...]:
    """Check all that a tree promises on these values of the domain; the levels."""
    levels = build(column)
    missing = {Kind.REAL: np.nan}.get(column.kind, MISSING_INTEGER if column.numeric else MISSING_CODE)
    below = np.arange(len(values))
    for level in levels:
        codes = level.index(column, values)
        assert codes.min() >= 0
        for value, code in zip(values, codes, strict=True):
            assert [c for c, cell in enumerate(level.cells) if covers(cell, column, value)] == [code]
        parents = dict(zip(below.tolist(), codes.tolist(), strict=True))
        assert [parents[b] for b in below.tolist()] == codes.tolist(), "a group lies under two groups"
        assert level.shares.sum() <= 1 + 1e-9 if isinstance(column.hierarchy, FileTree) else level.shares.sum() == pytest.approx(1)
        assert (level.shares >= 0).all()
        assert len(level.shares) == len(level.cells)
        assert len({cell.text for cell in level.cells}) == len(level.cells)
        for cell in level.cells:
            assert read_cell(column, cell.text) == cell
        gap = level.index(column, np.array([missing], values.dtype))
        assert gap.tolist() == [0 if level is levels[-1] else MISSING_CODE]
        below = codes
    assert levels[-1].top
    assert not any(level.top for level in levels[:-1])
    return levels


ratios = st.lists(st.sampled_from([2, 3, 5]), max_size=3)


def widths(first: float, steps: list[int]) -> IntervalTree:
    return IntervalTree(tuple(first * int(np.prod(steps[:i])) for i in range(len(steps) + 1)))


@settings(max_examples=40)
@given(st.integers(-50, 50), st.integers(0, 120), st.sampled_from([1, 2, 2.5, 5, 7, 200]), ratios, st.booleans())
def test_intervals_of_integers_nest_and_part_the_domain(low, length, width, steps, derived):
    tree = None if derived else widths(width, steps)
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(low, low + length), hierarchy=tree)
    levels = assert_is_a_tree(column, np.arange(low, low + length + 1))
    if not derived and width == int(width):
        for level in levels[:-1]:
            sizes = np.bincount(level.index(column, np.arange(low, low + length + 1)), minlength=len(level.cells))
            assert level.shares == pytest.approx(sizes / (length + 1))


@settings(max_examples=40)
@given(st.integers(-300, 300), st.integers(0, 80), st.integers(0, 3), st.sampled_from([1, 3, 6, 7]), ratios, st.booleans())
def test_intervals_of_decimals_nest_and_part_the_domain(first, count, decimals, width, steps, derived):
    grid = np.array([k / 10**decimals for k in range(first, first + count + 1)])
    tree = None if derived else widths(width / 10**decimals, steps)
    column = Column(name="x", kind=Kind.REAL, decimals=decimals, domain=Bounds(grid[0], grid[-1]), hierarchy=tree)
    assert_is_a_tree(column, grid)


@settings(max_examples=40)
@given(st.floats(-10, 10), st.floats(0, 10), st.sampled_from([0.1, 0.3, 1 / 3, 1.0, 50.0]), ratios, st.booleans())
def test_intervals_of_reals_nest_even_at_the_last_bit_of_a_cut(low, length, width, steps, derived):
    tree = None if derived else widths(width, steps)
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(low, low + length), hierarchy=tree)
    cuts = np.concatenate([level.points for level in build(column)[:-1]] or [np.array([low])])
    near = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), np.linspace(low, low + length, 20)])
    assert_is_a_tree(column, np.unique(np.clip(near, low, low + length)))


@pytest.mark.parametrize("high", [5e-324, 1e-310, 1e-300])
def test_a_domain_too_narrow_to_halve_has_a_hierarchy_too(high):
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0.0, high))
    assert len(build(column)) <= 8
    assert_is_a_tree(column, np.array([0.0, high]))


def test_wide_cuts_are_narrow_cuts_where_floats_would_part_them():
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(0.1, 1.3), hierarchy=IntervalTree((0.1, 0.3)))
    narrow, wide, _ = build(column)
    assert set(wide.points) <= set(narrow.points)


@settings(max_examples=40)
@given(
    st.integers(-5000, 30_000),
    st.integers(0, 900),
    st.sampled_from([None, ("week",), ("month", "quarter", "year"), ("quarter", "decade"), ("year",)]),
    st.sampled_from([None, "%d.%m.%Y", "%Y-%m-%d %H:%M:%S"]),
)
def test_calendar_units_nest_and_part_the_domain(first, days, units, form):
    hierarchy = DateTree(units) if units else None
    column = Column(name="d", kind=Kind.DATE, format=form, domain=Bounds(first * DAY, (first + days) * DAY), hierarchy=hierarchy)
    assert_is_a_tree(column, np.arange(first, first + days + 1, 7, dtype=np.int64) * DAY)


@settings(max_examples=20)
@given(st.sampled_from(["%Y", "%Y-%m", "%d/%m/%Y %H:%M"]), st.data())
def test_calendar_units_of_coarse_formats_nest_on_what_the_format_can_write(form, data):
    some = sorted(set(data.draw(st.lists(strategies.moments(form), min_size=1, max_size=8))))
    assume(some[-1] - some[0] < 40 * 366 * DAY)
    column = Column(name="d", kind=Kind.DATE, format=form, domain=Bounds(some[0], some[-1]))
    assert_is_a_tree(column, np.array(some, dtype=np.int64))


def test_a_calendar_cell_is_the_calendar_unit():
    def seconds(*day: int) -> int:
        return int(datetime(*day, tzinfo=UTC).timestamp())

    domain = Bounds(seconds(2019, 11, 20), seconds(2020, 3, 5))
    column = Column(name="d", kind=Kind.DATE, domain=domain, hierarchy=DateTree(("month", "quarter", "year")))
    months, quarters, years, _ = build(column)
    assert [cell.text for cell in months.cells] == [
        "[2019-11-20, 2019-11-30]",
        "[2019-12-01, 2019-12-31]",
        "[2020-01-01, 2020-01-31]",
        "[2020-02-01, 2020-02-29]",
        "[2020-03-01, 2020-03-05]",
    ]
    assert [cell.text for cell in quarters.cells] == ["[2019-11-20, 2019-12-31]", "[2020-01-01, 2020-03-05]"]
    assert [cell.text for cell in years.cells] == [cell.text for cell in quarters.cells]
    (week, *_), *_ = [build(replace(column, hierarchy=DateTree(("week",))))[0].cells]
    assert week.text == "[2019-11-20, 2019-11-24]"


@pytest.mark.parametrize(
    ("low", "high"), [("9985-01-01", "9999-12-31"), ("0001-01-01", "0012-06-01"), ("1969-12-31", "1970-01-01")]
)
def test_the_ends_of_the_calendar_have_a_hierarchy_too(low, high):
    column = Column(name="d", kind=Kind.DATE)
    domain = Bounds(column.number(low), column.number(high))
    values = np.linspace(domain.low // DAY, domain.high // DAY, 50).astype(np.int64) * DAY
    assert_is_a_tree(replace(column, domain=domain), np.unique(values))


@settings(max_examples=60)
@given(
    st.lists(st.text("0123*a", min_size=1, max_size=6), min_size=1, max_size=12, unique=True),
    st.sampled_from([(5, 3, 1), (2,), (6,)]),
)
def test_prefixes_nest_and_part_the_domain(codes, lengths):
    codes = [code for code in codes if not code.endswith("*")] or ["1"]
    column = Column(name="z", kind=Kind.CATEGORY, domain=Levels(tuple(codes)), hierarchy=PrefixTree(lengths))
    levels = assert_is_a_tree(column, np.arange(len(codes), dtype=np.int32))
    for length, level in zip(lengths, levels, strict=False):
        assert {frozenset(cell.span) for cell in level.cells} == {
            frozenset(c for c in codes if c[:length] == code[:length]) for code in codes
        }


def test_a_prefix_is_written_with_one_star_and_a_whole_code_without():
    levels = Levels(("73131", "73139", "80331", "9"))
    column = Column(name="z", kind=Kind.CATEGORY, domain=levels, hierarchy=PrefixTree((4, 1)))
    four, one, _ = build(column)
    assert [cell.text for cell in four.cells] == ["7313*", "8033*", "9"]
    assert [cell.text for cell in one.cells] == ["7*", "8*", "9"]
    assert one.shares.tolist() == [0.5, 0.25, 0.25]


@given(st.integers(1, 20))
def test_ordinals_without_a_hierarchy_climb_in_doubling_runs(count):
    column = Column(name="o", kind=Kind.ORDINAL, domain=Levels(tuple(f"l{i}" for i in range(count))))
    levels = assert_is_a_tree(column, np.arange(count, dtype=np.int32))
    for level in levels[:-1]:
        assert (np.diff(level.index(column, np.arange(count, dtype=np.int32))) >= 0).all()


def test_categories_without_a_hierarchy_climb_to_the_star_at_once():
    column = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")))
    (top,) = assert_is_a_tree(column, np.arange(3, dtype=np.int32))
    assert top.cells[0].text == "*"


TREE = FileTree("f.csv", tuple((str(i), f"{i // 5 * 5}-{i // 5 * 5 + 4}", "low" if i < 10 else "high", "*") for i in range(20)))


def test_a_file_on_a_wider_set_than_the_domain_covers_only_the_domain_but_counts_all_its_lines():
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(3, 11), hierarchy=TREE)
    fives, halves, _ = assert_is_a_tree(column, np.arange(3, 12))
    assert [(cell.text, cell.span.low, cell.span.high) for cell in fives.cells] == [("0-4", 3, 4), ("5-9", 5, 9), ("10-14", 10, 11)]
    assert fives.shares == pytest.approx([1 / 4, 1 / 4, 1 / 4])
    assert halves.shares == pytest.approx([1 / 2, 1 / 2])
    assert leaf_share(column) == pytest.approx(1 / 20)


def test_a_file_may_hold_lines_for_missing_codes_that_are_no_numbers():
    tree = FileTree("f.csv", (("1", "1-2", "*"), ("2", "1-2", "*"), ("3", "3-4", "*"), ("?", "?", "*")))
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(1, 3), hierarchy=tree)
    pairs, _ = assert_is_a_tree(column, np.arange(1, 4))
    assert [cell.text for cell in pairs.cells] == ["1-2", "3-4"]


def test_a_label_of_numbers_that_are_not_consecutive_is_named():
    tree = FileTree("f.csv", (("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*"), ("4", "even", "*")))
    with pytest.raises(InputError) as caught:
        build(Column(name="x", kind=Kind.INTEGER, domain=Bounds(1, 4), hierarchy=tree))
    assert str(caught.value) == (
        "hierarchy f.csv: 'even' on level 1 does not cover consecutive numbers\n"
        "hierarchy f.csv: 'odd' on level 1 does not cover consecutive numbers"
    )


def test_values_without_a_line_are_counted_not_placed_somewhere():
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c", "d")), hierarchy=None)
    tree = FileTree("f.csv", (("a", "A", "*"), ("b", "A", "*"), ("d", "D", "*")))
    level, _ = build(replace(column, hierarchy=tree))
    with pytest.raises(InputError, match="has no line for some values") as caught:
        level.index(column, np.array([0, 2, 2, 3], np.int32))
    assert caught.value.faults[0].count == 2
