"""Mutual information divided by an entropy, with the bound of the plain one: one row decides what is chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hushtable.privacy.unit import Relation
from hushtable.synthesize.network.scores import GRID, Information, information, information_change
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from tests.unit.privacy.exact import judge

ROWS, EPSILON = 30_000, 1.0


def joint(together: int, apart: int) -> np.ndarray:
    """Two columns of zeros and ones: both 1 on ``together`` rows, one of them alone on ``apart``."""
    return np.array([[ROWS - together - apart, apart], [0, together]])


def plain(counts: np.ndarray) -> float:
    return information(counts)


def normalised(counts: np.ndarray) -> float:
    def entropy(margin):
        shares = margin[margin > 0] / margin.sum()
        return float(-(shares * np.log(shares)).sum())

    least = min(entropy(counts.sum(0)), entropy(counts.sum(1)))
    return information(counts) / least if least else 0.0


@pytest.mark.parametrize(("score", "holds"), [(plain, True), (normalised, False)])
def test_choosing_with_the_bound_of_plain_information(score, holds):
    """Two candidates: one never changes, the other has one row changed. The odds may change by e^(epsilon/2)."""
    bound = information_change(ROWS, binary=True)

    def check(score):
        for rows in (1, 2, 5, 50):
            before, after = score(joint(rows, 0)), score(joint(rows - 1, 1))
            # The odds against a candidate of fixed score change by exp(epsilon |change| / (2 bound)), at most e^(epsilon/2).
            assert EPSILON * abs(before - after) / (2 * bound) <= EPSILON / 2 * (1 + 1e-9)

    judge(check, score, holds=holds)


def test_one_row_can_move_the_normalised_score_from_one_to_nothing():
    assert normalised(joint(1, 0)) == pytest.approx(1.0)
    assert normalised(np.array([[ROWS, 0], [0, 0]])) == 0.0
    assert information_change(ROWS, binary=True) < 4e-4


def test_our_choice_is_told_the_bound_in_the_unit_of_its_score():
    two = Levels(("a", "b"))
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=two, required=True) for n in "xy"))
    change = Information((("x", ("y",)),), ROWS).change(schema, Relation.REPLACE_ONE)
    assert change >= GRID * information_change(ROWS, binary=True)
    # In bits the score would be larger by 1/ln 2, and the bound in nats too small.
    assert change < GRID * information_change(ROWS, binary=True) / math.log(2)
