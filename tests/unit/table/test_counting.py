"""Many histograms at once: what is summed down, kept and cut into passes equals what is counted by itself."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from hushtable.privacy.query import Histogram, Ladder, Ranges, Sum, Total
from hushtable.table import counting
from hushtable.table.counting import BLOCK, Counts, joined, maximal, passes, smallest
from hushtable.table.rows import BATCH, answered, is_additive
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

SIZES = {"a": 3, "b": 5, "c": 2, "d": 4}


def table(rows: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(category(name, size, required=name == "c") for name, size in SIZES.items()))
    arrays = {n: rng.integers(-1 if n != "c" else 0, size, rows).astype(np.int32) for n, size in SIZES.items()}
    return Table(schema, arrays)


@pytest.mark.parametrize("rows", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, BATCH + 7])
def test_all_sets_at_once_equal_each_by_itself(rows):
    own = table(rows)
    sets = [columns for way in (1, 2, 3, 4) for columns in combinations(SIZES, way)]
    sets += list(permutations(("a", "b", "c")))
    for columns, counts in zip(sets, own.histograms(sets), strict=True):
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, own.counts(columns))


def test_counts_are_kept_with_the_rows_and_not_counted_again(monkeypatch):
    own = table(1000)
    first = own.histograms([("a", "b"), ("d",)])
    monkeypatch.setattr(counting, "counted", lambda *_: pytest.fail("counted again"))
    again = own.histograms([("d",), ("a", "b")])
    np.testing.assert_array_equal(first[0], again[1])


def test_what_does_not_fit_is_counted_again_and_in_several_passes(monkeypatch):
    monkeypatch.setattr(counting, "KEPT", 0)
    monkeypatch.setattr(counting, "HELD", 20)
    own = table(1000)
    sets = list(combinations(SIZES, 2))
    assert len(list(passes(sets, SIZES))) > 1
    for _ in range(2):
        for columns, counts in zip(sets, own.histograms(sets), strict=True):
            np.testing.assert_array_equal(counts, own.counts(columns))
    own.histograms(sets)[0][:] = 0
    assert own.histograms(sets)[0].sum() == 1000


def test_only_sets_that_are_part_of_no_other_are_counted():
    assert maximal([("a",), ("a", "b"), ("b", "a"), ("c",)], SIZES) == [("a", "b"), ("c",)]
    groups = list(passes([("a",), ("a", "b"), ("c",)], SIZES))
    assert sorted(columns for group in groups for columns in group) == [("a",), ("a", "b"), ("c",)]


@pytest.mark.parametrize("seed", range(20))
def test_pairs_that_are_joined_are_all_held_and_no_wider_than_what_lies_near(seed):
    rng = np.random.default_rng(seed)
    sizes = {f"c{i}": int(size) for i, size in enumerate(rng.choice([2, 3, 9, 17, 33, 70], 9))}
    pairs = list(combinations(sizes, 2))
    tops = [("c0", "c1", "c2", "c3"), *(pairs[i] for i in rng.choice(len(pairs), 25, replace=False))]
    found = joined(tops, sizes)
    assert all(any(set(own) <= set(other) for other in found) for own in tops)
    assert len(found) <= len(tops)
    for own in found:
        assert own in tops or (len(own) == 3 and np.prod([sizes[name] for name in own]) <= counting.NEAR)


def test_small_pairs_are_counted_three_at_a_time():
    sizes = dict.fromkeys("abcdef", 5)
    assert len(joined(list(combinations("abcdef", 2)), sizes)) <= 9
    large = dict.fromkeys("abcdef", 50)
    assert joined(list(combinations("abcdef", 2)), large) == list(combinations("abcdef", 2))


def test_counts_take_few_bytes_and_come_back_whole():
    counts = Counts([smallest(np.array([0, 255])), smallest(np.array([70_000]))])
    assert [array.dtype.itemsize for array in counts.arrays] == [1, 4]
    assert counts[0].dtype == np.int64
    assert counts[:1][0][1] - 256 == -1


def test_batches_are_the_rows_in_order():
    own = table(1000)
    parts = list(own.batches(300, ["b", "a"]))
    assert [part.rows for part in parts] == [300, 300, 300, 100]
    assert parts[0].schema.names == ("b", "a")
    np.testing.assert_array_equal(np.concatenate([part["a"] for part in parts]), own["a"])


def test_additive_questions_say_so_and_are_sums_over_parts():
    own = table(1000)
    for question in (Total(), Histogram(("a", "b"))):
        whole = answered(question, own)
        np.testing.assert_array_equal(whole, sum(answered(question, part) for part in own.batches(77)))
    assert all(is_additive(question) for question in (Total(), Ranges("a", (0, 1)), Ladder("a", (0.0,)), Sum("a", 1.0)))
    assert not is_additive(Histogram(("a",)))


def test_distinct_tuples_with_their_counts():
    own = table(1000)
    tuples = own.distinct(["a", "d"], 100)
    assert tuples.counts.sum() == 1000
    assert tuples.table.rows == len({(a, d) for a, d in zip(own["a"].tolist(), own["d"].tolist(), strict=True)})
    lines = list(zip(tuples.table["a"].tolist(), tuples.table["d"].tolist(), strict=True))
    assert lines == sorted(lines)
    for (a, d), count in zip(lines, tuples.counts.tolist(), strict=True):
        assert count == ((own["a"] == a) & (own["d"] == d)).sum()
