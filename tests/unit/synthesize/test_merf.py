"""Mean embeddings with random features: the embedding is matched, class by class, and only noisy sums are seen."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.checks import example
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import load
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.matching import match
from hushtable.synthesize.mixture.merf import DPMerf, Embedding
from tests.unit.synthesize.test_clustmix_certified import SCHEMA, fitted, people

ADD = Unit()


@pytest.fixture(scope="module")
def model():
    return fitted(DPMerf(), people(), Budget(4.0, 1e-6), unit=ADD)[0]


def test_classes_keep_their_categories_and_numbers(model):
    table, result = people(), model.sample(4000, np.random.default_rng(1))
    assert abs((result["ill"] == 1).mean() - 0.3) < 0.02
    for value in (0, 1):
        real, drawn = table["ill"] == value, result["ill"] == value
        assert abs(np.nanmean(table["size"][real]) - np.nanmean(result["size"][drawn])) < 0.4
        assert abs(np.nanstd(table["size"][real]) - np.nanstd(result["size"][drawn])) < 0.4
        assert abs((table["town"][real] == 1).mean() - (result["town"][drawn] == 1).mean()) < 0.04
    assert abs(np.isnan(result["size"]).mean() - 0.1) < 0.03


def test_points_match_a_mixture_of_two_spikes_and_how_two_numbers_hang_together():
    rng = np.random.default_rng(0)
    encoding = IntegerEncoding.of(SCHEMA.select(["size", "day"]), "", "test")
    frequencies = Embedding.drawn(encoding, 300, rng).frequencies
    spikes = np.array([[0.0, 0.9]] * 500 + [[0.7, 0.2]] * 500)
    angles = spikes @ frequencies
    mean = np.concatenate([np.cos(angles).mean(0), np.sin(angles).mean(0)])[None]

    def off(points):
        angles = points @ frequencies
        return float(((np.concatenate([np.cos(angles).mean(0), np.sin(angles).mean(0)]) - mean[0]) ** 2).mean())

    known = np.array([True])
    start, collected = (
        match(mean, known, frequencies, 200, steps, np.random.default_rng(1), lambda part: None) for steps in (0, 150)
    )
    assert off(collected) < 0.5 * off(start)
    assert np.corrcoef(collected.T)[0, 1] < -0.5  # they start independent of one another
    assert abs(np.corrcoef(start.T)[0, 1]) < 0.3


def test_a_class_that_drowns_is_matched_to_the_others():
    frequencies = np.array([[1.0, 5.0, 20.0]])
    mean = np.concatenate([np.cos(0.4 * frequencies[0]), np.sin(0.4 * frequencies[0])])
    means = np.stack([mean, np.full(6, 50.0)])
    result = match(means, np.array([True, False]), frequencies, 50, 50, np.random.default_rng(0), lambda part: None)
    assert abs(result[:50].mean() - 0.4) < 0.1
    assert abs(result[50:].mean() - 0.4) < 0.1


def test_features_are_nearly_as_long_as_they_may_be():
    encoding = IntegerEncoding.of(SCHEMA, "", "test")
    embedding = Embedding.drawn(encoding, 200, np.random.default_rng(0))
    coordinates = embedding.coordinates(people(300))
    assert coordinates.shape == (300, embedding.dimension)
    features = coordinates[:, -400:]
    squares = (features**2).sum(1)
    assert (squares <= 2 * STEPS**2).all()
    assert squares.min() > 1.9 * STEPS**2


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0, 0.0)])
def test_one_look_is_paid_and_nothing_else_seen(relation, budget):
    fitted_model, ledger = fitted(DPMerf(features=20, steps=5), people(800), budget, unit=Unit(relation=relation))
    queries = [entry.event for entry in ledger.entries if entry.event.sensitivity]
    assert len(queries) == 1
    assert isinstance(queries[0], DiscreteGaussian if budget.delta else DiscreteLaplace)
    assert 0.9 < ledger.epsilon(budget.delta) <= 1.0
    assert (fitted_model.total == 800) == (relation is Relation.REPLACE_ONE) or abs(fitted_model.total - 800) < 200


def test_a_condition_is_met_and_moves_the_class(model):
    drawn = model.sample(500, np.random.default_rng(2), {"town": "south", "size": "6.00"})
    assert set(drawn.strings("town")) == {"south"}
    assert set(drawn["size"]) == {6.0}
    assert (drawn["ill"] == 1).mean() > 0.7


@pytest.mark.parametrize("columns", [["town", "ill"], ["size"], ["grade"], ["size", "day"]])
def test_tables_of_one_kind(columns):
    fitted_model, _ = fitted(DPMerf(features=30, steps=5), people(300).select(columns), unit=ADD)
    assert fitted_model.sample(20, np.random.default_rng(0)).schema.names == tuple(columns)


def test_what_it_refuses_and_what_it_says():
    with pytest.raises(PlanError, match="'size'"):
        DPMerf(target="size").plan(SCHEMA, Allowance.of(Budget(1.0, 1e-6), ADD))
    with pytest.raises(InputError) as raised:
        DPMerf(features=0, points=0, steps=-1, share=0)
    assert len(raised.value.faults) == 4
    drowned, _ = fitted(DPMerf(features=20, steps=5), people(60), Budget(0.05, 1e-9), unit=ADD)
    assert "of the rows in wrong cells" in drowned.result()["note"]


def test_the_recipe_is_proven():
    released = ht.release(example(600), load("dp-merf"), epsilon=1.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0
