"""People who hold several rows: what a case refuses, what an audit counts, what it assumes, and when it is void."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits.indicators import IdenticalMatches, worth
from hushtable.audits.planted import outlying
from hushtable.audits.properties import Properties
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence import records
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Trace
from hushtable.evidence.groups import by_group
from hushtable.evidence.neighbours import search as neighbours
from hushtable.evidence.persons import held_by
from hushtable.evidence.validity import assumed, void
from hushtable.table.columns import Bounds, Column, Interval, Kind, Levels
from hushtable.table.table import Table

TOWN = people(600, seed=3)
KEY = "person_id"


def rows_of(first: int, last: int, times: int = 3) -> Table:
    """These people, each with so many rows."""
    return TOWN.take(np.repeat(np.arange(first, last), times))


TRAIN, CONTROL = rows_of(0, 100), rows_of(100, 180)
FRESH = rows_of(200, 300).select(TOWN.schema.released)


def case(release: Table = FRESH) -> Case:
    return Case(TRAIN.held_by(KEY), release, CONTROL.held_by(KEY))


def test_persons_are_identified_on_both_sides_or_on_neither():
    with pytest.raises(InputError, match="control: does not say who holds its rows"):
        Case(TRAIN.held_by(KEY), FRESH, CONTROL)
    with pytest.raises(InputError, match="train: does not say who holds its rows"):
        Case(TRAIN, FRESH, CONTROL.held_by(KEY))


def test_a_person_on_both_sides_is_refused_by_their_number_alone():
    with pytest.raises(InputError, match=r"control: holds persons of the training table \(person_id\)") as caught:
        held_by(TRAIN, rows_of(95, 180), KEY)
    assert caught.value.faults[0].count == 5
    assert TOWN.strings(KEY)[95] not in str(caught.value)


def test_every_table_without_the_key_is_named():
    with pytest.raises(InputError) as caught:
        held_by(TRAIN.select(["sex"]), CONTROL.select(["sex"]), KEY)
    assert [fault.where for fault in caught.value.faults] == ["train", "control"]


def test_people_stay_who_they_are_when_domains_are_joined_and_cells_are_read():
    assert [side.count for side in case().sides] == [100, 80]
    cut = FRESH.schema["satisfaction"]
    hidden = FRESH.with_column(cut.generalize((cut.interval_cell(Interval(0, 10)),)), np.zeros(FRESH.rows, np.int32))
    plain = case(hidden).read_as_values()
    assert plain.release is not hidden
    assert [side.count for side in plain.sides] == [100, 80]


def test_a_trace_has_one_attempt_a_person_by_the_first_row_that_was_hit():
    hit, released = np.zeros(300, bool), np.arange(300)
    hit[[4, 5, 9]] = True
    trace = Trace.of(case(), hit, np.zeros(240, bool), released, lambda row, values: str(row))
    assert (len(trace.train), len(trace.control)) == (100, 80)
    assert np.flatnonzero(trace.train).tolist() == [1, 3]
    assert trace.persons[[1, 3]].tolist() == [3, 9]
    assert trace.released[[1, 3]].tolist() == [4, 9]
    assert (trace.describe(1, False), trace.describe(3, False)) == ("4", "9")
    assert trace.one_by_one


def test_nearest_rows_of_the_same_table_are_those_of_others():
    nearest_rows = case().nearest("train", "train", 2)
    table, who = TRAIN.select(case().columns), np.arange(300) // 3
    encoding = case().encoding()
    for row in (0, 31, 299):
        others = np.flatnonzero(who != who[row])
        own = neighbours.nearest(table.take(np.array([row])), table.take(others), 2, encoding=encoding)
        assert nearest_rows.distance[row].tolist() == own.distance[0].tolist()
    with pytest.raises(InputError, match="other people hold fewer rows"):
        Case(rows_of(0, 2).held_by(KEY), FRESH, CONTROL.held_by(KEY)).nearest("train", "train", 4)


def test_a_lonely_person_is_an_outlier_however_often_they_repeat_themselves():
    crowd, lone = np.repeat(0, 30), np.full(5, 1)
    table = example(2, 1).take(np.concatenate([crowd, lone]))
    apart = replace(table, persons=np.concatenate([np.arange(30), np.full(5, 30)]))
    assert outlying(apart, 3)[-5:].min() > 100 * outlying(apart, 3)[:30].max()
    assert outlying(table, 3)[-5:].max() < 2


def test_risks_rates_and_groups_count_people():
    copies = Table.concat([FRESH, TRAIN.take(np.arange(60)).select(FRESH.schema.names)])
    report = ht.audit(TRAIN, copies, CONTROL, person=KEY, only=["identical-matches"])
    verbatim = next(f for f in report.findings if f.name == "published verbatim")
    assert (verbatim.detail["hits"], verbatim.n, verbatim.detail["control_attempts"]) == (20, 100, 80)
    assert report.people == {"train": 100, "control": 80}
    assert report.at_risk[0].people == 20
    assert {record.row for record in report.records} == set(range(1, 61, 3))
    groups = by_group(case(copies), report.findings)
    assert all(group.attacked <= 100 for group in groups.worst)
    assert report.assumed == []
    assert "100 people in the table (300 rows)" in report.markdown()
    assert "100</strong> people in the table (300 rows)" in report.page()


def test_records_are_weighed_against_control_people():
    known = case()
    hit = np.zeros(300, bool)
    hit[::3] = True
    trace = Trace.of(known, hit, np.zeros(240, bool))
    assert records._tried_all(known, trace)


def test_whoever_fits_a_released_row_by_several_rows_is_one_person():
    fits = {f.name: f for f in Properties(quasi=("sex",)).run(case(), np.random.default_rng(0))}["journalist risk"]
    one_row = Case(rows_of(0, 100, 1), FRESH, rows_of(100, 180, 1))
    expected = {f.name: f for f in Properties(quasi=("sex",)).run(one_row, np.random.default_rng(0))}["journalist risk"]
    assert (fits.detail["fewest"], fits.detail["population"]) == (expected.detail["fewest"], 180)


def test_people_who_fit_an_interval_by_several_rows_are_counted_once():
    column = FRESH.schema["weight_kg"]
    hidden = FRESH.with_column(column.generalize((column.interval_cell(Interval(50, 80)),)), np.zeros(FRESH.rows, np.int32))
    results = {f.name: f for f in Properties(quasi=("weight_kg",)).run(case(hidden), np.random.default_rng(0))}
    weights = TOWN.floats("weight_kg")[:180]
    assert results["journalist risk"].detail["fewest"] == ((weights >= 50) & (weights <= 80)).sum()


def test_rows_are_worth_no_more_than_the_people_who_hold_them():
    assert worth(case()) == pytest.approx((100, 80))
    by_rows = Case(TRAIN, FRESH, CONTROL)
    assert worth(by_rows) == (300.0, 240.0)
    wide, narrow = (IdenticalMatches().run(c, np.random.default_rng(0))[0] for c in (case(), by_rows))
    assert (wide.value, wide.baseline) == (narrow.value, narrow.baseline)
    assert wide.high > narrow.high


def test_an_audit_says_where_it_assumes_one_row_a_person_and_changes_nothing():
    by_rows = ht.audit(TRAIN, FRESH, CONTROL, only=["near-matches"])
    assert "person_id repeat in 100 of 100 rows" in by_rows.assumed[0]
    assert "--person person_id" in by_rows.assumed[0]
    for text in (by_rows.markdown().replace("\\", ""), by_rows.page(), str(by_rows.to_json()["assumed"])):
        assert "assume one row a person" in text
    nameless = [table.select([n for n in table.schema.names if n not in (KEY, "name")]) for table in (TRAIN, CONTROL)]
    without = ht.audit(nameless[0], FRESH, nameless[1], only=["near-matches"])
    assert "300 of 300 training rows repeat one another and 0 of 240 control rows" in without.assumed[0]
    assert [f.p for f in without.findings] == [f.p for f in by_rows.findings]


def unkeyed(table: Table, rows: slice) -> Table:
    """The table without the key of these rows."""
    codes = table[KEY].copy()
    codes[rows] = -1
    return table.with_column(replace(table.schema[KEY], required=False), codes)


def test_rows_without_a_key_are_left_out_and_counted():
    train, control = unkeyed(TRAIN, slice(0, 90)), unkeyed(CONTROL, slice(0, 30))
    copies = Table.concat([FRESH, TRAIN.take(np.arange(90, 150)).select(FRESH.schema.names)])
    report = ht.audit(train, copies, control, person=KEY, only=["identical-matches"], values=True)
    assert report.people == {"train": 70, "control": 70}
    assert "90 of 300 training rows and 30 of 240 control rows have no person_id" in report.assumed[0]
    for text in (report.markdown().replace("\\", ""), report.page()):
        assert "90 of 300 training rows and 30 of 240 control rows have no person_id" in text
    assert {record.row for record in report.records} == set(range(91, 151, 3))
    first = report.records[0]
    assert first.values["sex"] == TRAIN.strings("sex")[first.row - 1]
    with pytest.raises(InputError) as caught:
        held_by(unkeyed(TRAIN, slice(None)), unkeyed(CONTROL, slice(None)), KEY)
    assert [fault.where for fault in caught.value.faults] == ["train", "control"]


@pytest.mark.parametrize("kind", [Kind.CATEGORY, Kind.INTEGER])
def test_a_column_that_repeats_and_never_crosses_sides_looks_like_persons_whatever_its_kind(kind):
    """Without a key, and also where the key that was given identifies rows."""

    def sided(first: int, last: int) -> Table:
        who, levels = np.repeat(np.arange(first, last), 3), tuple(f"p{i}" for i in range(60))
        domain = Levels(levels) if kind is Kind.CATEGORY else Bounds(0, 59)
        column = Column(name="patient", kind=kind, domain=domain)
        return TOWN.take(np.arange(3 * first, 3 * last)).with_columns((column, who.astype(column.dtype)))

    train, control, fresh = sided(0, 25), sided(25, 50), sided(50, 60).select(FRESH.schema.names)
    for one in (Case(train, fresh, control), Case(train.held_by(KEY), fresh, control.held_by(KEY))):
        assert "values of patient repeat in 100 of 100 rows" in assumed(one)[0]
    assert assumed(Case(train.held_by("patient"), fresh, control.held_by("patient"))) == []
    assert assumed(Case(sided(0, 5), fresh, sided(5, 10))) == []


def test_copies_of_one_person_are_too_few_to_be_tested_and_not_called_chance():
    giant = TOWN.take(np.concatenate([np.zeros(200, int), np.arange(1, 80)]))
    others = TOWN.take(np.concatenate([np.full(200, 100), np.arange(101, 180)]))
    release = Table.concat([giant.take(np.arange(200)).select(FRESH.schema.names), FRESH.take(np.arange(100))])
    share = IdenticalMatches().run(Case(giant.held_by(KEY), release, others.held_by(KEY)), np.random.default_rng(0))[0]
    assert "too few people hold these rows for a test" in share.note
    tie = IdenticalMatches().run(Case(giant.held_by(KEY), FRESH, others.held_by(KEY)), np.random.default_rng(0))[0]
    assert "no more than chance explains" in tie.note


def test_keys_that_stand_on_both_sides_are_counted():
    mixed = TRAIN.take(np.arange(0, 300, 2)), TRAIN.take(np.arange(1, 300, 2))
    assert "100 of them occur on both sides" in assumed(Case(mixed[0], FRESH, mixed[1]))[0]


def test_one_row_a_person_is_assumed_in_peace():
    one = [TOWN.take(np.arange(i * 200, (i + 1) * 200)) for i in range(3)]
    assert assumed(Case(one[0], one[2].select(FRESH.schema.names), one[1])) == []


def test_a_side_whose_people_hold_fewer_rows_makes_the_audit_void():
    reasons = void(Case(TRAIN.held_by(KEY), FRESH, rows_of(100, 180, 1).held_by(KEY)), [])
    assert any("training people hold 3 rows each and control people 1" in reason for reason in reasons)
    reasons = void(Case(rows_of(0, 100, 1).held_by(KEY), FRESH, CONTROL.held_by(KEY)), [])
    assert any("control people hold 3 rows each and training people 1" in reason for reason in reasons)
    assert void(case(), []) == []


def test_control_people_who_repeat_training_people_make_the_audit_void():
    again = Table.concat([TRAIN.take(np.arange(120)), CONTROL])
    shifted = replace(again, persons=np.arange(again.rows) // 3)
    reasons = void(Case(TRAIN.held_by(KEY), FRESH, shifted), [])
    assert any(reason.startswith("40 of 120 control people equal a training row") for reason in reasons)
    assert TRAIN.schema[KEY].kind is Kind.KEY


def test_the_key_that_the_card_names_is_used_or_missed_aloud():
    card = {"recipe": "none", "guarantee": {"unit": {"rows": 3, "by": KEY}}}
    asked = {"only": ["coverage"], "card": card}
    assert ht.audit(TRAIN, FRESH, CONTROL, **asked).people == {"train": 100, "control": 80}
    names = FRESH.schema.names
    report = ht.audit(rows_of(0, 100, 1).select(names), FRESH, rows_of(100, 180, 1).select(names), **asked)
    assert report.people == {}
    assert "the card identifies persons by person_id, which the training or the control rows lack" in report.assumed[0]
