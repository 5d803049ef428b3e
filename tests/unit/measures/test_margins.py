"""Distances of single columns: a change is seen by all of them, chance by none, and odd columns get a value or a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures import catalogue
from hushtable.measures.bins import binned, coded
from hushtable.measures.margins import MEANS, MarginDistances
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.awkward import constant, findings_of, missing, plain, shuffled, sound

COLUMNS = ("age", "height", "town", "school", "born", "pay")
DISTANCES = [measure.name for measure in (*MEANS, catalogue.CHI_SQUARE)]


def numbers(values: np.ndarray, **column) -> Table:
    bounds = column.pop("domain", Bounds(-1000, 1000))
    return Table(Schema((Column(name="x", kind=Kind.INTEGER, domain=bounds, **column),)), {"x": values.astype(np.int64)})


def test_whole_table_first_then_columns():
    findings = MarginDistances().run(plain(), np.random.default_rng(0))
    whole = [f.name for f in findings if not f.scope]
    assert whole == [*(measure.name for measure in MEANS.values()), "columns told apart"]
    assert [f.name for f in findings[: len(whole)]] == whole
    assert {f.name for f in findings[len(whole) :]} == set(DISTANCES)
    ordered = {"age", "height", "school", "born", "pay"}
    assert {f.scope for f in findings if f.name == "KS"} == ordered


def test_the_order_of_the_rows_is_not_in_any_margin():
    case = plain()
    findings = findings_of(MarginDistances(), Case(case.train, shuffled(case.train), case.control))
    assert {f.value for f in findings.values()} == {0.0}
    assert all(f.baseline > 0 for f in findings.values() if f.name != "columns told apart")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_moved_column_is_seen_by_every_distance_and_no_other_column_is(name):
    case = plain()
    column, array = case.train.schema[name], case.train[name]
    if column.coded:
        moved = np.where(array < 0, array, np.minimum(array + 1, len(column.levels) - 1)).astype(array.dtype)
    else:
        wide = (column.bounds.high - column.bounds.low) * 0.2
        moved = column.from_floats(np.minimum(case.train.floats(name) + wide, column.bounds.high))
    findings = findings_of(MarginDistances(), Case(case.train, case.train.with_column(column, moved), case.control))
    assert findings["columns told apart", ""].value == pytest.approx(1 / 7)
    assert name in findings["columns told apart", ""].note
    for (metric, scope), finding in findings.items():
        if scope == name:
            assert finding.value > 2 * finding.baseline, metric
        elif scope:
            assert finding.value == 0.0


def test_an_independent_sample_lies_where_the_control_lies():
    findings = findings_of(MarginDistances(), plain())
    assert findings["columns told apart", ""].value == findings["columns told apart", ""].baseline == 0.0
    for measure in MEANS.values():
        finding = findings[measure.name, ""]
        assert 0.3 < finding.value / finding.baseline < 2


@pytest.mark.parametrize("change", [constant, missing])
@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_one_value_or_of_none(change, which, name):
    case = plain()
    tables = case.tables | {which: change(case.tables[which], name)}
    findings = findings_of(MarginDistances(), Case(**tables))
    sound(findings)
    absent = [f for (_, scope), f in findings.items() if scope == name and f.value is None]
    if change is missing and which != "control":
        assert {f.name for f in absent} == ({"KS", "Wasserstein"} if name != "town" else set())
        words = {"train": "the training rows have", "release": "the release has"}[which]
        assert all(f.note == f"{name}: {words} no value" for f in absent)
    else:
        assert not absent
    if which != "control":
        assert findings["TVD", name].value > 0.3
        assert name in findings["columns told apart", ""].note
    assert findings["TVD", "sick"].value < 0.1


@pytest.mark.parametrize("elsewhere", [-7, 99])
def test_a_value_that_the_training_rows_hold_alone_is_not_its_neighbours(elsewhere):
    """All training rows hold one value, all released rows another: nothing is in common."""
    train, release, control = (numbers(np.full(n, v)) for n, v in ((60, 5), (60, elsewhere), (40, 5)))
    release = release.with_column(release.schema["x"], np.append(release["x"][:-1], 5))
    findings = findings_of(MarginDistances(), Case(train, release, control.with_column(control.schema["x"], control["x"] + 1)))
    assert findings["TVD", "x"].value == pytest.approx(59 / 60)
    assert findings["TVD", "x"].baseline == pytest.approx(np.sqrt((1 / 60 + 1 / 60) / (1 / 60 + 1 / 40)))
    assert findings["chi-square", "x"].detail["p"] < 1e-10


def test_a_spike_at_either_end_keeps_its_bin_to_itself():
    rng = np.random.default_rng(0)
    train = numbers(np.concatenate([np.full(50, 0), rng.integers(1, 90, 100), np.full(50, 99)]))
    beyond = numbers(np.array([-3, 0, 50, 99, 100, 500]))
    cells = binned(train, "x", 10, others=(beyond,))
    assert cells.labels[-2:] == ["other values", "missing"]
    last = len(cells.labels) - 3
    middle = int(cells.codes(beyond)[2])
    assert cells.codes(beyond).tolist() == [last + 1, 0, middle, last, last + 1, last + 1]
    assert 0 < middle < last
    assert binned(train, "x", 10, others=(train,)).labels[-2] != "other values"


def test_without_a_spike_what_lies_beyond_belongs_to_the_outermost_bin():
    train, beyond = numbers(np.arange(200)), numbers(np.array([-900, 0, 199, 900]))
    cells = binned(train, "x", 10, others=(beyond,))
    assert cells.codes(beyond).tolist() == [0, 0, 9, 9]
    assert "other values" not in cells.labels


def test_a_release_that_left_the_domain_has_not_moved_further_than_all_of_it():
    rng = np.random.default_rng(0)
    narrow, wide = Bounds(0, 9), Bounds(0, 100_000)
    train, control = (numbers(rng.integers(0, 10, n), domain=narrow) for n in (80, 60))
    release = numbers(rng.integers(50_000, 100_000, 70), domain=wide)
    finding = findings_of(MarginDistances(), Case(train, release, control))["Wasserstein", "x"]
    assert finding.value == 1.0
    assert finding.baseline < 0.2


def test_two_rows_on_every_side():
    case = Case(example(2, 1), example(2, 2), example(2, 3))
    findings = findings_of(MarginDistances(), case)
    sound(findings)
    assert findings["columns told apart", ""].value is None
    assert all("two bins with 5 expected rows each" in f.note for (metric, _), f in findings.items() if metric == "chi-square")


def test_levels_that_the_tables_do_not_share():
    case = plain()
    column = case.release.schema["town"]
    other = replace(column, domain=replace(column.domain, levels=("south", "mars", "venus", "north")))
    release = case.release.with_column(other, case.release["town"])
    findings = findings_of(MarginDistances(), Case(case.train, release, case.control))
    words = [np.array([w or "?" for w in t.strings("town")]) for t in (release, case.train)]
    shares = [{w: (part == w).mean() for w in np.unique(part)} for part in words]
    strange = sum(share for w, share in shares[0].items() if w in ("mars", "venus"))
    shares[0] = {w: s for w, s in shares[0].items() if w not in ("mars", "venus")}
    gaps = [abs(shares[0].get(w, 0) - shares[1].get(w, 0)) for w in set(shares[0]) | set(shares[1])]
    assert findings["TVD", "town"].value == pytest.approx((sum(gaps) + strange) / 2)
    assert strange > 0.2


def test_bins_are_cut_once_for_all_who_ask():
    case = plain()
    assert coded(case, 20) is coded(case, 20)
    assert coded(case, 20) is not coded(case, 10)
    cells = coded(case, 20)
    for name in case.columns:
        assert cells.mass("train", name) == pytest.approx(cells.bins[name].mass(case.train))
        assert cells.counts("release", name).sum() == case.release.rows


def test_a_small_release_is_not_excused_and_a_small_control_excuses_nothing():
    train, control = example(400, 1), example(100, 3)
    small, large = (findings_of(MarginDistances(), Case(train, example(n, 2), control))["mean TVD", ""] for n in (50, 400))
    assert large.baseline == pytest.approx(small.baseline * np.sqrt((2 / 400) / (1 / 400 + 1 / 100)))
    assert "scaled to the number of released rows" in large.note
    assert "scaled" not in small.note
