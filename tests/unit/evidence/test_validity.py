"""An audit whose control is not fresh says so, and passes no gate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits import planted
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.joint import jointly
from hushtable.table.columns import Levels
from hushtable.table.table import Table

N = 400
ONLY = ("identical-matches", "near-matches", "control-seen")


@pytest.fixture(scope="module")
def parts():
    table = people(3 * N, seed=11)
    return [table.take(np.arange(i * N, (i + 1) * N)) for i in range(3)]


def audited(train, release, control):
    return ht.audit(train, release.select(release.schema.released), control, only=ONLY, gates=["alarms<99"])


def test_fresh_people_make_no_audit_void(parts):
    train, control, fresh = parts
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(2 * N)
        both = Table.concat([train, control])
        ours, others = both.take(order[:N]), both.take(order[N:])
        report = audited(ours, planted.leaky(ours, fresh, 0.05 * (seed % 2), np.random.default_rng(seed)), others)
        assert not report.void
        assert report.gates[0].holds


def test_swapped_tables_are_noticed(parts):
    train, control, fresh = parts
    report = audited(control, planted.leaky(train, fresh, 0.3, np.random.default_rng(0)), train)
    assert any("swapped" in reason for reason in report.void)
    assert not report.gates[0].holds
    assert "void" in report.gates[0].reason


def test_swapped_tables_are_noticed_though_no_row_is_copied(parts):
    train, control, _ = parts
    table = ht.release(train, "mdav", settings={"k": "5"}, seed=0).table
    assert any("swapped" in reason for reason in ht.audit(control, table, train, only=["coverage"]).void)
    assert not ht.audit(train, table, control, only=["coverage"]).void


def test_a_release_made_from_the_control_too_is_noticed(parts):
    train, control, _ = parts
    report = audited(train, Table.concat([train.take(np.arange(200)), control]), control)
    assert any("made from" in reason for reason in report.void)


def test_a_control_that_overlaps_the_training_rows_is_noticed_by_rows_and_by_keys(parts):
    train, control, fresh = parts
    mixed = Table.concat([train.take(np.arange(100)), control.take(np.arange(300))])
    report = audited(train, planted.leaky(train, fresh, 0.05, np.random.default_rng(0)), mixed)
    assert any("control rows equal a training row" in reason for reason in report.void)
    assert any("person_id" in reason for reason in report.void)


def test_identifiers_and_parts_of_rows_that_were_published_are_found(parts):
    """Names in the release, and secrets copied beside the quasi columns of others: no comparison of whole rows sees them."""
    train, control, fresh = parts
    named = Table(fresh.schema, {**fresh.arrays, "name": train["name"]}, {**fresh.texts, "name": train.texts["name"]})
    report = ht.audit(train, named, control, only=["identifiers"])
    assert any(f.name == "identifiers published" and f.scope == "name" for f in report.alarms)
    quasi = fresh.schema.quasi
    half = planted.leaky(train, fresh, 0.1, np.random.default_rng(1))
    mixed = half.with_columns(*((fresh.schema[n], fresh[n]) for n in quasi))
    result = ht.audit(train, mixed.select(mixed.schema.released), control, only=["identical-matches"]).alarms
    assert [f.scope for f in result] == ["all but quasi columns"]


def test_levels_that_only_one_side_has_are_known_to_both():
    table = people(200, seed=2).select(["sex", "marital_status"])
    column = table.schema["marital_status"]
    retained = sorted(set(table["marital_status"].tolist()) - {-1})[:2]

    def part(codes):
        levels = tuple(column.levels[c] for c in codes)
        rows = table.take(np.isin(table["marital_status"], codes))
        own = np.searchsorted(codes, rows["marital_status"]).astype(np.int32)
        return rows.with_column(replace(column, domain=Levels(levels, observed=True)), own)

    one, other = part(retained[:1]), part(retained[1:])
    case = Case(one, table, other)
    assert case.train.schema["marital_status"].levels == case.control.schema["marital_status"].levels
    assert set(case.control.strings("marital_status")) == {column.levels[retained[1]]}
    assert jointly(table, table) == (table, table)
