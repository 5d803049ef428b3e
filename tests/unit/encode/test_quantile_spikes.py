"""A value that many rows share gets a bin of its own where edges are quantiles, so that it comes back as it was."""

from __future__ import annotations

import numpy as np

from hushtable.encode.bins import Bins
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def test_a_spike_comes_back():
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(2000) < 0.9, 0, rng.integers(1000, 90_000, 2000))
    hours = np.where(rng.random(2000) < 0.5, 40, rng.integers(1, 100, 2000))
    columns = (
        Column(name="gain", kind=Kind.INTEGER, domain=Bounds(0, 99_999), required=True),
        Column(name="hours", kind=Kind.INTEGER, domain=Bounds(1, 99), required=True),
    )
    table = Table(Schema(columns), {"gain": gain.astype(np.int64), "hours": hours.astype(np.int64)})
    code = Bins(edges="quantile", bins=20).fit(Vault.of(table), rng)
    back = code.undo(code.apply(table), rng)
    assert ((back["gain"] == 0) == (gain == 0)).all()
    assert ((back["hours"] == 40) == (hours == 40)).all()
    assert max(len(edges) for edges in code.edges.values()) <= 21
