"""Losses of anonymization equal their definitions: hand-made tables, loops over cells, and the sums of squares themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.api.release import release
from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures.losses import Losses, class_size, discernibility
from hushtable.privacy.criteria import Classes
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.mixed import mixed
from tests.random_tables import generalized, tables
from tests.unit.measures.awkward import findings_of

AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 100))
TOWN = Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b", "c", "d")))
PAY = Column(name="pay", kind=Kind.REAL, role=Role.SECRET, domain=Bounds(0.0, 1000.0))


def people(ages: list[int], towns: list[int], pay: list[float]) -> Table:
    arrays = {"age": np.array(ages), "town": np.array(towns, np.int32), "pay": np.array(pay)}
    return Table(Schema((AGE, TOWN, PAY)), arrays)


def by_hand() -> Case:
    """Ages in [20, 40], [0, 100] and *; towns in {a, b}, c and *; one row of five suppressed, one left out."""
    train = people([20, 30, 40, 90, 10, 0], [0, 1, 0, 2, 3, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    ages = AGE.generalize((AGE.interval_cell(Interval(20, 40)), AGE.interval_cell(Interval(0, 100)), ANYTHING))
    towns = TOWN.generalize((TOWN.set_cell(frozenset("ab")), TOWN.set_cell(frozenset("c")), ANYTHING))
    five = train.take(np.arange(5))
    table = five.with_columns((ages, np.array([0, 0, 0, 1, 2], np.int32)), (towns, np.array([0, 0, 0, 1, 2], np.int32)))
    return Case(train, table, people([1, 2, 50], [0, 1, 2], [1.0, 2.0, 3.0]))


def test_every_loss_of_a_table_made_by_hand():
    findings = findings_of(Losses(), by_hand())
    age, town = (0.2 * 3 + 1 + 1) / 5, (0.5 * 3 + 0 + 1) / 5
    assert findings["generalization loss", "age"].value == pytest.approx(age)
    assert findings["generalization loss", "town"].value == pytest.approx(town)
    assert findings["generalization loss", ""].value == pytest.approx((age + town) / 2)
    assert findings["discernibility", ""].value == pytest.approx((3**2 + 1**2 + 5) / 5**2)
    assert findings["discernibility", ""].baseline == pytest.approx(6 / 6**2)
    assert findings["average class size", ""].value == pytest.approx((3 + 1) / 2)
    assert findings["average class size", ""].baseline == 1
    assert findings["rows missing", ""].value == pytest.approx(1 / 6)
    assert findings["cells hidden", ""].value == pytest.approx(2 / 15)
    assert findings["cells hidden", "age"].value == pytest.approx(1 / 5)
    middles = np.array([30, 30, 30, 50, 50])
    lost = 1 - middles.var() / np.array([20, 30, 40, 90, 10, 0]).var()
    assert findings["variance lost", "age"].value == pytest.approx(lost)


@settings(max_examples=40)
@given(st.data(), tables())
def test_generalization_loss_equals_a_loop_over_cells(data, table):
    released = data.draw(generalized(table))
    assume(table.rows >= 3 and any(column.generalized for column in released.schema))
    case = Case(table, released, table.take(np.arange(table.rows - 1)))
    findings, means = findings_of(Losses(), case), []
    for column in table.schema:
        coarse, total = released.schema[column.name].domain, []
        for code in released[column.name][~released.missing(column.name)].tolist():
            span = coarse.cells[code].span if isinstance(coarse, Cells) else frozenset(["one"])
            if span is None:
                total.append(1.0)
            elif isinstance(span, Interval):
                width = column.bounds.high - column.bounds.low
                total.append((span.high - span.low) / width if width else 0.0)
            else:
                total.append(len(span) / len(column.levels) if len(span) > 1 else 0.0)
        if total:
            means.append(np.mean(total))
            assert findings["generalization loss", column.name].value == pytest.approx(means[-1])
    whole = findings["generalization loss", ""].value
    assert whole == pytest.approx(np.mean(means)) if means else whole is None


@settings(max_examples=40)
@given(mixed())
def test_discernibility_and_class_size_equal_a_count_of_rows(table):
    quasi = tuple(name for name in table.schema.names if name != "secret")
    rows = list(zip(*(table.strings(name).tolist() for name in quasi), strict=True))
    sizes = Counter(rows)
    classes = Classes(table, quasi)
    assume(all(table.schema[name].kind is not Kind.REAL for name in quasi))  # texts of reals may round
    assert discernibility(classes) == pytest.approx(sum(sizes[row] for row in rows) / len(rows) ** 2)
    assert class_size(classes) == (len(sizes), pytest.approx(len(rows) / len(sizes)))


@pytest.mark.parametrize("k", [3, 10])
def test_variance_lost_by_averaged_groups_is_sse_over_sst(k):
    rng = np.random.default_rng(k)
    columns = tuple(Column(name=f"x{i}", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(-50.0, 50.0)) for i in range(3))
    drawn = rng.normal(0, (1, 2, 3), (201, 3))
    groups = np.empty(201, np.int64)
    groups[drawn[:, 0].argsort()] = np.minimum(np.arange(201) // k, 201 // k - 1)
    means = np.array([drawn[groups == group].mean(0) for group in groups])
    train, control = (Table(Schema(columns), {f"x{i}": x[:, i] for i in range(3)}) for x in (drawn, drawn[::2] / 2))
    order = rng.permutation(201)
    table = Table(Schema(columns), {f"x{i}": means[order, i] for i in range(3)})
    findings = findings_of(Losses(), Case(train, table, control))
    loss = ((drawn - means) ** 2).sum(0) / ((drawn - drawn.mean(0)) ** 2).sum(0)
    assert [findings["variance lost", f"x{i}"].value for i in range(3)] == pytest.approx(loss)
    assert findings["variance lost", ""].value == pytest.approx(loss.mean())
    assert findings["variance lost", "x0"].baseline == pytest.approx(0.75, abs=0.1)
    assert findings["average class size", ""].value == pytest.approx(201 / (201 // k))


def test_averaging_known_groups_loses_exactly_the_sum_of_squares_inside_them():
    pay = np.array([1.0, 2.0, 6.0, 100.0, 110.0, 120.0])
    groups = np.array([0, 0, 0, 1, 1, 1])
    means = np.array([pay[groups == g].mean() for g in groups])
    train = people([1, 2, 3, 4, 5, 6], [0] * 6, pay.tolist())
    result = train.with_column(PAY, means)
    findings = findings_of(Losses(), Case(train, result, people([9, 8], [1, 1], [5.0, 6.0])))
    within, total = ((pay - means) ** 2).sum(), ((pay - pay.mean()) ** 2).sum()
    assert findings["variance lost", "pay"].value == pytest.approx(within / total)


def test_mondrian_is_measured_as_its_boxes_say():
    train = example(300, 0).select(["age", "height", "town", "sick"])
    table = release(train, "mondrian", k=5, seed=0).table
    findings = findings_of(Losses(), Case(train, table, example(100, 1).select(["age", "height", "town", "sick"])))
    quasi = [name for name in table.schema.names if table.schema[name].role is Role.QUASI]
    sizes = Counter(zip(*(table.strings(name).tolist() for name in quasi), strict=True))
    assert findings["discernibility", ""].value == pytest.approx(sum(n * n for n in sizes.values()) / table.rows**2)
    assert findings["average class size", ""].value >= 5
    assert findings["rows missing", ""].value == 0
    assert 0 < findings["generalization loss", ""].value < 1
