"""What an attacker holds: each attack is run for everybody who attacks, told apart, and gates may ask for one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.audit import AuditOptions, pick_audits
from hushtable.api.audit_report import AuditReport
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.condition import Condition
from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.known import ALL, QUASI, Known, attackers, knowing, parse_known
from hushtable.evidence.verdict import Reach
from hushtable.pipeline import registry
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS = 160
SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 100), role=Role.QUASI),
        Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m")), role=Role.QUASI),
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(tuple("abcdef")), role=Role.QUASI),
        Column(name="wage", kind=Kind.REAL, domain=Bounds(0, 1)),
        Column(name="height", kind=Kind.REAL, domain=Bounds(0, 1)),
        Column(name="illness", kind=Kind.CATEGORY, domain=Levels(("x", "y", "z")), role=Role.SECRET),
    )
)
QUICK = ("near-matches", "distance-ratio", "reconstruction", "rare-values", "exposed-records", "identical-matches",
         "membership", "singling-out", "linkability", "inference", "attribution")  # fmt: skip


def drawn(seed: int, rows: int = ROWS) -> Table:
    rng = np.random.default_rng(seed)
    return Table(
        SCHEMA,
        {
            "age": rng.integers(0, 100, rows),
            "sex": rng.integers(0, 2, rows, dtype=np.int32),
            "town": rng.integers(0, 6, rows, dtype=np.int32),
            "wage": rng.random(rows),
            "height": rng.random(rows),
            "illness": rng.integers(0, 3, rows, dtype=np.int32),
        },
    )


def kept(train: Table, fresh: Table, names: tuple[str, ...]) -> Table:
    """Fresh rows, of which these columns are those of the training rows, in their order."""
    return fresh.with_columns(*((SCHEMA[name], train[name]) for name in names))


@pytest.fixture(scope="module")
def plain_columns_kept() -> AuditReport:
    train = drawn(0)
    return ht.audit(train, kept(train, drawn(1), ("wage", "height", "illness")), drawn(2), only=QUICK)


def test_plain_columns_are_found_by_who_holds_them_and_by_nobody_else(plain_columns_kept):
    report = plain_columns_kept
    assert {f.known for f in report.alarms} == {ALL}
    assert report.evidence.reach is Reach.ALL
    assert report.run.known == (ALL, QUASI)
    assert {f.name for f in report.findings if f.known == QUASI and f.p is not None} >= {
        "near matches", "distance ratio", "reconstruction", "mutual nearest", "rare pairs", "published in part",
        "membership by nearest distance at 1 % false alarms", "singling out by 3 columns", "linkability", "inference", "TCAP",
    }  # fmt: skip


def test_quasi_columns_that_are_kept_are_found_by_who_holds_only_them():
    train = drawn(0)
    report = ht.audit(train, kept(train, drawn(1), ("age", "sex", "town")), drawn(2), only=QUICK)
    assert QUASI in {f.known for f in report.alarms}
    assert report.evidence.reach is Reach.QUASI


def test_findings_are_told_apart_by_scope_label_and_field(plain_columns_kept):
    findings = plain_columns_kept.findings
    keys = [(f.name, f.scope) for f in findings]
    assert len(set(keys)) == len(keys)
    assert len({f.label for f in findings}) == len(keys)
    whole, quasi = (f for f in findings if f.name == "near matches")
    assert (whole.known, whole.scope, whole.label) == (ALL, "", "near matches, knowing all columns")
    assert (quasi.known, quasi.scope) == (QUASI, "knowing the quasi-identifiers")
    assert quasi.label == "near matches, knowing the quasi-identifiers"
    assert "knows a person's quasi-identifiers" in quasi.note
    assert [f.known for f in findings if (f.name, f.scope) == ("inference", "illness from quasi columns")] == [QUASI]


def test_it_is_saved_and_a_file_without_it_is_read(plain_columns_kept):
    plain = plain_columns_kept.to_json()
    again = AuditReport.from_json(plain)
    assert [f.known for f in again.findings] == [f.known for f in plain_columns_kept.findings]
    assert again.run == plain_columns_kept.run
    for one in plain["findings"]:
        del one["known"]
    del plain["made"]["known"], plain["made"]["untried"]
    old = AuditReport.from_json(plain)
    assert {f.known for f in old.findings} == {""}
    assert old.evidence.reach is Reach.OTHERS


@pytest.mark.parametrize(
    ("known", "labels"),
    [("quasi", {QUASI}), ("all", {ALL}), ("both", {ALL, QUASI}), ("sex,age", {"age, sex"}), (("wage", "height"), {"wage, height"})],
)
def test_who_attacks_is_asked_for(known, labels):
    train = drawn(0)
    report = ht.audit(train, drawn(1), drawn(2), known=known, only=("near-matches", "inference", "identical-matches", "margins"))
    assert {f.known for f in report.findings if f.risk} == labels
    assert any(f.name == "TVD" for f in report.findings)
    assert set(report.run.known) == labels


def test_columns_that_are_named_are_found_by():
    train = drawn(0)
    release = kept(train, drawn(1), ("wage", "height", "illness"))
    report = ht.audit(train, release, drawn(2), known="wage,height", only=QUICK)
    assert report.evidence.reach is Reach.LISTED
    assert {"near matches, knowing wage, height", "inference, illness from wage, height"} <= {f.label for f in report.alarms}


def test_without_quasi_identifiers_only_all_columns_are_held_and_it_says_so():
    schema = Schema(tuple(replace(c, role=Role.PLAIN) for c in SCHEMA))
    ours, released, others = (Table(schema, {c.name: t[c.name] for c in schema}) for t in map(drawn, (0, 1, 2)))
    report = ht.audit(ours, released, others, only=("near-matches",))
    assert [f.known for f in report.findings] == [ALL]
    assert "names no quasi-identifiers" in report.run.untried
    with pytest.raises(InputError, match="known: the schema names no quasi-identifiers"):
        ht.audit(ours, released, others, only=("near-matches",), known="quasi")


def test_what_nobody_can_hold_is_refused():
    case = Case(drawn(0), drawn(1), drawn(2))
    with pytest.raises(InputError, match="'weight' is not a column"):
        attackers(case, "age,weight")
    with pytest.raises(InputError, match="quasi cannot be joined"):
        parse_known("quasi,age")
    with pytest.raises(InputError, match="expected quasi"):
        AuditOptions(known="")
    assert attackers(case, "age,sex,town,wage,height,illness")[0] == (Known(),)


def test_a_gate_means_all_attackers_or_one_of_them(plain_columns_kept):
    findings = plain_columns_kept.findings
    held = {name: Condition.parse(f"{name}<0.6").judge(findings) for name in ("max_gain", "max_gain_all", "max_gain_quasi")}
    assert [held[name].holds for name in ("max_gain", "max_gain_all", "max_gain_quasi")] == [False, False, True]
    assert held["max_gain"].finding is not None
    assert held["max_gain"].finding.known == ALL
    assert Condition.parse("alarms_quasi<1").judge(findings).holds
    assert not Condition.parse("alarms<1").judge(findings).holds
    assert Condition.parse("near_matches_quasi<0.5").judge(findings).holds
    assert Condition.parse("linkability_gain_quasi<0.2").description.endswith("knowing the quasi-identifiers")
    assert not Condition.parse("max_gain_quasi<0.5").judge([f for f in findings if f.known != QUASI]).holds


def test_a_limited_case_computes_nothing_twice():
    case = Case(drawn(0), drawn(1), drawn(2))
    limited = case.knowing(Known(QUASI, ("age", "sex", "town")))
    assert limited.columns == ("age", "sex", "town")
    assert limited.compared == case.columns
    assert limited.nearest("train", "release") is case.nearest("train", "release", 1, ("age", "sex", "town"))
    assert limited.read_as_values() is limited
    assert limited.knowing(None).columns == case.columns


def test_every_attack_by_knowledge_runs_for_a_few_columns():
    case = Case(drawn(0, 60), drawn(1, 60), drawn(2, 60)).knowing(Known("sex", ("sex",)))
    for name, audit in pick_audits(subject=Subject.PRIVACY).items():
        if audit.by_knowledge:
            found = audit.run(case, np.random.default_rng(0))
            assert all(isinstance(f, Finding) for f in found), name
    assert {name for name, audit in pick_audits(registry.audits()).items() if audit.by_knowledge} == {*QUICK, "learned-inference"}


def test_words():
    assert [knowing(label) for label in (ALL, QUASI, "age, sex", "")] == [
        "knowing all columns", "knowing the quasi-identifiers", "knowing age, sex", "",
    ]  # fmt: skip


def test_safe_releases_raise_no_more_alarms_for_two_attackers():
    alarming = [
        seed
        for seed in range(0, 36, 3)
        if ht.audit(drawn(seed, 80), drawn(seed + 1, 80), drawn(seed + 2, 80), only=QUICK[:8]).alarms
    ]
    assert len(alarming) <= 2
