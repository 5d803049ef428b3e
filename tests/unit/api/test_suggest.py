"""Which recipes are suggested, and the error that is told beside a budget."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.suggest import MOST, Leaves, Use, Values, error_to_expect, knobs_that_matter, ordered, suggest
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.guarantee import Assurance

EVERY = list(itertools.product(Leaves, Values, Use))


@pytest.fixture(scope="module")
def schema():
    return ht.people(60).schema


def test_every_answer_names_recipes_that_there_are():
    assert {name for answers in EVERY for name in ordered(*answers)} <= set(recipes.names())
    assert all(len(set(ordered(*answers))) == len(ordered(*answers)) for answers in EVERY)


def test_what_anybody_may_get_promises_something(schema):
    """A text that is redacted promises nothing, and is only for those who ask for texts."""
    for values, use in itertools.product(Values, set(Use) - {Use.TEXTS}):
        found = suggest(schema, Leaves.ANYBODY, values, use, "readmitted").chosen
        assert 1 <= len(found) <= MOST
        wanted = {Assurance.PROVEN} if values is Values.INVENTED else {Assurance.PROVEN, Assurance.VERIFIED}
        assert {one.assurance for one in found} <= wanted


def test_what_cannot_be_done_is_left_out_with_its_reason(schema):
    found = suggest(schema, "anybody", "invented", "texts")
    assert found.chosen == ()
    assert "free text" in found.left_out["dp-text"]
    assert "field-groups" in suggest(schema, "anybody", "invented", "models").left_out
    assert "field-groups" in [one.recipe for one in suggest(schema, "anybody", "invented", "models", "readmitted").chosen]


def test_domains_that_were_read_off_the_rows_are_said_and_exclude_nothing():
    drafted = ht.draft(pd.DataFrame({"age": list(range(20, 70)), "sex": ["f", "m"] * 25}))
    found = suggest(drafted, "anybody", "invented", "counts")
    assert [one.recipe for one in found.chosen][:2] == ["privsyn", "mst"]
    assert found.chosen[0].learns == ("age", "sex")


@pytest.mark.parametrize("name", ["independent", "mst", "aim", "privsyn"])
def test_a_larger_budget_has_a_smaller_error(schema, name):
    widths = [error_to_expect(recipes.load(name), schema, epsilon).width for epsilon in (0.5, 1.0, 4.0)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1.5 * widths[1]


def test_the_error_that_is_told_is_that_of_counts_that_are_released():
    """19 of 20 counts of single columns stay within it; within half of it far fewer do."""
    schema = ht.people(400).schema.select(["sex", "smoker", "education", "marital_status", "country_of_birth"])
    table = ht.people(400, seed=4).select(schema.names)
    width = error_to_expect(recipes.load("independent"), schema, 0.5).width
    off = []
    for _ in range(12):
        released = ht.release(table, "independent", epsilon=0.5, rows=400).table
        off += [int(n) - int(m) for n, m in zip(released.counts(["sex"]).ravel(), table.counts(["sex"]).ravel(), strict=True)]
    # Rows are drawn from what was counted, so that a share of the error is that of drawing.
    assert np.mean(np.abs(off) <= width + 2 * 10) >= 0.9
    assert np.mean(np.abs(off) <= 0.2 * width) < 0.8


@pytest.mark.parametrize("name", ["independent", "mst", "aim", "privsyn", "thresholded"])
def test_the_error_grows_with_the_rows_that_a_person_may_hold(schema, name):
    one, six = (error_to_expect(recipes.load(name), schema, 1.0, unit=ht.Unit(rows=rows, by="person_id")) for rows in (1, 6))
    assert six.width == pytest.approx(6 * one.width, rel=0.05)


def test_what_counts_nobody_has_no_such_error(schema):
    assert error_to_expect(recipes.load("dpmix"), schema, 1.0) is None
    assert error_to_expect(recipes.load("mdav"), schema, 1.0) is None


def test_two_knobs_are_to_be_looked_at_first():
    assert knobs_that_matter(recipes.load("mdav"))[0] == "microaggregate.k"
    assert all(1 <= len(knobs_that_matter(recipes.load(name))) <= 2 for name in recipes.names() if name != "sample")
