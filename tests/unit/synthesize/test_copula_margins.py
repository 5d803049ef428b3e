"""Cells to uniform numbers and back, and the normal numbers behind two columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from hushtable.synthesize.copula.correlation import LEAST, from_pairs, nearest_correlation
from hushtable.synthesize.copula.margins import Margin, order_by, packed, total_of, unpacked
from hushtable.synthesize.copula.normal import (
    Pieces,
    correlations,
    expected_product,
    expected_tau,
    inverted,
    joint,
    latent_correlations,
)
from hushtable.table.columns import Column, Kind, Levels

COUNTS = np.array([10.0, 0.0, 30.0, 40.0, 20.0, 7.0])


@pytest.mark.parametrize("order", [None, np.array([3, 0, 4, 1, 2, 5])])
def test_uniform_numbers_become_cells_in_their_shares(order):
    margin = Margin.of(COUNTS, 107, order)
    cells = margin.from_uniform((np.arange(10_700) + 0.5) / 10_700)
    np.testing.assert_allclose(np.bincount(cells, minlength=6), 100 * COUNTS, atol=1)
    assert (np.diff(margin.ranks[cells]) >= 0).all()


def test_a_cell_without_a_share_is_never_drawn_and_the_ends_belong_to_cells_with_one():
    margin = Margin.of(np.array([-5.0, 3.0, 0.0, 4.0, -2.0]), 7)
    drawn = margin.from_uniform(np.array([0.0, 1e-12, 0.4285, 0.4286, 0.999999, 1.0]))
    assert drawn.tolist() == [1, 1, 1, 3, 3, 3]
    assert margin.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("counts", [[-3.0, -2.0], [0.0, 0.0], [5.0]])
def test_any_noisy_counts_make_a_margin(counts):
    margin = Margin.of(np.array(counts), 0)
    assert margin.shares.min() >= 0
    assert margin.shares.sum() == pytest.approx(1.0)
    assert np.isfinite(margin.scores).all()


def test_scores_are_the_means_of_the_normal_pieces():
    margin = Margin.of(COUNTS, 107, np.array([3, 0, 4, 1, 2, 5]))
    z = np.random.default_rng(1).standard_normal(400_000)
    from scipy.special import ndtr

    cells = margin.from_uniform(ndtr(z))
    means = np.bincount(cells, z, minlength=6)[COUNTS > 0] / np.bincount(cells, minlength=6)[COUNTS > 0]
    np.testing.assert_allclose(margin.scores[COUNTS > 0], means, atol=0.01)


def test_levels_are_ordered_by_what_another_column_averages_in_them():
    column = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")))
    joint_counts = np.array([[10, 90], [80, 20], [50, 50], [0, 9]])
    assert order_by(joint_counts, np.array([0.0, 1.0]), 1.0, column).tolist() == [1, 2, 0, 3]


def test_a_level_that_does_not_stand_out_of_the_noise_is_put_in_the_middle():
    column = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True)
    joint_counts = np.array([[200, 800], [800, 200], [0, 3]])
    assert order_by(joint_counts, np.array([0.0, 1.0]), 100.0, column).tolist() == [1, 2, 0]


def test_the_total_trusts_the_more_precise_histogram():
    assert total_of([np.array([100]), np.array([50, 50, 100])], [1e-3, 50.0]) == pytest.approx(100, abs=0.1)
    assert total_of([np.array([-100])], [1.0]) == 2.0


def test_margins_survive_a_model_file():
    margins = {"a": Margin.of(COUNTS, 107), "b": Margin.of(COUNTS[:3], 40, np.array([2, 0, 1]))}
    again = unpacked(["a", "b"], packed(margins))
    assert all(np.array_equal(again[n].ends, margins[n].ends) for n in margins)


def test_the_joint_distribution_is_that_of_two_normal_numbers():
    one, two = Margin.of(COUNTS, 107).cuts, Margin.of(COUNTS[2:], 97).cuts
    result = joint(one, two)
    for k in (1, 9, 16, 25, 31):
        r = correlations()[k]
        exact = multivariate_normal([0, 0], [[1, r], [r, 1]])
        for i, j in ((1, 1), (3, 2), (4, 3)):
            assert result[k, i, j] == pytest.approx(float(exact.cdf([one[i], two[j]])), abs=1e-5)


@pytest.mark.parametrize("missing", [True, False])
def test_what_is_expected_of_cells_is_what_their_table_shows(missing):
    one, two = Pieces.of(Margin.of(COUNTS, 107), missing), Pieces.of(Margin.of(COUNTS[2:], 97), False)
    below = joint(one.cuts, two.cuts)
    for k in (3, 16, 28):
        table = np.diff(np.diff(below[k], axis=0), axis=1)[: one.present, : two.present]
        tau = 0.0
        for i in range(one.present):
            for j in range(two.present):
                tau += table[i, j] * (table[:i, :j].sum() + table[i + 1 :, j + 1 :].sum())
                tau -= table[i, j] * (table[:i, j + 1 :].sum() + table[i + 1 :, :j].sum())
        assert expected_tau(one, two)[k] == pytest.approx(tau, abs=1e-9)
        assert expected_product(one, two)[k] == pytest.approx(one.scores @ table @ two.scores, abs=2e-4)


@pytest.mark.parametrize("expected", [expected_tau, expected_product])
def test_the_correlation_behind_what_is_expected_is_found_again(expected):
    one, two = Pieces.of(Margin.of(COUNTS, 107), True), Pieces.of(Margin.of(COUNTS[2:], 97), False)
    values = expected(one, two)
    for r in (-0.9, -0.3, 0.0, 0.4, 0.95):
        assert inverted(values, float(np.interp(r, correlations(), values))) == pytest.approx(r, abs=1e-6)
    assert inverted(values, 9.0) == pytest.approx(correlations()[-1])
    assert inverted(values, -9.0) == pytest.approx(correlations()[0])


def test_the_error_of_a_correlation_is_small_where_tau_is_steep():
    pieces = [Pieces.of(Margin.of(np.full(30, 1.0), 30), False), Pieces.of(Margin.of(np.full(30, 1.0), 30), False)]
    values, errors = latent_correlations(pieces, np.array([0.0]), expected_tau, 0.01)
    assert values[0] == 0.0
    assert errors[0] == pytest.approx(0.01 * np.pi / 2, rel=0.05)
    assert latent_correlations(pieces, np.array([0.85]), expected_tau, 0.01)[1][0] < errors[0] / 2


def test_a_column_that_does_not_vary_has_no_correlation():
    one, two = Pieces.of(Margin.of(np.array([5.0, 0.0]), 5), False), Pieces.of(Margin.of(COUNTS, 107), False)
    assert inverted(expected_tau(one, two), 0.3) == 0.0
    gone = Pieces.of(Margin.of(np.array([0.0, 0.0, 9.0]), 9), True)
    assert gone.present == 0
    assert inverted(expected_tau(gone, two), 0.1) == inverted(expected_product(gone, two), 0.1) == 0.0


def test_many_cells_are_merged_and_tell_about_the_same():
    fine = Margin.of(np.full(400, 1.0), 400)
    merged, other = Pieces.of(fine, False), Pieces.of(Margin.of(COUNTS, 107), False)
    assert merged.present == 48
    assert len(set(merged.groups.tolist())) == 48
    exact = Pieces.of(fine, False, most=400)
    np.testing.assert_allclose(expected_tau(merged, other), expected_tau(exact, other), atol=0.004)
    np.testing.assert_allclose(expected_product(merged, other), expected_product(exact, other), atol=0.004)


def test_the_nearest_correlation_matrix():
    """The example of Higham 2002: the least distance is 0.5278."""
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    result = nearest_correlation(matrix)
    assert np.linalg.norm(result - matrix) == pytest.approx(0.5278, abs=1e-3)
    assert np.linalg.eigvalsh(result).min() > LEAST / 2
    assert np.allclose(np.diag(result), 1.0)
    clipped = np.linalg.eigh(matrix)
    rescaled = (clipped[1] * np.maximum(clipped[0], 0)) @ clipped[1].T
    rescaled /= np.sqrt(np.outer(np.diag(rescaled), np.diag(rescaled)))
    assert np.linalg.norm(result - matrix) < np.linalg.norm(rescaled - matrix)


def test_what_is_precise_counts_more_where_correlations_contradict_one_another():
    """Two columns that are the same, and a third that noise has made hang together with one of them only."""
    values, errors = np.array([0.999, 0.5, 0.1]), np.array([0.001, 0.1, 0.1])
    plain, weighed = from_pairs(values, 3), from_pairs(values, 3, errors)
    assert plain[0, 1] < 0.98
    assert weighed[0, 1] > 0.995
    assert weighed[0, 2] == pytest.approx(0.3, abs=0.06)
    assert np.linalg.eigvalsh(weighed).min() > 0
    np.testing.assert_allclose(from_pairs(values, 3, np.full(3, 0.1)), plain, atol=5e-3)


def test_what_is_a_correlation_matrix_stays():
    values = np.array([0.5, -0.2, 0.1])
    result = from_pairs(values, 3)
    np.testing.assert_allclose(result[np.triu_indices(3, 1)], values, atol=1e-6)
    np.testing.assert_allclose(from_pairs(values, 3, np.array([0.1, 0.01, 0.1])), result, atol=1e-3)
    assert from_pairs(np.empty(0), 1).tolist() == [[1.0]]
