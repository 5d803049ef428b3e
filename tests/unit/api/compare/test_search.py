"""The search halves the gap between what fits and what does not."""

from __future__ import annotations

import pytest

from hushtable.api.compare import search
from hushtable.api.compare.cell import Cell
from hushtable.api.compare.grid import Trial
from hushtable.pipeline.recipe import load


def searched(recipe, knob, values, fits):
    """The search on a table where only the knob decides; the settings that were tried on top, and the words."""
    start = Trial(load(recipe), () if knob == "epsilon" else ((knob, "1"),), 1.0 if knob == "epsilon" else None)
    ((_, known),) = search.searchable([start.at(knob, str(v)) for v in values]).values()
    more = []
    for _ in range(search.MOST):
        gap = search.gap(knob, known, cells(known, knob, fits))
        if gap is None or gap.middle is None:
            break
        known.append(gap.middle)
        more.append(gap.middle.value(knob))
    return more, search.result(recipe, knob, known, cells(known, knob, fits)).words


def cells(known, knob, fits):
    return {t.id: Cell(id=t.id, recipe=t.recipe.recipe, fits=fits(t.value(knob))) for t in known}


@pytest.mark.parametrize("edge", [6, 7, 8, 9, 10])
def test_the_smallest_k_is_found_between_two_grid_points(edge):
    more, words = searched("mdav", "k", [5, 10, 50], lambda k: k >= edge)
    assert words == f"smallest k found that meets the constraints: {edge} ({edge - 1} does not)"
    assert len(more) <= search.MOST
    assert all(5 < k < 10 for k in more)


def test_the_largest_epsilon_is_found_within_a_tenth():
    more, words = searched("aim", "epsilon", [0.5, 1, 4], lambda e: e <= 2.5)
    assert len(more) == search.MOST
    best = max(e for e in more if e <= 2.5)
    assert 2.5 / 1.2 < best <= 2.5
    assert words.startswith("largest epsilon found that meets the constraints:")


def test_nothing_is_searched_where_all_fit_or_none():
    assert searched("mdav", "k", [5, 10], lambda k: True) == ([], "the smallest k tried, 5, meets the constraints")
    assert searched("mdav", "k", [5, 10], lambda k: False) == ([], "no k tried meets the constraints")
    assert searched("aim", "epsilon", [1, 4], lambda e: True)[1] == "the largest epsilon tried, 4, meets the constraints"


def test_a_utility_that_stops_a_larger_k_does_not_confuse_it():
    more, words = searched("mdav", "k", [5, 10, 50], lambda k: 8 <= k < 20)
    assert words == "smallest k found that meets the constraints: 8 (7 does not)"
    assert more


def test_recipes_with_other_knobs_turned_are_left_alone():
    recipe = load("k-anonymity")
    trials = [Trial(recipe, (("k", "5"), ("limit", "0"))), Trial(load("sequential"))]
    assert search.searchable(trials) == {}
