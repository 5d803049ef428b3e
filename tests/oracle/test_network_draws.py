"""Rows drawn from a network have its distribution, and conditions its conditional distribution, computed cell by cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.score import GRID
from hushtable.synthesize.network.privbayes import Grown
from hushtable.synthesize.network.structure import of_degree, up_to, within
from hushtable.synthesize.network.tables import Network, Node, clipped, raked, shrunk
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.exact import judge

SIZES = {"a": 2, "b": 3, "c": 2}
SCHEMA = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(tuple("xyz"[:s])), required=True) for n, s in SIZES.items()))


def network(seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    a = Node("a", (), (), rng.dirichlet(np.ones(2), 1))
    b = Node("b", ("a",), (2,), rng.dirichlet(np.ones(3), 2))
    c = Node("c", ("a", "b"), (2, 3), rng.dirichlet(np.ones(2), 6))
    return Network(SCHEMA, (a, b, c), 100, {})


def dense(model: Network) -> np.ndarray:
    a, b, c = (node.shares for node in model.nodes)
    return np.array([[[a[0, i] * b[i, j] * c[3 * i + j, k] for k in range(2)] for j in range(3)] for i in range(2)])


@pytest.mark.parametrize(("rule", "holds"), [("network", True), ("independent", False)])
def test_draws_have_the_joint_shares(rule, holds):
    model = network()
    joint = dense(model)
    if rule == "independent":
        joint = joint.sum((1, 2))[:, None, None] * joint.sum((0, 2))[None, :, None] * joint.sum((0, 1))[None, None, :]

    def check(expected):
        result = model.sample(20_000, np.random.default_rng(1)).counts(("a", "b", "c")) / 20_000
        assert np.abs(result - expected).max() < 0.012

    judge(check, joint, holds=holds)


@pytest.mark.parametrize("fixed", [{"c": "x"}, {"b": "z"}, {"b": "y", "c": "y"}])
def test_conditions_are_met_and_the_rest_follows_from_them(fixed):
    model = network(2)
    place = {name: "xyz".index(text) for name, text in fixed.items()}
    joint = dense(model)
    for axis, name in enumerate(SIZES):
        if name in place:
            keep = np.zeros(SIZES[name])
            keep[place[name]] = 1
            joint = joint * keep.reshape([-1 if i == axis else 1 for i in range(3)])
    drawn = model.sample(20_000, np.random.default_rng(3), fixed)
    assert all((drawn[name] == cell).all() for name, cell in place.items())
    assert np.abs(drawn.counts(("a", "b", "c")) / 20_000 - joint / joint.sum()).max() < 0.012


def test_a_column_of_no_share_is_never_drawn():
    node = Node("b", ("a",), (2,), np.array([[0.0, 1.0, 0.0], [0.3, 0.7, 0.0]]))
    drawn = node.draw({"a": np.arange(10_000) % 2}, 10_000, np.random.default_rng(0))
    assert not (drawn == 2).any()
    assert (drawn[::2] == 1).all()
    # As evenly as whole rows allow.
    assert abs((drawn[1::2] == 0).sum() - 1500) <= 1


def test_shares_from_counts():
    counts = np.array([[3.0, -1.0, 1.0], [-2.0, -1.0, -3.0]])
    assert clipped(counts) == pytest.approx(np.array([[0.75, 0, 0.25], [0.75, 0, 0.25]]))
    prior = np.array([[0.2, 0.3, 0.5]])
    held = np.array([100.0])
    assert shrunk(np.array([[21.0, 29, 50]]), 10.0, held, prior) == pytest.approx(prior)
    assert shrunk(np.array([[90.0, 5, 5]]), 0.01, held, prior) == pytest.approx(np.array([[0.9, 0.05, 0.05]]), abs=1e-3)


def test_raking_reaches_both_margins():
    rng = np.random.default_rng(0)
    shares, held = rng.dirichlet(np.ones(4), 6), rng.uniform(5, 50, 6)
    margin = rng.dirichlet(np.ones(4) * 5, 2)
    fitted = raked(shares, held, margin, rounds=500)
    assert fitted.sum(1) == pytest.approx(np.ones(6))
    for group in range(2):
        part = slice(3 * group, 3 * group + 3)
        assert held[part] @ fitted[part] / held[part].sum() == pytest.approx(margin[group], abs=1e-6)


def test_what_the_rows_have_beyond_the_expected_moves_by_one_record_at_most():
    """All tables of up to three records and all records added to them, for pairs with and without further parents."""
    rng = np.random.default_rng(0)
    tables = [Measurement(("a", n), rng.normal(3, 2, (2, SIZES[n])), 1.0) for n in ("b", "c")]
    grown = Grown.of(tables, SIZES, ("a",), 5.0, rng)
    grown.add("b", ("a",), None, rng)
    scores = grown.scores((("c", ("a",)), ("c", ("a", "b"))), 2.0)
    records = list(product(range(2), range(3), range(2)))

    def answer(rows):
        arrays = np.array(rows, np.int32).reshape(-1, 3)
        return scores.answer(Table(SCHEMA, dict(zip("abc", arrays.T, strict=True))))

    for rows in ([], [records[0]], [records[3], records[7]], [records[5]] * 3):
        before = answer(rows)
        change = max(int(np.abs(answer([*rows, record]) - before).max()) for record in records)
        assert 0 < change <= scores.change(SCHEMA, Relation.ADD_REMOVE) == GRID


def test_largest_sets_of_parents_are_those_to_which_nothing_can_be_added():
    sizes = {"a": 2, "b": 3, "c": 2, "d": 5, "x": 2}
    inside = ["a", "b", "c", "d"]
    for cells in (1, 4, 8, 13, 24, 60, 200):
        result = {frozenset(parents) for _, parents in within(sizes, inside, ["x"], cells, np.random.default_rng(0))}
        sets = [frozenset(n for n, bit in zip(inside, bits, strict=True) if bit) for bits in product((0, 1), repeat=4)]
        fits = [s for s in sets if np.prod([2, *(sizes[n] for n in s)]) <= cells]
        assert result == ({s for s in fits if not any(s < other for other in fits)} or {frozenset()})


def test_of_too_many_candidates_some_are_drawn():
    names = [f"c{i}" for i in range(60)]
    sizes = dict.fromkeys(names, 3)
    rng = np.random.default_rng(0)
    for pairs in (
        of_degree(names[:40], names[40:], 3, rng),
        up_to(sizes, ("c0",), names[1:40], names[40:], 3, 100, rng),
        within(sizes, names[:40], names[40:], 30, rng),
    ):
        assert 100 < len(pairs) <= 2000
        assert all(child in names[40:] and set(parents) <= set(names[:40]) for child, parents in pairs)
        assert all(3 ** (1 + len(parents)) <= 100 for _, parents in pairs)
