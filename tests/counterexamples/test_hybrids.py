"""A hybrid whose transition reads raw rows prints its rarest holder in either order; and strata keep no finer k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.sample import Method, Sample
from hushtable.anonymize.transition.transition import How, Transition
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy import criteria
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.counterexamples.test_transition import Decades, crowd
from tests.unit.pipeline.test_hybrid import Bootstrap
from tests.unit.privacy.cases import recipe

ORDERS = ("pre", "post")


def printed(holder: int, how: How, order: str, runs: int = 15) -> tuple[set[int], Assurance]:
    """Every age that any of many runs of a hybrid prints, whose generator repeats what it learnt; and what is promised."""
    back, generator = Transition(how=how), Bootstrap()
    steps = (Decades(), back, generator) if order == "pre" else (Decades(), generator, back)
    made = [release(crowd(holder), recipe(*steps), seed=seed) for seed in range(runs)]
    return set().union(*(one.table["age"].tolist() for one in made)), made[0].guarantee.assurance


@pytest.mark.parametrize("order", ORDERS)
def test_a_conditional_transition_prints_28_only_if_its_holder_is_there_and_promises_nothing(order):
    with_her, promised = printed(28, How.CONDITIONAL, order)
    without, _ = printed(22, How.CONDITIONAL, order)
    assert 28 in with_her
    assert 28 not in without
    assert promised is Assurance.NONE


@pytest.mark.parametrize("order", ORDERS)
def test_a_uniform_transition_prints_28_whoever_is_there_and_keeps_k(order):
    with_her, promised = printed(28, How.UNIFORM, order)
    without, _ = printed(22, How.UNIFORM, order)
    assert 28 in with_her
    assert 28 in without
    assert promised is Assurance.VERIFIED


AREA = Column(name="area", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a",)), required=True)
JOB = Column(name="job", kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True)


@dataclass(frozen=True, kw_only=True)
class Four(Core):
    """A table that is 4-anonymous over both columns, of which only one is called a quasi-identifier."""

    def plan(self, schema, budget):
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=4, quasi=("area", "job"))
        return Plan(schema=schema, events=(Raw("reads"),), effect=Effect.EDIT_ROWS, promises=(promise,))

    def fit(self, vault, rng):
        return Anonymized(vault.open(Raw("reads"), "reads"))


def test_strata_that_mix_classes_leave_a_k_map_and_no_share_of_k():
    table = Table(Schema((AREA, JOB)), {"area": np.zeros(8, np.int32), "job": np.repeat([0, 1], 4).astype(np.int32)})
    steps = Four(), Sample(beta=0.5, method=Method.STRATIFIED)
    made = [release(table, recipe(*steps), seed=seed) for seed in range(20)]
    smallest = min(criteria.k_anonymity(criteria.Classes(one.table, ("area", "job"))) for one in made)
    assert smallest < 2, "half of k would have been promised here, and does not hold"
    assert {(p.kind, p.value, p.form) for one in made for p in one.guarantee.promises} == {(Syntactic.K_MAP, 4, Form.DERIVED)}
    by_class = release(table, recipe(Four(), Sample(beta=0.5, method=Method.STRATIFIED, by=("area", "job"))), seed=1).guarantee
    assert [(p.kind, p.value, p.form) for p in by_class.promises] == [(Syntactic.K_ANONYMITY, 2, Form.SYNTACTIC)]
