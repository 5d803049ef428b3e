"""The k-marginal score by brute force: every margin by a dictionary, and the ceiling by bootstraps that are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures.grid import on_public_grid
from hushtable.measures.kmarginal import KMarginal
from hushtable.measures.small_margins import _expected
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.awkward import findings_of, shuffled

BINS = 6


def brute(case: Case, columns: tuple[str, ...], inside: dict[str, np.ndarray] | None = None) -> float:
    """1,000 (1 - mean total variation), half of pairs and half of triples, counted row by row."""
    codes = on_public_grid(case, BINS).codes
    means = []
    for size in (2, 3):
        apart = []
        for margin in combinations(columns, size):
            shares = []
            for which in ("train", "release"):
                rows = list(zip(*(codes[which][name].tolist() for name in margin), strict=True))
                if inside is not None:
                    rows = [row for row, kept in zip(rows, inside[which], strict=True) if kept]
                shares.append({cell: n / len(rows) for cell, n in Counter(rows).items()})
            one, two = shares
            apart.append(sum(abs(one.get(cell, 0) - two.get(cell, 0)) for cell in one.keys() | two.keys()) / 2)
        means.append(np.mean(apart))
    return float(1000 * (1 - np.mean(means)))


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(example(400, 1), shuffled(example(300, 2)), example(250, 3))


def test_the_score_is_that_of_all_margins_counted_one_by_one(case):
    finding = findings_of(KMarginal(bins=BINS), case)["k-marginal", ""]
    count = len(case.columns)
    assert finding.n == count * (count - 1) / 2 + count * (count - 1) * (count - 2) / 6
    assert finding.value == pytest.approx(brute(case, case.columns))
    parts = [finding.detail["pairs"], finding.detail["triples"]]
    assert finding.value == pytest.approx(np.mean(parts))
    assert parts[1] < parts[0]


def test_the_score_of_a_group_is_that_of_its_rows_alone(case):
    findings = findings_of(KMarginal(bins=BINS, by="town", least=5), case)
    scores = {f.scope: f for (name, _), f in findings.items() if name == "k-marginal of a group" and f.scope}
    columns = tuple(name for name in case.columns if name != "town")
    assert len(scores) >= 3
    for scope, finding in scores.items():
        level = list(case.train.words("town")).index(scope.removeprefix("town = "))
        inside = {which: table["town"] == level for which, table in case.tables.items()}
        assert finding.value == pytest.approx(brute(case, columns, inside))
        assert finding.n == inside["train"].sum()


def test_margins_of_more_cells_than_rows_are_counted_alike(case):
    few = Case(*(table.take(np.arange(12)) for table in case.tables.values()))
    finding = findings_of(KMarginal(bins=BINS), few)["k-marginal", ""]
    assert finding.value == pytest.approx(brute(few, few.columns))
    assert finding.low < finding.value < finding.high


@pytest.mark.parametrize("rows", [60, 400, 900])
def test_the_ceiling_is_the_mean_score_of_bootstraps_that_are_drawn(case, rows):
    rng = np.random.default_rng(5)
    train = case.train.take(np.arange(200))
    boots = [Case(train, train.take(rng.integers(0, 200, rows)), case.control) for _ in range(30)]
    findings = [findings_of(KMarginal(bins=BINS, triples=60), boot)["k-marginal", ""] for boot in boots]
    drawn, ceilings = [f.value for f in findings], {round(f.baseline, 6) for f in findings}
    (ceiling,) = ceilings
    error = np.std(drawn, ddof=1) / np.sqrt(len(drawn))
    assert abs(np.mean(drawn) - ceiling) < 4 * error
    # The twin: the ceiling of as many rows as the training table has, whatever the release has.
    twin = findings_of(KMarginal(bins=BINS, triples=60), Case(train, train, case.control))["k-marginal", ""].baseline
    assert abs(np.mean(drawn) - twin) > 8 * error


def test_the_expected_deviation_is_that_of_the_binomial_law():
    offsets, table = _expected(np.array([7.0, 1.0, 12.0]), np.array([5.0, 3.0, 40.0]))
    rng = np.random.default_rng(2)
    for start, total, n in zip(offsets, (7, 1, 12), (5, 3, 40), strict=True):
        for count in range(total + 1):
            p = count / total
            drawn = np.abs(rng.binomial(n, p, 40_000) / n - p)
            assert table[start + count] == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 200 + 1e-12)


def test_half_the_score_is_that_of_three_columns_that_two_do_not_show():
    """The parity of two columns as the third: every pair is alike, the triple is not."""
    rng = np.random.default_rng(0)
    names, column = ("a", "b", "c"), example(8, 1).schema["sick"]

    def table(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Table:
        schema = Schema(tuple(replace(column, name=name) for name in names))
        return Table(schema, {name: values.astype(np.int32) for name, values in zip(names, (a, b, c), strict=True)})

    train, (a, b, _), control = rng.integers(0, 2, (3, 3, 4000))
    finding = findings_of(KMarginal(), Case(table(*train), table(a, b, a ^ b), table(*control)))["k-marginal", ""]
    assert finding.detail["pairs"] > 970
    assert finding.detail["triples"] == pytest.approx(500, abs=20)
