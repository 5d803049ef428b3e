"""The optima that ARX proves on Adult (30,162 complete rows, its own hierarchies), found by our search."""

from __future__ import annotations

import pytest

import hushtable as ht
from benchmarks.adult import COLUMNS, complete, loss
from hushtable.privacy import criteria

LEVELS = {1.0: (0, 3, 0, 0, 2, 1, 1, 1, 0), 0.02: (0, 3, 0, 2, 2, 1, 1, 2, 0)}
LOSSES = {1.0: (0.220411928549738, 2553), 0.02: (0.313713035331119, 506)}


@pytest.fixture(scope="module")
def adult(real_data):
    return complete(real_data)


@pytest.mark.parametrize("limit", LEVELS)
def test_the_proven_optimum_of_five_anonymity(adult, limit):
    hierarchies, table = adult
    released = ht.release(table, "k-anonymity", settings={"k": "5", "limit": str(limit)}, seed=1)
    choice = released.result["generalize"]
    assert tuple(choice["columns"][name]["level"] for name in COLUMNS) == LEVELS[limit]
    assert choice["search"]["optimal"]
    assert choice["search"]["value"] == pytest.approx(LOSSES[limit][0], abs=1e-9)
    assert choice["suppressed_rows"] == LOSSES[limit][1]
    assert released.table.rows == table.rows - LOSSES[limit][1]
    assert loss(hierarchies, released.table.frame().astype(str), table.rows) == pytest.approx(LOSSES[limit][0], abs=1e-9)
    assert criteria.measure(released.table, COLUMNS)["k"] == 5


def test_local_recoding_beats_the_published_loss_and_suppresses_nothing(adult):
    hierarchies, table = adult
    released = ht.release(table, "k-anonymity-local", seed=1)
    assert released.table.rows == table.rows
    assert loss(hierarchies, released.table.frame().astype(str), table.rows) <= 0.0706
    assert released.guarantee.criteria["k"] >= 5


@pytest.mark.parametrize(("name", "value"), [("arithmetic", 0.22770032325682), ("discernibility", 7_220_555)])
def test_the_optima_of_other_losses(adult, name, value):
    choice = ht.release(adult[1], "k-anonymity", settings={"loss": name, "limit": "1"}, seed=1).result["generalize"]
    assert choice["search"]["optimal"]
    assert choice["search"]["value"] == pytest.approx(value, rel=1e-9)


@pytest.mark.nightly  # the search with t is held against all nodes of small lattices in tests/oracle/test_lattice.py
def test_t_closeness_with_the_suppressed_rows_kept_as_stars(real_data):
    """ARX finds the same optimum (0.4474, 4,443 rows suppressed) where its user assumes monotonicity."""
    _, table = complete(real_data, secret="income")
    released = ht.release(table, "k-anonymity", settings={"t": "0.2", "limit": "1", "suppressed": "star"}, seed=1)
    choice = released.result["generalize"]
    assert choice["search"]["optimal"]
    assert choice["search"]["value"] == pytest.approx(0.4474438531463, abs=1e-9)
    assert choice["suppressed_rows"] == 4443
    assert released.guarantee.criteria["secrets"]["income"]["t"] <= 0.2 + 1e-9
