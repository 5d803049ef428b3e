"""Fresh rows break hardly any rule that was found, whatever the table; columns drawn independently break many."""

from __future__ import annotations

import numpy as np

from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.verdict import surely_worse
from hushtable.measures.rules import Rules
from hushtable.table.table import Table
from tests.unit.measures.test_rules import independent

RUNS = 12


def _broken(release: Table, train: Table, control: Table, seed: int) -> tuple[float, bool]:
    whole = Rules().run(Case(train, release, control), np.random.default_rng(seed))[0]
    return whole.value or 0.0, surely_worse(whole)


def test_fresh_rows_pass_and_independent_columns_do_not():
    fresh, twins = [], []
    for seed in range(RUNS):
        town = people(4000, seed=seed)
        train, control, other = (town.take(np.arange(a, b)) for a, b in ((0, 2000), (2000, 3000), (3000, 4000)))
        fresh.append(_broken(other, train, control, seed))
        twins.append(_broken(independent(other, seed), train, control, seed))
    # About one row in as many as were searched breaks a rule that only happened to hold.
    assert np.mean([value for value, _ in fresh]) < 0.01
    assert sum(worse for _, worse in fresh) <= 2
    assert min(value for value, _ in twins) > 0.3
    assert all(worse for _, worse in twins)
