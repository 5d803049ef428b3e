"""Groups: a group that was lost or garbled is named worst, fresh rows tie, small groups that suffer are told from large ones."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.verdict import surely_worse
from hushtable.measures.groups import Groups
from hushtable.measures.partition import partitions
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.awkward import constant, findings_of, missing, sound

TVD, GAP, SIZE, SCORE = "TVD within a group", "small groups against large", "group sizes", "downstream loss of a group"
TOWNS = tuple("abcdefgh")
SHARES = np.array([0.3, 0.25, 0.2, 0.11, 0.05, 0.04, 0.03, 0.02])


def towns(rows: int, seed: int) -> Table:
    """Eight towns of very different size; height, pay and trade hang together, and differ from town to town."""
    rng = np.random.default_rng(seed)
    town = rng.choice(8, rows, p=SHARES)
    height = rng.normal(town * 3.0, 4.0)
    pay = height * np.where(town % 2, 1.0, -1.0) + rng.normal(0, 1.0, rows)
    columns = (
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(TOWNS)),
        Column(name="height", kind=Kind.REAL, domain=Bounds(-100.0, 100.0)),
        Column(name="pay", kind=Kind.REAL, domain=Bounds(-100.0, 100.0)),
        Column(name="trade", kind=Kind.CATEGORY, domain=Levels(("u", "v", "w"))),
        Column(name="rich", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
    trade = (town + rng.integers(0, 2, rows)) % 3
    arrays = {"town": town, "trade": trade, "rich": pay > np.where(town % 2, town * 3.0, -town * 3.0)}
    return Table(Schema(columns), {**{n: a.astype(np.int32) for n, a in arrays.items()}, "height": height, "pay": pay})


TRAIN, FRESH, CONTROL = towns(3000, 1), towns(3000, 2), towns(2000, 3)


def plain(release: Table, train: Table = TRAIN, control: Table = CONTROL) -> Case:
    """Without the column to predict, which takes most of the time."""
    return Case(*(table.select(["town", "height", "pay", "trade"]) for table in (train, release, control)))


def first(findings: dict, name: str) -> str:
    return next(scope for found_name, scope in findings if found_name == name and scope)


def garbled(table: Table, code: int, seed: int = 0) -> Table:
    """Inside one town every other column is drawn from everybody."""
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(table["town"] == code)
    collected = []
    for name in ("height", "pay", "trade"):
        array = table[name].copy()
        array[rows] = rng.choice(table[name], len(rows))
        collected.append((table.schema[name], array))
    return table.with_columns(*collected)


@pytest.mark.parametrize("code", [7, 5])
def test_a_garbled_group_is_named_worst(code):
    findings, name = findings_of(Groups(), plain(garbled(FRESH, code))), f"town = {TOWNS[code]}"
    assert first(findings, TVD).startswith(name)
    assert first(findings, TVD) in findings[TVD, ""].note
    worst = findings[TVD, name]
    assert worst.value > 5 * worst.baseline
    assert surely_worse(worst)
    tie = findings_of(Groups(shown=60), plain(FRESH))[TVD, name]
    assert tie.value == pytest.approx(tie.baseline, abs=0.1)


def test_a_lost_group_is_named_worst_and_lies_as_far_off_as_can_be():
    table = FRESH.take(FRESH["town"] != 7)
    findings = findings_of(Groups(), plain(table))
    assert all(first(findings, name).startswith("town = h") for name in (TVD, SIZE))
    assert findings[TVD, "town = h"].value == findings[SIZE, "town = h"].value == findings[SIZE, ""].value == 1
    assert all(surely_worse(findings[SIZE, scope]) for scope in ("", "town = h"))


def test_fresh_rows_tie_and_a_release_that_fails_small_groups_does_not():
    tie = findings_of(Groups(), plain(FRESH))
    assert tie[GAP, ""].low < 0 < tie[GAP, ""].high
    assert tie[TVD, ""].value == pytest.approx(tie[TVD, ""].baseline, abs=0.015)
    spoilt = FRESH
    for code in (4, 5, 6, 7):
        spoilt = garbled(spoilt, code)
    gap = findings_of(Groups(), plain(spoilt))[GAP, ""]
    assert gap.low > 0.02
    assert gap.baseline == 0


@pytest.mark.parametrize(("released", "fresh"), [(3000, 600), (600, 3000)])
def test_the_number_of_rows_of_a_table_is_no_fault_of_it(released, fresh):
    findings = findings_of(Groups(), plain(towns(released, 5), control=towns(fresh, 6)))
    assert findings[TVD, ""].value == pytest.approx(findings[TVD, ""].baseline, abs=0.03)
    assert findings[GAP, ""].low < 0 < findings[GAP, ""].high


FEWER = towns(700, 1), towns(700, 2), towns(700, 3)


def test_a_group_that_models_cannot_learn_is_named():
    train, fresh, control = FEWER
    rich = fresh["rich"].copy()
    rows = np.flatnonzero(fresh["town"] == 3)
    rich[rows] = 1 - rich[rows]
    release = fresh.with_column(fresh.schema["rich"], rich)
    findings = findings_of(Groups(), Case(train, release, control))
    assert first(findings, SCORE).startswith("town = d")
    assert findings[SCORE, "town = d"].low > 0.3
    assert "AUC for rich" in findings[SCORE, "town = d"].note
    assert first(findings, SCORE) in findings[SCORE, ""].note
    assert all(abs(f.value) < 0.2 for (name, scope), f in findings.items() if name == SCORE and scope.startswith("town = a"))


def test_models_of_fresh_rows_serve_every_group():
    findings = findings_of(Groups(drawn=7), Case(*FEWER))
    assert abs(findings[SCORE, ""].value) < 0.03
    detail = json.loads(json.dumps(findings[TVD, ""].to_json()))["detail"]
    assert set(detail) == {"groups", "rows", "distance", "baseline", "score", "score_baseline"}
    assert {len(values) for values in detail.values()} == {7}
    assert len(set(detail["groups"])) == 7
    assert min(detail["rows"]) >= 30
    assert any(score is not None for score in detail["score"])


def test_a_number_is_scored_by_what_is_explained():
    train, fresh, control = FEWER
    findings = findings_of(Groups(target="pay"), Case(train, garbled(fresh, 2), control))
    assert first(findings, SCORE).startswith("town = c")
    assert findings[SCORE, "town = c"].value == 1, "worse than the mean is as bad as can be"
    assert "R2 for pay" in findings[SCORE, "town = c"].note


def test_groups_are_levels_quarters_missing_and_pairs_of_enough_people():
    case = Case(example(400, 1), example(400, 2), example(300, 3))
    labels = [label for partition in partitions(case, 30, 10) for label in partition.labels]
    assert "town = north" in labels
    assert "age up to the first quartile" in labels
    assert "school missing" in labels
    assert "town = west, age first quartile to median" in labels
    assert "town = east" not in labels
    rows = [n for partition in partitions(case, 30, 10) for n in partition.rows("train").tolist()]
    assert min(rows) >= 30
    assert not partitions(case, 30, 400)
    exact = next(p for p in partitions(case, 30, 10) if p.columns == ("town",))
    assert exact.rows("train").tolist() == [int((case.train["town"] == code).sum()) for code in (0, 1, 3)]
    pair = next(p for p in partitions(case, 30, 10) if p.columns == ("town", "age"))
    limits = case.train.quantiles("age", (0.25, 0.5))
    both = (case.train["town"] == 3) & (case.train["age"] > limits[0]) & (case.train["age"] <= limits[1])
    assert pair.rows("train")[pair.labels.index("town = west, age first quartile to median")] == both.sum()


def test_no_level_of_a_few_people_is_named():
    train = TRAIN.take(np.flatnonzero((TRAIN["town"] != 7) | (np.cumsum(TRAIN["town"] == 7) <= 4)))
    findings = findings_of(Groups(least=5, fresh=1), plain(FRESH, train=train))
    assert all("town = h" not in json.dumps(f.to_json()) for f in findings.values())
    assert "town = g" in json.dumps([f.to_json() for f in findings.values()])


def test_where_there_is_nothing_to_tell_the_notes_say_why():
    few = findings_of(Groups(), Case(*(example(20, i) for i in range(3))))
    assert all(f.value is None and "30 training rows" in f.note for f in few.values())
    alone = findings_of(Groups(), Case(*(example(200, i).select(["town"]) for i in range(3))))
    assert alone[TVD, ""].value is None
    assert alone[SIZE, ""].value is not None
    assert "no column has the role" in alone[SCORE, ""].note
    assert "needs 6" in alone[GAP, ""].note


def test_a_column_of_very_many_levels_is_counted_in_few():
    levels = Levels(tuple(f"d{i}" for i in range(300)))
    column = Column(name="code", kind=Kind.CATEGORY, domain=levels)
    collected = [
        t.with_column(column, np.random.default_rng(i).integers(0, 300, t.rows).astype(np.int32))
        for i, t in enumerate((TRAIN, FRESH, CONTROL))
    ]
    finding = findings_of(Groups(), Case(*(table.select(["town", "code"]) for table in collected)))[TVD, ""]
    assert finding.value == pytest.approx(finding.baseline, abs=0.02)


@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("spoil", [constant, missing])
@pytest.mark.parametrize("name", ["age", "town", "pay"])
def test_odd_columns_are_survived(which, spoil, name):
    tables = dict(zip(("train", "release", "control"), (example(130, i) for i in range(3)), strict=True))
    tables[which] = spoil(tables[which], name)
    retained = ["age", "height", "town", "school", *["pay"] * (name == "pay")]
    findings = findings_of(Groups(), Case(**{side: table.select(retained) for side, table in tables.items()}))
    sound(findings)
    assert findings[TVD, ""].value is not None


def test_knobs_are_checked():
    for knob in ("least", "fresh", "shown", "drawn"):
        with pytest.raises(InputError, match=knob):
            Groups(**{knob: 0})
    with pytest.raises(InputError, match="there is no column 'pey'"):
        replace(Groups(), target="pey").run(Case(TRAIN, FRESH, CONTROL), np.random.default_rng(0))
