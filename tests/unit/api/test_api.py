"""The library's face."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError
from tests.unit.privacy.cases import visits


def test_a_control_is_split_off_by_rows(small):
    train, control = ht.hold_out(small, 0.25, seed=1)
    assert (train.rows, control.rows) == (90, 30)
    assert np.array_equal(ht.hold_out(small, 0.25, seed=1)[1]["age"], control["age"])


def test_a_control_holds_other_people():
    table = visits([i for i in range(40) for _ in range(5)] + [-1] * 20)
    train, control = ht.hold_out(table, 0.3, seed=0, by="who")
    assert train.rows + control.rows == table.rows
    assert not set(train["who"][train["who"] >= 0]) & set(control["who"][control["who"] >= 0])
    assert 40 < control.rows < 110
    assert 0 < (control["who"] < 0).sum() < 20


def test_a_split_that_leaves_nobody_is_refused():
    with pytest.raises(InputError, match=r"0\.3 of 2 persons leaves too few"):
        ht.hold_out(visits([0] * 10 + [1]), 0.3, by="who", seed=1)
