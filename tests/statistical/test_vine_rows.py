"""Rows drawn from a tree of checkerboard copulas have the joint distribution that was computed, with and without a condition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from hushtable.table.table import Table
from tests.oracle.test_vine_tables import SCHEMA, branching
from tests.statistical.fit import ACCEPT, REJECT

ROWS = 60_000


def p_value(table: Table, joint: np.ndarray) -> float:
    counts = table.counts(SCHEMA.names)
    likely = joint * ROWS > 5
    assert counts[joint == 0].sum() == 0
    return float(chisquare(counts[likely], joint[likely] / joint[likely].sum() * counts[likely].sum()).pvalue)


def conditioned(joint: np.ndarray, given: dict[str, str]) -> np.ndarray:
    retained = np.zeros_like(joint)
    picked = tuple(slice(int(given[n][1:]), int(given[n][1:]) + 1) if n in given else slice(None) for n in SCHEMA.names)
    retained[picked] = joint[picked]
    return retained / retained.sum()


@pytest.mark.parametrize("given", [{}, {"a": "a1"}, {"c": "c0"}, {"a": "a0", "c": "c1"}])
def test_rows_have_the_conditional_distribution(given):
    model, joint = branching()
    drawn = model.sample(ROWS, np.random.default_rng(0), given)
    assert p_value(drawn, conditioned(joint, given)) > ACCEPT


@pytest.mark.parametrize("given", [{"a": "a1"}, {"a": "a0", "c": "c1"}])
def test_rows_that_are_only_overwritten_are_rejected(given):
    """The broken twin: draw as if there were no condition, then write the wanted values over what was drawn."""
    model, joint = branching()
    drawn = model.sample(ROWS, np.random.default_rng(0))
    codes = {name: np.full(ROWS, int(level[1:]), np.int32) for name, level in given.items()}
    overwritten = Table(SCHEMA, {**drawn.arrays, **codes})
    assert p_value(overwritten, conditioned(joint, given)) < REJECT


def test_rows_of_independent_columns_are_rejected():
    """The other broken twin: right margins, no dependence."""
    model, joint = branching()
    drawn = model.sample(ROWS, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    shuffled = Table(SCHEMA, {name: rng.permutation(array) for name, array in drawn.arrays.items()})
    assert p_value(shuffled, joint) < REJECT
