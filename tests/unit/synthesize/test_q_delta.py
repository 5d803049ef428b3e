"""Q-delta: equal to its definition, quiet where rows are fresh, and loud where they are copies."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.data.people import people
from hushtable.evidence.neighbours.search import nearest
from hushtable.synthesize.neural.q_delta import FEWEST, Copying, q_delta

N = 900


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def table():
    rows = people(3 * N, seed=5)
    return rows.select(rows.schema.released)


@pytest.fixture(scope="module")
def train(table):
    return table.take(np.arange(N))


@pytest.fixture(scope="module")
def copying(train):
    return Copying.of(train, rng(), draws=200)


def by_definition(drawn, others, steps, most):
    quantiles = np.linspace(0, most, steps)
    return np.mean([np.mean(drawn <= np.quantile(others, q)) - q for q in quantiles])


@pytest.mark.parametrize("ties", [False, True])
def test_the_statistic_equals_its_definition(ties):
    for seed in range(10):
        drawn, others = rng(seed).random(137), rng(seed + 50).random(211)
        if ties:
            drawn, others = np.round(drawn, 1), np.round(others, 1)
        assert q_delta(drawn, others, 40, 0.3) == pytest.approx(by_definition(drawn, others, 40, 0.3))


def test_it_is_near_zero_for_one_distribution_and_large_for_copies():
    assert abs(q_delta(rng(0).random(20_000), rng(1).random(20_000))) < 0.003
    assert q_delta(np.zeros(500), rng(1).random(500)) == pytest.approx(1 - 0.025, abs=0.01)
    assert q_delta(1 + rng(0).random(500), rng(1).random(500)) == pytest.approx(-0.025, abs=0.01)


def test_the_listed_neighbours_give_the_nearest_rows_of_a_part(copying, train):
    parts = copying._divided(rng(3))
    assert len(np.unique(np.concatenate(parts))) == sum(len(part) for part in parts) == 6 * copying.size
    for part in parts[1:]:
        forth, back = copying._distances(parts[0], part)
        trained, others = (train.take(rows) for rows in (parts[0], part))
        for found, (one, other) in ((forth, (others, trained)), (back, (trained, others))):
            told = nearest(one, other, encoding=copying.encoding).distance[:, 0]
            assert found == pytest.approx(told)


def test_a_drawn_table_is_compared_as_brute_force_compares_it(copying, train, table):
    drawn = table.take(np.arange(N, N + copying.size))
    found, draw = [], rng(9)
    for _ in range(5):
        trained, others, _ = (train.take(part) for part in copying._divided(draw))

        def both(one, trained=trained):
            return [nearest(*pair, encoding=copying.encoding).distance[:, 0] for pair in ((one, trained), (trained, one))]

        (forth, back), (forth_real, back_real) = both(drawn), both(others)
        says = ~((back == 0) & (back_real == 0))
        steps = max(2, int(copying.size * 0.05))
        own, real = np.append(forth, back[says]), np.append(forth_real, back_real[says])
        found.append(by_definition(own, real, steps, 0.05))
    assert copying.value([drawn], rng(9)) == pytest.approx(np.mean(found))


def tables(source, size, seed):
    order = rng(seed).permutation(source.rows)
    return [source.take(order[at * size : (at + 1) * size]) for at in range(3)]


def test_fresh_rows_give_no_alarm_and_copies_do(copying, train, table):
    fresh = table.take(np.arange(N, 3 * N))
    quiet = [copying.value(tables(fresh, copying.size, seed), rng(seed)) for seed in range(8)]
    assert np.mean([value > copying.threshold for value in quiet]) < 0.3
    loud = [copying.value(tables(train, copying.size, seed), rng(seed)) for seed in range(3)]
    assert all(value > copying.threshold + 0.15 for value in loud)


def test_some_copies_among_fresh_rows_are_enough(copying, train, table):
    fresh, copies = tables(table.take(np.arange(N, 3 * N)), copying.size, 1), tables(train, copying.size, 2)
    fifth = np.arange(copying.size) < copying.size // 5
    mixed = [type(one).concat([one.take(fifth), two.take(~fifth)]) for one, two in zip(copies, fresh, strict=True)]
    assert copying.value(mixed, rng()) > copying.threshold


def test_the_threshold_is_passed_by_one_division_in_twenty(copying):
    chance = np.array([copying._by_chance(rng(seed)) for seed in range(100, 400)])
    assert np.mean(chance > copying.threshold) == pytest.approx(0.05, abs=0.04)


def test_few_rows_are_not_compared_and_many_are_sampled(table, monkeypatch):
    assert Copying.of(table.take(np.arange(FEWEST - 1)), rng()) is None
    assert Copying.of(table.take(np.arange(FEWEST)), rng(), draws=5) is not None
    monkeypatch.setattr("hushtable.synthesize.neural.q_delta.MOST", 100)
    assert Copying.of(table, rng(), draws=5).points.rows == 100
