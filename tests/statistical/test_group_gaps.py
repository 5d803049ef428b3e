"""Fresh rows have no excess over the control in any group, whatever the sizes of tables; the interval of the gap covers none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.bins import coded
from hushtable.measures.groups import Measured
from hushtable.measures.jackknife import jackknife
from hushtable.measures.partition import BINS, Bars, Draw, distances, partitions
from hushtable.table.table import Table
from tests.unit.measures.test_groups import towns


def drawn(rows: int, seed: int) -> Table:
    return towns(rows, seed).select(["town", "height", "pay", "trade"])


def case(seed: int, sizes: tuple[int, int, int]) -> Case:
    return Case(*(drawn(rows, 10 * seed + i) for i, rows in enumerate(sizes)))


def z(values: list[float]) -> float:
    return float(np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values))))


@pytest.mark.parametrize("sizes", [(600, 600, 200), (600, 200, 600)])
def test_fresh_rows_have_no_excess(sizes):
    fair, naive = [], []
    for seed in range(24):
        own = case(seed, sizes)
        result = partitions(own, 30, 5)
        fair.append(float(Measured.of(own, result, np.random.default_rng(seed)).excess.mean()))
        # All rows of the one beside all rows of the other: what has more rows looks better.
        draw = Draw.of(own, 1, np.random.default_rng(seed))
        draw = replace(draw, parts={which: [np.arange(table.rows)] for which, table in own.tables.items()})
        columns = {name: Bars.of(coded(own, BINS), name) for name in own.columns}
        apart = [distances(partition, columns, draw) for partition in result]
        naive.append(float(np.mean(np.concatenate([part["release"][0] - part["control"][0] for part in apart]))))
    assert abs(z(fair)) < 4
    assert abs(z(naive)) > 8


@pytest.mark.nightly
def test_the_interval_covers_a_gap_of_nothing_and_one_of_a_quarter_of_its_width_does_not():
    covered = narrow = 0
    for seed in range(100):
        own = case(seed, (900, 900, 450))
        gap = Measured.of(own, partitions(own, 30, 5), np.random.default_rng(seed)).gap()
        covered += gap.low <= 0 <= gap.high
        narrow += abs(gap.value) <= (gap.high - gap.low) / 8
    assert covered >= 92
    assert narrow < 80


def test_the_jackknife_of_a_mean_is_that_of_its_standard_error():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=2000)
    lots = np.arange(2000) % 20
    values = np.array([sample.mean(), *(sample[lots != lot].mean() for lot in range(20))])
    assert jackknife(values) == pytest.approx(2.093 * sample.std() / np.sqrt(2000), rel=0.35)
