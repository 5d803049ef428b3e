"""Learnt domains: what is common stays, what is rare becomes OTHER, numbers are clipped, and everything is paid for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable import api
from hushtable.check.tables import observed
from hushtable.encode.learned import LearnDomain
from hushtable.errors import GuaranteeRefused, InputError, PlanError
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


def words(*counted: tuple[str, int], kind: str = "category", missing: str = "") -> Table:
    head = f"missing: [{missing}]\n" if missing else ""
    return read(f"{head}columns:\n  x: {{kind: {kind}}}\n", {"x": [word for word, times in counted for _ in range(times)]})


def test_common_values_stay_and_rare_ones_become_other():
    table = words(("b", 300), ("a", 300), ("rare", 2), ("", 40))
    code, vault = learn(table)
    assert code.schema["x"].levels == ("a", "b", "OTHER")
    assert not code.schema["x"].observed
    assert not code.schema["x"].required
    made = code.apply(table)
    counts = dict(zip(*np.unique(made.strings("x").astype(str), return_counts=True), strict=True))
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
    made = code.apply(table)
    assert made.missing("x").sum() == 1
    same = made["x"][:-2] == table["x"][:-2]
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
    table = replace(small, schema=observed(small.schema))
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
    table = replace(small, schema=observed(small.schema))
    with pytest.raises(GuaranteeRefused, match="--learn-domain"):
        api.release(table, "independent", epsilon=2.0)
    made = api.release(table, api.learning_domains(load("independent")), epsilon=2.0)
    assert not any(c.observed for c in made.table.schema)
    assert not any(isinstance(e.event, Raw) for e in made.guarantee.ledger)
    assert made.guarantee.epsilon() <= 2.0
    assert any("learnt" in text for text in made.guarantee.public)
    assert Recipe.parse(made.recipe.dump()) == made.recipe
    with pytest.raises(InputError, match="mdav"):
        api.learning_domains(load("mdav"))
