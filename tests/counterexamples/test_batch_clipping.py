"""Counterexample 8: clipped as a whole, the gradient of a batch is turned round by one outlier, a change of twice the bound."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.learn.private import ROOM, Descending  # noqa: E402
from tests.unit.learn.test_private import QUIET, PerBatch, sums, vault  # noqa: E402

pytestmark = pytest.mark.neural
OTHERS, OUTLIER = [1.0, 1.0, 1.0], -1e6


@pytest.mark.parametrize(("kind", "change"), [(PerBatch, 2 * ROOM), (Descending, ROOM)])
def test_one_outlier_reverses_a_clipped_batch_and_not_a_sum_of_clipped_rows(kind, change):
    without, with_it = (sums(QUIET, vault(rows), kind) for rows in (OTHERS, [*OTHERS, OUTLIER]))
    assert float(np.abs(with_it - without).max()) == pytest.approx(change, rel=1e-3)
    assert (float(with_it[0, 0]) < 0) == (kind is PerBatch)
