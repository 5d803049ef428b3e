"""Utility numbers equal the reference implementations', and move the right way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp, wasserstein_distance

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.reading import ordinary
from hushtable.measures.bins import binned
from hushtable.measures.contingency import cramers_v
from hushtable.measures.dependence import Association
from hushtable.measures.divergence import transported
from hushtable.measures.margins import MarginDistances
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Levels
from hushtable.table.table import Table


@pytest.fixture
def case() -> Case:
    return Case(example(300, 1), example(250, 2), example(200, 3))


def findings_of(audit, case) -> dict[tuple[str, str], object]:
    return {(f.name, f.scope): f for f in audit.run(case, np.random.default_rng(0))}


@pytest.mark.parametrize("seed", range(5))
def test_ks_and_wasserstein_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    one, other = np.round(rng.normal(size=80), 1), np.round(rng.normal(0.3, 2, size=130), 1)
    ks, moved = transported(np.sort(one), np.sort(other))
    assert ks == pytest.approx(ks_2samp(one, other).statistic)
    assert moved == pytest.approx(wasserstein_distance(one, other))


def test_findings_of_margins_equal_scipy(case):
    findings = findings_of(MarginDistances(), case)
    one, other = case.release.floats("age"), case.train.floats("age")
    assert findings["KS", "age"].value == pytest.approx(ks_2samp(one, other).statistic)
    assert findings["Wasserstein", "age"].value == pytest.approx(wasserstein_distance(one, other) / 99)
    towns = [np.bincount(t["town"] + 1, minlength=5) / t.rows for t in (case.release, case.train)]
    assert findings["TVD", "town"].value == pytest.approx(np.abs(towns[0] - towns[1]).sum() / 2)
    assert ("KS", "town") not in findings
    assert findings["mean TVD", ""].n == len(case.columns)


def test_missing_values_are_a_level_of_their_own(case):
    blank = case.release.with_column(case.release.schema["school"], np.full(case.release.rows, -1, np.int32))
    findings = findings_of(MarginDistances(), Case(case.train, blank, case.control))
    present = float((case.train["school"] >= 0).mean())
    assert findings["TVD", "school"].value == pytest.approx(present)
    assert findings["KS", "school"].value is None


def test_a_spike_has_a_bin_of_its_own():
    values = np.array([0] * 95 + [5, 9, 20, 40, 99])
    table = example(100).with_column(example(100).schema["age"], values)
    cut = binned(table, "age", 20)
    assert cut.mass(table)[0] == pytest.approx(0.95)
    shifted = table.with_column(table.schema["age"], np.where(np.arange(100) < 50, 0, 99))
    assert np.abs(cut.mass(shifted) - cut.mass(table)).sum() > 0


@pytest.mark.parametrize("seed", range(4))
def test_cramers_v_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.5, one, rng.integers(0, 6, 200))
    counts = np.zeros((4, 6))
    np.add.at(counts, (one, other), 1)
    phi = chi2_contingency(counts, correction=False).statistic / 200
    phi = max(0, phi - 3 * 5 / 199)
    expected = np.sqrt(phi / min(4 - 9 / 199 - 1, 6 - 25 / 199 - 1))
    assert cramers_v(one, other) == pytest.approx(expected)


def test_cramers_v_at_its_ends():
    codes = np.arange(300) % 3
    assert cramers_v(codes, codes) == pytest.approx(1.0, abs=0.01)
    assert cramers_v(codes, np.repeat([0, 1], 150)) < 0.1
    assert np.isnan(cramers_v(codes, np.zeros(300, np.int64)))


def test_breaking_the_pairs_raises_the_association_difference(case):
    rng = np.random.default_rng(0)
    same = Case(case.train, case.train.take(rng.permutation(300)), case.control)
    broken = case.train
    for name in broken.schema.names:
        broken = broken.with_column(broken.schema[name], broken[name][rng.permutation(300)])
    close, far = (
        findings_of(Association(), c)["association difference", ""].value for c in (same, Case(case.train, broken, case.control))
    )
    assert close == pytest.approx(0.0)
    assert far > 0.02


def generalized(table: Table) -> Table:
    age, town = table.schema["age"], table.schema["town"]
    table = table.with_column(
        age.generalize((age.interval_cell(Interval(20, 39)), ANYTHING)), np.arange(table.rows, dtype=np.int32) % 2
    )
    return table.with_column(
        town.generalize((town.set_cell(frozenset({"north", "east"})),)),
        np.zeros(table.rows, np.int32) - (np.arange(table.rows) % 5 == 0),
    )


def test_a_generalized_cell_is_read_as_a_value_drawn_from_it():
    table = ordinary(generalized(example(4000)), np.random.default_rng(0))
    ages = table.floats("age")
    assert set(ages[::2]) == set(range(20, 40))
    assert {0, 99} <= set(ages[1::2])
    towns = [w for w in table.strings("town") if w is not None]
    assert set(towns) == {"north", "east"}
    assert np.mean([w == "north" for w in towns]) == pytest.approx(0.5, abs=0.05)
    assert table.missing("town").mean() == pytest.approx(0.2, abs=0.01)


def test_utility_works_on_generalized_releases(case):
    for audit in (MarginDistances(), Association()):
        findings = audit.run(Case(case.train, generalized(case.release), case.control), np.random.default_rng(0))
        assert findings[0].value is not None


def test_levels_are_compared_by_name_where_the_release_codes_them_otherwise(case):
    rows = np.flatnonzero(case.release["school"] > 0)
    release = case.release.take(rows)
    column = release.schema["school"]
    recoded = release.with_column(replace(column, domain=Levels(column.levels[1:])), np.maximum(release["school"] - 1, -1))
    one, other = (findings_of(MarginDistances(), Case(case.train, r, case.control)) for r in (release, recoded))
    for metric in ("TVD", "KS", "Wasserstein"):
        assert other[metric, "school"].value == pytest.approx(one[metric, "school"].value)


def test_a_level_that_the_training_rows_have_not_is_not_a_missing_value(case):
    column = case.release.schema["school"]
    strange = case.release.with_column(replace(column, domain=Levels(("unheard of",))), np.zeros(case.release.rows, np.int32))
    blank = case.train.with_column(column, np.full(case.train.rows, -1, np.int32))
    finding = findings_of(MarginDistances(), Case(blank, strange, case.control))["TVD", "school"]
    assert finding.value == 1.0
    assert finding.detail["labels"][-2:] == ["other levels", "missing"]


def test_cramers_v_of_many_levels_needs_no_table_of_all_pairs():
    one = np.arange(60_000) // 2
    assert cramers_v(one, one[::-1].copy()) == pytest.approx(1.0)
