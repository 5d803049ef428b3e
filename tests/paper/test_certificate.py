"""The leaky risk model in the shape of the published table: near nothing without a leak, and up to its values with all rows leaked.

Published for Adult and a Texas table (all rows leaked): identical matches 1.0 and 1.0, closest record 1.0 and 1.0, linkability
0.64 and 0.99, inference by distance 0.99 and 0.99, GTCAP 0.97 and 1.0. Linkability hangs on which columns are halved, which is not
published, and all of them on the number of rows; we hold ourselves to the strongest of our attackers, on 2,000 rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.api.certify import certify
from hushtable.audits.attribution import Attribution
from hushtable.audits.indicators import ClosestRecord, IdenticalMatches
from hushtable.audits.inference import Inference
from hushtable.audits.linkability import Linkability
from hushtable.data.datasets import load

TABLES = {
    "adult": ("income", {"linkability": 0.64, "inference": 0.98, "GTCAP": 0.85}),
    "texas_inpatient": ("length_of_stay", {"linkability": 0.99, "inference": 0.98, "GTCAP": 0.98}),
    "credit_card_default": ("default_next_month", {"linkability": 0.95, "inference": 0.98, "GTCAP": 0.4}),
}
"""The secret, and what the strongest attacker of each kind reaches at least when every released row is a training row."""
COPIES = {"identical match share": 0.99, "published verbatim": 0.99, "closest record score": 0.99}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "adult" else pytest.param(name, marks=pytest.mark.nightly) for name in TABLES])
def test_every_metric_rises_with_the_leak(real_data, name):
    table = load(name, real_data)
    secret, least = TABLES[name]
    audits = {
        "identical-matches": IdenticalMatches(),
        "closest-record": ClosestRecord(bootstrap=200),
        "linkability": Linkability(),
        "inference": Inference(secrets=(secret,)),
        "attribution": Attribution(secrets=(secret,)),
    }
    certificate = certify(table, models=["leaky"], audits=audits, rows=2000, quick=name != "adult")
    [curve] = certificate.curves
    for metric, most in (COPIES | least).items():
        means = [line for line in curve.lines if line.name == metric]
        every = means + [line for line in curve.scopes if line.name == metric]
        assert means, metric
        assert means[0].verdict == "rises", metric
        assert means[0].rho == pytest.approx(1, abs=0.06), metric
        assert means[0].values[0] < 0.06, metric
        assert max(line.values[-1] for line in every) >= most, metric
    # The response is nearly a straight line, as published.
    for line in curve.lines:
        if line.name in COPIES:
            assert np.abs(np.array(line.values) - line.levels).max() < 0.03, line.name
