"""The interval of the k-marginal score holds the mean score of repeated samples; half as wide it does not."""

from __future__ import annotations

import numpy as np

from hushtable import people
from hushtable.evidence.case import Case
from hushtable.measures.kmarginal import KMarginal
from hushtable.table.table import Table
from tests.unit.measures.awkward import findings_of

PEOPLE = people(30_000, seed=3).select(["sex", "education", "weight_kg", "height_cm", "smoker", "systolic_bp"])
TIMES = 80


def mixed(release: Table, others: Table) -> Table:
    """Rows whose height and blood pressure are those of somebody else: independent draws of another law."""
    return release.with_columns(*((others.schema[name], others[name]) for name in ("height_cm", "systolic_bp")))


def test_the_interval_covers_the_mean_of_repeated_samples():
    ends = []
    for seed in range(TIMES):
        order = np.random.default_rng(seed).permutation(PEOPLE.rows)
        train, release, others, control = (PEOPLE.take(part) for part in np.split(order[:5000], [2000, 3000, 4000]))
        finding = findings_of(KMarginal(), Case(train, mixed(release, others), control))["k-marginal", ""]
        ends.append((finding.low, finding.value, finding.high))
    low, value, high = np.array(ends).T
    truth, radius = value.mean(), (high - low) / 2
    assert np.mean((low <= truth) & (truth <= high)) >= 0.9
    # Not so wide that it says nothing: where the release differs the first order is nearly all there is.
    assert radius.mean() < 1.6 * 1.96 * value.std(ddof=1)
    assert np.mean(np.abs(value - truth) <= radius / 2) < 0.9
