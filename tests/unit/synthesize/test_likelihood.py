"""How likely a fitted chain holds a row: a distribution over all rows, and the one it draws from."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hushtable.privacy.vault import Vault
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LEVELS = (2, 3, 3)
SCHEMA = Schema(tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(tuple("abc"[:n]))) for i, n in enumerate(LEVELS)))
LINEAR = ("c1=linear", "c2=linear")


def table(codes: np.ndarray) -> Table:
    return Table(SCHEMA, {f"c{i}": codes[:, i].astype(np.int32) for i in range(3)})


EVERY = table(np.array(list(product(*(range(-1, n) for n in LEVELS)))))


@pytest.fixture(scope="module")
def rows() -> Table:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 600)
    second = np.where(rng.random(600) < 0.8, first, rng.integers(0, 3, 600))
    third = np.where(rng.random(600) < 0.1, -1, (first + second) % 3)
    return table(np.stack([first, second, third], axis=1))


def fitted(rows: Table, **knobs):
    return Sequential(**{"refine": 0, **knobs}).fit(Vault.of(rows), np.random.default_rng(0))


@pytest.mark.parametrize("knobs", [{"min_leaf": 1}, {"min_leaf": 50}, {"methods": LINEAR}, {"methods": ("c1=margin",)}])
def test_probabilities_of_all_rows_add_up_to_one(rows, knobs):
    for spread in (1e-3, 1.0):
        assert np.exp(fitted(rows, **knobs).log_likelihood(EVERY, spread)).sum() == pytest.approx(1)


@pytest.mark.parametrize("knobs", [{"min_leaf": 20}, {"methods": LINEAR}])
def test_rows_are_drawn_as_often_as_they_are_likely(rows, knobs):
    model = fitted(rows, **knobs)
    drawn = model.sample(40_000, np.random.default_rng(1))
    shares = drawn.counts(SCHEMA.names) / 40_000
    chances = np.exp(model.log_likelihood(EVERY))
    places = tuple(EVERY.cells(name) for name in SCHEMA.names)
    assert np.abs(shares[places] - chances).max() < 0.01


def test_a_number_counts_as_its_cell(small):
    output = small.select(small.schema.released)
    for methods in ((), tuple(f"{c.name}=linear" for c in list(output.schema)[1:])):
        model = fitted(output, methods=methods, min_leaf=5)
        logs = model.log_likelihood(output)
        assert np.isfinite(logs).all()
        assert (logs < 0).all()


def test_linear_numbers_are_drawn_as_often_as_they_are_likely():
    rng = np.random.default_rng(2)
    first = rng.integers(0, 2, 900)
    number = np.clip(first * 2 + rng.poisson(1.5, 900), 0, 6)
    schema = Schema((SCHEMA["c0"], Column(name="n", kind=Kind.INTEGER, domain=Bounds(0, 6), required=True)))
    model = fitted(Table(schema, {"c0": first.astype(np.int32), "n": number}), methods=("n=linear",))
    drawn = model.sample(40_000, np.random.default_rng(1))
    every = Table(schema, {"c0": np.repeat(np.arange(2), 7).astype(np.int32), "n": np.tile(np.arange(7), 2)})
    chances = np.exp(model.log_likelihood(every))
    shares = drawn.counts(schema.names)[:2].ravel() / 40_000
    assert chances.sum() == pytest.approx(1, abs=1e-3)
    assert np.abs(shares - chances).max() < 0.01


def test_numbers_in_ranges_are_drawn_as_often_as_they_are_likely():
    rng = np.random.default_rng(2)
    column = Column(name="n", kind=Kind.INTEGER, domain=Bounds(0, 4000), required=True)
    schema = Schema((column,))
    numbers = np.append(np.full(60, 1234), rng.integers(0, 4001, 60))
    model = fitted(Table(schema, {"n": numbers}), least=20)
    every = Table(schema, {"n": np.arange(4001)})
    chances = np.exp(model.log_likelihood(every))
    drawn = model.sample(200_000, np.random.default_rng(1))["n"]
    assert chances.sum() == pytest.approx(1, abs=0.01)
    assert chances[1234] == pytest.approx(0.5, abs=0.01)
    shares, likely = (
        np.histogram(np.arange(4001), 40, weights=w)[0] for w in (np.bincount(drawn, minlength=4001) / 200_000, chances)
    )
    assert np.abs(shares - likely).max() < 0.006


def test_a_number_that_cannot_be_drawn_is_as_unlikely_as_can_be():
    schema = Schema((Column(name="n", kind=Kind.REAL, domain=Bounds(0.0, 1.0)),))
    model = fitted(Table(schema, {"n": np.array([0.2, 0.4, np.nan] * 10)}), least=1)
    logs = np.exp(model.log_likelihood(Table(schema, {"n": np.array([0.2, 0.3, np.nan])})))
    assert logs == pytest.approx([1 / 3, 0, 1 / 3], abs=1e-4)
    assert logs[1] > 0


def test_memorizing_costs_on_rows_not_seen(rows):
    rng = np.random.default_rng(5)
    wide = Schema(tuple(Column(name=f"c{i}", kind=Kind.CATEGORY, domain=Levels(tuple("abcdefgh"))) for i in range(4)))
    seen, unseen = (Table(wide, {f"c{i}": rng.integers(0, 8, 300).astype(np.int32) for i in range(4)}) for _ in range(2))
    small, large = (fitted(seen, min_leaf=size, least=1, prune=0, shrink=0) for size in (1, 150))
    assert small.log_likelihood(seen).mean() > large.log_likelihood(seen).mean() + 1
    assert small.log_likelihood(unseen).mean() < large.log_likelihood(unseen).mean() - 1


def test_a_chain_read_back_is_as_likely(rows):
    model = fitted(rows, min_leaf=3)
    again = type(model).from_parts(*model.parts())
    assert np.array_equal(model.log_likelihood(EVERY), again.log_likelihood(EVERY))
