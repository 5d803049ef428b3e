"""On Adult: thirds of the table tie in questions and groups; a release whose small groups are garbled does not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.groups import Groups
from hushtable.measures.queries import Queries
from hushtable.table.table import Table
from tests.unit.measures.awkward import findings_of, shuffled, sound

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def thirds(adult: Table) -> list[Table]:
    order = np.random.default_rng(0).permutation(adult.rows)
    plain = adult.select([name for name in adult.schema.names if name not in ("income", "capital_gain", "capital_loss")])
    return [plain.take(order[i::3]) for i in range(3)]


def test_thirds_answer_alike_and_broken_pairs_do_not(thirds):
    train, fresh, control = thirds
    tie, broken = (findings_of(Queries(), Case(train, release, control)) for release in (fresh, shuffled(fresh)))
    for name in ("counting queries: absolute error", "range queries: absolute error"):
        assert tie[name, ""].low < tie[name, ""].baseline < tie[name, ""].high
        assert broken[name, ""].low > 2 * broken[name, ""].baseline
    sound(tie)


def test_thirds_serve_all_groups_and_a_release_without_small_ones_does_not(thirds):
    train, fresh, control = thirds
    tie = findings_of(Groups(), Case(train, fresh, control))
    gap = tie["small groups against large", ""]
    assert gap.low < 0 < gap.high
    rows = np.flatnonzero(fresh["native_country"] > 0)
    country = fresh["native_country"].copy()
    country[rows] = np.random.default_rng(1).permutation(country[rows])
    mixed = findings_of(Groups(), Case(train, fresh.with_column(fresh.schema["native_country"], country), control))
    assert mixed["small groups against large", ""].low > 0
    assert next(scope for name, scope in mixed if name == "TVD within a group" and scope).startswith("native_country = ")
