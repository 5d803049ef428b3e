"""Hierarchies built one by one: each against what it should group, counted by hand."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.table import builders
from hushtable.table.builders import Group
from hushtable.table.columns import Bounds, Column, Facet, Kind, Levels, Role
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree, PrefixTree, read_file
from hushtable.table.schema import Schema
from hushtable.table.table import Table

TOWNS = ("Bern", "Bonn", "Kiel", "Köln", "Wien", "Graz")
GRADES = ("a", "b", "c", "d", "e")


def table(rows: int = 300) -> Table:
    rng = np.random.default_rng(3)
    columns = (
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99)),
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(TOWNS)),
        Column(name="grade", kind=Kind.ORDINAL, role=Role.QUASI, domain=Levels(GRADES)),
        Column(name="day", kind=Kind.DATE, role=Role.QUASI, domain=Bounds(0, 86_400 * 4_000)),
        Column(name="zip", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("73111", "73112", "73211", "80001"))),
        Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER),
    )
    arrays = {
        "age": rng.integers(0, 100, rows),
        "town": rng.choice(6, rows, p=[0.5, 0.4, 0.05, 0.03, 0.015, 0.005]).astype(np.int32),
        "grade": rng.choice(5, rows, p=[0.02, 0.4, 0.5, 0.05, 0.03]).astype(np.int32),
        "day": rng.integers(0, 4_000, rows) * 86_400,
        "zip": rng.integers(0, 4, rows).astype(np.int32),
        "who": (np.arange(rows) // 3).astype(np.int32),
    }
    arrays["town"][:7] = -1
    words = np.array([f"p{i}" for i in range(rows)], object)
    return Table(Schema(columns), arrays, {"who": words})


def test_an_age_is_suggested_in_bands_and_every_band_is_counted():
    found = ht.hierarchy(table(), "age", {"intervals": []})
    assert found.column.hierarchy == IntervalTree((5, 10, 20))
    assert found.sizes == (len(set(table()["age"].tolist())), 20, 10, 5, 1)
    assert [group.label for group in found.levels[2]] == [f"[{10 * i}, {10 * i + 9}]" for i in range(10)]
    counted = Counter((table()["age"] // 10).tolist())
    assert [group.people for group in found.levels[2]] == [counted[i] if counted[i] >= 5 else None for i in range(10)]
    assert found.levels[-1] == (Group("*", 300),)
    assert ht.hierarchy(table(), "age", {"intervals": [7, 14]}).column.hierarchy == IntervalTree((7, 14))
    with pytest.raises(InputError, match="would not nest"):
        ht.hierarchy(table(), "age", {"intervals": [5, 7]})


def test_groups_of_fewer_than_five_people_are_not_counted():
    found = ht.hierarchy(table(), "town")
    counts = Counter(table()["town"].tolist())
    assert [group.people for group in found.levels[0]] == [
        counts[i] if counts[i] == 0 or counts[i] >= 5 else None for i in range(6)
    ]
    assert any(group.people is None for group in found.levels[0])
    assert found.missing == 7
    assert sum(group.people for group in found.levels[-1]) == 300


def test_people_who_hold_several_rows_are_counted_once():
    found = ht.hierarchy(table(), "grade", person="who")
    own = table()
    pairs = {(int(code), int(who)) for code, who in zip(own["grade"], own["who"], strict=True)}
    counts = Counter(code for code, _ in pairs)
    assert [group.people for group in found.levels[0]] == [counts[i] if counts[i] >= 5 else None for i in range(5)]
    assert found.levels[-1][0].people == 100


def test_prefixes_and_calendars():
    found = ht.hierarchy(table(), "zip", {"prefix": [3, 1]})
    assert found.column.hierarchy == PrefixTree((3, 1))
    assert [group.label for group in found.levels[1]] == ["731*", "732*", "800*"]
    assert ht.hierarchy(table(), "zip", {"prefix": []}).column.hierarchy == PrefixTree((4, 3, 2, 1))
    found = ht.hierarchy(table(), "day", {"dates": ["year", "decade"]})
    assert found.column.hierarchy == DateTree(("year", "decade"))
    assert ht.hierarchy(table(), "day", {"dates": []}).column.hierarchy == DateTree(builders.UNITS)
    with pytest.raises(InputError, match="do not nest"):
        ht.hierarchy(table(), "day", {"dates": ["week", "month"]})


def test_groups_by_hand_name_what_has_no_group():
    levels = [{"CH": ["Bern"], "DE": ["Bonn", "Kiel", "Köln"]}, {"far": ["CH"]}]
    found = ht.hierarchy(table(), "town", {"groups": levels})
    assert found.orphans == ("Wien", "Graz")
    assert found.faults
    assert [group.label for group in found.levels[1]] == ["CH", "DE"]
    assert [group.label for group in found.levels[2]] == ["far", "DE"]
    whole = ht.hierarchy(table(), "town", {"groups": {**levels[0], "AT": ["Wien", "Graz"]}})
    assert not whole.orphans
    counts = Counter(table()["town"].tolist())
    assert whole.levels[1][1].people == sum(counts[i] for i in (1, 2, 3))
    with pytest.raises(InputError) as refused:
        ht.hierarchy(table(), "town", {"groups": {"CH": ["Bern", "Basel"], "DE": ["Bern"]}})
    assert "'Basel' is no value" in str(refused.value)
    assert "'Bern' lies in both 'CH' and 'DE'" in str(refused.value)


def test_rare_values_go_together_and_the_column_says_that_the_rows_decided():
    found = ht.hierarchy(table(), "town", {"frequency": 20})
    assert Facet.HIERARCHY in found.column.drafted
    first = {group.label: group.people for group in found.levels[1]}
    assert set(first) == {"Bern", "Bonn", "other"}
    assert all(people >= 20 for people in first.values())
    ordered = ht.hierarchy(table(), "grade", {"frequency": 20})
    assert ordered.levels[1][0].label == "a to b"
    assert all(group.people >= 20 for group in ordered.levels[1])
    assert ht.hierarchy(table(), "town", {"frequency": 10_000}).sizes[1] == 1
    with pytest.raises(InputError, match="values of a list"):
        ht.hierarchy(table(), "age", {"frequency": 20})


@pytest.mark.parametrize(
    "spec", [{"frequency": 20}, {"groups": {"west": ["Bern", "Bonn", "Kiel", "Köln"], "east": ["Wien", "Graz"]}}]
)
def test_what_was_built_is_written_read_back_and_released(tmp_path, spec):
    found = ht.hierarchy(table(), "town", spec)
    tree = found.column.hierarchy
    assert isinstance(tree, FileTree)
    builders.write_tree(tree, tmp_path / "town.csv")
    assert read_file("town.csv", tmp_path).rows == tree.rows
    again = ht.hierarchy(table(), "town", tmp_path / "town.csv")
    assert again.levels == found.levels
    rows = table().select(["age", "town"])
    rows = rows.under(rows.schema.with_columns(replace(found.column, drafted=frozenset())))
    released = ht.release(rows, "k-anonymity", k=3, levels="age=4,town=1", limit=1.0, seed=1, allow_copies="a test")
    assert set(released.table.strings("town")) - {None} <= {group.label for group in found.levels[1]}


def test_what_is_no_hierarchy_is_refused():
    for name, spec, reason in (
        ("town", {"intervals": [5]}, "of numbers"),
        ("age", {"prefix": [1]}, "of codes"),
        ("age", {"dates": ["year"]}, "of dates"),
        ("age", {"runs": 2}, "expected one of"),
        ("who", None, "only values"),
    ):
        with pytest.raises(InputError, match=reason):
            ht.hierarchy(table(), name, spec)


def test_a_preview_is_plain_values():
    plain = json.loads(json.dumps(ht.hierarchy(table(), "town", {"groups": {"CH": ["Bern"]}}).to_json()))
    assert plain["orphans"] == list(TOWNS[1:])
    assert plain["levels"][0][0] == {"label": "Bern", "people": Counter(table()["town"].tolist())[0]}
