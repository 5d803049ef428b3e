"""What a margin shows of the training rows: shares of groups, nobody's own value; and all of it can be drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.measures.bins import binned
from hushtable.measures.margins import MarginDistances
from hushtable.measures.safe_histogram import FEW, safe_histogram
from hushtable.report.charts import folding
from hushtable.table.columns import DAY, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS = 400


def single(column: Column, values: np.ndarray) -> Table:
    return Table(Schema((column,)), {column.name: values})


def numbers(values: np.ndarray, **column) -> Table:
    bounds = Bounds(np.nanmin(values).item(), np.nanmax(values).item(), observed=True)
    return single(Column(name="x", domain=bounds, **column), values)


def drawn(train: Table, release: Table | None = None) -> dict[str, list]:
    return distance(train, release or train).detail


def distance(train: Table, release: Table) -> Finding:
    case = Case(train, release, train.take(np.arange(train.rows // 2)))
    (finding,) = [f for f in MarginDistances().run(case, np.random.default_rng(0)) if f.name == "TVD"]
    return finding


def limits(detail: dict[str, list]) -> set[float]:
    return {float(x) for label in detail["labels"][:-1] for x in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", label)}


TABLES = {
    "incomes": lambda rng: numbers(rng.lognormal(10.5, 0.6, ROWS).astype(np.int64), kind=Kind.INTEGER),
    "an outlier": lambda rng: numbers(np.append(rng.normal(50e3, 9e3, ROWS), 3.1e9).astype(np.int64), kind=Kind.INTEGER),
    "reals": lambda rng: numbers(rng.normal(0, 1e-7, ROWS), kind=Kind.REAL),
    "decimals": lambda rng: numbers(np.round(rng.normal(500, 90, ROWS), 3), kind=Kind.REAL, decimals=3),
    "few rows": lambda rng: numbers(rng.lognormal(10.5, 0.6, 23).astype(np.int64), kind=Kind.INTEGER),
}


@pytest.mark.parametrize("which", TABLES)
@pytest.mark.parametrize("seed", range(3))
def test_no_limit_is_the_value_of_somebody(which, seed):
    train = TABLES[which](np.random.default_rng(seed))
    exact = {float(x) for x in binned(train, "x", 20).edges}
    assert exact <= {float(x) for x in train["x"]}, "quantiles are values of rows: the test can fail"
    shown_limits = limits(drawn(train))
    assert shown_limits
    assert len(shown_limits & set(train["x"].tolist())) <= 1  # one may lie on the grid by chance
    assert all(len(f"{x:e}".partition("e")[0].rstrip("0")) <= 5 for x in shown_limits)


@pytest.mark.parametrize("which", TABLES)
def test_every_range_holds_some_rows_and_the_outermost_are_open(which):
    train = TABLES[which](np.random.default_rng(1))
    detail = drawn(train)
    assert min(detail["train"][:-1]) * train.rows >= FEW - 1e-6
    assert sum(detail["train"]) == pytest.approx(1)
    assert detail["labels"][0].startswith("up to ")
    assert detail["labels"][-2].startswith("from ")
    assert len(detail["labels"]) > min(10, train.rows // 10)


def test_a_value_that_many_share_keeps_its_own_range():
    rng = np.random.default_rng(0)
    hours = np.where(rng.random(ROWS) < 0.4, 40, rng.integers(1, 99, ROWS))
    detail = drawn(numbers(hours, kind=Kind.INTEGER))
    assert detail["train"][detail["labels"].index("40 to 41")] == pytest.approx((hours == 40).mean())
    gains = np.where(rng.random(ROWS) < 0.9, 0.0, rng.lognormal(8, 1, ROWS))
    detail = drawn(numbers(gains, kind=Kind.REAL))
    assert detail["train"][detail["labels"].index("0 to 0")] == pytest.approx((gains == 0).mean())


def test_a_value_that_a_quantile_but_few_rows_share_has_none():
    detail = drawn(numbers(np.repeat(np.arange(20) * 1237 + 611, 3), kind=Kind.INTEGER))
    assert not limits(detail) & {float(x) for x in np.arange(20) * 1237 + 611}


@pytest.mark.parametrize(("days", "least"), [(36500, 12), (700, 5), (20, 1)])
def test_dates_are_shown_by_month(days, least):
    rng = np.random.default_rng(0)
    train = numbers(rng.integers(0, days, ROWS) * DAY, kind=Kind.DATE)
    labels = drawn(train)["labels"]
    assert len(labels) > least
    assert all(re.fullmatch(r"(up to |from )?\d{4}-\d\d( to \d{4}-\d\d)?|all values|missing", label) for label in labels)


def test_rare_levels_are_pooled_and_the_distance_stays_exact():
    column = Column(name="x", kind=Kind.CATEGORY, domain=Levels(("flu", "leprosy", "measles", "plague", "unheld")))
    train = single(column, np.repeat([0, 1, 2, 3, -1], [50, FEW - 1, FEW, 1, 2]).astype(np.int32))
    release = single(column, np.repeat([0, 1, 3], [30, 10, 10]).astype(np.int32))
    detail = drawn(train, release)
    assert detail["labels"] == ["flu", "measles", "rare levels (2)", "missing"]
    assert detail["train"] == pytest.approx(np.array([50, FEW, FEW, 2]) / train.rows)
    assert detail["release"] == pytest.approx([0.6, 0, 0.4, 0])
    exact = [np.bincount(t["x"] + 1, minlength=6) / t.rows for t in (train, release)]
    assert distance(train, release).value == pytest.approx(np.abs(exact[0] - exact[1]).sum() / 2)
    assert not {"leprosy", "plague", "unheld"} & set(detail["labels"])


@pytest.mark.parametrize(
    "values", [[], [np.nan] * 3, [7.0, 7.0], [1.0, 2.0, 3.0], [7.0] * 9, [1e300, -1e300] * 9, [1e-300, 0.0] * 9]
)
def test_few_or_odd_values_can_be_shown(values):
    column = Column(name="x", kind=Kind.REAL, domain=Bounds(-1e300, 1e300))
    train = single(column, np.array(values, float))
    detail = safe_histogram(binned(train, "x", 20), train, train, 20)
    assert len(detail["labels"]) == len(detail["train"]) == len(detail["release"])
    if len(values) < FEW:
        assert detail["labels"] == ["all values", "missing"]


def test_open_ranges_are_drawn_as_ranges():
    result = folding.bars(
        {"labels": ["up to 3", "3 to 8", "from 8", "missing"], "train": [0.2, 0.3, 0.5, 0.0], "release": [1 / 3] * 3 + [0.0]}
    )
    assert folding.limits(result) == ["", "3", "8", ""]
    bars, ends, missing = folding.ranges(result)
    assert ([bar.label for bar in bars], ends, missing) == (["up to 3", "3 to 8", "from 8"], ["up to 3", "3", "8", "from 8"], None)
    bars, ends, _ = folding.ranges(result, most=2)
    assert ([bar.label for bar in bars], ends) == (["up to 8", "from 8"], ["up to 8", "8", "from 8"])
    assert not folding.limits(
        folding.bars({"labels": ["from 3", "up to 5", "missing"], "train": [0.5, 0.5, 0], "release": [0.5, 0.5, 0]})
    )
