"""Noisy averages of clusters, certified: what reveals one record in the published form reveals nothing here."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hushtable.pipeline.plan import plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.mixture.clustmix_certified import ClustMixCertified
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.sums import OrderedSums, PartitionSums
from hushtable.synthesize.mixture.trees import Cuts, Tree
from tests.counterexamples.mixtures import SQUARE, counted, flipped, square
from tests.unit.privacy.cases import recipe

BUDGET = Budget(1.0, 1e-6)
RUNS = 30


def released(step, table, seed):
    unit = Unit(relation=step.relation)
    vault = Vault.of(table, unit=unit, budget=BUDGET, entropy=Entropy.seeded(seed)).named("test", Allowance.of(BUDGET, unit))
    model = step.fit(vault, np.random.default_rng(seed))
    assert not vault.ledger.culprits
    assert vault.ledger.epsilon(BUDGET.delta) <= BUDGET.epsilon
    return model


@pytest.mark.parametrize("emit", ["rows", "mixtures"])
def test_the_number_of_rows_comes_from_noisy_counts_only(emit):
    """With the same noise one record less is at most one row less; from run to run the number of rows varies by far more."""
    step = ClustMixCertified(least=20, depth=1, emit=emit)
    worlds = [[released(step, table, seed).total for seed in range(RUNS)] for table in (counted(20), counted(20, missing=1))]
    one, other = (np.array(world) for world in worlds)
    assert one.std() > (5 if emit == "rows" else 0.3)
    # No number of rows distinguishes the worlds beyond e^epsilon: every event of the kind "at least so many".
    for least in range(int(one.min()), int(one.max()) + 1):
        p, q = (one >= least).mean(), (other >= least).mean()
        slack = 3 * math.sqrt(0.25 / RUNS)
        assert p <= math.e * q + slack
        assert 1 - q <= math.e * (1 - p) + slack


@pytest.mark.parametrize("least", [4, 6, 8, 60])
def test_one_record_moves_the_sums_of_the_square_as_little_as_is_told(least):
    encoding = IntegerEncoding.of(SQUARE, "", "test")
    cuts = Cuts(encoding)
    half = Tree.single(encoding).split(0, cuts.weights(len(cuts.places) // 4), 0)
    everything = IntegerEncoding.of(SQUARE, "", "test", classed=False)
    worlds = [*flipped(least), *(square(least, place) for place in product((0.0, 0.2, 0.8, 1.0), repeat=2))]
    for query in (PartitionSums(encoding, half, 500), OrderedSums(everything, 2 * least, least, "class")):
        answers = [query.answer(world).astype(float) for world in worlds]
        most = max(float(np.linalg.norm(a - b)) for a, b in product(answers, repeat=2))
        bound = query.sensitivity(SQUARE, Relation.REPLACE_ONE)[1]
        assert 0 < most <= bound
        # The same for every size, so that a mean moves the less the more records it has; published centroids move by the
        # side of the square whatever their size.
        assert bound / STEPS < 5


@pytest.mark.parametrize("form", ["tree", "blocks"])
def test_which_way_the_averages_lie_does_not_tell_the_worlds_apart(form):
    step = ClustMixCertified(form=form, least=60, depth=1, emit="mixtures")

    def across(table, seed):
        model = released(step, table, seed)
        wide = [float(np.ptp(model.numbers[name][:, 0])) for name in ("x", "y")]
        return wide[1] > wide[0]

    one, other = (np.mean([across(table, seed) for seed in range(RUNS)]) for table in flipped(60))
    slack = 3 * math.sqrt(0.25 / RUNS)
    assert other <= math.e * one + slack
    assert 1 - one <= math.e * (1 - other) + slack


def test_the_certified_form_needs_no_claim():
    course = plan(recipe(ClustMixCertified()), SQUARE, budget=BUDGET)
    assert not course.culprits
    assert not course.steps[0].plan.claims
