"""Answers to counting and range queries equal those of a loop over rows, and of all ways to read a generalized cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.reading import ordinary
from hushtable.measures.queries import SANITY, Errors
from hushtable.measures.query_answers import answers
from hushtable.measures.query_conditions import Among, Between, Condition, by_range, by_value, counting, ranges
from hushtable.table.cell import ANYTHING, Cell, Interval
from hushtable.table.columns import Cells, Column
from hushtable.table.table import Table
from tests.random_tables import generalized, tables


def share_of(cell: Cell, plain: Column, condition: Condition) -> float:
    """By listing the values of the cell, or by length where they cannot be listed."""
    if not plain.numeric:
        values = [level for level in plain.levels if cell.span is None or level in cell.span]
        return float(np.mean([isinstance(condition, Among) and value in condition.levels for value in values]))
    if isinstance(condition, Among):
        return 0.0
    span = cell.span or Interval(plain.bounds.low, plain.bounds.high)
    if plain.step is None and span.low < span.high:
        return max(0.0, min(span.high, condition.high) - max(span.low, condition.low)) / (span.high - span.low)
    values = np.arange(round((span.high - span.low) / (plain.step or 1)) + 1) * (plain.step or 1) + span.low
    return float(np.mean((values >= condition.low - 1e-7) & (values <= condition.high + 1e-7)))


def met(table: Table, plain: Table, condition: Condition, row: int) -> float:
    column, value = table.schema[condition.name], table[condition.name][row]
    if table.missing(condition.name)[row]:
        return float(isinstance(condition, Among) and condition.missing)
    if isinstance(column.domain, Cells):
        return share_of(column.domain.cells[value], plain.schema[condition.name], condition)
    if isinstance(condition, Between):
        return float(condition.low <= float(value) <= condition.high)
    return float(column.coded and column.levels[value] in condition.levels)


@settings(max_examples=25)
@given(st.data(), tables())
def test_answers_equal_a_loop_over_rows_and_values(data, table):
    released = data.draw(generalized(table))
    plain = ordinary(released, np.random.default_rng(0))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    questions = []
    for usable, draw in ((by_value, counting), (by_range, ranges)):
        columns = usable(table, table.schema.names)
        questions += draw(table, columns, 3, 4, rng) if columns else []
    for ours, reading in ((table, table), (released, plain)):
        loop = [
            np.mean([np.prod([met(ours, reading, condition, row) for condition in question]) for row in range(ours.rows)])
            for question in questions
        ]
        assert answers(ours, reading, questions)[0] == pytest.approx(loop, abs=1e-9)
    assert all(answers(table, table, questions)[0] > 0), "a question is drawn around a row"


def hidden(table: Table) -> Table:
    """Ages in ranges, heights in ranges of reals, schools in sets, towns hidden, dates in years."""
    age, town, school, born, height = (table.schema[name] for name in ("age", "town", "school", "born", "height"))
    ages = tuple(age.interval_cell(Interval(low, low + 19)) for low in range(0, 100, 20))
    heights = (height.interval_cell(Interval(120.0, 170.5)), height.interval_cell(Interval(150.0, 220.0)))
    sets = (school.set_cell(frozenset(["low", "middle"])), school.set_cell(frozenset(["middle", "high"])))
    days = (born.interval_cell(Interval(0, 86_400 * 365)), born.interval_cell(Interval(-631152000, 0)))
    return table.with_columns(
        (age.generalize(ages), (table["age"] // 20).astype(np.int32)),
        (height.generalize(heights), (table["height"] > 170).astype(np.int32)),
        (school.generalize(sets), np.minimum(table["school"], 1).astype(np.int32)),
        (town.generalize((ANYTHING,)), np.zeros(table.rows, np.int32)),
        (born.generalize(days), (table["born"] < 0).astype(np.int32)),
    )


def test_a_generalized_answer_is_the_mean_over_ways_to_read_it():
    train, released = example(150, 0), hidden(example(150, 1))
    rng = np.random.default_rng(0)
    questions = counting(train, by_value(train, train.schema.names), 3, 25, rng)
    questions += ranges(train, by_range(train, train.schema.names), 3, 25, rng)
    readings = [ordinary(released, rng) for _ in range(100)]
    drawn = np.array([answers(reading, reading, questions)[0] for reading in readings])
    exact = answers(released, readings[0], questions)[0]
    error = np.abs(drawn.mean(0) - exact) / (drawn.std(0) / np.sqrt(len(drawn)) + 1e-9)
    assert error.max() < 5
    one = np.abs(drawn[0] - exact) / (drawn.std(0) / np.sqrt(len(drawn)) + 1e-9)
    assert one.max() > 5, "a single draw is told from the mean: the test can fail"


def test_errors_are_those_of_the_definition():
    truth, answer, fresh = np.array([0.5, 0.0005, 0.02]), np.array([0.4, 0.0, 0.03]), np.array([0.5, 0.001, 0.02])
    errors = Errors(truth[None], np.abs(answer - truth)[None], np.abs(fresh - truth)[None])
    assert errors.relative(errors.release)[0] == pytest.approx([0.2, 0.0005 / SANITY, 0.5])


@pytest.mark.parametrize("rows", [200, 2000])
def test_selectivities_are_spread(rows):
    table = example(rows, 0)
    rng = np.random.default_rng(0)
    questions = ranges(table, by_range(table, table.schema.names), 3, 600, rng)
    result = answers(table, table, questions)[0]
    for low, high in ((0, 0.01), (0.01, 0.1), (0.1, 0.8)):
        assert ((result > low) & (result <= high)).mean() > 0.15
    lots = [
        tuple(Between(n, *np.sort(table.floats(n)[rng.integers(0, rows, 2)])) for n in ("age", "height", "pay")) for _ in range(600)
    ]
    naive = answers(table, table, [q for q in lots if all(np.isfinite([c.low, c.high]).all() for c in q)])[0]
    assert (naive <= 0.001).mean() > 0.05, "ends by lot in three columns find nobody: the test can fail"
    assert (result <= 0).mean() == 0


def test_errors_of_a_case_are_differences_of_shares():
    case = Case(example(300, 1), example(200, 2), example(150, 3))
    question = (Between("age", 20, 40), Among("town", frozenset(["north", "west"])))
    errors = Errors.of(case, [question], np.random.default_rng(0))

    def share(table: Table) -> float:
        age, town = table["age"], np.array(table.strings("town"))
        return float(((age >= 20) & (age <= 40) & np.isin(town, ["north", "west"])).mean())

    assert errors.truth[0, 0] == pytest.approx(share(case.train))
    assert errors.release[0, 0] == pytest.approx(abs(share(case.release) - share(case.train)))
    scale = np.sqrt((1 / 300 + 1 / 200) / (1 / 300 + 1 / 150))
    assert errors.control[0, 0] == pytest.approx(scale * abs(share(case.control) - share(case.train)))


@pytest.mark.parametrize("rows", [3, 19, 20, 47])
def test_each_lot_is_left_out_once(rows):
    table = example(rows, 0)
    questions = counting(table, by_value(table, table.schema.names), 2, 10, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(rows)
    result = answers(table, table, questions, order)
    ends = [*(lot * rows // 20 for lot in range(20)), rows]
    for lot in range(20):
        left = table.take(np.delete(order, np.s_[ends[lot] : ends[lot + 1]]))
        assert result[1 + lot] == pytest.approx(answers(left, left, questions)[0])
