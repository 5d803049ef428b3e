"""What one mechanism costs, against its own exact distribution; every check also rejects a deliberately wrong price."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hushtable.privacy import pld
from hushtable.privacy.accountant import epsilon_of, gdp_delta, gdp_mu
from hushtable.privacy.allowance import change
from hushtable.privacy.event import Approximate, DiscreteGaussian, DiscreteLaplace, Exponential, PostProcessing, Raw
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.query import Histogram, Ranges, Sum, Total
from hushtable.privacy.unit import Relation, Unit
from hushtable.table.columns import MISSING_INTEGER, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import epsilon_at, gaussian, hockey, joint, judge, laplace, loss, renyi

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


@pytest.mark.parametrize(
    ("price", "holds"),
    [
        (lambda change, scale: DiscreteLaplace(scale, change).cost().epsilon, True),
        (lambda change, scale: 1 / scale, False),
        (lambda change, scale: change / (2 * scale), False),
        (lambda change, scale: 2 * change / scale, False),
    ],
)
def test_laplace_price_is_the_largest_loss(price, holds):
    def check(price):
        for move, scale in product((1, 2, 5), (0.3, 1.0, 7.0)):
            true = loss(laplace(scale), laplace(scale, move))
            assert price(move, scale) == pytest.approx(true, rel=1e-9)

    judge(check, price, holds=holds)


@pytest.mark.parametrize(
    ("price", "holds"),
    [
        (lambda change, sigma: DiscreteGaussian(sigma, change).cost().rho, True),
        (lambda change, sigma: change**2 / (4 * sigma**2), False),
        (lambda change, sigma: change / (2 * sigma**2), False),
        (lambda change, sigma: change**2 / sigma**2, False),
    ],
)
def test_discrete_gaussian_price_bounds_every_renyi_divergence(price, holds):
    def check(price):
        for move, sigma, alpha in product((1, 3), (0.7, 2.0, 10.0), (1.05, 2.0, 8.0, 40.0)):
            true = renyi(gaussian(sigma, 0, 600), gaussian(sigma, move, 600), alpha)
            assert 0.999 * alpha * price(move, sigma) <= true <= alpha * price(move, sigma) * (1 + 1e-9)

    judge(check, price, holds=holds)


def test_discrete_gaussian_has_no_exact_mu():
    """At sigma 0.7 the discrete Gaussian is told apart more easily than the Gaussian of that scale, so no mu is claimed."""
    assert hockey(gaussian(0.7), gaussian(0.7, 1), 0.0) > gdp_delta(1 / 0.7, 0.0) + 0.03
    assert DiscreteGaussian(0.7, 1.0).cost().mu == math.inf


def test_the_delta_of_a_gaussian_is_exact():
    for move, sigma, epsilon in product((1.0, 2.0), (1.0, 3.0), (0.0, 0.5, 2.0)):
        x = np.linspace(-12 * sigma, 12 * sigma + move, 400_001)
        p, q = (np.exp(-((x - m) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi)) for m in (0.0, move))
        true = float(np.trapezoid(np.clip(p - math.exp(epsilon) * q, 0, None), x))
        assert gdp_delta(move / sigma, epsilon) == pytest.approx(true, rel=1e-5)


@pytest.mark.parametrize(
    ("mu_of", "holds"),
    [(gdp_mu, True), (lambda epsilon, delta: epsilon / math.sqrt(2 * math.log(1.25 / delta)), False)],
)
def test_table_of_mu_for_delta_one_in_a_hundred_thousand(mu_of, holds):
    def check(mu_of):
        assert [round(mu_of(epsilon, 1e-5), 3) for epsilon in (1, 2, 4, 8)] == [0.268, 0.502, 0.925, 1.666]

    judge(check, mu_of, holds=holds)


def choice(scores: np.ndarray, epsilon: float) -> np.ndarray:
    """Log-probabilities of the exponential mechanism at sensitivity 1."""
    weights = epsilon * scores / 2
    return weights - np.logaddexp.reduce(weights)


@pytest.mark.parametrize(
    ("price", "holds"),
    [
        (lambda epsilon: Exponential(epsilon).cost(), True),
        (lambda epsilon: Exponential(epsilon / 2).cost(), False),
        (lambda epsilon: Approximate(epsilon, 0.0).cost(), False),
    ],
)
def test_exponential_mechanism_price_is_tight_in_epsilon_and_in_rho(price, holds):
    """One candidate moves up by the sensitivity and all others down: the worst that one row can do."""

    def check(price):
        for epsilon in (0.1, 1.0, 3.0):
            losses, divergences = [], []
            for other, start in product((1, 3, 1000), np.linspace(-12, 12, 25)):
                scores = np.append(start, np.zeros(other))
                p, q = choice(scores + np.append(1, -np.ones(other)), epsilon), choice(scores, epsilon)
                losses.append(loss(p, q))
                divergences.append(renyi(p, q, 1.1) / 1.1)
            assert 0.99 * price(epsilon).epsilon <= max(losses) <= price(epsilon).epsilon * (1 + 1e-9)
            assert 0.7 * price(epsilon).rho <= max(divergences) <= price(epsilon).rho

    judge(check, price, holds=holds)


SCHEMA = Schema(
    (
        Column(name="a", kind=Kind.CATEGORY, domain=Levels(("x", "y"))),
        Column(name="n", kind=Kind.INTEGER, domain=Bounds(-1, 2), required=True),
        Column(name="up", kind=Kind.INTEGER, domain=Bounds(3, 5)),
        Column(name="down", kind=Kind.INTEGER, domain=Bounds(-5, -2)),
    )
)
UP, DOWN = (MISSING_INTEGER, 3, 5), (MISSING_INTEGER, -5, -2)
RECORDS = tuple((a, n, UP[i], DOWN[j]) for i, a in enumerate((-1, 0, 1)) for j, n in enumerate((-1, 0, 2)))
QUERIES = {
    "histogram": Histogram(("a",)),
    "joint histogram": Histogram(("a", "n")),
    "ranges": Ranges("n", (-1.0, 0.5, 2.0)),
    "total": Total(),
    "sum": Sum("n", 1.0),
    "rough sum": Sum("n", 0.7),
    "sum of what is above zero or missing": Sum("up", 1.0),
    "sum of what is below zero or missing": Sum("down", 1.0),
}


def table(records: tuple[tuple[int, ...], ...]) -> Table:
    """A table of these records: a level (or -1 for missing) and three numbers."""
    values = np.array(records, dtype=np.int64).reshape(-1, 4)
    return Table(SCHEMA, {"a": values[:, 0].astype(np.int32), "n": values[:, 1], "up": values[:, 2], "down": values[:, 3]})


def neighbours(relation: Relation, most: int) -> list[tuple[tuple, tuple]]:
    """All pairs of tables of one bystander and one person with at most ``most`` rows, of whom the other table has none
    or another person with at most as many."""
    persons = [rows for held in range(1, most + 1) for rows in product(RECORDS, repeat=held)]
    others = [()] if relation is ADD else persons
    return [((RECORDS[4], *one), (RECORDS[4], *two)) for one in persons for two in others]


def largest_change(query, relation: Relation, most: int) -> tuple[float, float, int, float]:
    """Brute force: the largest L1, L2, number of changed coordinates and change of one coordinate."""
    pairs = neighbours(relation, most)
    answers = {rows: query.answer(table(rows)).astype(float) for rows in {rows for pair in pairs for rows in pair}}
    moves = np.array([answers[one] - answers[two] for one, two in pairs])
    sizes = np.abs(moves)
    return sizes.sum(1).max(), np.sqrt((sizes**2).sum(1)).max(), int((sizes > 0).sum(1).max()), sizes.max()


def forgets_the_relation(query, schema, unit):
    return query.sensitivity(schema, ADD)


def takes_counts_for_sums(query, schema, unit):
    return (1.0, 1.0, 1) if unit.relation is ADD else (2.0, math.sqrt(2), 2)


@pytest.mark.parametrize(("coded", "holds"), [(change, True), (forgets_the_relation, False), (takes_counts_for_sums, False)])
def test_sensitivities_equal_brute_force_over_all_neighbours(coded, holds):
    def check(coded):
        for query, relation in product(QUERIES.values(), (ADD, REPLACE)):
            l1, l2, ones = coded(query, SCHEMA, Unit(relation=relation))
            true1, true2, moved, most = largest_change(query, relation, 1)
            slack = 1.0 if query == QUERIES["rough sum"] else 0.0  # the ends of the domain lie between two steps
            assert true1 <= l1 <= true1 + slack
            assert true2 <= l2 <= true2 + slack
            assert ones in (0, moved)
            assert not ones or most <= 1

    judge(check, coded, holds=holds)


def counts_rows_as_public(query, schema, unit):
    l1, l2, _ = query.sensitivity(schema, unit.relation)
    return l1 * unit.rows, l2 * unit.rows, 0


@pytest.mark.parametrize(("coded", "holds"), [(change, True), (forgets_the_relation, False), (counts_rows_as_public, False)])
def test_sensitivities_of_a_person_with_two_rows_cover_brute_force(coded, holds):
    """Under replace-one a person of two rows may be replaced by one of one row, so not even the number of rows is free."""

    def check(coded):
        for query, relation in product(QUERIES.values(), (ADD, REPLACE)):
            l1, l2, ones = coded(query, SCHEMA, Unit(relation=relation, rows=2))
            true1, true2, _, most = largest_change(query, relation, 2)
            assert true1 <= l1 + 1e-9 <= 2.01 * true1
            assert true2 <= l2 + 1e-9 <= 2.01 * true2
            assert not ones or most <= 1

    judge(check, coded, holds=holds)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(("shrink", "holds"), [(1.0, True), (0.8, False)])
def test_a_single_noisy_count_keeps_its_epsilon_by_exact_hockey_stick(noise, shrink, holds):
    """The distribution that was paid for, summed: delta at the ledger's epsilon. The twin draws less noise than it paid for."""

    def check(shrink):
        for scale, delta in product((0.8, 3.0, 12.0), (1e-4, 1e-9)):
            event = DiscreteLaplace(scale, 1.0) if noise == "laplace" else DiscreteGaussian(scale, 1.0, 1)
            world = laplace if noise == "laplace" else gaussian
            for tight in (False, True):
                epsilon = Ledger([Entry("s", event, "w")]).epsilon(delta, tight=tight)
                assert hockey(world(scale * shrink), world(scale * shrink, 1), epsilon) <= delta * (1 + 1e-9)

    judge(check, shrink, holds=holds)


@pytest.mark.parametrize(("wider", "holds"), [(1.0, True), (1.02, False)])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_numerical_epsilon_lies_between_the_truth_and_the_closed_form(relation, wider, holds):
    def check(wider):
        for sigma, delta in ((0.6, 1e-6), (1.7, 1e-6), (4.0, 1e-9)):
            _, l2, ones = Histogram(("a",)).sensitivity(SCHEMA, relation)
            numerical = pld.epsilon([DiscreteGaussian(sigma * wider, l2, ones)], delta)
            reach = int(14 * sigma) + 3
            p, q = gaussian(sigma, 0, reach), gaussian(sigma, 1, reach)
            true = epsilon_at(p, q, delta) if relation is ADD else epsilon_at(joint(p, q), joint(q, p), delta)
            assert true - 1e-9 <= numerical <= true + 5e-4
            assert numerical <= epsilon_of(DiscreteGaussian(sigma, l2, ones).cost(), delta)

    judge(check, wider, holds=holds)


def test_numerical_epsilon_gives_way_where_it_cannot_place_an_event():
    assert pld.epsilon([DiscreteGaussian(2.0, 3.0)], 1e-6) == math.inf
    assert pld.epsilon([DiscreteGaussian(0.2, 1.0, 1)], 1e-6) == math.inf
    assert pld.epsilon([DiscreteGaussian(2.0, 1.0, 1)], 0.0) == math.inf
    assert pld.epsilon([DiscreteGaussian(2.0, 1.0, 1), Approximate(0.1, 0.0)], 1e-6) == math.inf
    assert pld.epsilon([DiscreteGaussian(2.0, 1.0, 1), Approximate(0.0, 1e-7)], 1e-6) == math.inf
    assert pld.epsilon([DiscreteGaussian(2.0, 1.0, 1), Raw("reads")], 1e-6) == math.inf
    assert pld.epsilon([DiscreteLaplace(0.001, 1.0)], 1e-6) == math.inf
    assert pld.epsilon([], 1e-6) == 0.0


def test_looks_that_change_nothing_do_not_stand_in_the_way():
    alone = pld.epsilon([DiscreteGaussian(2.0, 1.0, 1)], 1e-6)
    free = [DiscreteGaussian(3.0, 0.0), DiscreteLaplace(3.0, 0.0), Exponential(0.0), PostProcessing("p")]
    assert pld.epsilon([DiscreteGaussian(2.0, 1.0, 1), *free], 1e-6) == alone
