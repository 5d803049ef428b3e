"""The copula recipes end to end: what they promise, what they refuse, and what they keep of a table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.gaussian import PlainCopula
from hushtable.synthesize.copula.hybrid import HybridCopula, best_parts
from hushtable.synthesize.copula.kendall import KendallCopula
from hushtable.synthesize.copula.likelihood import LikelihoodCopula, best_blocks
from hushtable.synthesize.copula.marginals import MarginalCopula
from hushtable.synthesize.copula.model import GaussianCopula
from hushtable.synthesize.copula.part_margins import class_column
from hushtable.synthesize.copula.parts import PartedCopula
from hushtable.synthesize.copula.private_margins import anchor_of
from hushtable.synthesize.published.dpcopula_hybrid import GAPS, PublishedHybrid
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import CELL_LIMIT, Table

REPLACED = Unit(relation=Relation.REPLACE_ONE)
PRIVATE = (KendallCopula, LikelihoodCopula, MarginalCopula, HybridCopula)
CERTIFIED = ("dpcopula-kendall", "dpcopula-mle", "dpcopula-marginals", "dpcopula-hybrid-certified")


def town(rows: int = 4000, seed: int = 0) -> Table:
    """Pay rises with school and years, a trade without an order goes with pay, and a tenth of the years is missing."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([0, 0, 0], [[1, 0.7, 0.5], [0.7, 1, 0.2], [0.5, 0.2, 1]], rows)
    pay = (z[:, 0] > 0.6).astype(np.int32)
    trade = np.array([2, 0, 3, 1])[np.clip(np.floor(z[:, 0] + 0.4 * rng.standard_normal(rows) + 2), 0, 3).astype(int)]
    columns = (
        Column(name="school", kind=Kind.ORDINAL, domain=Levels(("low", "middle", "high", "top")), required=True),
        Column(name="years", kind=Kind.INTEGER, domain=Bounds(0, 11)),
        Column(name="trade", kind=Kind.CATEGORY, domain=Levels(("smith", "baker", "clerk", "judge")), required=True),
        Column(name="pay", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("low", "high")), required=True),
    )
    years = np.clip(np.round(2 * z[:, 2] + 5), 0, 11).astype(np.int64)
    arrays = {
        "school": np.clip(np.floor(z[:, 1] + 2), 0, 3).astype(np.int32),
        "years": np.where(rng.random(rows) < 0.1, -(2**63), years),
        "trade": trade.astype(np.int32),
        "pay": pay,
    }
    return Table(Schema(columns), arrays)


def unit_of(step) -> Unit:
    return Unit(relation=step.relation)


def fitted(step, table: Table, epsilon: float = 4.0, delta: float = 1e-6, seed: int = 1):
    budget = Budget(epsilon, delta) if step.spends else None
    vault = Vault.of(table, unit=unit_of(step), budget=budget, entropy=Entropy.seeded(seed), seed=seed)
    return step.fit(vault.named("step", Allowance.of(budget, unit_of(step)) if budget else None), np.random.default_rng(seed))


def rich(table: Table, **given: int) -> float:
    held = np.all([table[name] == value for name, value in given.items()], axis=0)
    return float(table["pay"][held].mean())


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", CERTIFIED)
def test_a_certified_copula_is_proven_within_its_budget_and_never_looks_at_raw_rows(name, delta):
    recipe = load(name)
    released = release(example(600), recipe, epsilon=1.0, delta=delta, unit=unit_of(recipe.steps[-1]))
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0
    assert not any(isinstance(entry.event, Raw) for entry in released.guarantee.ledger)
    assert released.table.schema.names == example().schema.names


@pytest.mark.parametrize(("name", "assurance"), [("gaussian-copula", Assurance.NONE), ("dpcopula-hybrid", Assurance.CLAIMED)])
def test_what_is_not_proven_says_so(name, assurance):
    released = release(example(600), load(name))
    assert released.guarantee.assurance is assurance
    assert released.guarantee.epsilon() == math.inf
    if assurance is Assurance.CLAIMED:
        assert all(gap in released.guarantee.explain() for gap in GAPS)


@pytest.mark.parametrize("step", [KendallCopula(), LikelihoodCopula(), HybridCopula()], ids=lambda step: type(step).__name__)
def test_what_is_proven_for_replaced_records_is_refused_where_one_may_be_added(step):
    with pytest.raises(GuaranteeRefused, match="replace_one"):
        release(town(200), Recipe(recipe="r", steps=(step,)), epsilon=1.0)


@pytest.mark.parametrize("relation", list(Relation))
def test_marginals_are_proven_for_both_relations(relation):
    released = release(town(400), Recipe(recipe="r", steps=(MarginalCopula(),)), epsilon=1.0, unit=Unit(relation=relation))
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0


@pytest.mark.parametrize("kind", [PlainCopula, *PRIVATE, PublishedHybrid], ids=lambda kind: kind.__name__)
def test_what_hangs_together_still_does(kind):
    """High pay goes with a high school and with a trade whose levels have no order; columns drawn alone lose both."""
    table = town()
    drawn = fitted(kind(), table).sample(8000, np.random.default_rng(2))
    assert abs(drawn["pay"].mean() - table["pay"].mean()) < 0.03
    assert abs((drawn["years"] < 0).mean() - 0.1) < 0.03
    assert rich(drawn, school=3) - rich(drawn, school=0) > 0.6 * (rich(table, school=3) - rich(table, school=0))
    if kind is not PublishedHybrid:
        assert rich(drawn, trade=1) - rich(drawn, trade=2) > 0.6 * (rich(table, trade=1) - rich(table, trade=2))
    rng = np.random.default_rng(3)
    alone = {n: rng.permutation(a) for n, a in drawn.arrays.items()}
    assert abs(rich(Table(drawn.schema, alone), school=3) - rich(Table(drawn.schema, alone), school=0)) < 0.15


def test_the_order_of_levels_is_found_from_noisy_tables_and_may_be_left_as_declared():
    result = fitted(KendallCopula(classes="-"), town()).joined.margins["trade"].order.tolist()
    assert result[2:] == [3, 1]
    assert fitted(KendallCopula(anchor="-", classes="-"), town()).joined.margins["trade"].order.tolist() == [0, 1, 2, 3]
    assert fitted(MarginalCopula(anchor="school"), town()).joined.margins["trade"].order.tolist() == [2, 0, 3, 1]


@pytest.mark.parametrize("kind", [PlainCopula, *PRIVATE], ids=lambda kind: kind.__name__)
def test_a_condition_is_met_and_moves_the_other_columns(kind):
    model = fitted(kind(), town())
    rng = np.random.default_rng(5)
    poor, best = (model.sample(3000, rng, {"pay": text}) for text in ("low", "high"))
    assert set(poor["pay"].tolist()) == {0}
    assert best["school"].mean() > poor["school"].mean() + 0.5
    both = model.sample(500, rng, {"pay": "high", "school": "low", "years": "3"})
    assert (both["pay"] == 1).all()
    assert (both["school"] == 0).all()
    assert (both["years"] == 3).all()
    with pytest.raises(InputError, match="lots"):
        model.sample(5, rng, {"pay": "lots"})


def test_the_number_of_rows_is_the_public_one_or_a_noisy_one():
    rng = np.random.default_rng(0)
    for kind in (KendallCopula, LikelihoodCopula, HybridCopula):
        assert fitted(kind(), town(500)).sample(None, rng).rows == 500
    noisy = {fitted(MarginalCopula(), town(500), epsilon=0.5, seed=seed).sample(None, rng).rows for seed in range(5)}
    assert len(noisy) > 1
    assert all(100 < rows < 1000 for rows in noisy)


@pytest.mark.parametrize("kind", PRIVATE, ids=lambda kind: kind.__name__)
def test_noise_that_drowns_the_data_is_noted_in_numbers(kind):
    assert any(character.isdigit() for character in fitted(kind(), town(300), epsilon=0.05).result()["note"])
    assert "note" not in fitted(kind(), town(20_000), epsilon=8.0).result()


def test_ties_are_corrected_unless_the_published_form_is_asked_for():
    table = town(20_000)
    for kind in (PlainCopula, KendallCopula, LikelihoodCopula, MarginalCopula):
        whole = {} if kind is PlainCopula else {"classes": "-"}
        corrected, published = (
            fitted(kind(ties=ties, **whole), table, 8.0).joined.correlation[0, 3] for ties in ("corrected", "published")
        )
        assert corrected == pytest.approx(0.7, abs=0.08)
        assert published < corrected - 0.1


@pytest.mark.parametrize("kind", [PlainCopula, KendallCopula, LikelihoodCopula, MarginalCopula], ids=lambda kind: kind.__name__)
def test_one_column_is_its_margin(kind):
    table = town(2000).select(["school"])
    drawn = fitted(kind(), table).sample(2000, np.random.default_rng(1))
    assert np.abs(np.bincount(drawn["school"], minlength=4) - np.bincount(table["school"], minlength=4)).max() < 150


def test_sixty_columns_and_few_rows():
    rng = np.random.default_rng(0)
    columns = tuple(Column(name=f"c{i}", kind=Kind.ORDINAL, domain=Levels(("a", "b", "c")), required=True) for i in range(60))
    table = Table(Schema(columns), {c.name: rng.integers(0, 3, 100).astype(np.int32) for c in columns})
    assert fitted(KendallCopula(), table).sample(50, rng).rows == 50


@pytest.mark.parametrize(
    ("step", "match"),
    [
        (KendallCopula(anchor="nobody"), "nobody"),
        (MarginalCopula(anchor="trade"), "trade cannot order"),
        (HybridCopula(parts=("nobody",)), "nobody"),
        (HybridCopula(parts=("school", "years", "trade", "pay"), most=1000), "leave no other column"),
        (HybridCopula(parts=("school", "years"), most=16), "make 52 parts"),
        (PublishedHybrid(parts=("school", "years"), most=16), "make 52 parts"),
    ],
)
def test_a_plan_refuses_by_name(step, match):
    allowance = Allowance.of(Budget(1.0, 1e-6), unit_of(step)) if step.spends else None
    with pytest.raises(PlanError, match=match):
        step.plan(town(10).schema, allowance)


def test_an_anchor_with_too_many_cells_is_refused_by_name():
    wide = Column(name="wide", kind=Kind.INTEGER, domain=Bounds(0, 19_000_000), required=True)
    schema = Schema((*town(10).schema, wide))
    with pytest.raises(PlanError, match="trade and wide together have too many cells"):
        KendallCopula(anchor="wide").plan(schema, None)


def test_numbers_that_were_not_cut_are_refused_by_name():
    schema = example().schema
    for step in (PlainCopula(), KendallCopula(), LikelihoodCopula(), MarginalCopula(), HybridCopula(), PublishedHybrid()):
        with pytest.raises(PlanError, match="height"):
            step.plan(schema, None)


def test_no_small_column_to_part_by():
    columns = tuple(Column(name=name, kind=Kind.INTEGER, domain=Bounds(0, 50), required=True) for name in "ab")
    with pytest.raises(PlanError, match="no column has 2 to 9 cells"):
        HybridCopula().plan(Schema(columns), None)


@pytest.mark.parametrize(
    ("kind", "knobs"),
    [
        (KendallCopula, {"ratio": 0.0}),
        (LikelihoodCopula, {"blocks": -1}),
        (MarginalCopula, {"cells": 1}),
        (HybridCopula, {"least": 1}),
        (PublishedHybrid, {"epsilon": 0.0}),
        (PlainCopula, {"ties": "none"}),
    ],
)
def test_knobs_out_of_range_are_named(kind, knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        kind(**knobs)


def test_more_blocks_than_rows_are_refused():
    with pytest.raises(InputError, match="fewer rows"):
        fitted(LikelihoodCopula(blocks=50), town(20))


def test_blocks_are_as_many_as_published_where_there_are_rows_enough():
    pure = Allowance.of(Budget(1.0, 0.0), REPLACED)
    assert best_blocks(10**6, 4, pure, 0.05) == math.ceil(6 / 0.025)
    assert best_blocks(1000, 4, pure, 0.05) == 100
    assert best_blocks(5, 4, pure, 0.05) == 1


def test_the_key_of_the_blocks_comes_from_the_system_unless_the_run_is_reproducible():
    step, table = LikelihoodCopula(), town(300)
    one, two = (fitted(step, table, seed=3).joined.correlation for _ in range(2))
    np.testing.assert_array_equal(one, two)
    budget = Budget(4.0, 1e-6)
    keys = set()
    for _ in range(2):
        vault = Vault.of(table, unit=REPLACED, budget=budget)
        keys.add(int(vault.coins(1, np.random.default_rng(0))[0]))
    assert len(keys) == 2


def test_the_anchor_is_the_one_small_target():
    schema = town(10).schema
    assert anchor_of(schema, "", "s") == "pay"
    assert anchor_of(schema, "-", "s") == ""
    two = replace(schema, columns=tuple(replace(c, role=Role.TARGET) for c in schema))
    assert anchor_of(two, "", "s") == ""


def test_a_part_too_small_takes_the_correlations_of_the_others():
    model = fitted(HybridCopula(parts=("pay",), least=2000), town(4000), epsilon=8.0)
    assert model.result()["own_correlations"] == [True, False]
    np.testing.assert_allclose(model.correlations[0], model.correlations[1])
    apart = fitted(HybridCopula(parts=("pay",)), town(4000), epsilon=8.0)
    assert not np.allclose(apart.correlations[0], apart.correlations[1])


def bowl(rows: int = 6000) -> Table:
    """The ill are very young or very old, and the heavier the older they are; the others are lighter."""
    rng = np.random.default_rng(0)
    age = rng.integers(0, 12, rows)
    ill = (np.abs(age - 5.5) + rng.normal(0, 1, rows) > 3.5).astype(np.int32)
    weight = np.clip(np.where(ill == 1, age, 11 - age) + rng.integers(-1, 2, rows), 0, 11)
    number = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 11), required=True)
    columns = (
        number,
        replace(number, name="weight"),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
    return Table(Schema(columns), {"age": age, "weight": weight, "ill": ill})


@pytest.mark.parametrize("kind", [KendallCopula, LikelihoodCopula, MarginalCopula], ids=lambda kind: kind.__name__)
def test_with_a_budget_for_it_each_class_has_a_copula_of_its_own(kind):
    """One copula for all rows cannot express that the ill are at both ends, nor that their weights rise with age."""
    table = bowl()

    def seen(step) -> tuple[float, float]:
        drawn = fitted(step, table, epsilon=8.0).sample(6000, np.random.default_rng(2))
        ends = np.isin(drawn["age"], [0, 1, 10, 11])
        ill = drawn["ill"] == 1
        return float(ill[ends].mean() - ill[~ends].mean()), float(np.corrcoef(drawn["age"][ill], drawn["weight"][ill])[0, 1])

    apart, within = seen(kind())
    assert apart > 0.4
    assert within > 0.7
    assert seen(kind(classes="-"))[0] < 0.2


@pytest.mark.parametrize("kind", [KendallCopula, LikelihoodCopula, MarginalCopula], ids=lambda kind: kind.__name__)
def test_where_the_noise_is_large_all_rows_share_a_copula_at_the_same_price(kind):
    table, step = town(1000), kind()
    for epsilon, model in ((0.1, GaussianCopula), (8.0, PartedCopula)):
        budget = Budget(epsilon, 1e-6)
        allowance = Allowance.of(budget, unit_of(step))
        vault = Vault.of(table, unit=unit_of(step), budget=budget, entropy=Entropy.seeded(1), seed=1)
        assert isinstance(step.fit(vault.named("step", allowance), np.random.default_rng(1)), model)
        asked = [entry.event.cost().rho for entry in vault.ledger.entries]
        planned = [event.cost().rho for event in step.plan(table.schema, allowance).events]
        assert asked == pytest.approx(planned, rel=1e-3)
    with pytest.raises(PlanError, match="no column 'wealth'"):
        kind(classes="wealth").plan(table.schema, None)


def test_classes_that_cannot_be_counted_with_a_column_are_left_or_refused_by_name():
    wide = Column(name="code", kind=Kind.INTEGER, domain=Bounds(0, CELL_LIMIT - 2), required=True)
    schema = Schema((*town(10).schema.columns, wide))
    assert class_column(schema, "", "s") == ""
    with pytest.raises(PlanError, match="pay and code"):
        class_column(schema, "pay", "s")
    assert class_column(town(10).schema, "", "s") == "pay"


def test_a_hybrid_has_more_parts_with_more_budget():
    schema = town(10).schema
    wide = replace(schema, columns=(*schema.columns, *(replace(schema["pay"], name=f"p{i}", role=Role.PLAIN) for i in range(6))))
    sizes = [best_parts(wide, Allowance.of(Budget(epsilon, 1e-6), REPLACED), 1.0) for epsilon in (0.1, 1.0, 10.0, 1000.0)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (2, 64)


def test_dates_and_numbers_pass_through_bins():
    released = release(example(400), Recipe(recipe="r", steps=(Bins(), KendallCopula())), epsilon=2.0, unit=REPLACED)
    assert released.table.rows == 400
    assert released.table.schema == example().schema
