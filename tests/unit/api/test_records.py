"""The riskiest records beside what gives them away: planted copies are found, agreements are true, values only on request."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.evidence.beside import Agreement, beside
from hushtable.report.records import records_section


@pytest.fixture(scope="module")
def leak():
    """Half of the people are handed out as they are, the other half with all numbers and levels of strangers."""
    town = ht.people(900, seed=2)
    columns = ["birth_date", "sex", "postcode", "occupation", "height", "income"]
    town = town.select([name for name in columns if name in town.schema])
    train, control, others = town.take(slice(0, 300)), town.take(slice(300, 600)), town.take(slice(600, 900))
    release = ht.Table.concat([train.take(np.arange(0, 300, 2)), others.take(np.arange(150))])
    report = ht.audit(train, release, control, only=["linkability"], seed=0)
    return train, release, report


def test_copies_are_named_with_the_row_that_gives_them_away(leak):
    train, release, report = leak
    found = ht.records(report, train, release)
    assert len(found) > 20
    copied = [one for one in found if {side.agreement for side in one.pairs[0].sides} == {Agreement.SAME}]
    # Links by chance fall on some who were not copied; everybody who was is named.
    assert len(copied) == 150
    for one in copied:
        pair = one.pairs[0]
        assert one.record.row - 1 == 2 * (pair.released - 1)
        assert pair.agreeing == train.schema.released
        assert {(side.ours, side.theirs) for side in pair.sides} == {(None, None)}
    assert str(train.strings("postcode")[0]) not in json.dumps([one.to_json() for one in found])


def test_values_are_shown_of_the_rows_that_were_asked_for(leak):
    train, release, report = leak
    row = ht.records(report, train, release)[0].record.row
    (one,) = ht.records(report, train, release, rows=[row], values=True)
    for side in one.pairs[0].sides:
        assert side.ours == train.strings(side.column)[row - 1]
        assert side.theirs == release.strings(side.column)[one.pairs[0].released - 1]


def test_people_of_one_group_are_those_of_the_group(leak):
    train, release, report = leak
    everybody = ht.records(report, train, release)
    level = train.schema["sex"].levels[0]
    found = ht.records(report, train, release, group=("sex", level))
    expected = [one.record.row for one in everybody if train.strings("sex")[one.record.row - 1] == level]
    assert [one.record.row for one in found] == expected
    assert 0 < len(found) < len(everybody)
    with pytest.raises(InputError, match="no group"):
        ht.records(report, train, release, group=("sex", "neither"))
    with pytest.raises(InputError, match="no column"):
        ht.records(report, train, release, group=("sexx", level))


def test_a_saved_audit_says_the_same_and_other_tables_are_refused(leak, tmp_path):
    train, release, report = leak
    report.save(tmp_path / "audit")
    read = ht.read_audit(tmp_path / "audit")
    assert [one.to_json() for one in ht.records(tmp_path / "audit", train, release)] == [
        one.to_json() for one in ht.records(report, train, release)
    ]
    with pytest.raises(InputError, match="and this table has"):
        ht.records(report, train, release.take(slice(0, 10)))
    # What would remove an alarm is known by the alarm, in memory and from the file.
    for alarm in read.alarms:
        assert read.cause_of(alarm) == report.cause_of(alarm)
    assert any(report.cause_of(alarm) is not None for alarm in report.alarms)
    assert report.cause_of(replace(report.alarms[0], name="another")) is None
    with pytest.raises(InputError):
        ht.read_audit(tmp_path)


def test_the_page_shows_as_many_records_as_before(leak):
    _, _, report = leak
    assert len(report.records) > 20
    assert records_section(report.records, report.at_risk, None) == records_section(report.records[:20], report.at_risk, None)


def test_a_generalized_cell_covers_hides_or_excludes():
    town = ht.people(400, seed=3)
    released = ht.release(town, "k-anonymity", k=5, limit=1.0, seed=1, allow_copies="a test").table
    seen = set()
    for row in range(60):
        for side in beside(town, released, row, row):
            column, cell = town.schema[side.column], released.strings(side.column)[row]
            seen.add(side.agreement)
            if cell == "*":
                assert side.agreement is Agreement.HIDDEN
            elif not column.numeric and not released.schema[side.column].generalized:
                assert (side.agreement is Agreement.SAME) == (town.strings(side.column)[row] == cell)
            if side.agreement is Agreement.COVERS:
                assert released.schema[side.column].generalized
    assert {Agreement.SAME, Agreement.OTHER, Agreement.HIDDEN} <= seen


def test_a_number_a_hundredth_away_is_near():
    town = ht.people(300, seed=4)
    name = next(c.name for c in town.schema if c.kind == "real")
    column, own = town.schema[name], town.floats(name)
    step = 10.0 ** -(column.decimals or 6)
    moved = town.with_column(column, np.clip(own + max(step, 0.002 * (np.nanmax(own) - np.nanmin(own))), *_bounds(column)))
    row = int(np.flatnonzero((moved.floats(name) != own) & ~np.isnan(own))[0])
    (side,) = [side for side in beside(town, moved, row, row) if side.column == name]
    assert side.agreement is Agreement.NEAR
    assert side.agrees


def _bounds(column):
    return column.bounds.low, column.bounds.high
