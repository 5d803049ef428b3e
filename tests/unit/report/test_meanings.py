"""Every number that the shipped audits give is explained on the page."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.metrics import FAMILIES, METRICS, family
from hushtable.measures.catalogue import metric
from hushtable.pipeline import registry

QUICK = {"downstream": {"models": ("linear", "tree"), "seeds": 0, "bootstrap": 2}}


@pytest.fixture(scope="module")
def case() -> Case:
    table = people(300, 0).select(("birth_date", "sex", "education", "smoker", "diagnosis", "income"))
    return Case(*(table.take(np.arange(a, a + 100)) for a in (0, 100, 200)))


@pytest.mark.parametrize("name", registry.AUDITS)
def test_every_finding_of_ours_has_a_meaning(case: Case, name: str) -> None:
    kind = registry.find(name, registry.AUDITS, "audit")
    if kind.costly:
        pytest.skip("trains a network or makes the release again")
    names = {finding.name for finding in kind(**QUICK.get(name, {})).run(case, np.random.default_rng(0))}
    assert names
    assert {other for other in names if metric(other) is None} == set()


def test_families_are_explained_once_and_strangers_not_at_all() -> None:
    assert family("singling out by 3 columns") == "singling out by"
    assert metric("membership AUC by distance") is FAMILIES["membership AUC by"]
    assert metric("membership by distance at 1 % false alarms") is FAMILIES["membership by"]
    assert metric("inference") is METRICS["inference"]
    assert metric("inference of a plugin") is metric("singling out bystanders") is None
