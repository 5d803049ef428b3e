"""Profiles: what columns single out, by search, against counting every set."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.table import singling
from hushtable.table.profile import amount, decided, profile
from hushtable.table.roles import unique_share
from hushtable.table.singling import Columns, smallest
from tests.survey import survey


def codes(rows: int, sizes: list[int], seed: int) -> ht.Table:
    rng = np.random.default_rng(seed)
    frame = {f"c{i}": [f"v{v}" for v in rng.integers(0, size, rows)] for i, size in enumerate(sizes)}
    return ht.read(pd.DataFrame(frame))


def by_counting(table: ht.Table, names: list[str], share: float) -> tuple[int, float] | None:
    """The size of the smallest set that singles out so many, and the most that a set of that size does."""
    for size in range(1, len(names) + 1):
        best = max(unique_share(table.groups(c)[0]) for c in combinations(names, size))
        if best >= share:
            return size, best
    return None


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_sets_are_those_that_counting_every_set_finds(seed):
    table = codes(300, [2, 3, 5, 7, 11, 13], seed)
    names = list(table.schema.released)
    for one in smallest(Columns(table, names), (0.01, 0.05, 0.2, 0.5, 0.999)):
        counted = by_counting(table, names, one.share)
        assert one.proven
        if counted is None:
            assert not one.sets
        else:
            assert (len(one.sets[0].columns), one.sets[0].share) == pytest.approx(counted)


def test_a_search_without_the_work_for_all_sets_finds_some_and_does_not_call_them_the_smallest(monkeypatch):
    monkeypatch.setattr(singling, "WORK", 50_000)
    table = codes(400, [3, 4, 5, 6, 7, 8, 9], 1)
    found = smallest(Columns(table, table.schema.released), (0.1,))[0]
    assert found.sets[0].share == pytest.approx(unique_share(table.groups(found.sets[0].columns)[0]))
    assert found.sets[0].share >= 0.1
    assert not found.proven


@pytest.mark.parametrize("work", [0, 200_000, 3_000_000])
def test_a_set_that_takes_every_column_is_found_with_any_work(work):
    table = codes(4_000, [2] * 13, 3)
    columns = Columns(table, table.schema.released)
    whole = columns.share(columns.names)
    assert whole > 0
    (found,) = smallest(columns, (whole,), work)
    assert [one.columns for one in found.sets] == [columns.names]


def test_people_are_counted_where_they_hold_several_rows():
    frame = pd.DataFrame({"who": ["a", "a", "b", "b", "c", "c"], "x": list("112234"), "y": list("pppppp")})
    table = ht.read(frame)
    by_rows = Columns(table, ["x"]).share(["x"])
    by_people = Columns(table.held_by("who"), ["x"]).share(["x"])
    # Nobody shares a value with another person, though a and b hold theirs in two rows.
    assert by_rows == pytest.approx(2 / 6)
    assert by_people == pytest.approx(1.0)
    shared = pd.DataFrame({"who": ["a", "a", "b", "b"], "x": list("1212")})
    table = ht.read(shared).held_by("who")
    assert Columns(table, ["x"]).share(["x"]) == 0.0


def test_what_follows_from_what_is_told_from_chance_and_copies_are_called_so():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 90, 2000)
    noisy = np.where(rng.random(2000) < 0.005, 1, age // 30)
    frame = pd.DataFrame({"a": age, "group": age // 10, "near": noisy, "other": rng.integers(0, 5, 2000), "again": 3 * age + 7})
    found = profile(ht.read(frame.astype(str)))
    assert {f.source for f in found["group"].follows} == {"a", "again"}
    assert next(f for f in found["again"].follows if f.source == "a").both
    assert {f.source for f in found["near"].follows} >= {"a"}
    assert next(f.share for f in found["near"].follows if f.source == "a") < 1
    assert not found["other"].follows


def test_a_profile_counts_missing_and_distinct_values_and_shows_no_row():
    table = ht.read(survey(500).assign(SERIAL=[f"Q{i:06d}" for i in range(500)]))
    found = ht.profile(table)
    assert found["PUMA"].distinct == len(set(survey(500)["PUMA"]))
    assert found.people == found.rows == 500
    assert found.aside == ("SERIAL",)
    assert found.to_json()["columns"][0]["name"] == "PUMA"
    assert "for you alone" in repr(found)
    html = found._repr_html_()
    assert "not for publication" in html
    assert "25-00503" not in html
    assert "Q000007" not in html


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (np.arange(3000) % 90, False),
        (1920 + np.arange(3000) % 100, False),
        (np.arange(3000) * 10, True),
        (np.tile([0, 7688, 99999], 1000), True),
        (np.arange(3000) % 300 / 10, True),
        (np.tile([0.5, 1.5, 2.5], 1000), False),
    ],
    ids=["ages", "years", "incomes", "capital gains", "laboratory values", "half points"],
)
def test_amounts_are_numbers_that_hardly_recur(values, holds):
    kind = "real" if values.dtype.kind == "f" else "integer"
    table = ht.read(pd.DataFrame({"x": values}), ht.Schema.parse(f"columns: {{x: {{kind: {kind}}}}}"))
    assert amount(table, table.schema["x"]) is holds


def test_a_wide_and_long_table_is_profiled_in_seconds():
    rng = np.random.default_rng(0)
    frame = {f"c{i}": rng.integers(0, 3 + 2 * i, 30_000) for i in range(30)}
    table = ht.read(pd.DataFrame(frame), ht.Schema.parse("columns: {" + ", ".join(f"{n}: {{kind: integer}}" for n in frame) + "}"))
    before = time.process_time()
    profile(table)
    assert time.process_time() - before < 5


@pytest.mark.parametrize("values", [2, 5, 40])
def test_what_decides_another_column_is_counted_alike_with_few_values_and_with_many(values):
    """Few pairs of values are counted in a table of all, many only where they stand."""
    rng = np.random.default_rng(values)
    source, target = rng.integers(0, values, 120), rng.integers(0, 3, 120)
    beside = [target[source == value] for value in np.unique(source)]
    assert decided(source, target) == sum(np.bincount(some).max() for some in beside) / 120
