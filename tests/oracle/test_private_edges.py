"""Private bin edges against brute force: the whole law of a small PrivTree, and what one record changes of quantile scores."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, partial
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.encode.privtree import grow
from hushtable.encode.quantiles import Middles
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT, REJECT


def law(counts: tuple[int, ...], scale: float, decay: int) -> dict[frozenset[int], float]:
    """The probability of every set of inner edges, worked out range by range."""
    p = math.exp(-1 / scale)

    def above(x: int) -> float:
        """P[x + N > 0] for discrete Laplace N."""
        return p ** (1 - x) / (1 + p) if x <= 0 else 1 - p**x / (1 + p)

    @cache
    def trees(low: int, high: int, depth: int) -> tuple[tuple[frozenset[int], float], ...]:
        if high - low <= 1:
            return ((frozenset(), 1.0),)
        halved = above(max(sum(counts[low:high]) - depth * decay, -decay))
        middle = (low + high) // 2
        inner = product(trees(low, middle, depth + 1), trees(middle, high, depth + 1))
        return (
            (frozenset(), 1 - halved),
            *((a | b | {middle}, halved * pa * pb) for (a, pa), (b, pb) in inner),
        )

    return dict(trees(0, len(counts), 0))


def loss(epsilon: float, decay_of: float) -> float:
    """The largest log-ratio over small tables, a record more in any place, and all trees."""
    scale = 3 / epsilon
    decay = math.ceil(scale * math.log(2)) if decay_of else 0
    worst = 0.0
    for base in ((0,) * 16, (1,) * 16, (9, 0, 0, 0) * 4, (40,) + (0,) * 15, (5, 30, 2, 0) + (0,) * 12, (12,) * 16):
        one = law(base, scale, decay)
        for place in (0, 1, 6, 15):
            other = law((*base[:place], base[place] + 1, *base[place + 1 :]), scale, decay)
            worst = max(worst, *(abs(math.log(one[t] / other[t])) for t in one if one[t] > 1e-300 and other[t] > 1e-300))
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_a_privtree_is_as_private_as_it_says_and_without_decay_it_is_not(epsilon):
    assert 0.5 * epsilon < loss(epsilon, decay_of=1) <= epsilon
    assert loss(epsilon, decay_of=0) > epsilon


def test_the_tree_that_is_grown_has_this_law():
    counts, scale, runs = (6, 1, 0, 2), 2.5, 400
    places = np.repeat(np.arange(4), counts)
    entropy = Entropy.seeded(2)
    seen = Counter(frozenset(grow(partial(np.searchsorted, places), 4, scale, entropy)[1:-1].tolist()) for _ in range(runs))

    def fits(scale: float) -> float:
        expected = law(counts, scale, math.ceil(scale * math.log(2)))
        assert set(seen) <= set(expected)
        distance = sum((seen[tree] - runs * p) ** 2 / (runs * p) for tree, p in expected.items())
        return float(chi2.sf(distance, len(expected) - 1))

    assert fits(scale) > ACCEPT
    assert fits(0.5 * scale) < REJECT
    assert grow(partial(np.searchsorted, np.zeros(9, np.int64)), 1, scale, entropy).tolist() == [0, 1]


@pytest.mark.parametrize(("relation", "most"), [(Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)])
def test_one_record_changes_the_scores_of_all_ranges_together_by_no_more_than_they_say(relation, most):
    column = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 5))
    schema = Schema((column,))
    gone = np.iinfo(np.int64).min
    values = (*range(6), gone)

    def answer(query, rows):
        return query.answer(Table(schema, {"x": np.array(rows, np.int64)}))

    worst = 0
    for edges in ([0, 6], [0, 2, 6], [0, 1, 3, 6]):
        query = Middles("x", np.array(edges))
        assert query.change(schema, relation) == most
        inside = query.candidates()
        assert all(((c > a) & (c < b)).all() or b - a == 1 for c, a, b in zip(inside, edges[:-1], edges[1:], strict=True))
        for base in combinations_with_replacement(values, 3):
            whole = answer(query, base)
            others = [(*base, v) for v in values] if relation is Relation.ADD_REMOVE else [(*base[:2], v) for v in values]
            for other in others:
                worst = max(worst, int(np.abs(whole - answer(query, other)).max(axis=1).sum()))
    assert worst == most
