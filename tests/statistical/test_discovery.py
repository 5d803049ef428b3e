"""Values that only one person has: they come out as rarely as delta says, and far more often without the threshold."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from hushtable.privacy import allowance as pricing
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Occupied
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT, REJECT

ALONE, DELTA = 4000, 0.05


def seen_alone(seed: int) -> tuple[int, bool]:
    """How many values that one person each has were told, and whether the one that many have was."""
    levels = ("common", *(f"only {i}" for i in range(ALONE)))
    column = Column(name="town", kind=Kind.CATEGORY, domain=Levels(levels, observed=True))
    table = Table(Schema((column,)), {"town": np.append(np.zeros(200, np.int32), np.arange(1, ALONE + 1)).astype(np.int32)})
    vault = Vault.of(table, entropy=Entropy.seeded(seed)).named("learn", Allowance.of(Budget(1.0, 1e-3), Unit()))
    codes, counts = vault.discover(Occupied(("town",)), vault.paid(), DELTA)
    assert abs(counts[0] - 200) < 50
    return int((codes[:, 0] > 0).sum()), bool((codes[:, 0] == 0).any())


def too_often(times: int) -> float:
    """The probability that so many, or more, are told at a rate of delta."""
    return float(binom.sf(times - 1, ALONE, DELTA))


def test_the_value_of_one_person_is_told_as_rarely_as_delta_says(monkeypatch):
    alone, common = seen_alone(1)
    assert too_often(alone) > ACCEPT
    assert common
    # The broken twin asks for more than one row and forgets the noise.
    monkeypatch.setattr(pricing, "threshold", lambda sigma, delta, rows: rows + 1)
    alone, _ = seen_alone(1)
    assert too_often(alone) < REJECT
    assert alone > 0.3 * ALONE
