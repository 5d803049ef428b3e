"""Learnt domains: what is common stays, what is rare becomes OTHER, numbers are clipped, and everything is paid for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.checks.tables import observed
from hushtable.encode.learn_domain import LearnDomain
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.recipe import Recipe, load
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Raw, StabilityHistogram
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make

BUDGET = Budget(4.0, 1e-6)


def read(text: str, raw: dict[str, list[str]]) -> Table:
    arrays = {name: np.array(words, object) for name, words in raw.items()}
    return make(Schema.parse(text), list(arrays), lambda name: arrays[name])


def learn(table: Table, budget: Budget = BUDGET, unit: Unit | None = None, seed: int = 0, **knobs: object):
    unit = unit or Unit()
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(seed), budget=budget).named("learn", Allowance.of(budget, unit))
    return LearnDomain(**knobs).fit(vault, np.random.default_rng(0)), vault


def many(small: Table, times: int) -> Table:
    """The rows so many times, with domains read off them."""
    return replace(small.take(np.tile(np.arange(small.rows), times)), schema=observed(small.schema))


def words(*counted: tuple[str, int], kind: str = "category", missing: str = "") -> Table:
    head = f"missing: [{missing}]\n" if missing else ""
    return read(f"{head}columns:\n  x: {{kind: {kind}}}\n", {"x": [word for word, times in counted for _ in range(times)]})


def test_common_values_stay_and_rare_ones_become_other():
    table = words(("b", 300), ("a", 300), ("rare", 2), ("", 40))
    code, vault = learn(table)
    assert code.schema["x"].levels == ("a", "b", "OTHER")
    assert not code.schema["x"].observed
    assert not code.schema["x"].required
    released = code.apply(table)
    counts = dict(zip(*np.unique(released.strings("x").astype(str), return_counts=True), strict=True))
    assert counts == {"a": 300, "b": 300, "OTHER": 2, "None": 40}
    assert [type(e.event) for e in vault.ledger.entries] == [StabilityHistogram]
    assert vault.ledger.within(BUDGET)


def test_other_collides_with_no_value_and_no_missing_code():
    assert learn(words(("OTHER", 300), ("a", 300)))[0].schema["x"].levels == ("OTHER", "a", "OTHER_")
    assert learn(words(("a", 300), missing="OTHER"))[0].schema["x"].levels == ("a", "OTHER_")
    hidden = words(("OTHER", 2), ("a", 300))
    code, _ = learn(hidden)
    assert code.schema["x"].levels == ("a", "OTHER")
    assert (code.apply(hidden).strings("x") == "OTHER").sum() == 2


def test_ordinals_keep_their_order():
    text = "columns:\n  x: {kind: ordinal, domain: [low, high, highest, absurd], observed: true}\n"
    table = read(text, {"x": ["low"] * 300 + ["high"] * 300 + ["highest"] * 300 + ["absurd"]})
    assert learn(table)[0].schema["x"].levels == ("low", "high", "highest", "OTHER")


@pytest.mark.parametrize(
    ("entry", "values", "low", "high"),
    [
        ("kind: integer", [str(v) for v in np.arange(2000) % 60 + 20], (0, 20), (79, 127)),
        ("kind: integer", [str(-v) for v in np.arange(2000) % 60 + 20], (-127, -79), (-20, 0)),
        ("kind: integer", [str(v % 2) for v in range(2000)], (0, 0), (1, 1)),
        ("kind: integer", ["5"] * 2000, (4, 5), (5, 7)),
        ("kind: real, decimals: 2", [f"{v / 100:.2f}" for v in range(1000, 3000)], (5.0, 10.25), (29.75, 41.0)),
        ("kind: real", [repr(float(v)) for v in np.linspace(0.001, 0.002, 2000)], (0.0, 0.00102), (0.00198, 0.004)),
        ("kind: real", [repr(float(v)) for v in np.linspace(1e9, 2e9, 2000)], (2**29, 1.02e9), (1.98e9, 2**31)),
        ("kind: date", [f"20{10 + i % 10}-06-15" for i in range(2000)], (1230768000, 1276560000), (1560556800, 1640995200)),
    ],
    ids=["integer", "negative", "binary", "constant", "decimals", "small reals", "large reals", "date"],
)
@pytest.mark.parametrize("budget", [BUDGET, Budget(4.0, 0.0)], ids=["gaussian", "laplace"])
def test_bounds_hold_nearly_all_rows_and_no_outlier(entry, values, low, high, budget):
    outlier = {"date": "1801-01-01"}.get(entry.split()[1], "999999999999" if "integer" in entry else "9e14")
    table = read(f"columns:\n  x: {{{entry}}}\n", {"x": [*values, outlier, ""]})
    code, vault = learn(table, budget)
    bounds = code.schema["x"].bounds
    assert low[0] <= bounds.low <= low[1]
    assert high[0] <= bounds.high <= high[1]
    released = code.apply(table)
    assert released.missing("x").sum() == 1
    same = released["x"][:-2] == table["x"][:-2]
    assert same.mean() > 0.97
    assert isinstance(bounds.low, float) == (code.schema["x"].kind is Kind.REAL)
    kind = DiscreteGaussian if budget.delta else DiscreteLaplace
    assert [type(e.event) for e in vault.ledger.entries] == [kind, kind]


def test_without_a_delta_categories_are_refused_by_name():
    schema = words(("a", 3)).schema
    with pytest.raises(PlanError, match="which values x has"):
        LearnDomain().plan(schema, Allowance.of(Budget(1.0, 0.0), Unit()))
    with pytest.raises(GuaranteeRefused, match="delta"):
        learn(words(("a", 3)), Budget(1.0, 0.0))


@pytest.mark.parametrize(
    "unit", [Unit(), Unit(relation=Relation.REPLACE_ONE), Unit(rows=3), Unit(rows=2, relation=Relation.REPLACE_ONE)]
)
def test_the_price_is_the_planned_one_for_every_unit(small, unit):
    table = many(small, 100)
    _, vault = learn(table, Budget(2.0, 1e-6), unit)
    planned = LearnDomain().plan(table.schema, vault.allowance).events
    assert [e.event for e in vault.ledger.entries] == list(planned)
    assert vault.ledger.within(Budget(2.0, 1e-6))
    seen = [e.event for e in vault.ledger.entries if isinstance(e.event, StabilityHistogram)]
    assert {event.rows for event in seen} == {unit.rows}


def test_a_declared_table_is_left_alone_and_named_columns_are_learnt(small):
    code, vault = learn(small)
    assert code.apply(small).schema == small.schema
    assert not vault.ledger.entries
    code, _ = learn(small, columns=("town",))
    assert code.schema["town"].levels[-1] == "OTHER"
    assert code.schema["age"] == small.schema["age"]
    with pytest.raises(PlanError, match="nowhere"):
        LearnDomain(columns=("nowhere",)).plan(small.schema, None)
    with pytest.raises(InputError, match="share"):
        LearnDomain(share=0)


def test_any_private_recipe_can_learn_first(small):
    table = many(small, 100)
    with pytest.raises(GuaranteeRefused, match="--learn-domain"):
        ht.release(table, "independent", epsilon=2.0)
    release = ht.release(table, learning_domains(load("independent")), epsilon=2.0)
    assert not any(c.observed for c in release.table.schema)
    assert not any(isinstance(e.event, Raw) for e in release.guarantee.ledger)
    assert release.guarantee.epsilon() <= 2.0
    assert any("learnt" in text for text in release.guarantee.public)
    learnt = release.card()["result"]["learn-domain"]["learnt"]
    assert set(learnt) == set(table.schema.names)
    assert learnt["age"]["low"] <= 30 <= learnt["age"]["high"]
    assert learnt["town"]["levels"][-1] == "OTHER"
    assert Recipe.parse(release.recipe.dump()) == release.recipe
    with pytest.raises(InputError, match="mdav"):
        learning_domains(load("mdav"))


REAL = "kind: real, decimals: 3"
COLUMNS = {
    "ages": ("kind: integer", lambda rng, n: rng.normal(40, 12, n).clip(17, 90).round().astype(int)),
    "amounts": ("kind: integer", lambda rng, n: rng.lognormal(7, 1, n).round().astype(int)),
    "near zero": (REAL, lambda rng, n: (28.5 * rng.beta(1, 5, n)).round(3)),
    "signed": (REAL, lambda rng, n: rng.normal(0, 3, n).round(3)),
    "debts": ("kind: integer", lambda rng, n: -rng.lognormal(5, 1, n).round().astype(int)),
    "mostly zero": ("kind: integer", lambda rng, n: np.where(rng.random(n) < 0.9, 0, rng.lognormal(8, 1, n).round()).astype(int)),
    "tiny": ("kind: real", lambda rng, n: rng.lognormal(-6, 0.5, n)),
}


@pytest.mark.parametrize("budget", [Budget(0.05, 1e-6), Budget(0.4, 1e-6), Budget(4.0, 1e-6), Budget(0.4, 0.0)], ids=str)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_small_table_has_its_range_held_or_is_refused(name, budget):
    entry, draw = COLUMNS[name]
    for seed in range(4):
        values = draw(np.random.default_rng(seed), 690)
        table = read(f"columns:\n  x: {{{entry}}}\n", {"x": [repr(v) for v in values.tolist()]})
        try:
            code, _ = learn(table, budget, seed=seed)
        except InputError:
            assert budget.epsilon < 4
            continue
        assert budget.epsilon > 0.1
        bounds = code.schema["x"].bounds
        low, high = np.quantile(values, (0.01, 0.99))
        assert bounds.low <= low
        assert bounds.high >= high
        # Nor ever far beyond: a few powers of two.
        assert max(-bounds.low, bounds.high) <= 16 * np.abs(values).max()
        assert (bounds.low >= 0) == (values.min() >= 0)


def test_all_drowned_columns_are_named_at_once_and_after_every_query_is_paid(small):
    table = many(small, 1)
    with pytest.raises(InputError, match=r"the noise drowns its range \(about [0-9,]+ rows .* declare its bounds") as refusal:
        learn(table, Budget(1.0, 1e-6))
    assert {fault.where for fault in refusal.value.faults} == {c.name for c in table.schema if c.numeric}


def test_values_that_mostly_became_other_are_reported():
    rng = np.random.default_rng(0)
    text = "columns:\n  x: {kind: category}\n  y: {kind: category}\n  n: {kind: integer}\n"
    raw = {
        "x": ["common"] * 3000 + [f"rare {i}" for i in range(7000)],
        "y": ["a", "b"] * 5000,
        "n": [str(v) for v in rng.integers(20, 80, 10_000)],
    }
    code, vault = learn(read(text, raw), Budget(1.0, 1e-6))
    result = code.result()
    assert result["learnt"]["x"]["levels"] == ["common", "OTHER"]
    assert result["learnt"]["x"]["other_or_missing"] == pytest.approx(0.7, abs=0.03)
    assert result["learnt"]["y"]["other_or_missing"] == pytest.approx(0, abs=0.03)
    assert result["learnt"]["n"].keys() == {"low", "high"}
    least = next(e.event.threshold for e in vault.ledger.entries if isinstance(e.event, StabilityHistogram))
    assert result["note"].startswith(("about 69%", "about 70%", "about 71%"))
    assert f"of the rows of x became OTHER or are missing: a value needs about {least:,} rows" in result["note"]
    assert " y " not in result["note"]
    none = learn(words(("a", 3)), Budget(1.0, 1e-6))[0].result()
    assert "100% of the rows of x became OTHER" in none["note"]


def test_the_ranges_of_adult_at_a_tenth_of_epsilon_one(adult):
    table = replace(adult.take(np.arange(32_000)), schema=observed(adult.schema))
    part = Allowance.of(Budget(1.0, 1e-6), Unit()).split([1, 9])[0]
    code = LearnDomain().fit(Vault.of(table, entropy=Entropy.seeded(3)).named("learn", part), np.random.default_rng(0))
    for column in (c for c in table.schema if c.numeric):
        low, high = np.nanquantile(table.floats(column.name), (0.01, 0.99))
        bounds = code.schema[column.name].bounds
        assert max(0, low / 8 - 1) <= bounds.low <= low or bounds.low == 0
        assert high <= bounds.high <= 4 * high
