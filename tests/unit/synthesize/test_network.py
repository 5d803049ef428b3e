"""Networks, margins by multiplicative weights, groups of columns: what is learnt, what is refused, what is paid."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.checks.tables import example
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.accountant import zcdp_rho
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteLaplace, Exponential, Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.field_groups import FieldGroups
from hushtable.synthesize.marginal.mwem import Mwem
from hushtable.synthesize.network.privbayes import PrivBayes
from hushtable.synthesize.network.privbayes_published import PrivBayesPublished, pure
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

REPLACED = Unit(relation=Relation.REPLACE_ONE)
STEPS = [PrivBayesPublished(), PrivBayes(), Mwem(), FieldGroups()]
NAMES = ["privbayes-published", "privbayes", "mwem", "field-groups"]


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


def unit_of(step) -> Unit:
    return Unit(relation=step.relation)


def fitted(step, table: Table, epsilon: float = 1.0, delta: float = 1e-6, seed: int = 0):
    unit, budget = unit_of(step), Budget(epsilon, delta)
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(seed)).named("it", Allowance.of(budget, unit))
    return step.fit(vault, np.random.default_rng(seed)), vault.ledger


def categories(columns: dict[str, tuple[int, np.ndarray]], **roles: Role) -> Table:
    schema = Schema(
        tuple(
            Column(
                name=name, kind=Kind.CATEGORY, domain=Levels(tuple(f"v{i}" for i in range(size))), required=True,
                role=roles.get(name, Role.PLAIN),
            )
            for name, (size, _) in columns.items()
        )
    )  # fmt: skip
    return Table(schema, {name: values.astype(np.int32) for name, (_, values) in columns.items()})


def chain(rows: int = 4000, length: int = 6, size: int = 3, **roles: Role) -> Table:
    """Each column repeats the one before it nine times out of ten."""
    rng = np.random.default_rng(0)
    values = [rng.integers(0, size, rows)]
    for _ in range(length - 1):
        values.append(np.where(rng.random(rows) < 0.9, values[-1], rng.integers(0, size, rows)))
    return categories({f"c{i}": (size, v) for i, v in enumerate(values)}, **roles)


@pytest.mark.parametrize(
    "step", [PrivBayes(degree=1), PrivBayesPublished(degree=1, score="I"), PrivBayesPublished(degree=1, score="R")]
)
def test_the_structure_is_found_where_the_noise_is_small(step):
    model, _ = fitted(step, chain(), epsilon=200.0)
    edges = {frozenset((node.name, *node.parents)) for node in model.nodes if node.parents}
    assert edges == {frozenset((f"c{i}", f"c{i + 1}")) for i in range(5)}


def test_the_score_f_finds_the_structure_of_columns_of_two_values():
    model, _ = fitted(PrivBayesPublished(degree=1, score="F"), chain(size=2), epsilon=200.0)
    edges = {frozenset((node.name, *node.parents)) for node in model.nodes if node.parents}
    assert edges == {frozenset((f"c{i}", f"c{i + 1}")) for i in range(5)}


@pytest.mark.parametrize(
    "step",
    [
        PrivBayesPublished(degree=2), PrivBayesPublished(), PrivBayes(degree=1), PrivBayes(degree=3), Mwem(), Mwem(classic=True),
        FieldGroups(groups="c0,c1;c1,c2"), FieldGroups(),
    ],
)  # fmt: skip
def test_dependence_of_neighbours_is_kept(step):
    table = chain(length=3)
    model, _ = fitted(step, table, epsilon=50.0)
    drawn = model.sample(None, np.random.default_rng(1))
    assert abs(drawn.rows - table.rows) < 50
    for pair in (("c0", "c1"), ("c1", "c2")):
        assert np.abs(drawn.counts(pair) / drawn.rows - table.counts(pair) / table.rows).sum() / 2 < 0.06


def test_three_columns_that_hang_together_only_as_three_need_two_parents():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 4000))
    table = categories({"a": (2, a), "b": (2, b), "c": (2, a ^ b)})
    whole = table.counts(("a", "b", "c")) / 4000
    for step, near in [(PrivBayes(degree=2), True), (PrivBayes(degree=1), False), (PrivBayesPublished(degree=2), True)]:
        drawn = fitted(step, table, epsilon=20.0)[0].sample(4000, np.random.default_rng(1))
        assert bool(np.abs(drawn.counts(("a", "b", "c")) / 4000 - whole).sum() / 2 < 0.1) is near


def test_the_target_is_a_parent_of_every_column_if_it_has_few_values():
    table = chain(c5=Role.TARGET)
    assert all("c5" in node.parents for node in fitted(PrivBayes(), table)[0].nodes[1:])
    assert all("c2" in node.parents for node in fitted(PrivBayes(target="c2"), table)[0].nodes[1:])
    assert all(group.startswith("c5, ") for group in fitted(FieldGroups(cells=9), table)[0].result()["groups"])
    wide = chain(size=12, c5=Role.TARGET)
    assert fitted(PrivBayes(), wide)[0].nodes[0].name == "c0"


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("step", [*STEPS, PrivBayesPublished(degree=3, score="I"), PrivBayes(degree=1), Mwem(classic=True)])
def test_every_look_is_paid_for_and_the_budget_is_used_up(step, delta):
    _, ledger = fitted(step, chain(300, 4), 1.0, delta)
    assert not ledger.culprits
    assert not any(isinstance(entry.event, Raw) for entry in ledger.entries)
    assert 0.9 < ledger.epsilon(delta) <= 1.0 + 1e-9


def test_the_published_prices():
    """d - 1 choices with 0.3 epsilon, d - k tables with Laplace noise of scale 2 (d - k)/(0.7 epsilon)."""
    _, ledger = fitted(PrivBayesPublished(degree=2), chain(300, 5), 1.0, 0.0)
    events = [entry.event for entry in ledger.paid]
    choices = [e.epsilon for e in events if isinstance(e, Exponential)]
    tables = [e for e in events if isinstance(e, DiscreteLaplace) and e.sensitivity]
    assert choices == pytest.approx([0.3 / 4] * 4, abs=1e-5)
    assert [e.sensitivity for e in tables] == [2.0] * 3
    assert [e.scale for e in tables] == pytest.approx([2 * 3 / 0.7] * 3, abs=1e-3)


def test_the_published_rule_keeps_tables_useful():
    """By theta-usefulness a table has at most n epsilon2/(2 d theta) cells, where it has a parent at all."""
    rows, d = 3000, 6
    model, _ = fitted(PrivBayesPublished(theta=4.0), chain(rows, d, 4), 1.0, 0.0)
    room = rows * 0.7 / (2 * d * 4.0)
    assert model.result()["cells"] == math.floor(room)
    assert any(node.parents for node in model.nodes)
    assert all(node.shares.size <= room for node in model.nodes if node.parents)


def test_a_pure_allowance_is_the_whole_epsilon_or_what_its_rho_allows():
    budget = Budget(1.0, 1e-5)
    whole = Allowance.of(budget, REPLACED)
    assert pure(whole).epsilon == 1.0
    assert pure(whole.split([1.0])[0]).epsilon == pytest.approx(1.0)
    half = whole.split([1.0, 1.0])[0]
    assert pure(half).epsilon == pytest.approx(math.sqrt(zcdp_rho(1.0, 1e-5)), rel=1e-6)
    assert pure(Allowance.of(Budget(1.0, 0.0), REPLACED)).epsilon == 1.0


def test_published_after_bins_that_pay_stays_within_the_budget():
    recipe = Recipe(recipe="both", steps=(Bins(edges="tree"), PrivBayesPublished()))
    released = release(example(), recipe, epsilon=1.0, delta=1e-5, unit=REPLACED)
    assert released.guarantee.epsilon() <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_the_recipes_are_proven_on_a_mixed_table(name):
    recipe = load(name)
    unit = unit_of(recipe.steps[-1])
    released = release(example(300), recipe, epsilon=2.0, delta=1e-5, unit=unit, seed=1)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 2.0
    assert released.table.schema.names == example().schema.names
    if unit.relation is Relation.REPLACE_ONE:
        assert released.table.rows == 300


def test_a_table_that_drowns_in_noise_says_so():
    for step in STEPS:
        model, _ = fitted(step, chain(60, 4), 0.05)
        assert "rows" in model.result()["note"]
        assert "note" not in fitted(step, chain(), 50.0)[0].result()


@pytest.mark.parametrize("step", STEPS)
def test_unpleasant_tables(step):
    rng = np.random.default_rng(0)
    one = chain(50, 1)
    constant = categories({"a": (3, np.zeros(50)), "b": (1, np.zeros(50)), "c": (2, rng.integers(0, 2, 50))})
    missing = example(50).select(["town", "school"])
    missing = missing.with_column(missing.schema["school"], np.full(50, -1, np.int32))
    for table in (one, constant, missing, chain(1, 3), chain(2, 2)):
        model, _ = fitted(step, table)
        drawn = model.sample(None, rng)
        assert drawn.rows >= 1
        assert model.sample(7, rng).rows == 7
        rebuilt = type(model).from_parts(*model.parts())
        again = [m.sample(9, np.random.default_rng(3)) for m in (model, rebuilt)]
        assert all((again[0][name] == again[1][name]).all() for name in table.schema.names)
    assert fitted(step, one, epsilon=100.0)[0].sample(50, rng).counts(("c0",)) == pytest.approx(one.counts(("c0",)), abs=3)


@pytest.mark.parametrize("step", [slow(PrivBayesPublished()), slow(PrivBayes()), Mwem(rounds=1), FieldGroups()])
def test_sixty_columns(step):
    rng = np.random.default_rng(0)
    table = categories({f"c{i}": (3, rng.integers(0, 3, 50)) for i in range(60)}, c59=Role.TARGET)
    model, _ = fitted(step, table)
    assert model.sample(100, rng).rows == 100


@pytest.mark.parametrize("step", STEPS)
def test_conditions(step):
    model, _ = fitted(step, chain(length=3), epsilon=50.0)
    drawn = model.sample(2000, np.random.default_rng(0), {"c1": "v2"})
    assert (drawn["c1"] == 2).all()
    if not isinstance(step, FieldGroups):
        assert (drawn["c0"] == 2).mean() > 0.8
    with pytest.raises(InputError, match="v9"):
        model.sample(5, np.random.default_rng(0), {"c1": "v9"})


def test_what_is_refused():
    real = example()
    for step in STEPS:
        with pytest.raises(PlanError, match="height"):
            step.plan(real.schema, None)
    for step in (PrivBayes(target="nobody"), FieldGroups(target="nobody")):
        with pytest.raises(PlanError, match="nobody"):
            step.plan(chain(5).schema, None)
    with pytest.raises(PlanError, match="nobody"):
        FieldGroups(groups="c0,nobody").plan(chain(5).schema, None)
    with pytest.raises(PlanError, match="twice"):
        FieldGroups(groups="c0,c0").plan(chain(5).schema, None)
    wide = Schema(tuple(Column(name=n, kind=Kind.INTEGER, domain=Bounds(0, 9999)) for n in "abcdefg"))
    with pytest.raises(PlanError, match="a, b"):
        FieldGroups(groups="a,b").plan(wide, None)
    huge = Schema((Column(name="a", kind=Kind.INTEGER, domain=Bounds(0, 1_000_000)),))
    with pytest.raises(PlanError, match="a has more than"):
        PrivBayes().plan(huge, None)
    with pytest.raises(PlanError, match="classic"):
        Mwem(classic=True).plan(wide, None)
    with pytest.raises(PlanError, match="bins"):
        Mwem(cells=100).plan(wide, None)
    with pytest.raises(PlanError, match="smaller degree"):
        PrivBayesPublished(degree=2).plan(wide, None)
    with pytest.raises(PlanError, match="two cells"):
        PrivBayesPublished(score="F").plan(chain(5).schema, None)
    with pytest.raises(GuaranteeRefused, match="replace_one"):
        PrivBayesPublished().plan(chain(5).schema, Allowance.of(Budget(1.0, 0.0), Unit()))


@pytest.mark.parametrize(
    ("kind", "knobs"),
    [
        (PrivBayes, {"degree": 0}), (PrivBayes, {"degree": 4}), (PrivBayes, {"cells": 1}), (PrivBayes, {"share": 0.0}),
        (PrivBayesPublished, {"degree": 9}), (PrivBayesPublished, {"theta": 0.0}), (PrivBayesPublished, {"beta": 1.0}),
        (PrivBayesPublished, {"score": "G"}), (Mwem, {"rounds": -1}), (Mwem, {"way": 4}), (Mwem, {"cells": 0}),
        (FieldGroups, {"cells": -1}), (FieldGroups, {"threshold": -1.0}),
    ],
)  # fmt: skip
def test_knobs_out_of_range(kind, knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        kind(**knobs)


def test_a_domain_read_off_the_rows_is_refused():
    table = chain(50, 3)
    seen = replace(table.schema, columns=tuple(replace(c, domain=replace(c.domain, observed=True)) for c in table.schema))
    for step in STEPS:
        with pytest.raises(GuaranteeRefused, match="observed"):
            fitted(step, Table(seen, table.arrays))


def test_small_noisy_cells_are_dropped():
    rng = np.random.default_rng(0)
    table = categories({"a": (30, np.zeros(2000)), "b": (30, rng.integers(0, 2, 2000))})
    collected = [
        (fitted(FieldGroups(groups="a,b", threshold=threshold), table)[0].sample(2000, rng)["a"] == 0).mean()
        for threshold in (4.0, 0.0)
    ]
    assert collected[0] > 0.995
    assert collected[1] < 0.985


@pytest.mark.parametrize("step", STEPS)
def test_a_seed_gives_the_same_rows(step):
    table = chain(200, 4)
    first, second = (fitted(step, table, seed=5)[0].sample(50, np.random.default_rng(1)) for _ in range(2))
    assert all((first[name] == second[name]).all() for name in table.schema.names)


@pytest.mark.parametrize("name", ["privbayes", slow("mwem"), "field-groups"])
def test_adult_keeps_how_income_hangs_on_the_rest(adult, name):
    """Of the rows with a high income, how many are married: 85 % in the table, 46 % of all rows."""
    adult = adult.take(np.random.default_rng(0).permutation(adult.rows)[:12_000])
    output = release(adult, load(name), epsilon=2.0, delta=1e-5, seed=1).table
    married = adult.schema["marital_status"].levels.index("Married-civ-spouse")

    def share(table):
        rich = table["income"] == table.schema["income"].levels.index(">50K")
        return float((table["marital_status"][rich] == married).mean())

    assert share(output) == pytest.approx(share(adult), abs=0.05)
    assert abs(output.rows - adult.rows) < 200
