"""What is left of k, l and t after a step: the table of preservation rules, and for what is lost a table that shows it.

Each rule that takes something away is held against a real small table; the rule that would keep it is contradicted there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.privacy import criteria
from hushtable.privacy.criteria import Classes
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic, preserve, unmet
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping

QUASI = ("age", "town")
K = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=QUASI)
DERIVED = replace(K, form=Form.DERIVED)
MAP = replace(DERIVED, kind=Syntactic.K_MAP)
L = {
    v: Promise(kind=Syntactic.L_DIVERSITY, value=2, quasi=QUASI, secret="ill", variant=v)
    for v in ("distinct", "entropy", "recursive")
}
T = Promise(kind=Syntactic.T_CLOSENESS, value=0.2, quasi=QUASI, secret="ill", variant="equal")
KEEPS = "keeps"


def of(promise: Promise, **changed) -> Promise:
    return replace(promise, **changed)


# effect: what is left of syntactic k = 5 (beta = 0.5), of derived k, of distinct l, entropy l, recursive l, of t
TABLE = {
    Effect.NOTHING: (K, DERIVED, KEEPS, KEEPS, KEEPS, KEEPS),
    Effect.MERGE: (K, DERIVED, KEEPS, KEEPS, None, KEEPS),
    Effect.SUPPRESS_CLASSES: (K, DERIVED, KEEPS, KEEPS, KEEPS, None),
    Effect.EDIT_ROWS: (DERIVED, DERIVED, None, None, None, None),
    Effect.SAMPLE: (MAP, DERIVED, None, None, None, None),
    Effect.SAMPLE_CLASSES: (of(K, value=3), DERIVED, None, None, None, None),
    Effect.SAMPLE_AND_DROP: (K, DERIVED, None, None, None, None),
    Effect.SINGLE_PUBLIC: (K, DERIVED, KEEPS, KEEPS, KEEPS, KEEPS),
    Effect.SINGLE_RAW: (K, None, None, None, None, None),
    Effect.UNIFORM: (DERIVED, DERIVED, "derived", "derived", "derived", "derived"),
    Effect.CONDITIONAL: (None, None, None, None, None, None),
    Effect.NOISE_PER_CLASS: (K, DERIVED, None, None, None, None),
    Effect.NOISE_PER_ROW: (DERIVED, DERIVED, None, None, None, None),
    Effect.GENERATE: (DERIVED, DERIVED, "derived", "derived", "derived", "derived"),
    Effect.JOIN: (None, None, None, None, None, None),
    Effect.COLUMN_GROUPS: (None, None, None, None, None, None),
    Effect.READ_RAW: (None, None, None, None, None, None),
}


def left(promise: Promise, expected: Promise | str | None) -> Promise | None:
    if isinstance(expected, str):
        return promise if expected == KEEPS else replace(promise, form=Form.DERIVED)
    return expected


@pytest.mark.parametrize("effect", list(Effect), ids=lambda e: e.name)
def test_every_step_leaves_what_the_table_says(effect):
    promises = (K, DERIVED, L["distinct"], L["entropy"], L["recursive"], T)
    for promise, expected in zip(promises, TABLE[effect], strict=True):
        assert preserve(promise, effect, 0.5) == left(promise, expected), promise


def test_a_share_of_one_is_no_sampling_and_shares_round_up():
    assert preserve(K, Effect.SAMPLE, 1.0) == K
    assert [preserve(of(K, value=k), Effect.SAMPLE_CLASSES, b).value for k, b in ((10, 0.3), (10, 0.31), (3, 0.01))] == [3, 4, 1]
    assert preserve(MAP, Effect.GENERATE) == MAP


AGE = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99))
TOWN = Column(name="town", kind=Kind.CATEGORY, domain=Levels(("a", "b")))
ILL = Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes", "more")))


def grouped(ages: list[int], ill: list[int], towns: list[int] | None = None) -> Table:
    """People in classes by their age (and town)."""
    towns = [0] * len(ages) if towns is None else towns
    codes = {"town": np.array(towns, np.int32), "ill": np.array(ill, np.int32)}
    return Table(Schema((AGE, TOWN, ILL)), {"age": np.array(ages), **codes})


FIVES = grouped([20] * 5 + [40] * 5 + [60] * 5, [0, 1, 0, 1, 0] * 3)


def k_of(table: Table, quasi: tuple[str, ...] = QUASI) -> int:
    return criteria.k_anonymity(Classes(table, quasi))


def sampled_sizes(beta: float, k: int, runs: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random((runs, k)) < beta).sum(1)


def poisson(table: Table, rng: np.random.Generator, beta: float = 0.5) -> Table:
    return table.take(rng.random(table.rows) < beta)


def edit_one(table: Table, rng: np.random.Generator) -> Table:
    age = table["age"].copy()
    age[0] = 21
    return table.with_column(AGE, age)


def uniform(table: Table, rng: np.random.Generator) -> Table:
    return table.with_column(AGE, table["age"] // 20 * 20 + rng.integers(0, 20, table.rows))


def noise_per_row(table: Table, rng: np.random.Generator) -> Table:
    return table.with_column(AGE, table["age"] + rng.integers(-3, 4, table.rows))


def conditional(table: Table, rng: np.random.Generator) -> Table:
    """The raw values of the class, which the generalized table no longer shows."""
    raw = np.tile([21, 21, 23, 28, 22], 3) + np.repeat([0, 20, 40], 5)
    return table.with_column(AGE, raw)


def drawn_like_a_generator(table: Table, rng: np.random.Generator) -> Table:
    return table.take(rng.integers(0, table.rows, 4))


def add_a_quasi_identifier(table: Table, rng: np.random.Generator) -> Table:
    return table.with_column(TOWN, np.arange(table.rows, dtype=np.int32) % 2)


def halves(table: Table, rng: np.random.Generator) -> Table:
    """Ceil(beta n) of every class."""
    selected = np.concatenate([np.flatnonzero(table["age"] == age)[:3] for age in (20, 40, 60)])
    return table.take(selected)


LOST = {
    Effect.EDIT_ROWS: edit_one,
    Effect.SAMPLE: poisson,
    Effect.SAMPLE_CLASSES: halves,
    Effect.UNIFORM: uniform,
    Effect.NOISE_PER_ROW: noise_per_row,
    Effect.CONDITIONAL: conditional,
    Effect.GENERATE: drawn_like_a_generator,
    Effect.JOIN: add_a_quasi_identifier,
}


def keeps_all(promise: Promise, effect: Effect, beta: float = 1.0) -> Promise:
    """The broken twin: nothing is ever lost."""
    return promise


@pytest.mark.parametrize("effect", LOST, ids=lambda e: e.name)
def test_a_rule_that_kept_k_would_be_contradicted_by_a_table(effect):
    assert k_of(FIVES) == 5
    after = k_of(LOST[effect](FIVES, np.random.default_rng(1)))
    ours, twin = (rule(K, effect, 0.5) for rule in (preserve, keeps_all))
    assert ours is None or ours.form is Form.DERIVED or ours.value <= after
    assert twin.form is Form.SYNTACTIC
    assert after < twin.value


@pytest.mark.parametrize(("k", "beta"), [(5, 0.1), (5, 0.5), (10, 0.5)])
def test_classes_after_poisson_sampling_are_broken_as_often_as_computed(k, beta):
    """P(0 < size < k) = 1 - (1 - beta)^k - beta^k; 40,000 seeded draws, bounds of six standard errors."""
    sizes = sampled_sizes(beta, k, 40_000, seed=k)
    expected = 1 - (1 - beta) ** k - beta**k
    share = float(((sizes > 0) & (sizes < k)).mean())
    error = 6 * np.sqrt(expected * (1 - expected) / 40_000)
    assert abs(share - expected) < max(error, 1e-3)
    assert share > 0.4  # so a rule that kept k would be wrong about every other class
    assert preserve(of(K, value=k), Effect.SAMPLE, beta).kind is Syntactic.K_MAP


def test_after_sampling_the_unsampled_table_still_has_k_of_each():
    sample = poisson(FIVES, np.random.default_rng(1), 0.3)
    assert k_of(sample) < 5
    assert criteria.k_map(sample, FIVES, QUASI) == 5


def test_what_keeps_k_keeps_it_on_tables_too():
    table = grouped([20] * 5 + [40] * 7 + [60] * 6, [0, 1, 0, 1, 0] * 3 + [0, 1, 0])
    merged = table.with_column(AGE, np.where(table["age"] > 30, 50, 20))
    dropped = table.take(table["age"] != 40)
    noisy = table.with_column(AGE, table["age"] + np.array([1, -2, 3])[np.searchsorted([20, 40, 60], table["age"])])
    sampled = poisson(table, np.random.default_rng(0), 0.9)
    sizes = dict(zip(*np.unique(sampled["age"], return_counts=True), strict=True))
    cleaned = sampled.take(np.array([sizes[age] >= 5 for age in sampled["age"]]))
    for after in (merged, dropped, noisy, cleaned):
        assert after.rows > 0
        assert k_of(after) >= 5


def test_a_mode_of_the_raw_rows_keeps_the_count_and_tells_who_was_there():
    """Classes stay as large, but the printed value changes with one raw row: not a function of the k-anonymous table."""
    classes = np.repeat([0, 1], 5)
    printed = []
    for last in (22, 28):
        raw = np.array([28, 28, 22, 22, last, 41, 42, 43, 44, 45])
        modes = np.array([np.bincount(raw[classes == c]).argmax() for c in (0, 1)])
        table = grouped(modes[classes].tolist(), [0] * 10)
        assert k_of(table) >= 5
        printed.append(table["age"].tolist())
    assert printed[0] != printed[1]
    assert preserve(DERIVED, Effect.SINGLE_RAW) is None
    assert preserve(K, Effect.SINGLE_RAW) == K


def test_column_groups_treated_apart_promise_nothing_of_them_together():
    ages, towns = [20] * 5 + [40] * 5, [0, 1] * 5
    table = grouped(ages, [0] * 10, towns)
    assert k_of(table, ("age",)) == 5
    assert k_of(table, ("town",)) == 5
    assert k_of(table) == 2
    assert preserve(K, Effect.COLUMN_GROUPS) is None


def test_two_anonymizations_of_one_table_single_people_out():
    """Ganta et al.: each release has k = 2, and their classes meet in one person."""
    one, two = {"ann": 0, "bob": 0, "cid": 1, "dan": 1}, {"ann": 0, "cid": 0, "bob": 1, "dan": 1}
    assert [name for name in one if one[name] == one["ann"] and two[name] == two["ann"]] == ["ann"]
    assert preserve(K, Effect.JOIN) is None
    assert preserve(DERIVED, Effect.JOIN) is None


def l_of(table: Table, rule) -> float:
    return rule(Classes(table, QUASI), "ill")


def test_merging_keeps_distinct_and_entropy_l_and_t_on_random_tables():
    rng = np.random.default_rng(0)
    for _ in range(200):
        table = grouped(rng.integers(0, 6, 60).tolist(), rng.integers(0, 3, 60).tolist())
        coarser = table.with_column(AGE, table["age"] // 2)
        for rule in (criteria.distinct_l, criteria.entropy_l):
            assert l_of(coarser, rule) >= l_of(table, rule) - 1e-9
        before, after = (criteria.t_closeness(Classes(t, QUASI), "ill", ordered=False) for t in (table, coarser))
        assert after <= before + 1e-9


def test_suppressing_a_class_keeps_l_and_can_lose_t():
    """The last class goes, the whole changes, and the middle class is farther from it than any was before."""
    table = grouped([0] * 9 + [1] * 3 + [2] * 6, [0] * 5 + [1] * 4 + [0] + [1] * 2 + [0] * 2 + [1] * 4)
    fewer = table.take(table["age"] != 2)
    before, after = (criteria.t_closeness(Classes(t, QUASI), "ill", ordered=False) for t in (table, fewer))
    promised = of(T, value=before)
    assert after > before + 0.05
    assert preserve(promised, Effect.SUPPRESS_CLASSES) is None
    assert keeps_all(promised, Effect.SUPPRESS_CLASSES).value < after
    assert l_of(fewer, criteria.distinct_l) >= l_of(table, criteria.distinct_l)
    assert preserve(L["distinct"], Effect.SUPPRESS_CLASSES) == L["distinct"]


def test_sampling_and_editing_can_lose_l():
    assert l_of(FIVES, criteria.distinct_l) == 2
    assert l_of(FIVES.take(FIVES["ill"] * (FIVES["age"] == 20) == 0), criteria.distinct_l) == 1
    for effect in (Effect.SAMPLE, Effect.SAMPLE_CLASSES, Effect.SAMPLE_AND_DROP, Effect.EDIT_ROWS):
        assert preserve(L["distinct"], effect, 0.5) is None


def test_promises_in_words():
    assert str(K) == "k-anonymity with k = 5 over age, town"
    assert str(MAP) == "k-map with k = 5 over age, town (derived)"
    assert str(L["distinct"]) == "distinct l-diversity with l = 2 for ill over age, town"


# Two classes of four rows: secrets 1, 1, 2, 2 and 1, 1, 1, 2; the whole table has five 1 and three 2.
EDGE = from_mapping(
    Schema(
        columns=(
            Column(name="town", kind=Kind.CATEGORY, domain=Levels(("a", "b"))),
            Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("x", "y"))),
        )
    ),
    {"town": list("aaaabbbb"), "ill": list("xxyyxxxy")},
)


@pytest.mark.parametrize(
    ("kind", "variant", "edge", "beyond"),
    [
        (Syntactic.K_ANONYMITY, "", 4, 5),
        (Syntactic.L_DIVERSITY, "distinct", 2, 3),
        (Syntactic.L_DIVERSITY, "entropy", 1.754, 1.756),
        (Syntactic.T_CLOSENESS, "equal", 0.125, 0.1249),
    ],
)
def test_a_promise_holds_up_to_its_edge_and_not_beyond(kind, variant, edge, beyond):
    secret = None if kind is Syntactic.K_ANONYMITY else "ill"
    promise = Promise(kind=kind, value=edge, quasi=("town",), secret=secret, variant=variant)
    assert unmet(promise, EDGE) == ""
    assert "was promised" in unmet(replace(promise, value=beyond), EDGE)
