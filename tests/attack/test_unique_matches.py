"""Unique exact and apparent matches: a planted leak is found and sized, an independent sample ties, whatever the sizes are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.audits.unique_matches import APPARENT, EXACT, REAL, UniqueMatches
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import Tone, verdict
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Cells, Role
from hushtable.table.table import Table

N = 2000


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(4 * N, seed=5)
    return table.select(table.schema.released)


def parts(population: Table, control: int = N) -> tuple[Table, Table, Table]:
    """Training rows, fresh rows for a release, and control rows."""
    return tuple(population.take(np.arange(i * N, i * N + size)) for i, size in ((0, N), (1, N), (2, control)))


def findings(case: Case) -> dict[str, Finding]:
    return {f.name: f for f in UniqueMatches().run(case, np.random.default_rng(0))}


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("control", [N, N // 8])
def test_a_planted_leak_is_found_and_sized(population, share, control):
    train, fresh, others = parts(population, control)
    leaked = round(share * N)
    release = Table.concat([train.take(np.arange(leaked)), fresh.take(np.arange(N - leaked))])
    results = findings(Case(train, release, others))
    assert results[EXACT].value == pytest.approx(share, abs=0.01)
    assert results[EXACT].low > results[EXACT].baseline_bad or (share == 0.02 and control < N)
    assert results[EXACT].detail["matches"] == round(results[EXACT].value * N)
    # Most of those who seem to be found really are.
    assert results[REAL].value > 0.5
    assert results[REAL].detail["agreeing"] >= results[REAL].value
    if results[REAL].baseline is not None:
        assert results[REAL].detail["agreeing"] > results[REAL].detail["agreeing_control"]
    if share >= 0.1:
        assert verdict(results[EXACT]).tone is verdict(results[APPARENT]).tone is Tone.ALARM


@pytest.mark.parametrize("control", [N, N // 8])
def test_an_independent_sample_ties(population, control):
    narrow = population.select(["sex", "education", "household_size", "smoker", "systolic_bp"])
    loud = 0
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(narrow.rows)
        train, fresh, others = (narrow.take(part) for part in np.split(order[: 2 * N + control], [N, 2 * N]))
        quasi = tuple(replace(c, role=Role.PLAIN if c.name == "smoker" else Role.QUASI) for c in narrow.schema)
        tables = [Table(replace(t.schema, columns=quasi), {c.name: t[c.name] for c in quasi}) for t in (train, fresh, others)]
        results = findings(Case(*tables))
        # Chance repeats rows of so few columns, of people in the table and outside alike.
        assert results[EXACT].value > 0.02
        assert results[APPARENT].value > 0.02
        loud += sum(verdict(finding).tone is Tone.ALARM for finding in results.values())
    # Two disjoint intervals of 95 % are seen by chance in fewer than one of a hundred findings.
    assert loud <= 1


def test_a_baseline_of_those_who_are_unique_among_themselves_would_excuse_a_leak(population):
    """The broken twin: the fewer control rows there are, the more of them are unique among themselves."""
    narrow = population.select(["sex", "education", "household_size", "smoker", "systolic_bp"])
    train, fresh, control = parts(narrow, N // 8)
    result = findings(Case(train, fresh, control))[EXACT]
    released = set(zip(*(fresh.strings(name) for name in narrow.schema.names), strict=True))
    rows = list(zip(*(control.strings(name) for name in narrow.schema.names), strict=True))
    alone = [row for row, count in Counter(rows).items() if count == 1]
    twin = sum(row in released for row in alone) / len(rows)
    assert result.baseline == pytest.approx(result.value, abs=0.06)
    assert twin > 2 * result.value


def test_a_secret_copied_beside_the_quasi_identifiers_of_somebody_else_is_an_apparent_match_that_is_not_real(population):
    train, fresh, control = parts(population)
    quasi = [c.name for c in train.schema if c.role is Role.QUASI]
    mixed = fresh.with_columns(*((train.schema[name], train[name]) for name in quasi))
    results = findings(Case(train, mixed, control))
    assert results[APPARENT].value > 0.5
    assert verdict(results[APPARENT]).tone is Tone.ALARM
    assert results[REAL].value == 0
    assert results[EXACT].value == 0
    assert sum(results[REAL].detail["tenths"]) == results[REAL].detail["matches"] == results[APPARENT].detail["matches"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(2, 12), st.integers(2, 12))
def test_matches_by_brute_force(seed, n, m, rows):
    everyone = example(n + m + rows, seed).select(["school", "town", "age", "sick"])
    pick = np.random.default_rng(seed).integers(0, everyone.rows, everyone.rows)
    train, control, release = (everyone.take(part) for part in np.split(pick, [n, n + m]))
    texts = {w: list(zip(*(t.strings(c) for c in t.schema.names), strict=True)) for w, t in
             (("train", train), ("control", control), ("release", release))}  # fmt: skip
    if sorted(map(str, texts["train"])) == sorted(map(str, texts["control"])):
        return
    results = findings(Case(train, release, control))
    counts = {w: Counter(own) for w, own in texts.items()}
    exact = sum(counts["train"][row] == 1 and row in counts["release"] for row in texts["train"])
    base = sum(row not in counts["train"] and row in counts["release"] for row in texts["control"])
    assert results[EXACT].detail["matches"] == exact
    assert results[EXACT].baseline == pytest.approx(base / m)
    keys = {w: Counter(row[:3] for row in own) for w, own in texts.items()}
    apparent = [row for row in texts["train"] if keys["train"][row[:3]] == 1 and keys["release"][row[:3]] == 1]
    real = sum(row in counts["release"] for row in apparent)
    assert results[APPARENT].detail["matches"] == len(apparent)
    assert (results[REAL].value or 0) == pytest.approx(real / len(apparent) if apparent else 0)


def test_rows_of_one_person_count_once():
    train, control = example(200, 1), example(200, 2)
    twice = Table.concat([train, train])
    held, others = (replace(t, persons=np.arange(t.rows) % 200) for t in (twice, control))
    results = findings(Case(held, train, others))
    assert results[EXACT].value == 1.0
    assert results[EXACT].detail["matches"] == 200
    # Without persons nobody's row is unique: everybody has two.
    assert findings(Case(twice, train, control))[EXACT].value == 0


def test_what_cannot_be_asked_is_said():
    tables = [example(60, i) for i in range(3)]
    plain = [
        Table(
            replace(t.schema, columns=tuple(replace(c, role=Role.PLAIN) for c in t.schema)), {c.name: t[c.name] for c in t.schema}
        )
        for t in tables
    ]
    results = findings(Case(*plain))
    assert results[APPARENT].value is results[REAL].value is None
    assert "quasi-identifiers" in results[APPARENT].note
    only = findings(Case(*(t.select(["age", "height", "town"]) for t in tables)))
    assert only[REAL].value is None
    assert len(only[REAL].note) > 20


def test_a_cell_of_several_values_matches_nobody():
    train, control = example(300, 1), example(300, 2)
    age = train.schema["age"]
    cells = tuple(Cell(f"{low}-{low + 9}", Interval(low, low + 9)) for low in range(0, 100, 10))
    wide = train.with_column(replace(age, domain=Cells(cells, age.domain)), (train["age"] // 10).astype(np.int32))
    results = findings(Case(train, wide, control))
    assert results[EXACT].value == results[APPARENT].value == 0
