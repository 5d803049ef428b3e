"""Scaling by the least and the greatest value, or by quantiles, prints the one person at the end of the range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from hushtable.encode.bins import Binned, Bins, Edges
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Coder, Plan
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.table import Table
from tests.unit.privacy.cases import SCHEMA, people, recipe

WHY = "reads the least and the greatest value"


@dataclass(frozen=True, kw_only=True)
class MinMax(Coder):
    """Eight bins between the least and the greatest value of each number: how most published code scales."""

    def plan(self, schema, budget):
        return Plan(schema=Bins(bins=8).plan(schema, None).schema, stability=1, events=(Raw(WHY),))

    def fit(self, vault, rng):
        values = vault.open(Raw(WHY), WHY).floats("age")
        return Binned.of(vault.schema, {"age": np.linspace(values.min(), values.max() + 1, 9)})


def town(canary: int | None) -> Table:
    """Three hundred people between 20 and 59, and perhaps one more."""
    crowd = people(300)
    age = 20 + crowd["age"] % 40
    if canary is not None:
        age = np.append(age, canary)
    return Table(SCHEMA, {"age": age, **{name: np.resize(crowd[name], len(age)) for name in ("town", "ill")}})


def oldest(canary: int | None, *steps, runs: int = 5, **options) -> list[int]:
    return [int(release(town(canary), recipe(*steps), epsilon=2.0, **options).table["age"].max()) for _ in range(runs)]


def test_min_max_scaling_shows_the_canary_as_the_end_of_the_output():
    """Nobody is above 59 without the canary; with it somebody may be, and never above the canary itself."""
    without, with_canary = (oldest(canary, MinMax(), Margins(), runs=20, unproven=True) for canary in (None, 97))
    assert max(without) <= 59
    assert 59 < max(with_canary) <= 97
    certified = oldest(None, Bins(bins=8), Margins(), runs=20)
    assert max(certified) > 59  # the declared domain reaches to 99 whoever is there


@pytest.mark.parametrize(("coder", "name"), [(MinMax(), "MinMax"), (Bins(edges=Edges.QUANTILE, bins=8), "bins")])
def test_an_edge_read_off_the_rows_is_refused_or_named(coder, name):
    with pytest.raises(GuaranteeRefused, match=name):
        release(town(97), recipe(coder, Margins()), epsilon=2.0)
    released = release(town(97), recipe(coder, Margins()), epsilon=2.0, unproven=True)
    assert released.guarantee.epsilon() == math.inf
    assert released.guarantee.assurance is Assurance.NONE
    assert released.guarantee.culprits[0].step.endswith(name)
    assert name in released.guarantee.explain()


@pytest.mark.parametrize(("edges", "moves"), [(Edges.QUANTILE, True), (Edges.UNIFORM, False)])
def test_quantile_edges_move_with_one_person_and_uniform_ones_do_not(edges, moves):
    seen = []
    for canary in (2, 11):
        few = town(canary).take(np.arange(290, 301))
        seen.append(Bins(edges=edges, bins=20).fit(Vault.of(few), np.random.default_rng(0)).edges["age"].tolist())
    assert (seen[0] != seen[1]) is moves


@pytest.mark.parametrize("edges", [Edges.UNIFORM, Edges.TREE])
def test_the_certified_recipe_does_not_depend_on_how_extreme_the_canary_is(edges):
    """The same noise and the same seed: a canary of 97 and one of 99, in one bin of the declared domain, give one release."""
    tables = [
        release(
            town(canary),
            recipe(Bins(edges=edges, bins=8), Margins()),
            epsilon=2.0,
            entropy=Entropy.seeded(1),
            seed=1,
            unproven=True,
        ).table
        for canary in (97, 99)
    ]
    for name in SCHEMA.names:
        np.testing.assert_array_equal(tables[0][name], tables[1][name])
    raw = [
        release(town(canary), recipe(MinMax(), Margins()), epsilon=2.0, entropy=Entropy.seeded(1), seed=1, unproven=True)
        .table["age"]
        .max()
        for canary in (87, 99)
    ]
    assert raw[0] != raw[1]


def test_the_certified_recipe_is_proven():
    assert release(town(97), recipe(Bins(bins=8), Margins()), epsilon=2.0).guarantee.assurance is Assurance.PROVEN
