"""From noisy sums to a mixture: exact without noise, drawn to what lies above where the noise is all there is."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.synthesize.mixture import estimate
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field, IntegerEncoding
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.sums import PartitionSums
from hushtable.synthesize.mixture.trees import Cuts, Tree
from tests.unit.synthesize.test_clustmix_certified import SCHEMA, people

WRITTEN = IntegerEncoding.of(SCHEMA, "", "test")
TOWN = next(f for f in WRITTEN.fields if f.column.name == "town")
SIZE = next(f for f in WRITTEN.fields if f.column.name == "size")


def test_without_noise_the_cells_are_those_of_the_table():
    table = people(3000)
    cuts = Cuts(WRITTEN)
    tree = Tree.single(WRITTEN).split(0, cuts.weights(len(cuts.places) - 4), 0)
    query = PartitionSums(WRITTEN, tree, 700)
    sums = estimate.read(WRITTEN, query.answer(table), query.weight, 0.0)
    whole = PartitionSums(WRITTEN, Tree.single(WRITTEN), 700)
    top = estimate.read(WRITTEN, whole.answer(table), whole.weight, 0.0)
    model = estimate.of_tree(tree, top, sums, 3000, {})
    cell = tree.of(table)
    assert model.weights == pytest.approx(np.bincount(cell, minlength=tree.cells) / 3000, abs=1e-6)
    for number in range(tree.cells):
        mine = table.take(cell == number)
        assert model.shares["town"][number] == pytest.approx(mine.counts(("town",)) / mine.rows, abs=1e-6)
        mean, spread, gone = model.numbers["size"][number]
        assert mean * 10 == pytest.approx(np.nanmean(mine["size"]), abs=0.02)
        assert spread * 10 == pytest.approx(np.nanstd(mine["size"]), abs=0.1)
        assert gone == pytest.approx(np.isnan(mine["size"]).mean(), abs=1e-6)


def test_leaves_lie_under_the_nodes_of_each_depth():
    cuts = Cuts(WRITTEN)
    tree = Tree.single(WRITTEN)
    assert tree.levels == []
    tree = tree.split(0, cuts.weights(0), 0).split(1, cuts.weights(1), 0).split(1, cuts.weights(2), 0)
    assert [level.tolist() for level in tree.levels] == [[0, 1, 1, 1], [0, 1, 2, 1], [0, 1, 3, 2]]


def test_noisy_leaves_together_have_the_margins_of_the_classes():
    """Each leaf's shares are wrong by its noise; scaled to the classes, which were measured apart, their sum is not."""
    table, rng = people(3000), np.random.default_rng(0)
    cuts = Cuts(WRITTEN)
    tree = Tree.single(WRITTEN)
    for leaf in range(8):
        tree = tree.split(leaf, cuts.weights(3 * leaf), 0)
    single = PartitionSums(WRITTEN, Tree.single(WRITTEN), 700)
    top = estimate.read(WRITTEN, single.answer(table), single.weight, 1.0)
    query = PartitionSums(WRITTEN, tree, 700)
    exact = query.answer(table)
    sums = estimate.read(WRITTEN, exact + rng.normal(0, 20 * STEPS, exact.shape).round().astype(np.int64), 700, 20.0 * STEPS)
    model = estimate.of_tree(tree, top, sums, 3000, {})
    drawn = model.weights @ model.shares["town"]
    assert drawn == pytest.approx(table.counts(("town",)) / 3000, abs=0.02)


def test_noise_that_drowns_a_cell_draws_it_to_what_lies_above():
    above = np.array([[0.4, 0.3, 0.2, 0.1, 0.0]])
    sums, counts = np.array([[10.0, 0.0, 60.0, 10.0, 20.0]]), np.array([100.0])
    calm, wild = (estimate.shares(TOWN, sums, counts, noise, above)[0] for noise in (0.0, 500.0))
    assert calm == pytest.approx(sums[0] / 100)
    assert wild == pytest.approx(above[0])
    between = estimate.shares(TOWN, sums, counts, 15.0, above)[0]
    assert calm[2] > between[2] > above[0, 2]
    numbers = np.array([[0.8, 0.1, 0.3]])
    assert estimate.numbers(SIZE, np.array([[-50.0, 0.0, 0.0]]), counts, 1e4, numbers) == pytest.approx(numbers)


def test_codes_that_a_leaf_cannot_have_get_no_share():
    allowed = np.array([[True, False, True, False, False], [False] * 5])
    result = estimate.shares(TOWN, np.full((2, 5), 20.0), np.full(2, 100.0), 0.0, np.full((2, 5), 0.2), allowed)
    assert result[0] == pytest.approx([0.5, 0, 0.5, 0, 0])
    assert result[1].sum() == pytest.approx(1)  # a leaf that nothing can be in is harmless


def test_counts_come_from_every_column_that_counts_records():
    answer = np.zeros((1, WRITTEN.dimension + 1), np.int64)
    answer[0, 0] = 700 * 90
    for f, span in zip(WRITTEN.fields, WRITTEN.spans, strict=True):
        if f.counted:
            answer[0, 1 + span.start] = 110 * STEPS
    count = estimate.read(WRITTEN, answer, 700, 1.0).counts[0]
    assert 90 < count < 110


def test_a_code_without_a_share_is_never_drawn_and_the_others_are_by_theirs():
    shares = {"town": np.array([[0.0, 0.25, 0.0, 0.75, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]])}
    model = Mixture(SCHEMA.select(["town"]), np.array([0.5, 0.5]), shares, {}, 10, {})
    drawn = model.sample(40_000, np.random.default_rng(0))["town"]
    assert np.bincount(drawn, minlength=4) / 40_000 == pytest.approx([0.5, 0.125, 0, 0.375], abs=0.01)
    assert Field(SCHEMA["town"]).cells == 5


def test_a_cell_in_which_all_are_missing_stays_so():
    sums = np.array([[0.0, 0.0, 250.0], [0.0, 0.0, 25.0]])
    result = estimate.numbers(SIZE, sums, np.array([250.0, 250.0]), 5.0, np.array([[0.5, 0.3, 0.1], [0.5, 0.3, 0.1]]))
    assert result[0, 2] > 0.95
    assert result[1, 2] == pytest.approx(0.1)
