"""Local suppression: held against the optimum of small tables, and against a bound that no suppression can go below."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from hushtable.anonymize.recoding.suppress_cells import masks_of, suppress

ALL = "sex age race marital_status education native_country workclass occupation income"


def cost_of(stars: np.ndarray, weights: np.ndarray) -> int:
    return int((stars * weights).sum())


def broken(codes: np.ndarray, stars: np.ndarray, k: int) -> int:
    """Rows that keep a cell and are alike with fewer than k."""
    written = np.where(stars, -1, codes)
    _, groups, counts = np.unique(written, axis=0, return_inverse=True, return_counts=True)
    return int(((counts[groups.ravel()] < k) & ~stars.all(axis=1)).sum())


def optimum(codes: np.ndarray, weights: np.ndarray, k: int) -> int:
    """The least cost over every choice of a mask for every record."""
    masks = list(product([False, True], repeat=codes.shape[1]))
    costs = [sum(w for star, w in zip(mask, weights, strict=True) if star) for mask in masks]
    written = [[tuple("*" if star else c for star, c in zip(mask, row, strict=True)) for mask in masks] for row in codes.tolist()]
    best = int(weights.sum()) * len(codes)
    for picks in product(range(len(masks)), repeat=len(codes)):
        cost = sum(costs[pick] for pick in picks)
        if cost < best:
            sizes = Counter(own[pick] for own, pick in zip(written, picks, strict=True))
            best = cost if all(size >= k or set(row) == {"*"} for row, size in sizes.items()) else best
    return best


@pytest.mark.parametrize("seed", range(12))
def test_small_tables_cost_at_most_a_little_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (5, 2)).astype(np.int32)
    weights = np.array([1, 1 if seed % 2 else 2])
    choice = suppress(codes, weights, 2)
    best, ours = optimum(codes, weights, 2), cost_of(choice.cells, weights)
    assert broken(codes, choice.cells, 2) == 0
    assert choice.bound <= best <= ours <= best + 2


def test_most_small_tables_are_optimal():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(30):
        codes = rng.integers(0, 3, (5, 2)).astype(np.int32)
        hits += cost_of(suppress(codes, np.ones(2, int), 2).cells, np.ones(2)) == optimum(codes, np.ones(2), 2)
    assert hits >= 27


@pytest.mark.parametrize("seed", range(30))
def test_nobody_is_alike_with_fewer_than_k(seed):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 400)), int(rng.integers(1, 6)), int(rng.integers(2, 9))
    codes = np.floor(rng.integers(1, 12, m) * rng.random((n, m)) ** 2).astype(np.int32)
    weights = rng.integers(1, 4, m)
    choice = suppress(codes, weights, k)
    assert broken(codes, choice.cells, k) == 0
    assert choice.bound == bound_by_hand(codes, weights, k) <= cost_of(choice.cells, weights)


def bound_by_hand(codes: np.ndarray, weights: np.ndarray, k: int) -> int:
    """Each record's cheapest mask under which k of all records are like it."""
    m = codes.shape[1]
    least = np.full(len(codes), weights.sum())
    for size in range(m):
        for columns in combinations(range(m), m - size):
            _, groups, counts = np.unique(codes[:, columns], axis=0, return_inverse=True, return_counts=True)
            cost = weights.sum() - weights[list(columns)].sum()
            least = np.where(counts[groups.ravel()] >= k, np.minimum(least, cost), least)
    return int(least.sum())


def test_borrowing_saves_cells():
    """Three of a kind and one that differs in one column: with one row of the class next to them they are five."""
    codes = np.array([[0, i] for i in (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)] + [[1, 2]] * 5, np.int32)
    choice = suppress(codes, np.ones(2, int), 5)
    assert choice.cells.sum() == 5
    assert broken(codes, choice.cells, 5) == 0


def test_borrowing_that_costs_more_than_it_saves_is_left_alone():
    """Two of a kind would need three others, to spare each of their two rows one cell."""
    codes = np.array([[0, i] for i in (0, 0, 0, 0, 0, 0, 0, 0, 1, 1)] + [[1, 2]] * 5, np.int32)
    assert suppress(codes, np.ones(2, int), 5).cells.sum() == 4


def test_many_columns_take_masks_of_few_columns_and_then_a_chain():
    weights = np.ones(15, int)
    masks = masks_of(weights, np.arange(15))
    sizes = masks.sum(axis=1)
    assert (np.bincount(sizes) == [1, 15, 105, 455, 1365, *[1] * 11]).all()
    assert [set(np.flatnonzero(mask)) for mask in masks[sizes == 6]] == [{9, 10, 11, 12, 13, 14}]
    codes = np.random.default_rng(0).integers(0, 2, (200, 15)).astype(np.int32)
    choice = suppress(codes, weights, 4)
    assert broken(codes, choice.cells, 4) == 0
    assert choice.bound == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "cells", "bound"),
    [("sex age race", 425, 425), ("sex age race marital_status", 1845, 1829), (ALL, 35150, 31458)],
)
def test_cells_of_adult(real_data, columns, cells, bound):
    """425 and 1,836 are what a row-by-row greedy needs if a ``*`` may stand for any value; here it is like no other value."""
    names = columns.split()
    frame = pd.read_csv(real_data / "adult/adult_train.csv.gz", dtype=str, keep_default_na=False)
    frame = frame[(frame != "?").all(axis=1)]
    assert len(frame) == 30_162
    codes = np.stack([np.unique(frame[name], return_inverse=True)[1] for name in names], axis=1).astype(np.int32)
    choice = suppress(codes, np.ones(len(names), int), 5)
    assert broken(codes, choice.cells, 5) == 0
    assert (choice.cells.sum(), choice.bound) == (cells, bound)
