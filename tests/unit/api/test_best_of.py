"""The best of several runs: what it costs, what it refuses, how many runs are made, and that the better recipe wins."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.api.best_of import Misfit, Price, best_of, gamma_of, number_of_runs
from hushtable.checks.tables import example, observed
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.privacy import accountant
from hushtable.privacy.event import Approximate, BestOfRuns
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT, REJECT

RECIPES = [load("independent"), load("independent").set({"bins.bins": "4"})]


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("unit", [Unit(), Unit(relation=Relation.REPLACE_ONE)], ids=["add", "replace"])
def test_the_whole_costs_what_was_asked_for_and_a_run_less(small, delta, unit):
    result = best_of(small, RECIPES, epsilon=2.0, delta=delta, unit=unit, runs=2.0)
    (entry,) = result.guarantee.ledger
    assert isinstance(entry.event, BestOfRuns if delta else Approximate)
    assert 1.9 < result.guarantee.epsilon() <= 2.0
    assert result.guarantee.unit == unit
    assert result.result["best-of"]["mean_runs"] == 2.0
    assert "runs" not in {key for key in result.result["best-of"] if key != "mean_runs"}
    price = Price.of(Budget(2.0, delta), unit, 2.0)
    assert price.run.epsilon < 2.0 / (1.4 if delta else 3)


def test_more_runs_cost_more():
    rhos = [Price.of(Budget(1.0, 1e-6), Unit(), mean).whole.rho for mean in (2.0, 5.0, 20.0)]
    assert rhos == sorted(rhos, reverse=True)
    assert rhos[0] < 0.6 * accountant.zcdp_rho(1.0, 1e-6)
    with pytest.raises(GuaranteeRefused, match="fewer runs"):
        Price.of(Budget(1e-3, 1e-9), Unit(), 1e4)


def test_what_has_no_price_that_adds_up_is_refused_by_name(small):
    for name in ("thresholded", "mdav", "sample-independent"):
        with pytest.raises(PlanError, match=name):
            best_of(small, [load(name)], epsilon=1.0)
    with pytest.raises(GuaranteeRefused, match="observed"):
        best_of(Table(observed(small.schema), dict(small.arrays)), RECIPES, epsilon=1.0)
    with pytest.raises(PlanError, match="nowhere"):
        best_of(small, RECIPES, epsilon=1.0, pairs=[("age", "nowhere")])
    with pytest.raises(InputError, match="more than one run"):
        best_of(small, RECIPES, epsilon=1.0, runs=1.0)


@pytest.mark.parametrize("rows", [None, 50])
def test_the_better_recipe_wins(rows):
    coarse = Recipe(recipe="coarse", steps=(Bins(bins=2), Margins()))
    fine = Recipe(recipe="fine", steps=(Bins(bins=32), Margins()))
    table = example(1000)
    assert not math.isfinite(best_of(table, [fine], epsilon=1.0, runs=1.1, entropy=Entropy.seeded(0)).guarantee.epsilon())
    collected = [best_of(table, [coarse, fine], epsilon=8.0, runs=6.0, rows=rows, entropy=Entropy.seeded(s)) for s in range(6)]
    assert [one.recipe.recipe for one in collected].count("fine") >= 5
    assert rows is None or {one.table.rows for one in collected} == {rows}


@pytest.mark.parametrize("relation", list(Relation))
def test_one_record_changes_a_misfit_by_no_more_than_it_says(relation):
    columns = [Column(name=name, kind=Kind.CATEGORY, domain=Levels(("x", "y")), required=True) for name in "abc"]
    schema = Schema(tuple(columns))
    records = list(product((0, 1), repeat=3))

    def table(rows):
        return Table(schema, {c.name: np.array([r[i] for r in rows], np.int32) for i, c in enumerate(columns)})

    pairs = (("a", "b"), ("b", "c"))
    worst = 0
    for expected in ([0, 0, 0, 0], [2, 0, 1, 0]):
        query = Misfit(pairs, (np.reshape(expected, (2, 2)), np.reshape(expected[::-1], (2, 2))))
        for base in product(records, repeat=2):
            one = query.answer(table(base))[0]
            others = [(*base, r) for r in records] if relation is Relation.ADD_REMOVE else [(base[0], r) for r in records]
            worst = max(worst, *(abs(int(query.answer(table(o))[0]) - int(one)) for o in others))
    assert worst == query.sensitivity(schema, relation)[0]


@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_the_number_of_runs_has_the_stated_law_and_no_other(eta):
    entropy = Entropy.seeded(4)
    gamma = gamma_of(3.0) if eta == 0 else 1 / 3
    assert accountant.mean_of_random(eta, gamma) == pytest.approx(3.0, rel=1e-6)
    drawn = np.array([number_of_runs(eta, gamma, entropy) for _ in range(4000)])
    k = np.arange(1, 12)

    def fits(gamma: float) -> float:
        law = (1 - gamma) ** k / (k * math.log(1 / gamma)) if eta == 0 else gamma * (1 - gamma) ** (k - 1)
        expected = np.append(law, 1 - law.sum()) * len(drawn)
        seen = np.bincount(np.minimum(drawn, 12), minlength=13)[1:]
        return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), 11))

    assert fits(gamma) > ACCEPT
    assert fits(0.7 * gamma) < REJECT
    assert fits(1.3 * gamma) < REJECT
