"""The common space: distances that mean what they should, a scale that no release sets, and a bounded width."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures import features as module
from hushtable.measures.features import alike, features
from hushtable.table.cell import ANYTHING
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.measures.clouds import levels, numbers, odd_cases


def distance(case: Case, which: str = "train", one: int = 0, other: int = 1) -> float:
    rows = features(case).points[which].spread(np.array([one, other]))
    return float(np.linalg.norm(rows[0] - rows[1]))


def words(train: list[int], release: list[int], control: list[int], names: tuple[str, ...] = ("a", "b", "c")) -> Case:
    return Case(*(levels("word", codes, names) for codes in (train, release, control)))


def test_two_levels_lie_at_distance_one_and_missing_is_a_level():
    case = words([0, 1, 2, -1], [0, 1, -1, 0], [0, 0, 1, 1])
    assert distance(case, other=1) == pytest.approx(distance(case, other=2)) == pytest.approx(1)
    assert distance(case, other=3) == pytest.approx(1)


def test_numbers_are_scaled_by_real_rows_and_never_by_the_release():
    rng = np.random.default_rng(0)
    real = rng.normal(5, 3, size=(200, 1))
    train, control = real[:100], real[100:]
    for factor in (1, 1000):
        case = Case(numbers(train), numbers(factor * control[::-1] + 1), numbers(control))
        expected = abs(train[0, 0] - train[1, 0]) / real.std()
        assert distance(case) == pytest.approx(expected, rel=1e-5)
        both = np.concatenate([features(case).points[which].spread(slice(None)) for which in ("train", "control")])
        assert both.mean() == pytest.approx(0, abs=1e-6)
        assert both.std() == pytest.approx(1, abs=1e-5)


def test_a_missing_number_lies_at_the_mean_with_an_indicator_of_its_own():
    train = np.array([[0.0], [2.0], [np.nan], [2.0], [0.0]])
    case = Case(numbers(train), numbers(train + 1), numbers(np.array([[2.0], [0.0], [2.0], [0.0]])))
    rows = features(case).points["train"].spread(slice(None))
    assert rows.shape == (5, 2)
    assert rows[2] == pytest.approx([0, 1])
    assert rows[:2] == pytest.approx(np.array([[-1, 0], [1, 0]]))


def test_ordinals_have_an_order_and_dates_are_numbers():
    case = Case(example(100, 1), example(100, 2), example(100, 3))
    seen = features(case)
    assert seen.scaled == ("age", "height", "school", "born", "pay")
    assert seen.levelled == ("town", "sick")
    school = seen.points["train"].numbers[:, 2]
    by_level = [np.unique(school[case.train["school"] == code]) for code in range(3)]
    assert [len(values) for values in by_level] == [1, 1, 1]
    assert by_level[0] < by_level[1] < by_level[2]
    assert np.isnan(school[case.train["school"] < 0]).all()


def test_rare_levels_and_levels_that_no_real_row_has_are_one(monkeypatch):
    monkeypatch.setattr(module, "LEVELS", 3)
    case = words([0, 0, 0, 1, 1, 2, 2, 3, 4], [5, 3, 0, 1, 2, 4, 4, 4, 4], [0, 1, 2, 0], tuple("abcdef"))
    train, release = (features(case).points[which] for which in ("train", "release"))
    assert train.sizes == (4,)
    assert train.codes[7, 0] == train.codes[8, 0] == release.codes[0, 0] == release.codes[1, 0] == 3
    assert len(np.unique(train.codes[:7])) == 3


def test_levels_are_told_by_name_not_by_number():
    release = levels("word", [1, 0, 1, 0], ("b", "a"))
    case = Case(levels("word", [0, 1, 0, 1], ("a", "b")), release, levels("word", [0, 1, 1, 1], ("a", "b")))
    seen = features(case)
    assert (seen.points["train"].codes == seen.points["release"].codes).all()


def test_the_width_is_bounded():
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(60)]
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(tuple(f"v{i}" for i in range(40)))) for n in names))
    three = [Table(schema, {n: rng.integers(0, 40, 500).astype(np.int32) for n in names}) for _ in range(3)]
    seen = features(Case(*three))
    assert seen.width <= module.WIDTH + 60  # a place for all other levels in each column
    assert seen.points["train"].spread(slice(0, 10)).shape == (10, seen.width)


def test_blocks_are_all_rows_and_a_sample_is_some_of_them(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    points = features(Case(example(50, 1), example(50, 2), example(50, 3))).points["train"]
    whole = points.spread(slice(None))
    assert (np.concatenate(list(points.blocks())) == whole).all()
    some = points.some(20, np.random.default_rng(0))
    assert len(some) == 20
    assert {row.tobytes() for row in some} <= {row.tobytes() for row in whole}
    assert (points.some(50, np.random.default_rng(0)) == whole).all()


@pytest.mark.parametrize("name", odd_cases())
def test_odd_tables_have_finite_points(name):
    for points in features(odd_cases()[name]).points.values():
        rows = points.spread(slice(None))
        assert rows.shape == (len(points), points.width)
        assert np.isfinite(rows).all()


def test_a_constant_column_of_decimals_has_no_spread():
    tables = [numbers(np.full((n, 1), 0.1)) for n in (7, 9, 11)]
    case = Case(*tables)
    assert not features(case).points["train"].spread(slice(None)).any()


def test_generalized_cells_are_read_as_values():
    table = example(100, 2)
    town = table.schema["town"]
    hidden = table.with_column(town.generalize((ANYTHING,)), np.zeros(100, np.int32))
    seen = features(Case(example(100, 1), hidden, example(100, 3)))
    assert len(np.unique(seen.points["release"].codes[:, seen.levelled.index("town")])) == 4


def test_equal_rows_are_alike():
    same, sizes = alike(np.array([[0.0, np.nan], [1, 2], [-0.0, np.nan], [1, 3]]))
    assert same[0] == same[2]
    assert len(set(same.tolist())) == 3
    assert sorted(sizes.tolist()) == [1, 1, 2]
    assert alike(np.zeros((3, 0)))[1].tolist() == [3]


def test_bounds_do_not_matter_where_they_were_only_observed():
    schema = Schema((Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 9, observed=True)),))
    tables = [Table(schema, {"x": np.array(values)}) for values in ([1, 2, 3], [9, 9, 0], [2, 3, 4])]
    assert features(Case(*tables)).points["release"].numbers.max() > 5
