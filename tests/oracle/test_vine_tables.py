"""The arithmetic of the certified vine against brute force: sensitivities, tables, families, trees and conditions."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from hushtable.privacy.unit import Relation
from hushtable.synthesize.copula.vine_families import Family, family_table, fitted_strength, tau_of
from hushtable.synthesize.copula.vine_tables import (
    Dependences,
    PairCounts,
    checkerboard,
    independent,
    proportional,
    shrinkage,
    spanning_tree,
)
from hushtable.synthesize.copula.vine_tree import Edge, TreeModel, raised
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

ONE, TWO = np.array([0.2, 0.3, 0.1, 0.4]), np.array([0.5, 0.1, 0.4])
SCHEMA = Schema((category("a", 2), category("b", 3), category("c", 2)))
RECORDS = list(product(range(2), range(3), range(2)))


def table_of(records: list[tuple[int, ...]]) -> Table:
    cells = np.array(records, np.int32).reshape(len(records), 3)
    return Table(SCHEMA, {name: cells[:, i] for i, name in enumerate(SCHEMA.names)})


def queries() -> list[PairCounts | Dependences]:
    shares = [np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.3])]
    expected = tuple(independent(shares[i], shares[j], 3.0) for i, j in combinations(range(3), 2))
    plain = tuple(np.arange(len(s)) for s in shares)
    return [
        PairCounts(("a", "b"), (np.arange(2), np.array([0, 1, 1]))),
        PairCounts(("b", "c"), (np.arange(3), np.arange(2))),
        Dependences(SCHEMA.names, plain, expected),
        Dependences(SCHEMA.names, plain, tuple(np.zeros_like(e) for e in expected)),
        PairCounts(("a", "b"), (np.arange(2), np.array([0, 1, 1])), "c"),
        Dependences(("a", "b"), plain[:2], (np.tile(expected[0], 2),), "c"),
        Dependences(("b", "c"), plain[1:], (np.arange(12) % 3,), "a"),
    ]


@pytest.mark.parametrize("query", queries())
@pytest.mark.parametrize("relation", list(Relation))
def test_no_record_changes_an_answer_by_more_than_stated(query, relation):
    """All tables of two records of a domain of twelve, and all their neighbours."""
    l1, l2, ones = query.sensitivity(SCHEMA, relation)
    most1 = most2 = 0.0
    for others in RECORDS:
        answers = [query.answer(table_of([others, record])) for record in RECORDS]
        if relation is Relation.ADD_REMOVE:
            less = query.answer(table_of([others]))
            changes = [answer - less for answer in answers]
        else:
            changes = [one - two for one, two in combinations(answers, 2)]
        most1 = max(most1, *(float(np.abs(c).sum()) for c in changes))
        most2 = max(most2, *(float((c**2).sum()) ** 0.5 for c in changes))
        assert not ones or all(np.abs(c).max() <= 1 and (c != 0).sum() <= ones for c in changes)
    assert most1 <= l1
    assert most2 <= l2 + 1e-12
    reached = isinstance(query, PairCounts) or (relation is Relation.ADD_REMOVE)
    assert not reached or most1 == l1


def test_a_dependence_changes_by_two_when_a_record_is_replaced():
    """The bound is reached: where the expected counts lie just so, one count comes closer and the other too."""
    query = Dependences(("a", "c"), (np.arange(2), np.arange(2)), (np.array([1, 0, 0, 0]),))
    one, two = (query.answer(table_of([record]))[0] for record in ((0, 0, 0), (1, 0, 1)))
    assert abs(one - two) == query.sensitivity(SCHEMA, Relation.REPLACE_ONE)[0] == 2


def test_proportional_fitting_keeps_cross_ratios_and_meets_the_margins():
    rng = np.random.default_rng(0)
    table = rng.random((4, 3)) + 0.01
    result = proportional(table, ONE, TWO)
    np.testing.assert_allclose(result.sum(1), ONE, atol=1e-9)
    np.testing.assert_allclose(result.sum(0), TWO, atol=1e-9)
    for t in (table, result):
        assert t.min() > 0
    ratio = [t[:-1, :-1] * t[1:, 1:] / (t[:-1, 1:] * t[1:, :-1]) for t in (table, result)]
    np.testing.assert_allclose(ratio[0], ratio[1], rtol=1e-9)


def test_a_checkerboard_has_the_margins_whatever_the_noise():
    rng = np.random.default_rng(1)
    for noise in (0.1, 30.0, 1e4):
        joint, retained = checkerboard(100 * rng.random((4, 3)) + rng.normal(0, noise, (4, 3)), ONE, TWO, 1000.0, noise)
        assert joint.min() >= 0
        assert 0 <= retained <= 1
        np.testing.assert_allclose(joint.sum(1), ONE, atol=1e-8)
        np.testing.assert_allclose(joint.sum(0), TWO, atol=1e-8)
    exact = proportional(rng.random((4, 3)), ONE, TWO)
    np.testing.assert_allclose(checkerboard(1e6 * exact, ONE, TWO, 1e6, 1e-6)[0], exact, atol=1e-4)


def test_what_is_only_noise_is_not_kept():
    """Independent columns, and margins that were measured apart with noise of their own: nearly nothing is kept."""
    rng = np.random.default_rng(2)
    expected = 1000 * np.outer(ONE, TWO)
    retained = []
    for _ in range(300):
        apart = [np.maximum(m + rng.normal(0, 0.07, len(m)), 0.01) for m in (ONE, TWO)]
        retained.append(checkerboard(expected + rng.normal(0, 30, (4, 3)), *(m / m.sum() for m in apart), 1000.0, 30.0)[1])
    assert np.mean(retained) < 0.25
    assert shrinkage(expected, ONE, TWO, 1000.0, 50.0) == 0
    dependent = expected + 100 * np.array([[1, 0, -1]] * 2 + [[-1, 0, 1]] * 2)
    assert shrinkage(dependent, ONE, TWO, 1000.0, 5.0) > 0.97


def test_the_gaussian_table_is_that_of_the_normal_distribution():
    cuts = [ndtri(np.cumsum(shares)[:-1]) for shares in (ONE, TWO)]
    for r in (-0.9, -0.3, 0.6, 0.95):
        table = family_table(Family.GAUSSIAN, ONE, TWO, r)
        normal = multivariate_normal([0, 0], [[1, r], [r, 1]])
        for i, j in product(range(3), range(2)):
            assert table[: i + 1, : j + 1].sum() == pytest.approx(normal.cdf([cuts[0][i], cuts[1][j]]), abs=1e-6)


def test_the_frank_table_is_that_of_its_formula():
    u, v = np.cumsum(ONE)[:-1], np.cumsum(TWO)[:-1]
    for s in (-0.8, -0.2, 0.3, 0.85):
        theta = 2 * s / (1 - abs(s))
        table = family_table(Family.FRANK, ONE, TWO, s)
        for i, j in product(range(3), range(2)):
            inner = (math.exp(-theta * u[i]) - 1) * (math.exp(-theta * v[j]) - 1) / (math.exp(-theta) - 1)
            assert table[: i + 1, : j + 1].sum() == pytest.approx(-math.log(1 + inner) / theta, abs=1e-10)


@pytest.mark.parametrize("family", list(Family))
def test_families_have_their_margins_at_every_strength(family):
    for s in (-0.99, -0.5, 0.0, 1e-8, 0.7, 0.99):
        table = family_table(family, ONE, TWO, s)
        np.testing.assert_allclose(table.sum(1), ONE, atol=1e-6)
        np.testing.assert_allclose(table.sum(0), TWO, atol=1e-6)


def test_tau_of_a_table_is_that_of_its_pairs_of_rows():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 5, (4, 3))
    rows = [(i, j) for i, j in product(range(4), range(3)) for _ in range(counts[i, j])]
    signs = sum(np.sign((a - c) * (b - d)) for (a, b), (c, d) in product(rows, rows))
    assert tau_of(counts / counts.sum()) == pytest.approx(signs / len(rows) ** 2)


@pytest.mark.parametrize("family", list(Family))
def test_the_strength_found_gives_the_tau_asked_for(family):
    for tau in (-0.3, -0.05, 0.0, 0.1, 0.4):
        result = fitted_strength(family, ONE, TWO, (4, 3), tau)
        assert tau_of(family_table(family, ONE, TWO, result)) == pytest.approx(tau, abs=1e-6)
        if tau:
            root = brentq(lambda s, tau=tau: tau_of(family_table(family, ONE, TWO, s)) - tau, -0.98, 0.98)
            assert result == pytest.approx(root, abs=1e-4)
    assert fitted_strength(family, ONE, TWO, (4, 3), 1.0) > 0.98


def test_the_tree_is_the_heaviest():
    rng = np.random.default_rng(4)
    for count in (2, 3, 7, 15):
        weights = rng.random((count, count))
        weights += weights.T
        edges = spanning_tree(weights)
        assert {child for _, child in edges} | {edges[0][0]} == set(range(count))
        reached = {edges[0][0]}
        for parent, child in edges:
            assert parent in reached
            reached.add(child)
        heaviest = -minimum_spanning_tree(-np.triu(weights, 1)).sum()
        assert sum(weights[edge] for edge in edges) == pytest.approx(heaviest)


def branching() -> tuple[TreeModel, np.ndarray]:
    """A tree b - a, b - c with groups, and its joint distribution, cell by cell."""
    rng = np.random.default_rng(5)
    shares = (raised(np.array([0.3, 0.7])), raised(np.array([0.2, 0.5, 0.3])), raised(np.array([0.6, 0.4])))
    pooled = np.array([0, 1, 1])
    edges = (
        Edge(1, 0, pooled, np.arange(2), proportional(rng.random((2, 2)), np.bincount(pooled, shares[1]), shares[0])),
        Edge(1, 2, np.arange(3), np.arange(2), proportional(rng.random((3, 2)), shares[1], shares[2])),
    )
    joint = np.zeros((2, 3, 2))
    for a, b, c in product(range(2), range(3), range(2)):
        first, second = edges[0].joint, edges[1].joint
        joint[a, b, c] = shares[1][b] * first[pooled[b], a] / first[pooled[b]].sum() * second[b, c] / second[b].sum()
    return TreeModel(SCHEMA, shares, edges, 10, {}), joint


def test_the_tree_has_the_margins_of_its_columns():
    model, joint = branching()
    for axis, shares in enumerate(model.shares):
        np.testing.assert_allclose(joint.sum(tuple({0, 1, 2} - {axis})), shares, atol=1e-8)


@pytest.mark.parametrize("fixed", [{}, {"a": 1}, {"c": 0}, {"a": 0, "c": 1}, {"b": 2, "c": 1}])
def test_messages_give_the_root_its_distribution_under_a_condition(fixed):
    model, joint = branching()
    picked = tuple(slice(fixed[n], fixed[n] + 1) if n in fixed else slice(None) for n in SCHEMA.names)
    exact = np.zeros(3)
    exact[picked[1]] = joint[picked].sum((0, 2))
    result = model.shares[1] * model._messages(fixed)[0][1]
    np.testing.assert_allclose(result / result.sum(), exact / exact.sum(), atol=1e-6)
    assert model.log_likelihood(fixed) == pytest.approx(math.log(exact.sum()), abs=1e-6)
