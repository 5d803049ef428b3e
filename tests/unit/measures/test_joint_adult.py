"""All columns of a census together: fresh people tie with fresh people, and what only looks right column by column does not."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.discriminator import Discriminator
from hushtable.measures.geometry import Geometry
from hushtable.measures.joint import Joint
from hushtable.table.table import Table
from tests.unit.measures.clouds import findings_of, shuffled

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def thirds(adult: Table) -> list[Table]:
    order = np.random.default_rng(0).permutation(adult.rows)
    return [adult.take(part) for part in np.array_split(order, 3)]


@pytest.mark.parametrize("fresh", [True, False])
def test_a_fresh_sample_ties_and_shuffled_columns_are_seen(thirds: list[Table], fresh: bool) -> None:
    train, release, control = thirds
    case = Case(train, release if fresh else shuffled(release), control)
    joint, collected, shape = (findings_of(audit, case) for audit in (Joint(), Discriminator(), Geometry()))
    auc, clusters, axes = collected["real or released: AUC"], shape["clusters kept"], shape["principal axes kept"]
    distance, gap = joint["Frechet distance"], shape["distances between records"]
    assert (joint["MMD"].low < 0.01) == fresh
    assert (distance.value < 1.5 * distance.baseline) == fresh
    assert (auc.value < 0.52) == fresh
    assert (gap.value < 0.03) == fresh
    assert (axes.value > 0.98) == fresh
    assert (clusters.value > 0.8) == fresh
    if not fresh:
        assert set(auc.detail["columns"][:4]) & {"education", "education_num", "relationship", "marital_status"}
