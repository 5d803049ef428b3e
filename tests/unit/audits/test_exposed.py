"""The arithmetic behind exposed records and rare values: surprise, the few on top, numbers of combinations."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.audits import exposed, rare
from hushtable.audits.exposed import ExposedRecords, surprisal
from hushtable.audits.rare import RareValues
from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.table.table import Table, identities


@pytest.fixture
def case() -> Case:
    return Case(example(40, 0), example(30, 1), example(50, 2))


def test_surprise_is_the_sum_of_the_logarithms_of_shares(case):
    words = [np.concatenate([case.train.strings(name), case.control.strings(name)]).astype(str) for name in ("town", "sick")]
    by_hand = [-sum(np.log((column == column[row]).mean()) for column in words) for row in range(90)]
    assert surprisal(case, ("town", "sick")) == pytest.approx(by_hand)


def test_of_equal_scores_the_lot_decides_and_not_the_side():
    scores, hit = np.r_[3.0, np.ones(8), -np.inf], np.r_[np.ones(9, bool), False]
    drawn = np.array([exposed._top(scores, hit, 3, np.random.default_rng(seed)) for seed in range(400)])
    assert (drawn.sum(axis=1) == 3).all()
    assert drawn[:, 0].all()
    assert not drawn[:, 9].any()
    assert np.abs(drawn[:, 1:9].mean(axis=0) - 2 / 8).max() < 0.1
    assert exposed._top(scores, hit, 20, np.random.default_rng(0)).sum() == 9


@pytest.mark.parametrize("sparse", [0, 8, 10**9])
def test_numbers_of_combinations_are_equal_where_the_values_are(case, monkeypatch, sparse):
    monkeypatch.setattr(rare, "SPARSE", sparse)
    order = ("train", "control", "release")
    for columns in (("town",), ("age", "school"), ("age", "height", "town", "pay")):
        parts = [np.concatenate([case.value_ids(name)[which] for which in order]) for name in columns]
        expected, ids = identities(parts, 120), rare._ids(case, columns)
        assert len(np.unique(np.stack([expected, ids]), axis=1).T) == len(np.unique(ids)) == len(np.unique(expected))


def test_as_many_sets_of_columns_as_the_rows_allow(case, monkeypatch):
    rng = np.random.default_rng(0)
    assert len(rare._chosen(case, 2, rng)) == 21
    monkeypatch.setattr(rare, "FEWEST", 5)
    monkeypatch.setattr(rare, "CELLS", 10 * 120)
    some = rare._chosen(case, 2, rng)
    assert len(set(some)) == len(some) == 10


def test_where_nobody_is_exposed_there_is_no_number_but_a_reason():
    parts = [Table.concat([example(40, seed)] * 2).select(["sick", "town"]) for seed in range(3)]
    case = Case(*parts)
    for audit in (ExposedRecords(), RareValues()):
        for finding in audit.run(case, np.random.default_rng(0)):
            assert finding.value is None
            assert finding.p is None
            assert finding.note
