"""Derived hierarchies against brute force: the cells of a level cover the domain once, and each level nests in the next."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.hierarchy import RoundTree
from hushtable.table.trees import build, derive, derive_formerly


def column(low: float, high: float, kind: Kind = Kind.INTEGER, *, observed: bool = False, decimals: int | None = None) -> Column:
    return Column(name="x", kind=kind, domain=Bounds(low, high, observed=observed), decimals=decimals)


def check(one: Column, values: np.ndarray) -> None:
    """Every value lies in the one cell that it is given, and whoever shares a cell shares all cells above."""
    below = None
    for level in build(one):
        codes = level.index(one, values)
        for value, code in zip(values, codes, strict=True):
            span = level.cells[code].span
            if span is None:
                continue
            inside = [
                cell.span.low <= value <= cell.span.high
                and not (cell.span.open_low and value == cell.span.low)
                and not (cell.span.open_high and value == cell.span.high)
                for cell in level.cells
            ]
            assert inside[code]
            assert sum(inside) == 1
        assert level.shares.sum() == pytest.approx(1)
        if below is not None:
            assert all(len(set(codes[below == group])) == 1 for group in set(below))
        below = codes


@settings(max_examples=60, deadline=None)
@given(st.integers(-(10**6), 10**6), st.integers(0, 400), st.booleans())
def test_whole_numbers_are_covered_once_and_levels_nest(low, width, observed):
    check(column(low, low + width, observed=observed), np.arange(low, low + width + 1))


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.sampled_from([None, 1, 2]), st.booleans())
def test_numbers_are_covered_once_and_levels_nest(low, width, decimals, observed):
    values = np.linspace(low, low + width, 80)
    values = values if decimals is None else np.unique(np.round(values, decimals))
    check(column(values.min(), values.max(), Kind.REAL, observed=observed, decimals=decimals), values)


@pytest.mark.parametrize(
    ("low", "high", "widths", "first"),
    [
        (0, 120, (5, 10, 20, 40, 80), ["[0, 4]", "[5, 9]", "[10, 14]"]),
        (17, 90, (5, 10, 20, 40), ["[17, 19]", "[20, 24]", "[25, 29]"]),
        (1900, 2026, (5, 10, 20, 40, 80), ["[1900, 1904]", "[1905, 1909]", "[1910, 1914]"]),
        (0, 100_000, (1000, 5000, 10_000, 20_000, 40_000, 80_000), ["[0, 999]", "[1000, 1999]", "[2000, 2999]"]),
        (0, 4, (2, 4), ["[0, 1]", "[2, 3]", "4"]),
    ],
)  # fmt: skip
def test_levels_are_those_that_people_use(low, high, widths, first):
    tree = derive(column(low, high))
    assert isinstance(tree, RoundTree)
    assert tree.widths == widths
    assert [cell.text for cell in build(column(low, high))[0].cells[:3]] == first


def test_the_last_value_of_a_domain_is_not_alone():
    assert [level.cells[-1].text for level in build(column(0, 120))] == [
        "[115, 120]",
        "[110, 120]",
        "[100, 120]",
        "[80, 120]",
        "[80, 120]",
        "*",
    ]


def test_a_range_that_was_read_off_the_rows_shows_its_order_of_magnitude_alone():
    """The levels of all ranges between two of 1, 2, 10, 20, 100, ... are the same."""
    ladders = {tuple(cell.text for level in build(column(low, high, observed=True)) for cell in level.cells)
               for low, high in ((17, 90), (3, 61), (0, 99), (25, 50))}  # fmt: skip
    assert len(ladders) == 1
    assert derive(column(17, 90, observed=True)).widths == (1, 5, 10, 20, 100)


def test_the_calendar_has_five_years_between_a_year_and_a_decade():
    days = Column(name="x", kind=Kind.DATE, domain=Bounds(0.0, 86400.0 * 9000))
    levels = build(days)
    check(days, np.arange(0.0, 86400.0 * 9000, 86400.0 * 50))
    assert [len(level.cells) for level in levels][-4:] == [25, 5, 3, 1]


def test_what_was_derived_formerly_still_can_be():
    assert derive_formerly(column(0, 120)).widths == (2, 4, 8, 16, 32, 64)
