"""Small weakenings of a promise that nothing else would notice: each has a test of its own."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Method, Sample
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.publish import own_domains
from hushtable.pipeline.run import release
from hushtable.privacy import accountant, criteria
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, Raw, Transform, Zcdp
from hushtable.privacy.guarantee import Assurance, Guarantee, rounded_up
from hushtable.privacy.ledger import Entry
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Scheme, Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.privacy.cases import Says, people, recipe

K1 = Promise(kind=Syntactic.K_ANONYMITY, value=2, quasi=("ill",))
BUDGET = Budget(1.0, 1e-6)


def paying(table: Table, **more) -> Vault:
    return Vault.of(table, budget=BUDGET, **more).named("x", Allowance.of(BUDGET, Unit()))


@pytest.mark.parametrize(
    "steps",
    [
        (Says(opens=(Zcdp(0.001), Transform("x")), promises=(K1,)),),
        (Bins(), Margins(), Says(opens=(Transform("x"),), back=True, promises=(K1,))),
        (Bins(edges=Edges.TREE, bins=8), Says(opens=(Transform("x"),), promises=(K1,))),
        (Bins(), Margins(), Says(opens=(Transform("sampling"),), back=True, samples=Scheme.POISSON, beta=0.5)),
    ],
    ids=["paid beside", "behind a mechanism", "after paid bins", "as a sample"],
)
def test_rows_that_were_only_transformed_are_never_proven(steps):
    with pytest.raises(GuaranteeRefused):
        release(people(), recipe(*steps), epsilon=1.0)
    released = release(people(), recipe(*steps), epsilon=1.0, unproven=True)
    assert released.guarantee.epsilon() == math.inf


def test_a_look_of_its_own_has_no_known_price_for_a_person_with_fewer_rows():
    vault = Vault.of(people(), unit=Unit(rows=3, relation=Relation.REPLACE_ONE))
    with pytest.raises(GuaranteeRefused, match="one with fewer"):
        vault.open(DiscreteGaussian(1.0, 0.0), "total")


@pytest.mark.parametrize(("count", "share"), [(1000, [1 / 4] * 4), (10, [1 / 3, 1 / 3, 1 / 3, 0])])
def test_margins_follow_from_the_noisy_counts_alone(monkeypatch, count, share):
    """An empty cell that got no noise would say that nobody is in it. A few missing values, by noisy count, are taken for noise."""
    monkeypatch.setattr(Vault, "spend", lambda vault, query, allowance: np.full(query.answer(vault._table).shape, count))
    for town in (0, -1):
        table = people().take(np.flatnonzero(people()["town"] == town))
        model = Margins().fit(paying(table.select(["town", "ill"])), np.random.default_rng(0))
        np.testing.assert_allclose(model.shares["town"], share)


def test_bin_edges_follow_from_the_noisy_counts_alone(monkeypatch):
    step = Bins(edges=Edges.TREE, bins=8)
    monkeypatch.setattr(Vault, "spend", lambda vault, query, allowance: np.arange(len(query.edges)) * 1000)
    one, two = (step.fit(paying(table), np.random.default_rng(0)).edges["age"] for table in (people(seed=1), people(50, seed=2)))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("method", [Method.RANDOM, Method.STRATIFIED, Method.POISSON])
def test_every_row_is_sampled_equally_often(method):
    """400 runs at one half: a fair pick leaves [120, 280] once in 10^13."""
    table = people(40)
    table = table.with_column(table.schema["age"], np.arange(40))
    step = Sample(beta=0.5, method=method, by=("ill",) if method is Method.STRATIFIED else ())
    counts = np.zeros(40)
    for seed in range(400):
        counts[step.fit(Vault.of(table, entropy=Entropy.seeded(seed)), np.random.default_rng(0)).table["age"]] += 1
    assert counts.min() > 120
    assert counts.max() < 280


def test_a_secret_sample_follows_the_systems_entropy_and_the_rate_exactly():
    coins = np.array([0, 0.3 * 2.0**64 - 4096, 0.3 * 2.0**64 + 4096, 2.0**64 - 4096]).astype(np.uint64)
    vault = Vault.of(people(4), entropy=Entropy(lambda count: coins[:count]))
    sampled_rows = Sample(beta=0.3).fit(vault, np.random.default_rng(0)).table
    np.testing.assert_array_equal(sampled_rows["age"], people(4)["age"][:2])


def test_every_column_of_a_joint_histogram_must_be_declared():
    table = people()
    town = table.schema["town"]
    seen = table.with_column(replace(town, domain=replace(town.domain, observed=True)), table["town"])
    with pytest.raises(GuaranteeRefused, match=r"town: observed: \[domain\]"):
        Vault.of(seen).measure(Histogram(("ill", "town")), 5.0)


def test_a_sample_of_a_sample_that_bounds_nobody_bounds_nobody():
    table = people()
    vault = Vault.of(table).sampled(table.take(np.arange(100)), 0.5, Scheme.OTHER)
    vault = vault.sampled(table.take(np.arange(50)), 0.5, Scheme.POISSON)
    vault.measure(Histogram(("ill",)), 5.0)
    assert vault.ledger.culprits


def test_a_broken_promise_in_the_middle_of_a_chain_is_refused():
    wrong = Promise(kind=Syntactic.K_ANONYMITY, value=50, quasi=("age",))
    with pytest.raises(GuaranteeRefused, match="k = 50"):
        release(people(), recipe(Says(opens=(Raw("r"),), promises=(wrong,), effect=Effect.EDIT_ROWS), Sequential()))


@pytest.mark.parametrize(
    ("kind", "value", "variant"),
    [
        (Syntactic.L_DIVERSITY, 3, "distinct"),
        (Syntactic.L_DIVERSITY, 2.5, "entropy"),
        (Syntactic.L_DIVERSITY, 2, "recursive"),
        (Syntactic.T_CLOSENESS, 0.001, "equal"),
        (Syntactic.K_MAP, 2, ""),
    ],
)
def test_l_and_t_are_measured_before_they_are_promised(kind, value, variant):
    promise = Promise(kind=kind, value=value, quasi=("town",), secret="ill", variant=variant)
    with pytest.raises(GuaranteeRefused, match=r"was promised, but the table has|cannot be measured"):
        release(people(), recipe(Says(opens=(Raw("r"),), promises=(promise,))))


@pytest.mark.parametrize(
    ("kind", "value"), [(Syntactic.K_ANONYMITY, 1), (Syntactic.K_ANONYMITY, 0.5), (Syntactic.T_CLOSENESS, 1.0)]
)
def test_what_every_table_keeps_is_no_promise(kind, value):
    promise = Promise(kind=kind, value=value, quasi=("town",), secret="ill", variant="equal")
    released = release(people(), recipe(Says(opens=(Raw("r"),), promises=(promise,))))
    assert released.guarantee.assurance is Assurance.NONE


def test_a_sample_of_one_from_each_group_promises_nothing():
    steps = (Microaggregate(k=5), Sample(beta=0.2, method=Method.STRATIFIED))
    assert release(people(), recipe(*steps)).guarantee.assurance is Assurance.NONE


def generalized(cells: tuple[Cell, ...], base: Bounds | Levels, codes: list[int]) -> Table:
    kind = Kind.INTEGER if isinstance(base, Bounds) else Kind.CATEGORY
    column = Column(name="x", kind=kind, domain=Cells(cells, base))
    return Table(Schema((column,)), {"x": np.array(codes, np.int32)})


def test_a_published_domain_tells_only_what_the_release_holds():
    spans = (Cell("[10, 20]", Interval(10, 20)), Cell("[90, 99]", Interval(90, 99)))
    numbers = own_domains(generalized(spans, Bounds(10, 99, observed=True), [0, 0])).schema["x"]
    assert (numbers.base.low, numbers.base.high) == (10, 20)
    sets = (Cell("{a, b}", frozenset("ab")), Cell("{rare}", frozenset(["rare"])))
    levels = own_domains(generalized(sets, Levels(("a", "b", "rare"), observed=True), [0, 0])).schema["x"]
    assert levels.base.levels == ("a", "b")
    assert numbers.observed
    assert levels.observed
    for column, array in (
        (Column(name="x", kind=Kind.REAL, domain=Bounds(3, 77, observed=True)), np.full(2, np.nan)),
        (Column(name="x", kind=Kind.CATEGORY, domain=Levels(("a", "rare"), observed=True)), np.zeros(2, np.int32)),
    ):
        published = own_domains(Table(Schema((column,)), {"x": array})).schema["x"]
        assert published.observed
        assert published.domain not in (Bounds(3, 77, observed=True), Levels(("a", "rare"), observed=True))


def test_what_is_said_to_be_at_most_is_rounded_up():
    assert rounded_up(1.00001, 4) == pytest.approx(1.001)
    stated = Guarantee(ledger=(Entry("x", Zcdp(0.1), "w"),), delta=1.2345649e-7)
    assert "1.24e-07" in stated.explain()
    rounded_down = 0
    for rho in np.linspace(0.05, 0.3, 12):
        stated = Guarantee(ledger=(Entry("x", Zcdp(float(rho)), "w"),), delta=1e-6)
        factor = math.exp(stated.epsilon())
        rounded_down += float(f"{factor:.3g}") < factor
        assert float(stated.explain().split("more than ")[1].split(" times")[0]) >= factor
    assert rounded_down


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
def test_a_converted_epsilon_is_not_a_hair_too_small(rho):
    assert accountant.zcdp_delta(rho, accountant.zcdp_epsilon(rho, 1e-6)) <= 1e-6


def test_the_price_of_a_choice_grows_with_the_number_of_runs():
    alphas = accountant.ALPHAS
    curve = accountant.best_of_random_curve(np.zeros(len(alphas)), 1.0, 0.5, 2.0)
    inner = float(np.min(math.log(2) / alphas))
    np.testing.assert_allclose(curve, 2 * inner + math.log(2) / (alphas - 1))


def test_a_group_of_many_exhausts_any_delta():
    assert accountant.group(accountant.Cost(epsilon=350.0, delta=1e-200), 3).delta == 1.0


@pytest.mark.parametrize(
    ("cell", "people_", "fewest"),
    [
        (Cell("(10, 20]", Interval(10, 20, True, False)), [10, 10, 15, 20], 2),
        (Cell("(-inf, 20]", Interval(-math.inf, 20)), [5, None, None], 1),
    ],
)
def test_k_map_counts_only_people_whom_a_cell_covers(cell, people_, fewest):
    missing = np.iinfo(np.int64).min
    whole = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 99))
    population = Table(Schema((whole,)), {"x": np.array([missing if v is None else v for v in people_])})
    assert criteria.k_map(generalized((cell,), Bounds(0, 99), [0]), population, ("x",)) == fewest


def test_k_map_of_a_plain_value_does_not_count_missing_people():
    whole = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 99))
    population = Table(Schema((whole,)), {"x": np.array([7, np.iinfo(np.int64).min, np.iinfo(np.int64).min])})
    assert criteria.k_map(population.take(np.arange(1)), population, ("x",)) == 1


def test_k_map_tells_an_open_end_from_a_closed_one():
    half = Cell("[0, 10)", Interval(0, 10, False, True))
    closed = Cell("[0, 10]", Interval(0, 10))
    population = generalized((closed, half), Bounds(0, 99), [0, 0, 1])
    assert criteria.k_map(generalized((half,), Bounds(0, 99), [0]), population, ("x",)) == 1


class Doubling(Bins):
    """A coder that writes every row twice, and says so."""

    def fit(self, vault, rng):
        inner = super().fit(vault, rng)
        doubled = replace(inner, stability=2)
        object.__setattr__(doubled, "apply", lambda table: _twice(inner.apply(table)))
        return doubled

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), stability=2)


def _twice(table: Table) -> Table:
    return Table.concat([table, table])


def test_a_sample_of_doubled_rows_is_no_clean_sample():
    released = release(people(), recipe(Doubling(), Sample(beta=0.2), Bins(), Margins()), epsilon=1.0, unproven=True)
    assert released.guarantee.epsilon() == math.inf


def test_the_exact_number_of_rows_does_not_reach_the_next_core():
    passing = Says(opens=(Raw("reads only the last table"),), makes=lambda table, rng: table)
    rows = {release(people(50), recipe(Bins(), Margins(), passing), epsilon=0.5).table.rows for _ in range(12)}
    assert len(rows) > 1
