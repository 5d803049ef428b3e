"""Sequential trees: dependence learnt, rare numbers not repeated, conditions kept."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.encode.cells import Grid
from hushtable.errors import InputError, PlanError
from hushtable.privacy.vault import Vault
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def fitted(step: Sequential, table: Table):
    return step.fit(Vault.of(table), np.random.default_rng(0))


@pytest.fixture
def dependent() -> Table:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 3000).astype(np.int32)
    number = np.where(rng.random(3000) < 0.3, 40, (10 * group + rng.normal(0, 2, 3000)).round().clip(0, 60)).astype(np.int64)
    echo = np.where(rng.random(3000) < 0.9, group, rng.integers(0, 3, 3000)).astype(np.int32)
    many = (group * 60 + rng.integers(0, 60, 3000)).astype(np.int32)
    schema = Schema(
        (
            Column(name="group", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
            Column(name="number", kind=Kind.INTEGER, domain=Bounds(0, 60)),
            Column(name="echo", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), role=Role.TARGET),
            Column(name="many", kind=Kind.CATEGORY, domain=Levels(tuple(f"m{i}" for i in range(180)))),
        )
    )
    return Table(schema, {"group": group, "number": number, "echo": echo, "many": many})


@pytest.mark.parametrize("methods", [(), ("group=linear", "number=linear", "many=linear")])
def test_dependence_is_kept(dependent, methods):
    drawn = fitted(Sequential(methods=methods), dependent).sample(6000, np.random.default_rng(1))
    assert (drawn["group"] == drawn["echo"]).mean() == pytest.approx((dependent["group"] == dependent["echo"]).mean(), abs=0.03)
    assert (drawn["many"] // 60 == drawn["group"]).mean() > 0.9
    assert (drawn["number"] == 40).mean() == pytest.approx((dependent["number"] == 40).mean(), abs=0.03)
    real, ours = ([t["number"][(t["group"] == g) & (t["number"] != 40)].mean() for g in range(3)] for t in (dependent, drawn))
    if methods:  # a straight line cannot keep a spike apart from the rest, but it keeps the order
        assert ours == sorted(ours)
    else:
        assert ours == pytest.approx(real, abs=1.5)


def test_a_margin_forgets_the_dependence(dependent):
    drawn = fitted(Sequential(methods=("group=margin",)), dependent).sample(6000, np.random.default_rng(1))
    assert (drawn["group"] == drawn["echo"]).mean() < 0.5


def test_the_target_is_drawn_first_and_the_order_can_be_chosen(dependent):
    assert fitted(Sequential(refine=0), dependent).order[0] == "echo"
    assert fitted(Sequential(refine=0, order=("many", "group")), dependent).order == ("many", "group", "echo", "number")
    with pytest.raises(PlanError, match="no column colour"):
        Sequential(order=("colour",)).plan(dependent.schema, None)


def test_conditions_fix_the_first_columns_only(dependent):
    model = fitted(Sequential(), dependent)
    drawn = model.sample(500, np.random.default_rng(0), given={"echo": "b"})
    assert (drawn["echo"] == 1).all()
    assert (drawn["group"] == 1).mean() > 0.8
    with pytest.raises(InputError, match="drawn first"):
        model.sample(5, np.random.default_rng(0), given={"many": "m3"})
    with pytest.raises(InputError, match="no value of echo"):
        model.sample(5, np.random.default_rng(0), given={"echo": "z"})


def test_missing_values_come_back_in_their_share(small):
    drawn = fitted(Sequential(), small).sample(4000, np.random.default_rng(0))
    for name in ("school", "pay"):
        assert drawn.missing(name).mean() == pytest.approx(small.missing(name).mean(), abs=0.05)


@pytest.mark.parametrize("least", [2, 5, 20])
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL])
def test_every_cell_of_a_number_holds_enough_rows_and_no_rare_value_is_stored(kind, least):
    rng = np.random.default_rng(0)
    column = Column(name="x", kind=kind, domain=Bounds(0, 100_000))
    values = np.concatenate([np.full(300, 40.0), rng.lognormal(5, 2, 700).clip(0, 99_999), [98_765.4321]])
    array = column.from_floats(values)
    grid = Grid.of(column, array, least)
    cells = grid.encode(array)
    assert np.bincount(cells, minlength=grid.count)[:-1].min() >= least
    points, counts = np.unique(array, return_counts=True)
    rare = points[counts < least]
    assert not np.isin(rare, grid.low[grid.low == grid.high]).any()
    assert array.max() not in grid.high
    back = grid.decode(cells, rng)
    np.testing.assert_array_equal(back[array == 40], 40)
    assert np.corrcoef(np.argsort(np.argsort(back)), np.argsort(np.argsort(array)))[0, 1] > 0.95


def test_an_outlier_is_not_published(small):
    ages = small["age"].copy()
    pay = small["pay"].copy()
    pay[0] = 9_999
    table = small.with_column(small.schema["age"], ages).with_column(small.schema["pay"], pay)
    drawn = fitted(Sequential(), table).sample(20_000, np.random.default_rng(0))
    assert (drawn["pay"] == 9_999).mean() < 1e-3


def test_unseen_levels_are_never_drawn(small):
    drawn = fitted(Sequential(), small).sample(5000, np.random.default_rng(0))
    assert "east" not in set(drawn.strings("town"))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 2000)), np.arange(4000) // 2),
        (Column(name="x", kind=Kind.REAL, domain=Bounds(0, 200), decimals=1), np.round(np.arange(4000) / 20, 1)),
    ],
    ids=["whole", "tenths"],
)
def test_every_last_digit_is_as_likely_as_in_the_rows(column, values):
    grid = Grid.of(column, values, 5)
    result = grid.decode(grid.encode(values), np.random.default_rng(0))
    step = 1 if column.kind is Kind.INTEGER else 0.1
    digits = np.bincount(np.round(result / step).astype(int) % 10, minlength=10) / len(result)
    assert digits.min() > 0.07
    assert digits.max() < 0.13


@pytest.mark.parametrize("lone", [777, 10, 45])
def test_a_lone_value_among_spikes_is_neither_stored_nor_drawn(lone):
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 999, observed=True))
    values = np.array([40] * 500 + [50] * 499 + [lone])
    grid = Grid.of(column, values, 5)
    assert lone not in (*grid.low, *grid.high, grid.hidden().bounds.low, grid.hidden().bounds.high)
    assert set(grid.decode(grid.encode(values), np.random.default_rng(0)).tolist()) == {40, 50}
    nearest = {777: 50, 10: 40, 45: 50}[lone]
    assert grid.low[grid.encode(np.array([lone]))[0]] == nearest


def test_fewer_values_than_make_a_cell_are_hidden_in_a_wider_range():
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 999, observed=True))
    grid = Grid.of(column, np.array([500, 510]), 5)
    assert grid.low[0] < 500 - 5
    assert grid.high[0] > 510 + 5


def test_a_condition_is_kept_to_the_value(dependent):
    model = fitted(Sequential(order=("number",)), dependent)
    drawn = model.sample(200, np.random.default_rng(0), given={"number": "7"})
    assert set(drawn["number"].tolist()) == {7}
    with pytest.raises(InputError, match="'61' is no value of number"):
        model.sample(5, np.random.default_rng(0), given={"number": "61"})
    with pytest.raises(InputError, match="there is no column 'colour'"):
        model.sample(5, np.random.default_rng(0), given={"colour": "red"})


def test_a_straight_line_through_numbers_needs_no_indicator_for_each_of_them():
    rng = np.random.default_rng(0)
    x = rng.random(4000)
    y = 3 * x + rng.normal(0, 0.1, 4000)
    real = [Column(name=n, kind=Kind.REAL, domain=Bounds(-1, 5)) for n in "xy"]
    table = Table(Schema(tuple(real)), {"x": x, "y": y.clip(-1, 5)})
    model = fitted(Sequential(order=("x",), methods=("y=linear",)), table)
    assert sum(array.size for array in model.parts()[1].values()) < 30 * 4000
    drawn = model.sample(4000, rng)
    assert np.corrcoef(drawn["x"], drawn["y"])[0, 1] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.03)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Column(name="x", kind=Kind.REAL, decimals=1, domain=Bounds(2.9, 11.2, observed=True)), np.arange(29, 113) / 10),
        (Column(name="x", kind=Kind.REAL, decimals=2, domain=Bounds(0.29, 5.73, observed=True)), np.arange(29, 574) / 100),
        (
            Column(name="x", kind=Kind.DATE, format="%Y-%m", domain=Bounds(0, 31_536_000, observed=True)),
            np.arange("1970-01", "1971-02", dtype="datetime64[M]").astype("datetime64[s]").astype(np.int64),
        ),
    ],
)
@pytest.mark.parametrize("least", [1, 2, 5, 7])
def test_what_is_drawn_lies_inside_the_hidden_bounds_to_the_last_bit(column, values, least):
    for seed in range(20):
        rows = np.random.default_rng(seed).choice(values, 30)
        bounds = Bounds(rows.min().item(), rows.max().item(), observed=True)
        table = Table(Schema((Column(**vars(column) | {"domain": bounds}),)), {"x": rows})
        drawn = fitted(Sequential(least=least), table).sample(200, np.random.default_rng(seed))
        assert drawn.rows == 200


def test_a_column_that_depends_on_nothing_has_few_leaves_and_one_that_follows_keeps_its_own():
    rng = np.random.default_rng(3)
    group, noise = rng.integers(0, 12, 4000).astype(np.int32), rng.integers(0, 12, 4000).astype(np.int32)
    levels = Levels(tuple("abcdefghijkl"))
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=levels) for n in ("group", "echo", "noise")))
    table = Table(schema, {"group": group, "echo": ((group + 5) % 12).astype(np.int32), "noise": noise})
    chain = fitted(Sequential(refine=0), table)
    drawn = chain.sample(4000, np.random.default_rng(1))
    assert (drawn["echo"] == (drawn["group"] + 5) % 12).all()
    whole = fitted(Sequential(refine=0, prune=0, shrink=0), table)
    leaves = [[int((np.diff(c.learners[at].leaf_start) > 0).sum()) for at in (1, 2)] for c in (chain, whole)]
    assert leaves[0][0] == leaves[1][0] == 12
    assert leaves[0][1] < leaves[1][1] / 3


def test_a_leaf_draws_numbers_from_ranges_of_several_of_its_rows():
    rng = np.random.default_rng(3)
    x = rng.random(3000)
    real = tuple(Column(name=n, kind=Kind.REAL, domain=Bounds(-1.0, 2.0)) for n in "xy")
    table = Table(Schema(real), {"x": x, "y": x + rng.normal(0, 0.01, 3000)})
    tree = fitted(Sequential(refine=0), table).learners[1]
    held = np.diff(np.append(0, tree.running))
    assert (held >= 5).mean() > 0.95
    drawn = fitted(Sequential(refine=0), table).sample(3000, rng)
    assert np.corrcoef(drawn["x"], drawn["y"])[0, 1] > 0.99
