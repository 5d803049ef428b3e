"""Linkability: the splits, the sets of neighbours, and the chance that two random sets meet."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from hushtable.audits.linkability import Linkability, meeting_chance
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.columns import Role
from hushtable.table.table import Table


@pytest.fixture
def case() -> Case:
    return Case(example(60, 0), example(50, 1), example(40, 2))


def run(case: Case, **knobs):
    return Linkability(**knobs).run(case, np.random.default_rng(0))


@pytest.mark.parametrize(("k", "rows"), [(1, 2), (1, 7), (2, 7), (3, 7), (4, 7), (3, 6), (7, 7)])
def test_the_chance_of_meeting_is_that_of_all_pairs_of_sets(k, rows):
    sets = [set(s) for s in combinations(range(rows), k)]
    met = np.mean([bool(one & other) for one in sets for other in sets])
    assert meeting_chance(k, rows) == pytest.approx(met, abs=1e-12)


def test_a_huge_release_has_a_tiny_chance_and_not_none():
    assert meeting_chance(1, 10**9) == pytest.approx(1e-9, rel=1e-6)


def test_splits_are_alternate_halves_quasi_and_random_and_none_twice(case):
    assert [f.scope for f in run(case)] == [
        f"{split}, k={k}" for split in ("alternate", "halves", "random 1") for k in (1, 5, 10)
    ]  # the quasi columns are the first half here
    other = ["sick", "age", "pay", "height", "town", "school", "born"]
    mixed = Case(*(t.select(other) for t in case.tables.values()))
    assert {f.scope for f in run(mixed, neighbours=(1,))} == {f"{s}, k=1" for s in ("alternate", "halves", "quasi", "random 1")}
    two = Case(*(t.select(["age", "town"]) for t in case.tables.values()))
    assert {f.scope for f in run(two, neighbours=(1,))} == {"alternate, k=1"}


def test_random_splits_follow_the_seed(case):
    one, two = (Linkability(random=3).run(case, np.random.default_rng(seed)) for seed in (1, 2))
    assert [f.note for f in one[:6]] == [f.note for f in two[:6]]
    assert [f.note for f in one] != [f.note for f in two]


def test_hits_are_those_of_the_two_searches(case):
    (findings,) = run(case, neighbours=(3,), known=("age+town|pay",))
    assert findings.scope == "age+town|pay, k=3"
    one, other = (case.nearest("train", "release", 3, columns).index for columns in (("age", "town"), ("pay",)))
    both = [set(a) & set(b) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    assert findings.trace.train.tolist() == [bool(b) for b in both]
    for common, row in zip(both, findings.trace.released.tolist(), strict=True):
        assert row in common if common else row == -1
    assert "age, town and pay" in findings.trace.describe(0, True)


def test_fewer_neighbours_are_the_first_of_more(case):
    alone = {f.scope: f.detail["hits"] for k in (1, 5) for f in run(case, neighbours=(k,))}
    together = {f.scope: f.detail["hits"] for f in run(case, neighbours=(5, 1))}
    assert alone == together


def test_of_a_small_release_no_source_names_more_than_half(case):
    small = Case(case.train, case.release.take(np.arange(7)), case.control)
    findings = run(small)
    assert {f.scope.split("k=")[1] for f in findings} == {"1", "3"}
    assert all(f.detail["naive"] < 1 for f in findings)
    two = Case(case.train, case.release.take(np.arange(2)), case.control)
    assert {f.scope.split("k=")[1] for f in run(two)} == {"1"}


def test_one_column_cannot_be_split(case):
    one = Case(*(t.select(["age"]) for t in case.tables.values()))
    (findings,) = run(one)
    assert findings.value is None
    assert "two columns" in findings.note


def test_a_table_without_roles_is_split_too(case):
    def plain(table: Table) -> Table:
        columns = tuple(replace(c, role=Role.PLAIN) for c in table.schema)
        return Table(replace(table.schema, columns=columns), table.arrays)

    assert len(run(Case(*map(plain, case.tables.values())))) == 9


BAD = (
    {"neighbours": ()},
    {"neighbours": (0,)},
    {"random": -1},
    {"known": ("a|b|c",)},
    {"known": ("age|age",)},
    {"known": ("shoe",)},
)


@pytest.mark.parametrize("knobs", BAD)
def test_bad_knobs_are_refused(case, knobs):
    with pytest.raises(InputError):
        run(case, **knobs)
