"""(beta, k, epsilon0)-anonymization as published, insensitive blocks, and individual ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.private.blocks import Blocks, BlockSums, best_k
from hushtable.anonymize.private.ranking import Dependence, Ranking
from hushtable.anonymize.published.beta_k_eps import GAPS, BetaKEps
from hushtable.anonymize.sample import Method, Sample
from hushtable.checks import example
from hushtable.checks.fitting import fit
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.numerics.integers import GRID, Axes, axes_of, block_sizes
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy import accountant
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.criteria import Classes, k_anonymity
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.table.columns import MISSING_INTEGER, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.tables import observed
from tests.unit.privacy.cases import recipe

REPLACE = Unit(relation=Relation.REPLACE_ONE)


def numbers(**arrays: np.ndarray) -> Table:
    columns = tuple(Column(name=n, kind=Kind.REAL, domain=Bounds(0.0, 1.0), required=True) for n in arrays)
    return Table(Schema(columns), arrays)


def test_the_published_form_is_claimed_with_its_gaps_and_never_proven():
    released = release(example(400), load("beta-k-eps"), seed=1)
    guarantee = released.guarantee
    assert guarantee.assurance is Assurance.CLAIMED
    assert math.isinf(guarantee.epsilon())
    (claim,) = guarantee.claims
    assert "epsilon = beta epsilon0 = 0.5" in claim.statement
    assert claim.gaps == GAPS
    assert guarantee.criteria["k"] >= 10
    assert 120 < released.table.rows < 280
    # Somebody who asks for an epsilon gets the claim, labelled, and no proof.
    assert release(example(400), load("beta-k-eps"), epsilon=1.0).guarantee.assurance is Assurance.CLAIMED


def test_one_draw_is_shared_by_a_group_so_that_k_anonymity_holds_over_all_columns():
    released = release(example(300), recipe(BetaKEps(beta=1.0, k=7, epsilon0=0.5)), seed=1).table
    assert released.rows == 300
    assert k_anonymity(Classes(released, released.schema.names)) >= 7


@pytest.mark.parametrize(("k", "epsilon0"), [(5, 1.0), (10, 1.0), (10, 4.0)])
def test_the_noise_is_laplace_of_the_printed_scale(k, epsilon0):
    """All records alike but two: every group's mean is 0.5 but for those, and the rest is noise of scale 2/(epsilon0 k)."""
    values = np.full(4000, 0.5)
    values[:2] = 0.4, 0.6
    released = BetaKEps(beta=1.0, k=k, epsilon0=epsilon0)._protected(numbers(a=values, b=values), Entropy.seeded(1))
    noise = np.unique(np.abs(released["a"] - 0.5))
    mean = float(np.mean(noise[noise > 1e-6]))
    assert mean == pytest.approx(0.2 * 2 / (epsilon0 * k), rel=0.2)


def test_iterations_stand_below_one_another():
    released = release(example(300), recipe(BetaKEps(beta=0.5, k=5, steps=3)), seed=1)
    assert 350 < released.table.rows < 550
    assert any("3 iterations" in caveat for caveat in released.guarantee.caveats)


def test_a_sample_below_k_is_refused():
    with pytest.raises(InputError, match="k = 12 is larger"):
        release(example(12), recipe(BetaKEps(k=12, beta=0.5)), seed=1)


@pytest.mark.parametrize("kind", [BetaKEps, Blocks, Ranking])
def test_only_the_named_columns_are_released(kind):
    epsilon = 4.0 if kind is not BetaKEps else None
    released = release(example(400), recipe(kind(columns=("age", "sick"))), epsilon=epsilon, unit=REPLACE, seed=1)
    assert released.table.schema.names == ("age", "sick")
    with pytest.raises(PlanError, match="nobody"):
        kind(columns=("nobody",)).plan(example().schema, None)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_the_certified_form_is_proven_at_the_amplified_price(delta):
    table = example(2000)
    released = release(table, load("beta-k-eps-certified"), epsilon=2.0, delta=delta, unit=REPLACE)
    assert released.guarantee.assurance is Assurance.PROVEN
    # Noise on a secret sample keeps to rho, and is then accounted for numerically.
    assert 1.8 < released.guarantee.epsilon() <= 2.0
    assert released.table.rows == 1000
    assert {e.rate for e in released.guarantee.ledger if e.step == "blocks"} == {0.5}
    result = released.result["blocks"]
    assert released.guarantee.criteria["k"] >= result["k"] >= 2
    assert len(block_sizes(1000, result["k"])) == result["blocks"]
    inner = accountant.before_sampling(2.0, 0.5)
    assert inner == pytest.approx(math.log(1 + (math.exp(2.0) - 1) / 0.5))


def test_every_row_of_a_block_is_the_same_and_k_is_kept():
    for rows, k in ((23, 7), (24, 8), (9, 9)):
        released = release(example(rows), recipe(Blocks(k=k)), epsilon=4.0, delta=1e-6, unit=REPLACE)
        assert released.table.rows == rows
        assert released.guarantee.criteria["k"] >= k


def test_with_a_large_budget_block_means_are_the_means_of_neighbours():
    rng = np.random.default_rng(0)
    table = numbers(a=rng.random(4000), b=rng.random(4000))
    released = release(table, recipe(Blocks(k=100)), epsilon=500.0, delta=1e-6, unit=REPLACE).table
    assert len(np.unique(released["a"])) == 40
    for name in ("a", "b"):
        assert np.mean(released[name]) == pytest.approx(np.mean(table[name]), abs=0.01)
        assert np.std(released[name]) == pytest.approx(np.std(table[name]), rel=0.1)


def test_a_category_and_missing_values_come_back_from_their_blocks():
    column = Column(name="c", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")))
    pay = Column(name="pay", kind=Kind.INTEGER, domain=Bounds(0, 10))
    codes = np.repeat(np.array([0, 1, -1], np.int32), 100)
    values = np.where(codes < 0, -(2**63), 7 * (codes == 1) + 2)
    table = Table(Schema((column, pay)), {"c": codes, "pay": values})
    released = release(table, recipe(Blocks(k=100)), epsilon=500.0, delta=1e-6, unit=REPLACE).table
    assert sorted(zip(released["c"].tolist(), released["pay"].tolist(), strict=True)) == sorted(
        zip(codes.tolist(), values.tolist(), strict=True)
    )


def test_the_chosen_k_balances_noise_and_blur_and_is_public():
    axes = axes_of(example().schema, example().schema.names)
    small, large = (Allowance.of(Budget(epsilon, 1e-6), REPLACE) for epsilon in (0.5, 5.0))
    assert best_k(10_000, axes, small) > best_k(10_000, axes, large) > 2
    assert 2 <= best_k(2, axes, small) <= 2
    with pytest.raises(InputError, match="two rows"):
        best_k(1, axes, small)


@pytest.mark.parametrize("kind", [Blocks, Ranking])
def test_one_record_more_or_less_is_refused_with_what_to_type(kind):
    schema = example().schema
    for unit in (Unit(), Unit(relation=Relation.REPLACE_ONE, rows=2)):
        with pytest.raises(GuaranteeRefused, match="--relation replace_one"):
            plan(recipe(kind()), schema, budget=Budget(1.0, 1e-6), unit=unit)
    with pytest.raises(GuaranteeRefused, match="read off the rows"):
        plan(recipe(kind()), observed(schema), budget=Budget(1.0, 1e-6), unit=REPLACE)


def test_a_poisson_sample_before_the_blocks_is_not_amplified():
    steps = recipe(Sample(beta=0.5, method=Method.POISSON), Blocks(k=20))
    released = release(example(400), steps, epsilon=2.0, delta=1e-6, unit=REPLACE)
    assert {e.rate for e in released.guarantee.ledger} == {1.0}


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("dependence", Dependence)
def test_ranking_is_proven_and_releases_as_many_rows_as_there_were(dependence, delta):
    released = release(example(500), recipe(Ranking(dependence=dependence)), epsilon=2.0, delta=delta, unit=REPLACE)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 2.0
    assert released.table.rows == 500


def test_with_a_large_budget_ranking_gives_margins_missing_values_and_dependence_back():
    rng = np.random.default_rng(0)
    base = rng.standard_normal(5000)
    one = np.clip(50 + 15 * base, 0, 100).round()
    two = np.clip(50 + 10 * base + 10 * rng.standard_normal(5000), 0, 100).round()
    two[rng.random(5000) < 0.3] = np.nan
    columns = tuple(Column(name=n, kind=Kind.INTEGER, domain=Bounds(0, 100), required=n == "one") for n in ("one", "two"))
    arrays = {c.name: c.from_floats(v) for c, v in zip(columns, (one, two), strict=True)}
    table = Table(Schema(columns), arrays)
    released = release(table, recipe(Ranking()), epsilon=300.0, delta=1e-6, unit=REPLACE).table
    assert np.mean(np.isnan(released.floats("two"))) == pytest.approx(np.isnan(two).mean(), abs=0.03)
    for name in ("one", "two"):
        shares = np.linspace(0.05, 0.95, 10)
        assert released.quantiles(name, shares) == pytest.approx(table.quantiles(name, shares), abs=2.5)
    assert _correlation(released) == pytest.approx(_correlation(table), abs=0.2)
    alone = release(table, recipe(Ranking(dependence=Dependence.NONE)), epsilon=300.0, delta=1e-6, unit=REPLACE).table
    assert abs(_correlation(alone)) < 0.1 < _correlation(table) - 0.3


def _correlation(table: Table) -> float:
    one, two = table.floats("one"), table.floats("two")
    there = ~np.isnan(two)
    return float(np.corrcoef(one[there], two[there])[0, 1])


def test_the_noise_of_a_sorted_list_does_not_grow_with_the_number_of_its_blocks():
    sums = [BlockSums(("age",), k, 100).sensitivity(example().schema, Relation.REPLACE_ONE)[1] for k in (50, 2)]
    assert sums[1] == pytest.approx(5 * sums[0])
    from hushtable.anonymize.private.ranking_queries import RankSums

    assert {RankSums("age", k, 100).sensitivity(example().schema, Relation.REPLACE_ONE) for k in (50, 2)} == {(GRID, GRID, 0)}


def test_values_survive_being_written_in_integers_and_read_back():
    table = example(200)
    for column in table.schema:
        axes = Axes(column)
        back = axes.decode(axes.encode(table[column.name]) / GRID)
        if column.numeric:
            width = column.bounds.high - column.bounds.low
            gap = np.abs(column.floats(back) - table.floats(column.name))
            assert np.array_equal(np.isnan(gap), table.missing(column.name))
            assert np.nanmax(gap) <= max(width / GRID, column.step or 0)
        else:
            assert np.array_equal(back, table[column.name])


@settings(max_examples=25)
@given(st.integers(2, 40), st.integers(2, 9), st.integers(0, 9), st.sampled_from([Blocks, BetaKEps]))
def test_any_small_table_comes_out_k_anonymous_or_is_refused(rows, k, seed, kind):
    rng = np.random.default_rng(seed)
    table = example(rows, seed)
    gone = rng.random(rows) < rng.random()
    age = table.schema["age"]
    table = table.with_column(age, np.where(gone, MISSING_INTEGER, table["age"]))
    step = kind(k=k, beta=1.0) if kind is BetaKEps else kind(k=k)
    if rows < k:
        with pytest.raises(InputError):
            fit(step, table)
        return
    released = fit(step, table)[0].sample(None, rng)
    assert released.rows == rows
    assert k_anonymity(Classes(released, released.schema.names)) >= k
