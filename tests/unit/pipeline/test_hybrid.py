"""Hybrids: what survives of every combination of parts, names and texts, and every fault of the parts at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.hybrid import ANONYMIZERS, Hybrid, Order, generators
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Effect, Form, Syntactic
from hushtable.privacy.unit import Budget, Unit
from tests.unit.anonymize.test_transition import people

K, BETA = 10, 0.5
TABLE = people(700)
RAW = {"conditional", "conditional kde", "conditional multivariate", "single mode", "single median", "single mean"}
PUBLIC = {"none", "single", "single leaf", "uniform"}
WAYS = sorted({*RAW, *PUBLIC, "noisy"})
SAMPLINGS = ("none", "poisson", "random", "stratified")


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Core):
    """A generator that takes no time: rows drawn with replacement from what it is given."""

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(Raw("learns the rows"),), effect=Effect.GENERATE)

    def fit(self, vault, rng):
        table = vault.open(Raw("learns the rows"), "learns the rows")
        return Anonymized(table.take(rng.integers(0, table.rows, table.rows)))


QUICK = Recipe(recipe="bootstrap", steps=(Bootstrap(),))


def hybrid(way: str, **parts: object) -> Hybrid:
    """The hybrid of a way back such as ``conditional kde``."""
    how, _, more = way.partition(" ")
    knob = {"single": "statistic", "conditional": "density"}.get(how, "density")
    return Hybrid(**{"generator": QUICK, "k": K, "beta": BETA, "transition": how, knob: more, **parts})


def run(made: Hybrid, **more: object):
    spends = any(step.spends for step in made.recipe.steps)
    budget = {"epsilon": 3.0, "unproven": True} if spends else {"seed": 1}
    return release(TABLE, made.recipe, **budget, **more)


def expected(anonymizer: str, sampling: str, way: str) -> tuple[Assurance, list[tuple[Syntactic, float, Form]]]:
    """What is left, by hand: k of the table in between, k-map of a sample, ceil(beta k) of strata, nothing of raw rows."""
    private = anonymizer == "safe-k"
    if way in RAW:
        return Assurance.NONE, []
    if way == "noisy":
        # Noisy counts of the raw rows are paid for, and no function of the k-anonymous table.
        return (Assurance.PROVEN if private else Assurance.NONE), []
    kind, value = Syntactic.K_ANONYMITY, K
    if sampling == "stratified" and not private:
        value = 5
    elif sampling != "none":
        # The cells of safe-k are over all columns, and strata of quasi-identifiers mix them.
        kind = Syntactic.K_MAP
    return (Assurance.PROVEN if private else Assurance.VERIFIED), [(kind, value, Form.DERIVED)]


@pytest.mark.parametrize("anonymizer", ["k-anonymity", "mondrian", "local-suppression", "mdav", "safe-k"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_what_survives_of_every_combination(anonymizer, sampling):
    ways = WAYS if ANONYMIZERS[anonymizer].generalizes else ["none"]
    for way, order in product(ways, Order):
        made = hybrid(way, anonymizer=anonymizer, sampling=sampling, order=order)
        guarantee = run(made).guarantee
        left = [(promise.kind, promise.value, promise.form) for promise in guarantee.promises]
        assert (guarantee.assurance, left) == expected(anonymizer, sampling, way), (way, order)
        assert guarantee.assurance is made.recipe.assurance, (way, order)
        assert made.recipe.guarantee.startswith("none") == (guarantee.assurance is Assurance.NONE)
        if guarantee.assurance is Assurance.PROVEN:
            assert 0 < guarantee.epsilon() <= 3.0


@pytest.mark.parametrize("order", Order)
def test_epsilon_is_refused_where_a_transition_reads_raw_rows_behind_a_private_table(order):
    release(TABLE, hybrid("uniform", anonymizer="safe-k", order=order).recipe, epsilon=3.0)
    with pytest.raises(GuaranteeRefused, match="infinite"):
        release(TABLE, hybrid("conditional", anonymizer="safe-k", order=order).recipe, epsilon=3.0)


def test_l_and_t_are_asked_of_the_anonymizer_and_derived_without_a_sample():
    made = hybrid("uniform", sampling="none", l=2, t=0.6)
    kinds = {promise.kind: (promise.value, promise.form) for promise in run(made).guarantee.promises}
    assert kinds[Syntactic.L_DIVERSITY] == (2, Form.DERIVED)
    assert kinds[Syntactic.T_CLOSENESS] == (0.6, Form.DERIVED)
    sampled = run(hybrid("uniform", l=2, t=0.6)).guarantee.promises
    assert [promise.kind for promise in sampled] == [Syntactic.K_ANONYMITY]


@pytest.mark.parametrize("name", generators())
def test_every_generator_has_two_names_that_load_and_are_written_and_read_back(name):
    for order in Order:
        recipe = recipes.load(f"hybrid-{order}-{name}")
        assert recipe.recipe == f"hybrid-{order}-{name}"
        assert Recipe.parse(recipe.dump()) == recipe
        assert recipe.set({"k": "20", "sample.beta": "0.2", "how": "single"}).steps[0].k == 20
        names, core = [step_name(step) for step in recipe.steps], step_name(recipes.load(name).steps[-1])
        assert names[:2] == ["generalize", "sample"]
        assert (names.index("transition") < names.index(core)) == (order is Order.PRE)


def test_a_name_may_say_the_anonymizer():
    assert Hybrid.named("hybrid-post-mondrian-argn").anonymizer == "mondrian"
    assert [step_name(s) for s in recipes.load("hybrid-pre-mdav-sequential").steps] == ["microaggregate", "sample", "sequential"]
    assert [step_name(s) for s in recipes.load("hybrid-pre-safe-k-aim").steps] == ["safe", "transition", "bins", "aim"]
    for anonymizer in ANONYMIZERS:
        made = Hybrid(generator="argn", anonymizer=anonymizer)
        assert Hybrid.named(made.name).recipe == made.recipe


def test_what_is_equal_is_one_hybrid():
    assert Hybrid(generator="argn", beta=1.0) == Hybrid(generator="argn", sampling="none")
    assert Hybrid(generator="argn", transition="none", order="post") == Hybrid(generator="argn", transition="none")
    assert Hybrid(generator="argn", anonymizer="mdav", order="post") == Hybrid(generator="argn", anonymizer="mdav")


def test_all_faults_of_the_parts_are_listed_at_once():
    with pytest.raises(InputError) as error:
        Hybrid(generator="agn", beta=0, k=1, transition="evenly", order="between")
    faults = {fault.where: fault.reason for fault in error.value.faults}
    assert set(faults) == {"order", "generator", "Sample.beta", "Transition.how", "knob k"}
    assert "did you mean 'argn'" in faults["generator"]
    with pytest.raises(InputError) as error:
        Hybrid(generator="mdav", anonymizer="mdav", transition="uniform")
    faults = {fault.where: fault.reason for fault in error.value.faults}
    assert "anonymizes or masks rows" in faults["generator"]
    assert "nothing to bring back" in faults["transition"]


@pytest.mark.parametrize("name", ["hybrid-pre-", "hybrid-pre-agn", "hybrid-post-mondrian-", "hybrid-post-mdav", "hybrid-argn"])
def test_a_name_without_a_generator_is_refused(name):
    with pytest.raises(InputError, match=r"no generator|no recipe"):
        recipes.load(name)


def test_a_recipe_of_several_cores_is_no_generator():
    with pytest.raises(InputError, match="more than one core"):
        Hybrid(generator=recipes.load("kctgan"))


def test_a_noisy_generator_proves_nothing_on_a_table_that_is_not_private():
    recipe = recipes.load("hybrid-pre-mst")
    with pytest.raises(GuaranteeRefused, match="generalize"):
        release(TABLE, recipe, epsilon=1.0)
    guarantee = release(TABLE, recipe, epsilon=1.0, unproven=True).guarantee
    assert guarantee.assurance is Assurance.VERIFIED
    assert [promise.form for promise in guarantee.promises] == [Form.DERIVED]


CHEAP = ("sequential", "aim", "mst", "independent", "gaussian-copula", "privbayes", "field-groups")


@pytest.mark.parametrize("name", CHEAP)
def test_generators_learn_generalized_columns_as_levels(name):
    _post(name)


@pytest.mark.neural
@pytest.mark.parametrize("name", ["argn", "vae", "tvae", "gan", "ctgan", "argn-private"])
def test_networks_learn_generalized_columns_as_levels(name):
    pytest.importorskip("torch")
    _post(name)


def _post(name: str) -> None:
    made = Hybrid(generator=name, order="post", beta=1.0).recipe.quick()
    seen = plan(made, TABLE.schema, budget=Budget(3.0, 1e-6) if _spends(made) else None).steps[-2].schema
    assert {column.name for column in seen if column.generalized} == {"age", "town", "grade"}
    more = {"epsilon": 3.0, "unproven": True} if _spends(made) else {"seed": 1}
    released = release(TABLE, made, unit=Unit(relation=made.relation), **more)
    assert [(p.value, p.form) for p in released.guarantee.promises] == [(K, Form.DERIVED)]
    assert not any(column.generalized for column in released.table.schema)
    assert len(np.unique(released.table["age"])) > 5


def _spends(made: Recipe) -> bool:
    return any(step.spends for step in made.steps)


def test_a_number_of_rows_is_asked_of_the_generator_in_both_orders():
    for order in Order:
        assert release(TABLE, Hybrid(generator="sequential", order=order).recipe, rows=40, seed=1).table.rows == 40


def test_rows_that_a_model_drew_are_judged_as_drawn_whatever_comes_after_it():
    released = release(TABLE, Hybrid(generator="sequential", order="post").recipe, seed=1)
    assert released.copies is not None
    assert released.copies.generated
    assert released.copies.chance > 0
    assert not released.untouched
