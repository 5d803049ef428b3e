"""The chances of a target's classes, and the weights that follow from them."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.synthesize.odds import FEWEST, MOST, Odds, classes


def sample(rows: int, levels: int, seed: int = 0) -> np.ndarray:
    """A class, a column that shifts with it, and one that does not."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, levels, rows)
    near = np.clip(4 * target + rng.integers(0, 8, rows), 0, 62)
    return np.stack([target, near, rng.integers(0, 5, rows)], axis=1).astype(np.uint8)


@pytest.mark.parametrize("levels", [2, 3])
def test_chances_sum_to_one_and_are_those_of_the_rows(levels):
    codes = sample(6000, levels)
    odds = Odds.fit(codes, 0, np.arange(levels), np.ones(3, np.bool_), np.ones(len(codes)), np.arange(len(codes)) < 900)
    each = []
    for one in range(levels):
        changed = codes.copy()
        changed[:, 0] = one
        each.append(np.exp(odds.logs(changed)))
    assert np.allclose(np.sum(each, axis=0), 1)
    # Between two classes that share a range, both are as likely; beyond it, one is certain.
    assert each[0][codes[:, 1] < 4].min() > 0.9
    assert np.abs(each[0][(codes[:, 1] >= 4) & (codes[:, 1] < 8)].mean() - 0.5) < 0.1
    again = Odds.from_parts(odds.parts())
    assert np.array_equal(again.logs(codes), odds.logs(codes))


def test_a_row_of_another_class_has_no_weight():
    codes = sample(2000, 2)
    odds = Odds.fit(codes, 0, np.arange(2), np.ones(3, np.bool_), np.ones(len(codes)), np.zeros(len(codes), np.bool_))
    codes[:5, 0] = 63
    assert (odds.logs(codes)[:5] == 0).all()


def test_few_classes_of_enough_rows():
    few, many = sample(500, 2), sample(5000, MOST + 1)
    assert classes(few, few, 0).tolist() == [0, 1]
    assert not len(classes(few, few[:FEWEST], 0))
    assert not len(classes(many, many, 0))
