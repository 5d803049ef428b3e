"""Rules of the real rows: those that were planted are found, those that chance explains are not, and broken ones are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.evidence.case import Case
from hushtable.measures.rule import Kind as RuleKind
from hushtable.measures.rule_search import find_rules
from hushtable.measures.rules import Rules
from hushtable.report.rules import broken_rules, rules_yaml
from hushtable.table.broken import breaks_any
from hushtable.table.rules import parse_zero
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import from_mapping

SCHEMA = Schema.parse(
    """
columns:
  age: {kind: integer, domain: [0, 89]}
  marital: {kind: category, domain: [single, married, divorced, other]}
  income: {kind: real, domain: [0, 100000], decimals: 0}
  hours: {kind: integer, domain: [0, 80]}
  town: {kind: category, domain: [t0, t1, t2, t3, t4, t5, t6, t7]}
  region: {kind: category, domain: [north, south, west]}
  first: {kind: date, domain: [2000-01-01, 2020-12-31]}
  last: {kind: date, domain: [2000-01-01, 2020-12-31]}
  code: {kind: category, domain: [A, B, C]}
  weight: {kind: real, domain: [0, 10]}
"""
)


def people(rows: int, seed: int) -> Table:
    """Children have no income, no hours and are single; a region follows from a town; nobody leaves before they come."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, rows)
    child = age < 15
    town = rng.integers(0, 8, rows)
    first = rng.integers(0, 7000, rows)
    days = np.minimum(first + rng.integers(0, 2000, rows) * (rng.random(rows) < 0.8), 7660)
    return from_mapping(
        SCHEMA,
        {
            "age": age.tolist(),
            "marital": np.where(child, "single", rng.choice(["single", "married", "divorced"], rows)).tolist(),
            "income": [None if c else round(v) for c, v in zip(child, rng.uniform(0, 90000, rows), strict=True)],
            "hours": [None if c else int(v) for c, v in zip(child, rng.integers(0, 60, rows), strict=True)],
            "town": [f"t{t}" for t in town],
            "region": np.array(["north", "south", "west"])[town % 3].tolist(),
            "first": (np.datetime64("2000-01-01") + first).astype(str).tolist(),
            "last": (np.datetime64("2000-01-01") + days).astype(str).tolist(),
            "code": rng.choice(["A", "B", "C"], rows).tolist(),
            "weight": rng.random(rows).tolist(),
        },
    )


def independent(table: Table, seed: int) -> Table:
    """The same columns, each in an order of its own."""
    rng = np.random.default_rng(seed)
    return replace(table, arrays={name: table[name][rng.permutation(table.rows)] for name in table.schema.names})


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(people(1500, 1), independent(people(800, 2), 3), people(500, 4))


def test_every_planted_rule_is_found_and_no_other(case):
    found = find_rules(case.train, case.columns, np.random.default_rng(0))
    texts = {rule.text: rule.kind for rule in found.rules}
    assert texts == {
        "age < 14 and marital in {married, divorced}": RuleKind.PAIR,
        "age < 15 and income is not missing": RuleKind.PAIR,
        "age >= 15 and income is missing": RuleKind.PAIR,
        "only one of income and hours is missing": RuleKind.TOGETHER,
        "region does not follow from town": RuleKind.DEPENDENCE,
        "first is above last": RuleKind.ORDER,
    } | {text: RuleKind.PAIR for text in texts if "first" in text and "last" in text and " and " in text}
    assert len(texts) <= 9
    assert not any({"code", "weight"} & zero.columns for rule in found.rules for zero in rule.zeros)
    assert [rule.expected for rule in found.rules] == sorted((rule.expected for rule in found.rules), reverse=True)


def test_a_rule_as_a_schema_declares_it_is_broken_by_the_same_rows(case):
    for rule in find_rules(case.train, case.columns, np.random.default_rng(0)).rules:
        zeros = [parse_zero(str(zero), {c.name: c for c in SCHEMA}) for zero in rule.zeros]
        for table in case.tables.values():
            assert np.array_equal(breaks_any(table, zeros), rule.broken(table)), rule.text
        assert not rule.broken(case.train).any()


def test_an_unrelated_release_breaks_them_and_fresh_rows_do_not(case):
    whole, *single = Rules().run(case, np.random.default_rng(0))
    assert (whole.name, whole.scope) == ("rules broken", "")
    assert whole.value > 0.5
    assert whole.low <= whole.value <= whole.high
    assert whole.baseline < 0.01 <= whole.baseline_bad + 0.01
    assert whole.detail["rules"] >= 6
    assert whole.detail["worst"] == single[0].scope
    assert [f.value for f in single] == sorted((f.value for f in single), reverse=True)
    assert all(f.name == "rule broken" and f.detail["expected"] > 0.01 for f in single)
    own = Case(case.train, people(800, 7), case.control)
    assert Rules().run(own, np.random.default_rng(0))[0].value < 0.01


def test_chance_explains_what_few_rows_or_unrelated_columns_show():
    few = people(60, 1)
    unrelated = independent(people(1500, 1), 5)
    for table in (few, unrelated):
        names = [name for name in table.schema.names if name not in ("hours", "region")]
        assert find_rules(table, names, np.random.default_rng(0)).rules == ()
    names = ["age", "code", "weight"]
    case = Case(*(people(rows, rows).select(names) for rows in (60, 50, 40)))
    (whole,) = Rules().run(case, np.random.default_rng(0))
    assert whole.value is None
    assert "no rule" in whole.note
    assert rules_yaml([whole]) == ""


def test_nearly_unique_values_determine_nothing():
    table = people(1500, 1)
    rng = np.random.default_rng(0)
    unique = table.with_column(replace(SCHEMA["weight"], decimals=6), np.round(rng.permutation(1500) / 1500 * 10, 6))
    found = find_rules(unique, unique.schema.names, rng)
    assert not [rule for rule in found.rules if "weight" in rule.text]


def test_rows_of_one_person_count_as_one():
    table = people(1500, 1)
    once = find_rules(table, SCHEMA.names, np.random.default_rng(0))
    held = replace(table, persons=np.arange(1500) // 30)
    many = find_rules(held, SCHEMA.names, np.random.default_rng(0))
    assert len(many.rules) < len(once.rules)


def test_a_limit_is_shared_by_several_rows_or_lies_on_a_coarse_grid():
    rng = np.random.default_rng(1)
    age = rng.integers(0, 90, 3000)
    age[age == 37] = 38
    smoker = (age > 36) & (rng.random(3000) < 0.5)
    age[0], smoker[0] = 37, True
    schema = Schema.parse("columns: {age: {kind: integer, domain: [0, 89]}, smoker: {kind: category, domain: [no, yes]}}")
    table = Table(schema, {"age": age, "smoker": smoker.astype(np.int32)})
    limits = [rule.text for rule in find_rules(table, schema.names, rng).rules]
    assert limits == ["age < 36 and smoker = yes"], "37 is the age of one smoker alone"


def test_a_generalized_release_breaks_what_all_its_values_break(case):
    rows = case.train.take(np.arange(200))
    texts = {name: list(rows.strings(name)) for name in SCHEMA.names}
    texts["age"] = ["[0, 9]" if i < 50 else "[10, 89]" for i in range(200)]
    texts["marital"] = ["married"] * 200
    release = from_mapping(SCHEMA, texts, generalized=True)
    findings = Rules().run(Case(case.train, release, case.control), np.random.default_rng(0))
    broken = {f.scope: f.detail["rows"] for f in findings if f.scope}
    assert broken["age < 14 and marital in {married, divorced}"] == 50


def test_the_page_shows_the_rules_and_the_file_warns(case):
    whole, *single = Rules().run(case, np.random.default_rng(0))
    shown = broken_rules([whole], single)
    assert "age &lt; 15 and income is not missing" in shown
    assert "By chance" in shown
    text = rules_yaml([whole, *single])
    assert text.startswith("# INTERNAL")
    assert "observed, not declared" in text
    declared = Schema.parse(text + SCHEMA.dump())
    assert len(declared.zeros) >= 6


def test_what_the_schema_declares_is_a_rule_however_rare_its_values_are():
    schema = Schema.parse(
        "columns: {code: {kind: category, domain: [a, b, c]}, group: {kind: category, domain: [x, y], determined_by: code, "
        "codes: {a: x, b: y, c: y}}, note: {kind: integer, domain: [0, 9]}}"
    )
    rows = 60
    texts = {"code": ["a", "b"] * 29 + ["c", ""], "group": ["x", "y"] * 29 + ["y", ""], "note": ["1"] * rows}
    table = from_mapping(schema, texts)
    plain = table.under(replace(schema, columns=tuple(replace(column, determined_by=None) for column in schema)))
    assert not find_rules(plain, schema.names, np.random.default_rng(0)).rules, "too few rows to find it"
    found = find_rules(table, schema.names, np.random.default_rng(0)).rules
    assert [rule.text for rule in found] == ["group does not follow from code"]
    wrong = table.with_column(schema["group"], np.array([1, *table["group"][1:]], np.int32))
    assert found[0].broken(wrong).tolist() == [True] + [False] * (rows - 1)
    assert not find_rules(wrong, schema.names, np.random.default_rng(0)).rules, "what some rows break is no rule"
