"""The first number of an audit rises with a leak; the largest bound of the residual risk, which stood there before, does not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits import planted
from hushtable.table import io
from hushtable.table.table import Table

N = 500
LEAKS = (0.0, 0.02, 0.2)
ONLY = ("identical-matches", "near-matches", "linkability", "inference")


def mixed(rows: int, seed: int) -> Table:
    """Numbers and categories, some of them dependent, and one that nearly everybody shares: little is left to gain on it."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return io.read(
        pd.DataFrame(
            {
                "age": age,
                "town": rng.choice(list("abcdefgh"), rows),
                "income": np.round(np.exp(rng.normal(7 + age / 60, 0.5, rows)), 2),
                "sex": rng.choice(["f", "m"], rows),
                "job": rng.choice(["clerk", "cook", "nurse", "none"], rows, p=[0.4, 0.3, 0.2, 0.1]),
                "convicted": rng.choice(["yes", "no"], rows, p=[0.015, 0.985]),
            }
        )
    )


@pytest.fixture(scope="module")
def reports() -> list[ht.AuditReport]:
    rows = mixed(3 * N, 3)
    train, control, fresh = (rows.take(np.arange(i * N, (i + 1) * N)) for i in range(3))
    releases = [planted.leaky(train, fresh, share, np.random.default_rng(0)) for share in LEAKS]
    return [ht.audit(train, release, control, only=ONLY, seed=0) for release in releases]


def rises(numbers: list[float]) -> bool:
    """Never down, and by half of the largest leak from nothing to that."""
    return all(a <= b for a, b in pairwise(numbers)) and numbers[-1] - numbers[0] >= LEAKS[-1] / 2


def test_the_headline_rises_with_the_leak(reports):
    heads = [report.evidence.headline for report in reports]
    assert rises([head.low for head in heads])
    assert rises([head.high for head in heads])
    assert heads[0].alarm is None
    assert heads[-1].low <= LEAKS[-1] <= heads[-1].high
    assert not heads[0].resolved
    assert heads[-1].resolved


def test_the_largest_bound_of_the_residual_risk_does_not(reports):
    """The broken twin: it is that of the one column on which nothing is left to gain, whatever leaks."""
    risks = [max(f.high for f in report.findings if f.risk is not None and f.high is not None) for report in reports]
    assert not rises(risks)
    assert min(risks) > 0.3
