"""Draws from a Gaussian copula, free and under conditions, against the distribution they are said to have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.synthesize.copula.margins import Margin
from hushtable.synthesize.copula.model import Joined
from hushtable.synthesize.copula.normal import Pieces, correlations, joint
from tests.statistical.fit import ACCEPT, REJECT, merged

A = Margin.of(np.array([10.0, 30.0, 40.0, 20.0]), 100)
B = Margin.of(np.array([50.0, 20.0, 30.0]), 100, np.array([1, 2, 0]))
C = Margin.of(np.array([25.0, 25.0, 20.0, 20.0, 10.0]), 100)
MATRIX = np.array([[1.0, 0.6, 0.5], [0.6, 1.0, -0.2], [0.5, -0.2, 1.0]])
ROWS = 40_000


def p_value(cells: np.ndarray, expected: np.ndarray) -> float:
    counts = np.bincount(cells, minlength=len(expected))
    wanted, seen = merged(expected / expected.sum() * len(cells), counts)
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(wanted) - 1))


@pytest.mark.parametrize(("k", "right"), [(22, True), (19, False)])
def test_pairs_of_cells_have_the_probabilities_of_two_normal_numbers(k, right):
    r = correlations()[22]
    drawn = Joined({"a": A, "b": B}, np.array([[1.0, r], [r, 1.0]])).draw(ROWS, np.random.default_rng(1), {})
    one, two = Pieces.of(A, False), Pieces.of(B, False)
    table = np.diff(np.diff(joint(one.cuts, two.cuts)[k], axis=0), axis=1)[A.ranks][:, B.ranks]
    result = p_value(drawn["a"] * 3 + drawn["b"], table.ravel())
    assert result > ACCEPT if right else result < REJECT


class Careless(Joined):
    """Sets the fixed columns, and draws the others as if nothing were known."""

    def draw(self, rows, rng, fixed):
        return super().draw(rows, rng, {}) | {name: np.full(rows, cell) for name, cell in fixed.items()}


class Unweighted(Joined):
    """Keeps the first proposals as they come, whatever they weigh."""

    def _normals(self, rows, rng, fixed):
        first = dict(list(fixed.items())[:1])
        normals, _ = super()._normals(rows, rng, first)
        return normals, 1.0


@pytest.mark.parametrize("fixed", [{"a": 0}, {"b": 1}, {"a": 3, "b": 1}, {"a": 1, "b": 0}])
@pytest.mark.parametrize("kind", [Joined, Careless])
def test_rows_under_a_condition_are_as_the_rows_that_meet_it(kind, fixed):
    """A million free rows, of which those are kept that meet the condition, tell what is right."""
    margins = {"a": A, "b": B, "c": C}
    free = Joined(margins, MATRIX).draw(1_000_000, np.random.default_rng(2), {})
    meets = np.all([free[name] == cell for name, cell in fixed.items()], axis=0)
    expected = np.bincount(free["c"][meets], minlength=5).astype(float)
    drawn = kind(margins, MATRIX).draw(4000, np.random.default_rng(3), fixed)
    assert all((drawn[name] == cell).all() for name, cell in fixed.items())
    result = p_value(drawn["c"], expected)
    assert result > ACCEPT if kind is Joined else result < REJECT


def test_proposals_must_be_weighed():
    fixed = {"a": 1, "b": 0}
    margins = {"a": A, "b": B, "c": C}
    free = Joined(margins, MATRIX).draw(1_000_000, np.random.default_rng(2), {})
    meets = (free["a"] == 1) & (free["b"] == 0)
    expected = np.bincount(free["c"][meets], minlength=5).astype(float)
    assert p_value(Unweighted(margins, MATRIX).draw(4000, np.random.default_rng(3), fixed)["c"], expected) < REJECT


@pytest.mark.parametrize("fixed", [{"a": 0}, {"a": 3, "b": 1}, {"a": 1, "b": 0, "c": 2}])
def test_the_probability_of_a_condition_is_the_share_of_rows_that_meet_it(fixed):
    joined = Joined({"a": A, "b": B, "c": C}, MATRIX)
    free = joined.draw(1_000_000, np.random.default_rng(4), {})
    share = float(np.all([free[name] == cell for name, cell in fixed.items()], axis=0).mean())
    alone = float(np.prod([joined.margins[name].shares[cell] for name, cell in fixed.items()]))
    assert joined.likelihood(np.random.default_rng(5), fixed) == pytest.approx(share, rel=0.06)
    assert len(fixed) == 1 or alone != pytest.approx(share, rel=0.06)
