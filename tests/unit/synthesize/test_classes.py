"""Copulas and vines of classes: what the queries of a run are beside those of the plan, and margins of the classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import hushtable as ht
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy import pld
from hushtable.privacy.unit import Relation, Unit
from hushtable.synthesize.copula.kendall import KendallCopula
from hushtable.synthesize.copula.likelihood import LikelihoodCopula
from hushtable.synthesize.copula.marginals import MarginalCopula, PairTables
from hushtable.synthesize.copula.part_margins import class_counts, drawn_to_whole
from hushtable.synthesize.copula.vine_certified import Vine
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

STEPS = (MarginalCopula(), LikelihoodCopula(), KendallCopula(), Vine())
OPTIONAL = Column(name="a", kind=Kind.CATEGORY, domain=Levels(("x", "y")))


def coded(rows: int = 3000) -> Table:
    """Four columns of three levels and a target, which two of them follow: nothing to cut into bins."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, rows)
    columns = [Column(name=n, kind=Kind.CATEGORY, domain=Levels(("u", "v", "w")), required=True) for n in "abcd"]
    target = Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True, role=Role.TARGET)
    arrays = {n: (rng.integers(0, 3 - (n in "ab"), rows) + ill * (n in "ab")).astype(np.int32) for n in "abcd"}
    return Table(Schema((*columns, target)), {**arrays, "ill": ill.astype(np.int32)})


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_release_by_classes_costs_no_more_than_planned_and_is_verified(step, epsilon, tmp_path):
    """Whether there are classes is seen from noisy counts, so the plan has the queries of neither way alone."""
    recipe = Recipe(recipe="plain", steps=(step,))
    made = release(coded(), recipe, epsilon=epsilon, delta=1e-6, unit=Unit(relation=recipe.relation))
    ((_, result),) = made.result.items()
    assert result["classes_of"] == "ill"
    assert made.guarantee.epsilon() <= epsilon
    if pld.available():
        assert pld.epsilon([entry.event for entry in made.guarantee.ledger], 1e-6) <= epsilon
    ht.save(made, tmp_path / "out")
    assert ht.verify(tmp_path / "out").faults == ()


def test_pairs_within_classes_are_counted_in_turn_until_there_are_as_many_tables_as_planned():
    table, groups = coded(200), (tuple(range(3)) * 2,) * 3
    query = PairTables(("a", "b", "c"), groups, "ill")
    schema = table.select(("a", "b", "c", "ill")).schema
    assert query.turns.tolist() == [0, 1, 2, 0, 1, 2]
    assert query.sensitivity(schema, Relation.ADD_REMOVE) == PairTables(schema.names, ()).sensitivity(schema, Relation.ADD_REMOVE)
    answer = query.answer(table)
    one, two = np.split(answer, 2)
    assert one.tolist() == two.tolist()
    for pair, found in zip(combinations("abc", 2), query.tables(np.concatenate([one - 1, two + 3])), strict=True):
        assert (found - 1 == table.counts(["ill", *pair]).reshape(2, 3, 3)).all()


@pytest.mark.parametrize(("missing", "kept"), [(29, 0.0), (200, 200.0)])
def test_a_class_of_missing_values_that_noise_explains_is_none(missing, kept):
    counts = class_counts(OPTIONAL, np.array([500, 300, missing]), 10.0, 800 + missing)
    assert counts[-1] == pytest.approx(kept)
    assert counts.sum() == 800 + missing


def test_no_part_has_missing_values_where_all_together_show_none():
    """Not even one with hardly a row, whose noisy counts are all far below zero."""
    counts = np.array([900.0, 0.0])
    shares = drawn_to_whole(OPTIONAL, np.array([[500, 400, 12], [-40, -60, 3]]), counts, 10.0)
    assert shares[:, -1].tolist() == [0.0, 0.0]
    assert shares.sum(1) == pytest.approx([1.0, 1.0])
    assert shares[0] == pytest.approx([5 / 9, 4 / 9, 0.0], abs=0.02)
    some = drawn_to_whole(OPTIONAL, np.array([[500, 400, 300], [90, 80, 10]]), np.array([1200.0, 180.0]), 3.0)
    assert some[:, -1] == pytest.approx([0.25, 0.06], abs=0.02)
