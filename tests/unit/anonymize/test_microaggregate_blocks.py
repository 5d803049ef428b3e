"""Many records are grouped in blocks of neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.anonymize.microaggregate import blocks, mdav
from hushtable.anonymize.microaggregate.blocks import in_blocks
from hushtable.anonymize.microaggregate.space import Scale, Space


def space_of(rows, seed, values=9):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, values, (2, rows)).astype(np.float64)
    codes = rng.choice(max(values, 2), (2, rows), p=np.arange(1, max(values, 2) + 1) / np.arange(1, max(values, 2) + 1).sum())
    return Space(numbers, codes.astype(np.int32), np.array([1.0, 3.0]))


def by_mdav(k):
    return lambda space, report: mdav.partition(space.numbers, space.codes, space.weights, k, report)


@settings(deadline=None, max_examples=40)
@given(st.integers(40, 400), st.integers(0, 99), st.integers(1, 9), st.integers(20, 100))
def test_every_record_is_in_one_block_and_no_block_is_large_or_tiny(rows, seed, values, most):
    made = list(blocks._blocks(space_of(rows, seed, values), most))
    np.testing.assert_array_equal(np.sort(np.concatenate(made)), np.arange(rows))
    sizes = [len(block) for block in made]
    assert max(sizes) <= most
    assert min(sizes) >= min(rows, int(most * blocks.FAIR))


def test_groups_of_blocks_are_groups_of_mdav(monkeypatch):
    monkeypatch.setattr(blocks, "MOST", 150)
    monkeypatch.setattr(blocks, "GROUPS", 10)
    space, told = space_of(1000, 1), list[float]()
    labels, count = in_blocks(space, 5, by_mdav(5), told.append)
    sizes = np.bincount(labels)
    assert count > 5
    assert sizes.min() >= 5
    assert sizes.max() <= 9
    assert told == sorted(told)
    assert told[-1] <= 1
    # However many are worked on at a time.
    np.testing.assert_array_equal(in_blocks(space, 5, by_mdav(5), told.append, workers=3)[0], labels)


def test_few_records_are_one_block():
    space = space_of(500, 2)
    labels, count = in_blocks(space, 5, by_mdav(5), lambda share: None)
    assert count == 1
    np.testing.assert_array_equal(labels, by_mdav(5)(space, lambda share: None))


def test_large_groups_have_large_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "MOST", 100)
    assert in_blocks(space_of(1000, 3), 10, by_mdav(10), lambda share: None)[1] == 1


def test_blocks_of_neighbours_lose_little(monkeypatch):
    table = ht.people(4000, seed=5)
    space = Space.of(table, table.schema.quasi, Scale.STANDARD)
    one = space.errors(in_blocks(space, 5, by_mdav(5), lambda share: None)[0]).all_within
    monkeypatch.setattr(blocks, "MOST", 1000)
    several, count = in_blocks(space, 5, by_mdav(5), lambda share: None)
    assert count >= 4
    assert space.errors(several).all_within < 1.15 * one
    # Blocks of records that have nothing to do with one another lose far more.
    monkeypatch.setattr(blocks, "_below", lambda space, rows: np.random.default_rng(len(rows)).random(len(rows)) < 0.5)
    apart, _ = in_blocks(space, 5, by_mdav(5), lambda share: None)
    assert space.errors(apart).all_within > space.errors(several).all_within


@pytest.mark.parametrize("method", ["mdav", "v-mdav"])
def test_the_card_says_that_there_were_blocks(monkeypatch, method):
    monkeypatch.setattr(blocks, "MOST", 100)
    monkeypatch.setattr(blocks, "GROUPS", 10)
    made = ht.release(ht.people(300, seed=5), "mdav", k=5, settings={"method": method}, allow_copies="a test")
    result = made.result["microaggregate"]
    assert result["blocks"] > 1
    assert result["note"] == f"groups were formed in {result['blocks']} blocks of neighbours, each by itself"
    assert made.guarantee.criteria["k"] >= 5
