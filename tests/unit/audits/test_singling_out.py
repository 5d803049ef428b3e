"""What descriptions say, whom they are about, and what is told where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.audits.singling_out import SinglingOut, _independent, _with_effective_size
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, residual_risk, wilson
from hushtable.evidence.finding import Finding
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

AGE = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99))
JOB = Column(name="job", kind=Kind.CATEGORY, domain=Levels(("cook", "nurse", "miner")))
GONE = np.iinfo(np.int64).min


def table(*rows: tuple[int | None, str | None]) -> Table:
    ages = np.array([GONE if age is None else age for age, _ in rows])
    jobs = np.array([-1 if job is None else JOB.levels.index(job) for _, job in rows], np.int32)
    return Table(Schema((AGE, JOB)), {"age": ages, "job": jobs})


def run(case: Case, seed: int = 0, **knobs: object) -> dict[str, Finding]:
    return {f.name.removeprefix("singling out by "): f for f in SinglingOut(**knobs).run(case, np.random.default_rng(seed))}


def text_of(finding: Finding, values: bool = True) -> set[str]:
    return {finding.trace.describe(i, values) for i in range(len(finding.trace.train))}


RELEASE = table((20, "cook"), (30, "cook"), (40, "cook"), (50, "nurse"), (50, None), (None, "nurse"))
TRAIN = table((20, "cook"), (70, "nurse"), (33, "miner"), (None, "miner"))
CONTROL = table((34, "cook"), (35, "cook"), (36, "miner"), (37, "nurse"))


def test_one_column_asks_for_ends_and_for_what_occurs_once():
    result = run(Case(TRAIN, RELEASE, CONTROL))["one column"]
    # >= 50 and = nurse fit two released rows, = cook three.
    assert text_of(result) == {"age <= 20", "age = 20", "age = 30", "age = 40", "age is missing", "job is missing"}
    assert text_of(result, values=False) == {"age", "job"}
    assert result.detail["by_column"] == {"age": [5, 3, 0], "job": [1, 0, 0]}
    assert (result.detail["hits"], result.detail["control_hits"], result.n) == (3, 0, 6)
    # The first row twice, the last one once: two people alone.
    assert sorted(result.trace.persons) == [-1, -1, -1, 0, 0, 3]
    assert (result.detail["lone"], result.detail["control_lone"]) == (2, 0)
    assert result.p == pytest.approx(fisher(2, 4, 0, 4))


def test_several_columns_ask_by_the_half_of_the_release_that_a_number_lies_in():
    result = run(Case(TRAIN, RELEASE, CONTROL))["2 columns"]
    # The median is 40: only above it is a number a lower bound. "<= 30" and "<= 40" fit more than one cook.
    assert text_of(result) == {
        "age <= 20, job = cook",
        "age >= 50, job = nurse",
        "age >= 50, job is missing",
        "age is missing, job = nurse",
    }
    hit = {result.trace.describe(i, True): int(result.trace.persons[i]) for i in range(4)}
    assert hit == {
        "age <= 20, job = cook": 0,
        "age >= 50, job = nurse": 1,
        "age >= 50, job is missing": -1,
        "age is missing, job = nurse": -1,
    }
    exact = run(Case(TRAIN, RELEASE, CONTROL))["2 exact values"]
    assert "age = 40, job = cook" in text_of(exact)
    assert exact.n == 6
    assert exact.detail["hits"] == 1


def test_generalized_cells_are_conditions_and_stars_are_none():
    cells = (AGE.interval_cell(Interval(0, 29)), AGE.interval_cell(Interval(30, 99)), ANYTHING)
    release = RELEASE.with_column(AGE.generalize(cells), np.array([0, 1, 1, 2, 2, -1], np.int32))
    findings = run(Case(TRAIN, release, CONTROL))
    # "*" may be anything, so nothing about age alone is sure to be alone, and a missing age least of all.
    assert text_of(findings["one column"]) == {"job is missing"}
    assert text_of(findings["2 columns"]) == {"age in [0, 29], job = cook"}
    assert set(findings) == {"one column", "2 columns"}, "without plain numbers, exact values would say the same again"


def test_where_nothing_stands_alone_it_says_so_and_gives_no_number():
    release = table((30, "cook"), (30, "cook"), (30, "cook"))
    for finding in run(Case(TRAIN, release, CONTROL)).values():
        assert finding.value is None
        assert finding.p is None
        assert "matches a single released row" in finding.note


def test_a_release_of_stars_says_nothing_about_anybody():
    stars = [(column.generalize((ANYTHING,)), np.zeros(6, np.int32)) for column in (AGE, JOB)]
    for finding in run(Case(TRAIN, RELEASE.with_columns(*stars), CONTROL)).values():
        assert finding.value is None


def test_sizes_are_cut_to_the_smaller_table_and_the_note_says_so():
    few, many = example(40, 1), example(120, 0)
    cut = run(Case(many, example(100, 2), few))["3 columns"]
    assert cut.detail["people"] == 40
    assert "tried on 40 of the people in the table" in cut.note
    assert len(set(cut.trace.persons.tolist())) > 1
    whole = run(Case(few, example(100, 2), many))["3 columns"]
    assert whole.detail["people"] == 40
    assert "tried on the people in the table" in whole.note
    assert whole.trace.control_persons.max() >= 40, "the control rows are drawn, not the first ones"


def test_every_hit_names_a_person_and_a_released_row():
    for finding in run(Case(example(120, 0), example(90, 2), example(100, 1))).values():
        trace = finding.trace
        assert ((trace.persons >= 0) == trace.train).all()
        assert ((trace.control_persons >= 0) == trace.control).all()
        assert trace.released.min() >= 0
        assert trace.released.max() < 90
        assert len(trace.released) == finding.n == finding.detail["attempts"]


def test_numbers_of_columns_are_cut_to_those_of_the_table():
    case = Case(example(60, 0), example(60, 2), example(60, 1))
    assert list(run(case)) == [
        "one column", "3 columns", "4 columns", "5 columns", "6 columns", "7 columns", "6 exact values", "7 exact values",
    ]  # fmt: skip
    narrow = Case(*(t.select(["age"]) for t in (case.train, case.release, case.control)))
    assert list(run(narrow)) == ["one column"]


def test_intervals_count_what_descriptions_by_one_row_are_with_effective_size():
    sources = np.repeat(np.arange(50), 4)
    together, apart = np.repeat(np.arange(50) % 2 == 0, 4), np.tile([True, False], 100)
    assert _independent(together, sources) == pytest.approx(49)
    assert _independent(apart, sources) == 50
    assert _independent(np.ones(200, bool), sources) == 50
    case = Case(example(120, 0), example(90, 2), example(100, 1))
    for result in run(case).values():
        detail, worth = result.detail, result.detail["independent"]
        assert 1 <= worth <= len(np.unique(result.trace.released))
        shares = (detail["hits"] / detail["attempts"], detail["control_hits"] / detail["control_attempts"])
        risk = residual_risk(*(wilson(share * worth, worth) for share in shares))
        raw = residual_risk(*(wilson(share * detail["attempts"], detail["attempts"]) for share in shares))
        assert (result.low, result.high) == (risk.low, risk.high)
        assert result.value == min(max(raw.value, risk.low), risk.high)
        assert detail["rate_low"] <= detail["rate"] <= detail["rate_high"]


def test_many_descriptions_of_one_row_are_one_trial():
    """Kish's sum of one cluster is 0 by construction, and 29 successes of one row are no proof of 29 things."""
    one, hit = np.zeros(29, np.int64), np.arange(29) < 20
    assert _independent(hit, one) == 1
    assert _independent(np.ones(29, bool), one) == 1


def test_as_many_hits_on_both_sides_are_no_risk():
    """One hit more among the control, all of few rows: two effective numbers made a risk of 0.34 of it."""
    case = Case(example(40, 0), example(40, 2), example(40, 1))
    some = next(iter(run(case).values()))
    sources = np.repeat(np.arange(8), 4)
    none, single = np.zeros(32, bool), np.arange(32) == 3
    result = _with_effective_size(replace(some, value=0.0), {"train": none, "control": single}, sources)
    assert result.value == 0
    assert result.low == 0 < result.high
    assert _with_effective_size(replace(some, value=0.0), {"train": single, "control": single}, sources).value == 0


@pytest.mark.parametrize("knobs", [{"columns": (1,)}, {"exact": (0, 4)}, {"rounds": 0}])
def test_impossible_knobs_are_refused(knobs):
    with pytest.raises(InputError, match="SinglingOut"):
        SinglingOut(**knobs)
