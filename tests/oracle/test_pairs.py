"""Matrices of all pairs equal scipy and pandas pair by pair, and one pass over the counts equals a pass for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import pearsonr
from scipy.stats.contingency import association, crosstab

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures.bins import coded
from hushtable.measures.contingency import cramers_v, joint, pairs_of
from hushtable.measures.correlation import correlations, ordered
from hushtable.measures.dependence import LEVELS, Association
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.mixed import mixed


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(example(300, 1), example(250, 2), example(200, 3))


def findings(case: Case) -> dict[str, object]:
    return {f.name: f for f in Association().run(case, np.random.default_rng(0))}


def test_the_one_pass_equals_a_pass_for_each_pair(case):
    cells = coded(case, 10)
    pairs = pairs_of(cells)
    for i, one in enumerate(pairs.columns):
        for j, other in enumerate(pairs.columns[:i]):
            codes = {which: (result[one], result[other]) for which, result in cells.codes.items()}
            counts = {which: crosstab(*result, levels=(range(30), range(30))).count for which, result in codes.items()}
            for which, result in codes.items():
                assert pairs.cramers_v[which][i, j] == pairs.cramers_v[which][j, i] == cramers_v(*result)
            for which in ("release", "control"):
                gap = counts[which] / counts[which].sum() - counts["train"] / counts["train"].sum()
                assert pairs.variation[which][i, j] == pytest.approx(np.abs(gap).sum() / 2)


@pytest.mark.parametrize("seed", range(4))
def test_without_its_correction_cramers_v_is_scipys(seed):
    """With many rows the correction vanishes: the rows are repeated, which leaves the uncorrected V as it is."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.5, one, rng.integers(0, 6, 200))
    theirs = association(crosstab(one, other).count, method="cramer", correction=False)
    assert cramers_v(np.tile(one, 5000), np.tile(other, 5000)) == pytest.approx(theirs, abs=1e-4)
    assert cramers_v(one, other) < theirs


@pytest.mark.parametrize("size", [40, 10**9])
def test_cells_are_counted_alike_in_a_table_and_sorted(size):
    rng = np.random.default_rng(0)
    cells = {"one": rng.integers(0, 40, 60), "other": rng.integers(0, 40, 30), "none": np.zeros(0, np.int64)}
    index, counts = joint(cells, size)
    for which, held in cells.items():
        assert counts[which].tolist() == [int((held == cell).sum()) for cell in index]
    assert index.tolist() == sorted(set(cells["one"]) | set(cells["other"]))


def test_correlations_equal_pandas_and_scipy(case):
    names = ordered(case.train, case.columns)
    assert names == ("age", "height", "school", "born", "pay")
    measured = correlations(case.release, names, case.train)
    held = {name: case.release.floats(name) for name in names if name != "school"}
    held["school"] = np.where(case.release["school"] < 0, np.nan, case.release["school"])
    frame = pd.DataFrame(held)[list(names)]
    assert measured == pytest.approx(frame.corr().to_numpy(), abs=1e-12)
    both = frame[["age", "pay"]].dropna()
    assert measured[0, 4] == pytest.approx(pearsonr(both["age"], both["pay"]).statistic)


@settings(max_examples=25)
@given(mixed())
def test_correlations_of_any_table_equal_pandas(table):
    names = ordered(table, table.schema.names)
    values = {n: table.floats(n) if table.schema[n].numeric else np.where(table[n] < 0, np.nan, table[n]) for n in names}
    theirs = pd.DataFrame(values).corr().to_numpy()
    ours = correlations(table, names, table)
    # Where a spread is nothing but rounding, pandas tells noise and we tell nothing.
    reported = ~np.isnan(ours)
    assert ours[reported] == pytest.approx(theirs[reported], abs=1e-6)
    spread = pd.DataFrame(values).std().to_numpy() > 1e-4 * np.maximum(1.0, pd.DataFrame(values).abs().max().to_numpy())
    full = [not table.missing(n).any() for n in names]
    assert reported[np.ix_(spread & full, spread & full)].all()


def test_correlations_far_from_zero_and_of_huge_numbers_keep_their_digits():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 500))
    columns = [Column(name=n, kind=Kind.REAL, domain=Bounds(-1e301, 1e301)) for n in ("far", "huge", "near")]
    table = Table(Schema(tuple(columns)), {"far": 1e9 + x, "huge": 1e300 * (x + y) / 10, "near": x + y})
    measured = correlations(table, table.schema.names, table)
    assert measured[1, 2] == pytest.approx(1.0)
    assert measured[0, 2] == pytest.approx(np.corrcoef(x, x + y)[0, 1], abs=1e-6)


def test_levels_kept_are_counted_by_the_letter(case):
    results = findings(case)
    strengths = results["association difference"].detail

    def level(v: float) -> str:
        return [name for name, start in LEVELS.items() if v >= start][-1]

    upper = list(zip(*np.triu_indices(len(strengths["columns"]), 1), strict=True))
    levels = [(level(strengths["train"][i][j]), level(strengths["release"][i][j])) for i, j in upper]
    finding = results["association levels kept"]
    assert finding.value == pytest.approx(np.mean([one == other for one, other in levels]))
    counts = finding.detail["counts"]
    for i, one in enumerate(finding.detail["levels"]):
        for j, other in enumerate(finding.detail["levels"]):
            assert counts[i][j] == levels.count((one, other))
    assert 0 < finding.value < 1


def test_ordinals_are_placed_by_the_training_rows_levels(case):
    column = case.release.schema["school"]
    swapped = replace(column, domain=replace(column.domain, levels=("high", "middle", "low")))
    codes = case.release["school"]
    recoded = case.release.with_column(swapped, np.where(codes < 0, -1, 2 - codes).astype(np.int32))
    one, other = (correlations(t, ("age", "school"), case.train) for t in (case.release, recoded))
    assert one == pytest.approx(other)
