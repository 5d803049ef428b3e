"""Every way to mask, on ordinary and on awkward tables, and the recipes that end in a transition."""

from __future__ import annotations

import pytest

from hushtable.anonymize.masking.noise import How, Noise, Shape
from hushtable.anonymize.masking.pram import Pram
from hushtable.anonymize.masking.swap import RankSwap, Swap
from hushtable.checks import awkward
from hushtable.checks.steps import _copes, _mutates, _plans, _repeats
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Form, Syntactic
from tests.unit.anonymize.test_transition import people

VARIANTS = [
    Noise(correlated=True),
    Noise(how=How.MULTIPLY, sigma=0.5, shape=Shape.LAPLACE),
    Noise(relative=False, sigma=3.0, shape=Shape.UNIFORM, columns=("born", "height")),
    RankSwap(p=100.0),
    Swap(rate=1.0, by=("sick",), together=False, columns=("age", "town", "born")),
    Pram(keep=0.0, within=("sick",)),
    Pram(invariant=False),
]


@pytest.mark.parametrize("step", VARIANTS, ids=str)
def test_variants_work_on_ordinary_and_awkward_tables(step):
    assert [_plans(step), _mutates(step), _repeats(step)] == ["", "", ""]
    assert [_copes(step, table) for table in awkward().values()] == [""] * len(awkward())


LEFT = {
    "k-anonymity-single": (Syntactic.K_ANONYMITY, Form.SYNTACTIC),
    "k-anonymity-uniform": (Syntactic.K_ANONYMITY, Form.DERIVED),
    "mondrian-uniform": (Syntactic.K_ANONYMITY, Form.DERIVED),
    "hybrid": (Syntactic.K_ANONYMITY, Form.DERIVED),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_recipes_leave_of_k(name):
    released = release(people(), load(name), seed=1)
    assert [(p.value, p.kind, p.form) for p in released.guarantee.promises] == [(5, *LEFT[name])]
    assert not any(column.generalized for column in released.table.schema)


def test_a_safe_table_brought_back_by_noisy_counts_is_proven():
    released = release(people(6000), load("safe-noisy"), epsilon=3.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert 0 < released.guarantee.epsilon() <= 3.0
    assert {entry.step for entry in released.guarantee.ledger if entry.event.cost().epsilon > 0} >= {"safe"}
    assert not any(column.generalized for column in released.table.schema)
    assert released.guarantee.promises == ()
