"""Tau-b, which most libraries compute, has no small sensitivity: it divides by a number of ties that a record changes too."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import kendalltau

from hushtable.privacy.concordance import Concordance
from hushtable.privacy.unit import Relation
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Records = tuple[tuple[int, int], ...]
SCHEMA = Schema(tuple(Column(name=name, kind=Kind.INTEGER, domain=Bounds(0, 2), required=True) for name in "xy"))


def sums(records: Records) -> tuple[int, int, int]:
    """Concordant less discordant pairs, and the pairs that are no ties in the one and in the other column."""
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in combinations(records, 2)]
    return sum(int(s * t) for s, t in signs), sum(s != 0 for s, _ in signs), sum(t != 0 for _, t in signs)


def tau_a(records: Records) -> float:
    return sums(records)[0] / math.comb(len(records), 2)


def tau_b(records: Records) -> float:
    both, one, two = sums(records)
    return both / math.sqrt(one * two) if one * two else 0.0


def worst(tau: Callable[[Records], float], rows: int) -> float:
    """The most that replacing one record changes tau, over all tables of so many records with three values in each column."""
    near = defaultdict(list)
    for records in combinations_with_replacement(product(range(3), repeat=2), rows):
        value = tau(records)
        for place in range(rows):
            near[records[:place] + records[place + 1 :]].append(value)
    return max(max(values) - min(values) for values in near.values())


@pytest.mark.parametrize("rows", [4, 5])
def test_tau_b_moves_by_more_than_the_noise_is_made_for_and_tau_a_never(rows):
    assert worst(tau_b, rows) == pytest.approx(2.0)
    assert worst(tau_a, rows) <= 4 / rows + 1e-12


def test_the_neighbours_between_which_tau_b_turns_around():
    crowd = ((1, 1),) * 9
    up, down = (*crowd, (2, 2)), (*crowd, (2, 0))
    assert [tau_b(up), tau_b(down)] == [1.0, -1.0]
    assert abs(tau_a(up) - tau_a(down)) <= 4 / 10
    for records in (up, down):
        assert kendalltau(*zip(*records, strict=True)).statistic == pytest.approx(tau_b(records))


@pytest.mark.parametrize("rows", [4, 5])
def test_the_certified_copula_asks_for_tau_a(rows):
    rng = np.random.default_rng(rows)
    query = Concordance(("x", "y"), rows)
    assert query.sensitivity(SCHEMA, Relation.REPLACE_ONE)[0] / math.comb(rows, 2) == pytest.approx(4 / rows)
    for _ in range(20):
        records = tuple(map(tuple, rng.integers(0, 3, (rows, 2)).tolist()))
        table = Table(SCHEMA, {name: np.array([r[i] for r in records], np.int64) for i, name in enumerate("xy")})
        assert query.answer(table)[0] / math.comb(rows, 2) == pytest.approx(tau_a(records))
