"""Whom any choice of quasi-identifiers singles out, against counting by hand; quick enough to be watched."""

from __future__ import annotations

import resource
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.profile import profile
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NAMES = ("age", "town", "job", "sex", "pay")


def frame(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    known = {name: [f"{name}{v}" for v in rng.integers(0, size, rows)] for name, size in zip(NAMES, (12, 7, 9, 2, 30), strict=True)}
    return pd.DataFrame({**known, "who": [f"p{i}" for i in rng.integers(0, rows // 2, rows)]})


def counted(data: pd.DataFrame, names: list[str], who: str | None) -> set[object]:
    """The people whom some columns single out, by hand."""
    keys = list(zip(*(data[name] for name in names), strict=True)) if names else [()] * len(data)
    people = list(data[who]) if who else list(range(len(data)))
    holders = Counter(key for key, _ in set(zip(keys, people, strict=True)))
    return {person for key, person in zip(keys, people, strict=True) if holders[key] == 1}


@pytest.mark.parametrize("who", [None, "who"])
@pytest.mark.parametrize("quasi", [["age", "town", "sex"], ["age", "job"], ["town"], list(NAMES)])
def test_headline_and_bars_are_what_counting_finds(who, quasi):
    data = frame()
    schema = Schema(
        (
            *(Column(name=n, kind=Kind.CATEGORY, domain=Levels(tuple(sorted(set(data[n]))))) for n in NAMES),
            Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER),
        )
    )
    unique = ht.uniqueness(data, schema, person=who)
    people = data["who"].nunique() if who else len(data)
    head = unique.headline(quasi)
    others = [name for name in NAMES if name not in quasi]
    assert head.quasi == tuple(name for name in NAMES if name in quasi)
    assert (head.rows, head.people) == (len(data), people)
    assert head.alone == len(counted(data, quasi, who)) / people
    assert head.others_alone == len(counted(data, others, who)) / people
    for half, all_of in ((head.half, head.alone), (head.others_half, head.others_alone)):
        for one in half.sets:
            assert one.share == len(counted(data, list(one.columns), who)) / people
            assert one.share >= all_of / 2
    bars = {bar.name: bar for bar in unique.bars(quasi)}
    assert set(bars) == {*NAMES, "who"}
    assert bars["who"].adds is None
    for name in NAMES:
        with_, without = ({*quasi, name}, {*quasi} - {name})
        added = len(counted(data, sorted(with_), who)) - len(counted(data, sorted(without), who))
        assert bars[name].adds == pytest.approx(added / people)
        assert bars[name].alone == len(counted(data, [name], who)) / people


def test_bars_know_what_a_profile_knows():
    data = frame().assign(region=lambda d: d["town"].str[-1].map(lambda v: f"r{int(v) // 3}"))
    table = ht.read(data)
    found = {column.name: column for column in profile(table).columns}
    for bar in ht.uniqueness(table).bars():
        assert bar.follows == found[bar.name].follows
        assert bar.alone == found[bar.name].alone
    assert any(f.source == "town" for f in found["region"].follows)


def test_plain_columns_that_single_people_out_are_named():
    table = ht.read(frame().assign(pay_day=np.round(np.random.default_rng(1).normal(50, 9, 400), 4))[["age", "sex", "pay_day"]])
    head = ht.uniqueness(table).headline(["age"])
    assert head.near_keys == ("pay_day",)
    assert head.others_half.sets[0].columns == ("pay_day",)
    assert ht.uniqueness(table).headline([]).alone == 0


def test_a_column_that_never_leaves_is_no_quasi_identifier():
    with pytest.raises(InputError, match="'agge' is no column that would be released \\(did you mean 'age'"):
        ht.uniqueness(frame()).headline(["agge"])


def test_without_rows_nobody_is_unique():
    table = Table.empty(ht.read(frame(30)).schema)
    head = ht.uniqueness(table).headline()
    assert (head.alone, head.others_alone, head.near_keys) == (0, 0, ())
    assert {bar.alone for bar in ht.uniqueness(table).bars()} == {0}


def test_another_choice_is_answered_at_once_and_bars_arrive_one_by_one():
    rng = np.random.default_rng(0)
    columns = tuple(
        Column(name=f"x{i}", kind=Kind.CATEGORY, domain=Levels(tuple(f"v{j}" for j in range(2 + i % 12)))) for i in range(42)
    )
    arrays = {c.name: rng.integers(0, len(c.levels), 100_000).astype(c.dtype) for c in columns}
    unique = ht.uniqueness(Table(Schema(columns), arrays))
    unique.headline(["x1"])
    start = seconds()
    unique.headline([f"x{i}" for i in range(12)])
    assert seconds() - start < 1.0
    start = seconds()
    bars = unique.bars([f"x{i}" for i in range(12)])
    next(bars)
    first = seconds() - start
    assert len(list(bars)) == 41
    assert seconds() - start < 5.0
    assert first < (seconds() - start) / 2


def test_of_very_many_columns_a_part_is_searched_and_nothing_is_proven():
    rng = np.random.default_rng(0)
    columns = tuple(Column(name=f"x{i}", kind=Kind.CATEGORY, domain=Levels(tuple("abcd"))) for i in range(1_500))
    arrays = {c.name: rng.integers(0, 2 + (i % 3), 1_000).astype(c.dtype) for i, c in enumerate(columns)}
    unique = ht.uniqueness(Table(Schema(columns), arrays))
    start = seconds()
    head = unique.headline(["x1", "x2", "x5"])
    assert seconds() - start < 2.0
    assert head.others_alone == 1.0
    assert not head.others_half.proven
    assert head.others_half.sets[0].share >= 0.5


def seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
