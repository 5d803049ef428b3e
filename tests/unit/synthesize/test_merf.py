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
from hushtable.synthesize.mixture.embedding import Embedding, best_features
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.matching import margin, match, of_known, waves_of
from hushtable.synthesize.mixture.merf import DPMerf
from hushtable.table.columns import Column, Kind, Levels
from tests.unit.synthesize.test_clustmix_certified import SCHEMA, fitted, people

ADD = Unit()


@pytest.fixture(scope="module")
def model():
    return fitted(DPMerf(features=300, points=2000), people(), Budget(4.0, 1e-6), unit=ADD)[0]


def test_classes_keep_their_categories_and_numbers(model):
    table, result = people(), model.sample(4000, np.random.default_rng(1))
    assert abs((result["ill"] == 1).mean() - 0.3) < 0.02
    for value in (0, 1):
        real, drawn = table["ill"] == value, result["ill"] == value
        assert abs(np.nanmean(table["size"][real]) - np.nanmean(result["size"][drawn])) < 0.4
        assert abs(np.nanstd(table["size"][real]) - np.nanstd(result["size"][drawn])) < 0.4
        assert abs((table["town"][real] == 1).mean() - (result["town"][drawn] == 1).mean()) < 0.04
    assert abs(np.isnan(result["size"]).mean() - 0.1) < 0.03


def test_places_match_a_mixture_of_two_spikes():
    frequencies = np.random.default_rng(0).normal(size=64) / np.geomspace(0.01, 1, 64)
    spikes = np.repeat([0.0, 0.7], [300, 700])
    angles = np.outer(spikes, frequencies)
    places = margin(np.concatenate([np.cos(angles).mean(0), np.sin(angles).mean(0)]), frequencies, 200)
    assert abs((places < 0.05).mean() - 0.3) < 0.05
    assert abs((np.abs(places - 0.7) < 0.05).mean() - 0.7) < 0.05


def test_points_exchange_values_until_pairs_match_and_keep_each_column():
    """A town and a grade that determine one another, and a number that has nothing to do with them."""
    rng = np.random.default_rng(0)
    encoding = IntegerEncoding.of(SCHEMA.select(["town", "grade", "size"]), "", "test")
    embedding = Embedding.drawn(encoding, 200, 1.0, rng)
    names = [f.column.name for f in encoding.fields]
    town = rng.integers(0, 3, 2000)
    real = [{"town": town, "grade": (town + 1) % 3, "size": rng.random(2000)}[name] for name in names]
    start = [rng.permutation(column) for column in real]

    def mean(columns):
        waves = dict(enumerate(waves_of(embedding, columns)))
        of = {n: np.flatnonzero((embedding.ends == n).any(axis=1)).tolist() for n in waves}
        return np.array(
            [(waves[a][:, of[a].index(f)] * waves[b][:, of[b].index(f)]).mean() for f, (a, b) in enumerate(embedding.ends)]
        )

    goal = mean(real)
    matched = match(embedding, start, goal, 0.0, 40, np.random.default_rng(1))
    assert np.abs(mean(matched) - goal).mean() < 0.4 * np.abs(mean(start) - goal).mean()
    one, two = (matched[names.index(name)] for name in ("town", "grade"))
    assert ((one + 1) % 3 == two).mean() > 0.8
    assert all((np.sort(a) == np.sort(b)).all() for a, b in zip(matched, start, strict=True))
    drowned = match(embedding, start, goal, 5.0, 20, np.random.default_rng(1))
    assert ((drowned[names.index("town")] + 1) % 3 == drowned[names.index("grade")]).mean() < 0.5


def test_a_class_that_drowns_is_matched_to_the_others():
    means = np.array([[1.0, 2.0], [50.0, 50.0], [3.0, 4.0]])
    assert of_known(means, np.array([True, False, True]))[1].tolist() == [2.0, 3.0]
    assert of_known(means, np.zeros(3, bool)).tolist() == means.tolist()


def test_features_are_nearly_as_long_as_they_may_be():
    encoding = IntegerEncoding.of(SCHEMA, "", "test")
    embedding = Embedding.drawn(encoding, 200, 0.5, np.random.default_rng(0))
    coordinates = embedding.coordinates(people(300))
    assert coordinates.shape == (300, embedding.dimension)
    squares = (coordinates[:, -400:] ** 2).sum(1)
    assert (squares <= 0.5 * len(encoding.fields) * STEPS**2).all()
    assert squares.min() > 0.45 * len(encoding.fields) * STEPS**2


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_larger_budget_is_worth_more_features(delta):
    encoding = IntegerEncoding.of(SCHEMA, "", "test")
    chosen = [best_features(encoding, Allowance.of(Budget(epsilon, delta), ADD)) for epsilon in (0.01, 0.3, 3.0, 1000.0)]
    assert chosen == sorted(chosen)
    assert chosen[0][1] < 0.5 == chosen[-1][1]
    assert chosen[0][0] < chosen[-1][0] == 240


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0, 0.0)])
def test_one_look_is_paid_and_nothing_else_seen(relation, budget):
    fitted_model, ledger = fitted(DPMerf(features=20, steps=2), people(800), budget, unit=Unit(relation=relation))
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
    fitted_model, _ = fitted(DPMerf(features=30, steps=2), people(300).select(columns), unit=ADD)
    assert fitted_model.sample(20, np.random.default_rng(0)).schema.names == tuple(columns)


def test_what_it_refuses_and_what_it_says():
    with pytest.raises(PlanError, match="'size'"):
        DPMerf(target="size").plan(SCHEMA, Allowance.of(Budget(1.0, 1e-6), ADD))
    with pytest.raises(InputError) as raised:
        DPMerf(features=-1, points=0, steps=-1, share=0)
    assert len(raised.value.faults) == 4
    drowned, _ = fitted(DPMerf(features=20, steps=2), people(60), Budget(0.05, 1e-9), unit=ADD)
    assert "of the rows in wrong cells" in drowned.result()["note"]


def test_the_recipe_is_proven():
    released = ht.release(example(600), load("dp-merf"), epsilon=1.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0


def test_what_its_query_costs_does_not_depend_on_how_many_bins_an_ordered_class_has():
    budget = Allowance.of(Budget(1.0, 1e-6), ADD)
    ordered, plain = (
        {
            DPMerf(target="grade").plan(SCHEMA.with_columns(Column(name="grade", kind=kind, domain=levels)), budget).events
            for levels in (Levels(tuple(map(str, range(count)))) for count in (1, 3, 40))
        }
        for kind in (Kind.ORDINAL, Kind.CATEGORY)
    )
    assert len(ordered) == 1
    assert len(plain) > 1, "the number of declared classes is public, and used"
