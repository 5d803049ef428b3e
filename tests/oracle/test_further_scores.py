"""What one record can change of the scores by which networks and groups grow: every neighbour of small tables."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.field_groups import _pair_scores
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.score import GRID, MarginalScores
from hushtable.synthesize.network.grown import Grown
from hushtable.table.table import Table
from tests.unit.synthesize.test_network import categories

SIZES = {"y": 2, "a": 2, "b": 3, "c": 2}


def table_of(records: np.ndarray) -> Table:
    return categories({name: (size, records[:, i]) for i, (name, size) in enumerate(SIZES.items())})


def of_network(rng: np.random.Generator) -> MarginalScores:
    """The scores of further tables of a network that was grown from noise."""
    tables = [Measurement(("y", n), rng.normal(5, 3, (2, SIZES[n])), 1.0) for n in ("a", "b", "c")]
    grown = Grown.of(tables, SIZES, ("y",), 12.0, rng)
    for name in ("a", "b", "c"):
        grown.add(name, ("y",), None, rng)
    return grown.errors(grown.open_pairs(100), 1.0)


def of_groups(rng: np.random.Generator) -> MarginalScores:
    """The scores of pairs that may be joined, from noisy columns."""
    alone = estimate(SIZES, [Measurement((n,), rng.normal(5, 3, size), 1.0) for n, size in SIZES.items()], total=12.0)
    return _pair_scores(alone, [("a", "b"), ("a", "c"), ("b", "c")], 1.0)


@pytest.mark.parametrize("scores", [of_network, of_groups])
@pytest.mark.parametrize("seed", range(3))
def test_no_neighbour_changes_a_score_by_more_than_stated(scores, seed):
    rng = np.random.default_rng(seed)
    query = scores(rng)
    every = np.array(np.meshgrid(*(np.arange(size) for size in SIZES.values()), indexing="ij")).reshape(len(SIZES), -1).T
    rows = every[rng.integers(0, len(every), 11)]
    before = query.answer(table_of(rows))
    added = np.array([query.answer(table_of(np.vstack([rows, one]))) for one in every])
    stated = query.change(table_of(rows).schema, Relation.ADD_REMOVE)
    assert np.abs(added - before).max() <= stated == GRID
    assert np.ptp(added, axis=0).max() <= query.change(table_of(rows).schema, Relation.REPLACE_ONE)
    # Half of what is stated would be refuted.
    assert np.abs(added - before).max() > stated / 2
