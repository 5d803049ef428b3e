"""Counting and range queries: a copy answers as the real rows do, fresh rows tie with the control, a broken release does not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures.queries import Queries
from tests.unit.measures.awkward import constant, findings_of, missing, shuffled, sound

COUNT, COUNT_SHARE = "counting queries: absolute error", "counting queries: relative error"
RANGE, RANGE_SHARE = "range queries: absolute error", "range queries: relative error"
FEW = Queries(queries=200)


def test_a_copy_has_no_error():
    train = example(300, 1)
    findings = findings_of(FEW, Case(train, train, example(300, 3)))
    for name in (COUNT, COUNT_SHARE, RANGE, RANGE_SHARE):
        assert findings[name, ""].value == 0 < findings[name, ""].baseline
    assert findings[COUNT, ""].detail["worst"] == findings[COUNT, ""].detail["squared"] == 0


def test_fresh_rows_tie_and_broken_pairs_do_not():
    train, fresh, control = example(3000, 1), example(3000, 2), example(3000, 3)
    tie, broken = (findings_of(FEW, Case(train, release, control)) for release in (fresh, shuffled(fresh)))
    for name in (COUNT, RANGE):
        assert tie[name, ""].value < 1.35 * tie[name, ""].baseline
    assert broken[RANGE, "3 columns"].value > 1.3 * broken[RANGE, "3 columns"].baseline
    moved = fresh.with_column(fresh.schema["town"], np.where(fresh["town"] == 0, 1, fresh["town"]).astype(np.int32))
    assert findings_of(FEW, Case(train, moved, control))[COUNT, ""].value > 3 * tie[COUNT, ""].baseline


def test_what_is_drawn_grows_for_rare_questions_and_names_nobody():
    case = Case(example(2000, 1), example(2000, 2), example(2000, 3))
    findings = findings_of(Queries(), case)
    detail = findings[RANGE_SHARE, ""].detail
    assert detail["selectivity"] == sorted(detail["selectivity"])
    assert detail["relative"][0] > 3 * detail["relative"][-1]
    assert sum(detail["queries"]) <= 500
    assert set(detail) == {"selectivity", "relative", "baseline", "queries"}
    parts = [findings[RANGE, f"{d} column{'s' * (d > 1)}"] for d in (1, 2, 3)]
    assert sum(f.n for f in parts) == findings[RANGE, ""].n == 500
    assert sum(f.n * f.value for f in parts) / 500 == pytest.approx(findings[RANGE, ""].value)


@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("spoil", [constant, missing])
@pytest.mark.parametrize("name", ["age", "town", "school", "height", "born"])
def test_odd_columns_are_survived(which, spoil, name):
    tables = dict(zip(("train", "release", "control"), (example(60, i) for i in range(3)), strict=True))
    tables[which] = spoil(tables[which], name)
    findings = findings_of(Queries(queries=60), Case(**tables))
    sound(findings)
    assert findings[COUNT, ""].value is not None
    assert findings[RANGE, ""].value is not None


def test_a_column_that_lost_all_values_is_seen():
    train, control = example(400, 1), example(400, 3)
    case = Case(*(table.select(["age"]) for table in (train, missing(example(400, 2), "age"), control)))
    finding = findings_of(FEW, case)[RANGE_SHARE, ""]
    assert finding.value == 1 > 2 * finding.baseline


def test_kinds_that_cannot_be_asked_for_are_told():
    towns = [example(60, i).select(["town"]) for i in range(3)]
    findings = findings_of(FEW, Case(*towns))
    assert findings[RANGE, ""].value is None
    assert "order" in findings[RANGE, ""].note
    heights = [example(60, i).select(["height"]) for i in range(3)]
    findings = findings_of(FEW, Case(*heights))
    assert findings[COUNT, ""].value is None
    assert findings[RANGE, ""].value is not None


def test_levels_that_the_release_does_not_know_are_found_nowhere():
    train, control = example(300, 1), example(300, 3)
    town = train.schema["town"]
    other = example(300, 2)
    renamed = type(town)(name="town", kind=town.kind, role=town.role, domain=type(town.domain)(("a", "b", "c", "d")))
    release = other.with_column(renamed, other["town"])
    case = Case(*(t.select(["town"]) for t in (train, release, control)))
    findings = findings_of(FEW, case)
    assert findings[COUNT_SHARE, ""].value == pytest.approx(1)


@pytest.mark.parametrize("knob", ["queries", "columns"])
def test_knobs_are_checked(knob):
    with pytest.raises(InputError, match=knob):
        Queries(**{knob: 0})
