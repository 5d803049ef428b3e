"""The price of safe k-anonymization against exact fractions, and against the whole mechanism, every sample enumerated."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hushtable.anonymize.private.safe import _full_cells, _generalized
from hushtable.anonymize.private.safe_delta import ROUNDING, design, exact_delta, largest_rate, least_k, rates
from hushtable.anonymize.private.safe_levels import Candidates
from hushtable.errors import GuaranteeRefused
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.hierarchy import IntervalTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge


def cell(records: int, k: int, beta: Fraction) -> list[Fraction]:
    """The law of what is shown of one cell: nothing, or j >= k records."""
    law = [Fraction(math.comb(records, j)) * beta**j * (1 - beta) ** (records - j) for j in range(records + 1)]
    return [sum(law[:k], Fraction(0)), *law[k:]]


def hockeys(records: int, k: int, beta: Fraction, growth: Fraction) -> tuple[Fraction, Fraction]:
    """Both hockey-sticks between a cell of N records and one of N - 1, in fractions; ``growth`` is e^epsilon."""
    more, less = cell(records, k, beta), cell(records - 1, k, beta)
    less += [Fraction(0)] * (len(more) - len(less))
    one = sum((max(p - growth * q, Fraction(0)) for p, q in zip(more, less, strict=True)), Fraction(0))
    two = sum((max(q - growth * p, Fraction(0)) for p, q in zip(more, less, strict=True)), Fraction(0))
    return one, two


CASES = [(2, 0.25, 0.5), (3, 0.5, 1.0), (5, 0.125, 0.3), (5, 0.125, 1.0), (8, 0.25, 2.0), (4, 0.75, 1.5), (10, 0.0625, 0.1)]


@pytest.mark.parametrize(("k", "beta", "epsilon"), CASES)
def test_the_scan_finds_the_largest_delta_of_all_cells(k, beta, epsilon):
    growth, exact = Fraction(math.exp(epsilon)), Fraction(beta)
    pairs = [hockeys(records, k, exact, growth) for records in range(k, 70)]
    assert exact_delta(k, beta, epsilon) == pytest.approx(ROUNDING * float(max(one for one, _ in pairs)), rel=1e-9)
    assert exact_delta(k, beta, epsilon) >= max(one for one, _ in pairs)


@pytest.mark.parametrize(("k", "beta", "epsilon"), CASES)
def test_the_other_way_nothing_is_lost_from_the_stated_epsilon_on_and_something_below(k, beta, epsilon):
    exact, edge = Fraction(beta), 1 / (1 - Fraction(beta))
    assert all(hockeys(records, k, exact, edge)[1] == 0 for records in range(1, 30))
    assert all(hockeys(records, k, exact, max(edge, Fraction(math.exp(epsilon))))[1] == 0 for records in range(1, 30))
    assert any(hockeys(records, k, exact, (1 + edge) / 2)[1] > 0 for records in (20, 100, 600))


def test_the_published_table_of_exact_values():
    published = {(5, 0.1): 2.8e-5, (10, 0.1): 1.0e-8, (20, 0.25): 9.2e-9, (50, 0.5): 9.8e-9}
    for (k, beta), delta in published.items():
        assert exact_delta(k, beta, 1.0) == pytest.approx(delta, rel=0.02)


def test_a_rate_beyond_the_theorem_and_a_delta_of_zero_are_refused():
    with pytest.raises(GuaranteeRefused, match="at most"):
        exact_delta(10, 0.7, 1.0)
    with pytest.raises(GuaranteeRefused, match="delta above zero"):
        design(1.0, 0.0)
    with pytest.raises(GuaranteeRefused, match="too small"):
        design(1.0, 1e-12, k=2)
    with pytest.raises(GuaranteeRefused, match="would do"):
        design(1.0, 1e-6, k=5, beta=0.25)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-7), (1.0, 1e-6), (3.0, 1e-5)])
def test_the_design_is_within_its_price_and_has_the_smallest_cells(epsilon, delta):
    k, beta = design(epsilon, delta)
    assert exact_delta(k, beta, epsilon) <= delta < exact_delta(k - 1, beta, epsilon)
    assert beta <= largest_rate(epsilon)
    assert all(k / beta <= least_k(rate, epsilon, delta) / rate for rate in rates(epsilon))
    assert design(epsilon, delta, k=2 * k)[0] == 2 * k
    assert design(epsilon, delta, beta=beta) == (k, beta)


PEOPLE = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 3), hierarchy=IntervalTree((2.0,))),
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(("north", "south"))),
    )
)


def law(table: Table, k: int, beta: float, *, first_drop: bool = False) -> Counter[tuple[tuple[int, ...], ...]]:
    """The exact law of what the step's own functions release, over all samples of a table."""
    candidates = Candidates.of(PEOPLE, {"age": "1", "town": "0"})
    levels = {"age": 1, "town": 0}
    probabilities: Counter[tuple[tuple[int, ...], ...]] = Counter()
    whole = _full_cells(_generalized(table, candidates, levels), k) if first_drop else table
    for coins in product((False, True), repeat=whole.rows):
        sampled = whole.take(np.flatnonzero(coins))
        out = sampled if first_drop else _full_cells(_generalized(sampled, candidates, levels), k)
        rows = tuple(sorted(zip(*(out[name].tolist() for name in out.schema.names), strict=True)))
        probabilities[rows] += beta ** sum(coins) * (1 - beta) ** (whole.rows - sum(coins))
    return probabilities


def delta_of(one: Counter, two: Counter, epsilon: float) -> float:
    """The exact delta of two worlds, both ways."""
    keys = {*one, *two}
    return max(sum(max(0.0, a[key] - math.exp(epsilon) * b[key]) for key in keys) for a, b in ((one, two), (two, one)))


@pytest.mark.parametrize("holds", [True, False])
def test_the_whole_mechanism_costs_what_is_paid_for_every_record_left_out(holds):
    """The cell of age 0 to 1 in the north holds the worst number of records; the broken twin drops before it samples."""
    k, beta, epsilon = 2, 0.25, 0.5
    table = Table(
        PEOPLE,
        {"age": np.array([0, 1, 1, 0, 2, 3, 2]), "town": np.array([0, 0, 0, 0, 1, 1, -1], np.int32)},
    )

    def check(first_drop: bool) -> None:
        whole = law(table, k, beta, first_drop=first_drop)
        assert sum(whole.values()) == pytest.approx(1)
        deltas = []
        for row in (0, 4, 6):
            less = law(table.take(np.delete(np.arange(table.rows), row)), k, beta, first_drop=first_drop)
            deltas.append(delta_of(whole, less, epsilon))
        assert max(deltas) <= exact_delta(k, beta, epsilon)
        exact = [float(hockeys(n, k, Fraction(beta), Fraction(math.exp(epsilon)))[0]) for n in (4, 2)]
        assert deltas[:2] == pytest.approx(exact)
        assert deltas[2] == pytest.approx(0, abs=1e-15)

    judge(check, not holds, holds=holds)
