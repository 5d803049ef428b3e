"""Transition: values inside their cells, what the card says after each way back, and what the raw rows may be asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.transition.transition import Density, How, Statistic, Suppressed, Transition
from hushtable.checks.fitting import BUDGET
from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic
from hushtable.privacy.query import Histogram
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.code_list import Dependency
from hushtable.table.columns import Bounds, Cells, Column, Facet, Kind, Levels, Role
from hushtable.table.determined import departs
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.oracle.test_cover import covers
from tests.random_tables import generalized, tables, undeclared
from tests.unit.privacy.cases import recipe

AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99))
TOWN = Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("north", "south", "east", "west")))
GRADE = Column(name="grade", kind=Kind.ORDINAL, role=Role.QUASI, domain=Levels(("low", "middle", "high")))
ILL = Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")), required=True)
DECADES = AGE.generalize((*(AGE.interval_cell(Interval(low, low + 9)) for low in range(0, 100, 10)), ANYTHING))
SIDES = TOWN.generalize((TOWN.set_cell(frozenset({"north", "south"})), TOWN.set_cell(frozenset({"east", "west"})), ANYTHING))
GRADES = GRADE.generalize((GRADE.set_cell(frozenset({"low", "middle", "high"})), ANYTHING))
STAR = {"age": 10, "town": 2, "grade": 1}


def people(rows: int = 400, seed: int = 0) -> Table:
    """Ages and towns that hang together, a few missing."""
    rng = np.random.default_rng(seed)
    town = rng.choice(4, rows, p=[0.5, 0.1, 0.1, 0.3]).astype(np.int32)
    arrays = {
        "age": np.clip(rng.normal(30 + 10 * town, 8), 0, 99).astype(np.int64),
        "town": np.where(rng.random(rows) < 0.05, -1, town).astype(np.int32),
        "grade": rng.integers(0, 3, rows).astype(np.int32),
        "ill": rng.integers(0, 2, rows).astype(np.int32),
    }
    return Table(Schema((AGE, TOWN, GRADE, ILL)), arrays)


def coarse(table: Table, k: int = 5) -> Table:
    """Decades and sides; classes of fewer than k rows are suppressed."""
    town = table["town"]
    generalized = table.with_columns(
        (DECADES, (table["age"] // 10).astype(np.int32)),
        (SIDES, np.where(town < 0, -1, town // 2).astype(np.int32)),
        (GRADES, np.zeros(table.rows, np.int32)),
    )
    groups, _ = generalized.groups(("age", "town", "grade"))
    small = np.bincount(groups)[groups] < k
    return generalized.with_columns(
        *((generalized.schema[n], np.where(small, STAR[n], generalized[n]).astype(np.int32)) for n in STAR)
    )


@dataclass(frozen=True, kw_only=True)
class Coarse(Core):
    """A generalizer: k-anonymous on age, town and grade."""

    k: int = 5
    """The least class."""

    def plan(self, schema, budget):
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=("age", "town", "grade"))
        generalized = schema.with_columns(DECADES, SIDES, GRADES)
        return Plan(schema=generalized, events=(Raw("reads"),), effect=Effect.EDIT_ROWS, promises=(promise,))

    def fit(self, vault, rng):
        return Anonymized(coarse(vault.open(Raw("reads"), "reads"), self.k))


@dataclass(frozen=True, kw_only=True)
class NoisyDecades(Core):
    """A differentially private generalized table: decades from noisy counts, and nothing else."""

    @property
    def spends(self):
        return True

    def plan(self, schema, budget):
        events = (budget.event(Histogram(("age",)), schema),) if budget else ()
        return Plan(schema=schema.with_columns(DECADES).select(["age"]), events=events, effect=Effect.GENERATE)

    def fit(self, vault, rng):
        counts = np.maximum(vault.spend(Histogram(("age",)), vault.paid())[:100], 0).reshape(10, 10).sum(axis=1)
        codes = np.repeat(np.arange(10), counts).astype(np.int32)
        return Anonymized(Table(Schema((DECADES,)), {"age": codes}))


RAW_WAYS = [
    *({"how": How.SINGLE, "statistic": s} for s in (Statistic.MODE, Statistic.MEDIAN, Statistic.MEAN)),
    *({"how": How.CONDITIONAL, "density": d} for d in Density),
]
PUBLIC_WAYS = [{"how": How.SINGLE}, {"how": How.SINGLE, "statistic": Statistic.LEAF}, {"how": How.UNIFORM}]


def behind(table: Table, raw: Table) -> Vault:
    """A generalized table in its vault, with the raw rows behind it."""
    return Vault.of(raw).released(table, Taint.KANON)


def ordinary(step: Transition, table: Table, raw: Table | None = None, seed: int = 0) -> Table:
    vault = Vault.of(table) if raw is None else behind(table, raw)
    return step.fit(vault, np.random.default_rng(seed)).table


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Table, Table]:
    raw = draw(tables())
    return draw(generalized(raw)), raw


@settings(max_examples=15)
@pytest.mark.parametrize("way", [*PUBLIC_WAYS, *RAW_WAYS], ids=str)
@given(pair=pairs())
def test_every_value_lies_under_its_cell_and_missing_stays_missing(way, pair):
    released, raw = pair
    step = Transition(**way, suppressed=Suppressed.DRAW)
    out = ordinary(step, released, raw)
    assert [(c.name, c.kind, c.generalized) for c in out.schema] == [(c.name, c.kind, False) for c in raw.schema]
    for name in released.schema.names:
        ours, theirs = released.schema[name], out.schema[name]
        if not ours.generalized:
            np.testing.assert_array_equal(out.strings(name), released.strings(name))
            continue
        result = isinstance(theirs.domain, Bounds) or set(theirs.levels) <= set(raw.schema[name].levels)
        for code, value, text in zip(released[name], out[name], out.strings(name), strict=True):
            if result:
                value = raw.schema[name].levels.index(text) if theirs.coded and text is not None else value
                assert covers(ours, code, raw.schema[name], value)
        if way["how"] is How.SINGLE:
            for code in np.unique(released[name]):
                assert len(set(out.strings(name)[released[name] == code])) == 1


def test_single_takes_the_middle_or_the_first():
    table = coarse(people())
    middle, leaf = (ordinary(Transition(how=How.SINGLE, statistic=s), table) for s in (Statistic.MIDDLE, Statistic.LEAF))
    remaining = table.take(table["age"] != STAR["age"])
    np.testing.assert_array_equal(middle["age"], remaining["age"] * 10 + 5)
    np.testing.assert_array_equal(leaf["age"], remaining["age"] * 10)
    assert set(middle.strings("town")) - {None} == set(leaf.strings("town")) - {None} == {"north", "east"}
    assert set(middle.strings("grade")) == {"middle"}
    assert set(leaf.strings("grade")) == {"low"}


@pytest.mark.parametrize("statistic", [Statistic.MODE, Statistic.MEDIAN, Statistic.MEAN])
def test_raw_statistics_are_those_of_all_rows_under_the_cell(statistic):
    raw = people()
    table = coarse(raw)
    out = ordinary(Transition(how=How.SINGLE, statistic=statistic), table, raw)
    remaining = table.take(table["age"] != STAR["age"])
    for decade in np.unique(remaining["age"]):
        under = np.sort(raw["age"][raw["age"] // 10 == decade])
        wanted = {
            "mode": np.bincount(under).argmax(), "median": under[(len(under) - 1) // 2], "mean": round(under.mean()),
        }[statistic]  # fmt: skip
        assert set(out["age"][remaining["age"] == decade]) == {wanted}
    assert set(out.strings("town")) - {None} == {"north", "west"}


def test_suppressed_rows_are_left_out_or_made_up():
    table = coarse(people(), k=12)
    gone = int((table["age"] == STAR["age"]).sum())
    assert gone
    model = Transition().fit(Vault.of(table), np.random.default_rng(0))
    assert model.table.rows == table.rows - gone
    assert model.result()["left_out"] == gone
    assert ordinary(Transition(suppressed=Suppressed.DRAW), table).rows == table.rows
    # Where nobody has more to show than stars, the stars are what there is.
    assert ordinary(Transition(), table.take(table["age"] == STAR["age"])).rows == gone


def test_multivariate_keeps_what_hangs_together_and_the_others_lose_it():
    rng = np.random.default_rng(1)
    south = rng.integers(0, 2, 1000)
    raw = people(1000).with_columns((AGE, 20 + 5 * south + rng.integers(0, 5, 1000)), (TOWN, south.astype(np.int32)))

    def link(**way: object) -> float:
        out = ordinary(Transition(**way), coarse(raw), raw)
        return float(np.corrcoef(out["age"], out["town"])[0, 1])

    assert link(how=How.CONDITIONAL, density=Density.MULTIVARIATE) == pytest.approx(
        np.corrcoef(raw["age"], raw["town"])[0, 1], abs=0.05
    )
    assert abs(link(how=How.CONDITIONAL)) < 0.1
    assert abs(link()) < 0.1


def test_multivariate_takes_all_values_of_a_row_from_one_raw_row():
    raw = people(300)
    table = coarse(raw)
    out = ordinary(Transition(how=How.CONDITIONAL, density=Density.MULTIVARIATE), table, raw)
    real = set(zip(raw["age"], raw["town"], raw["grade"], strict=True))
    assert set(zip(out["age"], out["town"], out["grade"], strict=True)) <= real
    apart = ordinary(Transition(how=How.CONDITIONAL), table, raw)
    assert not set(zip(apart["age"], apart["town"], apart["grade"], strict=True)) <= real


def test_kde_says_values_that_no_row_has():
    age = replace(AGE, kind=Kind.REAL, domain=Bounds(0.0, 99.0))
    raw = Table(Schema((age,)), {"age": np.repeat([20.0, 24.0, 28.0], 20)})
    wide = age.generalize((age.interval_cell(Interval(20.0, 29.0)),))
    table = Table(Schema((wide,)), {"age": np.zeros(60, np.int32)})
    plain, smooth = (
        ordinary(Transition(how=How.CONDITIONAL, density=d), table, raw)["age"] for d in (Density.HISTOGRAM, Density.KDE)
    )
    assert set(plain) == {20.0, 24.0, 28.0}
    assert len(set(smooth)) == 60
    assert smooth.min() >= 20
    assert smooth.max() <= 29


@pytest.mark.parametrize("how", [How.SINGLE, How.UNIFORM])
def test_an_observed_domain_does_not_come_back_through_a_star(how):
    # One person is 99. The decades of the others are released, hers is suppressed: nothing above 49 may be printed.
    seen = undeclared(AGE)
    cells = (*(seen.interval_cell(Interval(low, low + 9)) for low in (20, 30, 40)), ANYTHING)
    column = seen.generalize(cells)
    table = Table(Schema((column, ILL)), {"age": np.array([0, 1, 2, 3] * 200, np.int32), "ill": np.zeros(800, np.int32)})
    out = ordinary(Transition(how=how, suppressed=Suppressed.DRAW), table)
    assert out["age"].min() >= 20
    assert out["age"].max() <= 49
    assert out.schema["age"].observed
    declared = replace(column, domain=Cells(cells, AGE.domain))
    table = Table(Schema((declared, ILL)), dict(table.arrays))
    assert ordinary(Transition(suppressed=Suppressed.DRAW), table)["age"].max() > 90


def test_a_column_of_which_nothing_is_public_comes_back_missing():
    column = undeclared(replace(AGE, required=True)).generalize((ANYTHING,))
    table = Table(Schema((column, SIDES)), {"age": np.zeros(8, np.int32), "town": np.zeros(8, np.int32)})
    out = ordinary(Transition(), table)
    assert out.missing("age").all()
    assert not out.missing("town").any()


def test_dates_without_a_day_come_back_evenly_over_their_months():
    month = Column(name="m", kind=Kind.DATE, role=Role.QUASI, domain=Bounds(0, 86_400 * 20_000), format="%Y-%m")
    ends = [month.number(text) for text in ("1990-03", "1990-06")]
    column = month.generalize((month.interval_cell(Interval(*ends)),))
    out = ordinary(Transition(), Table(Schema((column,)), {"m": np.zeros(4000, np.int32)}))
    months, counts = np.unique(out.strings("m").astype(str), return_counts=True)
    assert months.tolist() == ["1990-03", "1990-04", "1990-05", "1990-06"]
    assert counts.min() > 850


def test_rows_that_no_raw_row_explains_fall_back_to_the_cell_and_then_to_the_domain():
    raw = people(200).take(np.arange(200)).with_column(AGE, np.full(200, 25))
    raw = raw.with_column(TOWN, np.zeros(200, np.int32))
    codes = {"age": np.array([2, 2, 7]), "town": np.array([0, 1, 1]), "grade": np.zeros(3), "ill": np.zeros(3)}
    table = Table(Schema((DECADES, SIDES, GRADES, ILL)), {n: a.astype(np.int32) for n, a in codes.items()})
    for density in Density:
        out = ordinary(Transition(how=How.CONDITIONAL, density=density), table, raw, seed=3)
        assert out["age"][0] == out["age"][1] == 25  # the second row's town fits nobody, but its decade does
        assert 70 <= out["age"][2] <= 79
        assert out["town"][0] == 0
        assert set(out["town"][1:]) <= {2, 3}


EXPECTED = [
    ({"how": How.SINGLE}, [(5, Form.SYNTACTIC)], Assurance.VERIFIED),
    ({"how": How.SINGLE, "statistic": Statistic.LEAF}, [(5, Form.SYNTACTIC)], Assurance.VERIFIED),
    ({"how": How.UNIFORM}, [(5, Form.DERIVED)], Assurance.VERIFIED),
    *((way, [], Assurance.NONE) for way in RAW_WAYS),
]


@pytest.mark.parametrize(("way", "promises", "assurance"), EXPECTED, ids=[str(way) for way, _, _ in EXPECTED])
def test_the_card_says_what_is_left(way, promises, assurance):
    guarantee = release(people(), recipe(Coarse(), Transition(**way)), seed=1).guarantee
    assert [(p.value, p.form) for p in guarantee.promises] == promises
    assert guarantee.assurance is assurance
    behind = [e for e in guarantee.culprits if e.step == "transition"]
    assert bool(behind) == (not promises)
    if way["how"] is How.SINGLE:
        assert guarantee.criteria["k"] >= 5  # by count it holds even where the raw rows were read; it is then no promise


def test_stars_that_are_fewer_than_k_break_the_promise_before_anything_is_brought_back():
    """Whoever is missed in every other class is one of the two."""
    few = people(22).with_columns((AGE, np.array([50] * 20 + [90, 10])), (TOWN, np.full(22, 3, np.int32)))
    with pytest.raises(GuaranteeRefused, match="was promised, but the table has 2"):
        release(few, recipe(Coarse(), Transition(how=How.SINGLE)), seed=1)


@pytest.mark.parametrize("how", [How.SINGLE, How.UNIFORM])
def test_before_and_after_a_synthesizer(how):
    first = release(people(), recipe(Coarse(), Transition(how=how), Sequential()), seed=1)
    last = release(people(), recipe(Coarse(), Sequential(), Transition(how=how)), seed=1)
    for released in (first, last):
        assert [(p.value, p.form) for p in released.guarantee.promises] == [(5, Form.DERIVED)]
        assert not any(column.generalized for column in released.table.schema)


@pytest.mark.parametrize(
    "steps", [(Transition(how=How.CONDITIONAL), Sequential()), (Sequential(), Transition(how=How.CONDITIONAL))]
)
def test_conditional_loses_every_promise_on_either_side_of_a_synthesizer(steps):
    guarantee = release(people(), recipe(Coarse(), *steps), seed=1).guarantee
    assert guarantee.promises == ()
    assert guarantee.assurance is Assurance.NONE


def test_uniform_on_a_private_table_stays_private_at_no_cost():
    released = release(people(), recipe(NoisyDecades(), Transition()), epsilon=1.0)
    assert released.guarantee.assurance is Assurance.PROVEN
    assert released.guarantee.epsilon() <= 1.0
    assert set(released.table["age"] // 10) <= set(range(10))


def test_noisy_leaves_on_a_private_table_are_paid_for():
    released = release(people(3000), recipe(NoisyDecades(), Transition(how=How.NOISY)), epsilon=4.0)
    guarantee = released.guarantee
    assert guarantee.assurance is Assurance.PROVEN
    assert guarantee.epsilon() <= 4.0
    paid = [e.step for e in guarantee.ledger if e.event.cost().rho > 0]
    assert len(paid) == 2
    assert any("transition" in step for step in paid)
    alone = release(people(3000), recipe(NoisyDecades(), Transition()), epsilon=4.0).guarantee
    assert guarantee.epsilon() > 0.5 * alone.epsilon()
    assert not any(e.step == "transition" for e in guarantee.culprits)


def test_noisy_leaves_cannot_make_a_k_anonymous_table_private():
    with pytest.raises(GuaranteeRefused, match="infinite"):
        release(people(), recipe(Coarse(), Transition(how=How.NOISY)), epsilon=1.0)
    guarantee = release(people(), recipe(Coarse(), Transition(how=How.NOISY)), epsilon=1.0, unproven=True).guarantee
    assert guarantee.assurance is Assurance.NONE
    assert guarantee.promises == ()


def test_conditional_on_a_private_table_is_refused_when_epsilon_was_asked_for():
    with pytest.raises(GuaranteeRefused, match="transition"):
        release(people(), recipe(NoisyDecades(), Transition(how=How.CONDITIONAL)), epsilon=1.0)


def test_noisy_leaves_refuse_a_domain_that_was_read_off_the_rows_and_an_overdraft():
    raw = people().select(["age"])
    seen = Table(Schema((undeclared(AGE),)), dict(raw.arrays))
    table = Table(Schema((undeclared(AGE).generalize(DECADES.domain.cells),)), {"age": (raw["age"] // 10).astype(np.int32)})
    step = Transition(how=How.NOISY)
    vault = Vault.of(seen, budget=BUDGET).released(table, Taint.DP).named("t", Allowance.of(BUDGET, Unit()))
    with pytest.raises(GuaranteeRefused, match="age"):
        step.fit(vault, np.random.default_rng(0))
    table = Table(Schema((DECADES,)), {"age": (raw["age"] // 10).astype(np.int32)})
    vault = Vault.of(raw, budget=BUDGET).released(table, Taint.DP).named("t", Allowance.of(replace(BUDGET, epsilon=9.0), Unit()))
    with pytest.raises(BudgetExceeded, match="No row was read"):
        step.fit(vault, np.random.default_rng(0))


def test_what_cannot_be_brought_back_is_refused_by_name():
    schema = coarse(people()).schema
    with pytest.raises(PlanError, match="nowhere"):
        Transition(columns=("nowhere",)).plan(schema, None)
    bare = Schema((replace(AGE, domain=Cells((ANYTHING,), None)),))
    with pytest.raises(PlanError, match="age"):
        Transition().plan(bare, None)
    with pytest.raises(InputError, match="no raw rows behind"):
        ordinary(Transition(how=How.CONDITIONAL), coarse(people()))
    other = Table(Schema((replace(TOWN, domain=Levels(("a", "b"))),)), {"town": np.zeros(3, np.int32)})
    with pytest.raises(InputError, match="column age"):
        ordinary(Transition(how=How.CONDITIONAL), coarse(people()), other)


@pytest.mark.parametrize("wrong", [{"leaves": 1}, {"share": 0.0}, {"statistic": Statistic.MODE}, {"density": Density.KDE}], ids=str)
def test_knobs_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="Transition"):
        Transition(**wrong)


def test_columns_that_are_not_generalized_pass(small):
    for step in (Transition(), Transition(columns=("age",)), Transition(how=How.CONDITIONAL)):
        model = step.fit(Vault.of(small), np.random.default_rng(0))
        assert model.result()["columns"] == []
        assert all(np.array_equal(model.table[n], small[n], equal_nan=small[n].dtype.kind == "f") for n in small.schema.names)
    table = coarse(people())
    out = ordinary(Transition(columns=("age", "ill")), table)
    assert [c.name for c in out.schema if c.generalized] == ["town", "grade"]


@pytest.mark.parametrize("way", [*PUBLIC_WAYS, *RAW_WAYS], ids=str)
def test_a_table_without_rows_stays_one(way):
    assert ordinary(Transition(**way), coarse(people()).take(np.arange(0)), people()).rows == 0


def test_what_a_public_code_list_derives_follows_the_values_that_came_back():
    codes = tuple((level, f"{i}") for i, level in enumerate(("north", "south", "east", "west")))
    number = Column(name="number", kind=Kind.INTEGER, domain=Bounds(0, 3), determined_by=Dependency("town", codes))
    raw = people()
    held = raw.with_column(number, np.where(raw["town"] < 0, -(2**63), raw["town"]).astype(np.int64))
    table = coarse(held)
    for how in (How.SINGLE, How.UNIFORM, How.CONDITIONAL):
        back = ordinary(Transition(how=how), table, held, seed=3)
        assert not departs(back)["number"].any()
    secret = table.under(table.schema.with_columns(replace(number, role=Role.SECRET)))
    assert departs(ordinary(Transition(how=How.UNIFORM), secret, held, seed=3))["number"].any()
    drafted = table.under(table.schema.with_columns(number.marked(frozenset({Facet.DETERMINED}))))
    assert departs(ordinary(Transition(how=How.UNIFORM), drafted, held, seed=3))["number"].any()
