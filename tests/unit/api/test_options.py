"""The options of an audit and of a measurement of utility: plain values in a file, the same by keyword and whole."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

import hushtable as ht
from hushtable.api.audit import AuditFields, AuditOptions
from hushtable.api.audit_report import AuditReport
from hushtable.api.utility import UtilityFields, UtilityOptions
from hushtable.errors import InputError
from hushtable.evidence.condition import Outcome
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.card import Card

CARD = Card.from_json({"recipe": "mdav", "rows": 20})
WHOLE = (
    AuditOptions(
        person="who", only=["linkability", "k-nearest"], settings={"linkability.neighbours": "1,10"}, recipe="mdav", trust=True,
        epsilon=1.5, card=CARD, seed=4, power=True, values=True, gates=["max_risk<0.05", "k>=10"], people=500, work=Path("work"),
    ),
    UtilityOptions(target="school", only=["margins"], settings={"downstream.seeds": 5}, card=CARD, seed=2),
)  # fmt: skip


@pytest.mark.parametrize("options", [*WHOLE, AuditOptions(), UtilityOptions(), AuditOptions(recipe=recipes.load("mdav"))])
def test_options_go_through_yaml(options):
    assert type(options).from_json(yaml.safe_load(yaml.safe_dump(options.to_json()))) == options


def test_a_recipe_file_is_its_path():
    assert AuditOptions(recipe=Path("mine") / "recipe.yaml").to_json()["recipe"] == str(Path("mine") / "recipe.yaml")


@pytest.mark.parametrize(("keywords", "kind"), [(AuditFields, AuditOptions), (UtilityFields, UtilityOptions)])
def test_keywords_are_the_fields(keywords, kind):
    assert set(keywords.__annotations__) == {field.name for field in fields(kind)}
    with pytest.raises(InputError, match="there is no option colour"):
        kind.from_json({"colour": "red"})


def test_what_the_options_ask_for_must_be_there():
    table = ht.people(60)
    train, control = ht.hold_out(table, 0.5, seed=0)
    with pytest.raises(InputError, match="epsilon: says what a recipe spends"):
        ht.audit(train, train, control, epsilon=1.0, only=["margins"])
    with pytest.raises(InputError, match="target: there is no column 'nowhere'"):
        ht.utility(train, train, control, target="nowhere", only=["margins"])


def outcome(*, holds: bool) -> Outcome:
    return Outcome("k>=2", holds, "as measured")


@pytest.mark.parametrize(
    ("gates", "void", "passes"),
    [([], [], True), ([True], [], True), ([True, False], [], False), ([], ["no control"], False), ([True], ["no control"], False)],
)
def test_an_audit_passes_if_it_counts_and_every_gate_holds(gates, void, passes):
    assert AuditReport(findings=[], rows={}, gates=[outcome(holds=one) for one in gates], void=void).passes is passes
