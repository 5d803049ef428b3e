"""Advice is tested by following it: a leak is planted, the advice of its cause is followed, and the alarm is gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.audit_report import AuditReport
from hushtable.audits.planted import Noise, disturbed, planted
from hushtable.evidence.known import ALL, QUASI
from hushtable.evidence.verdict import Action, Cause, CauseKind, Reach
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import Release
from hushtable.privacy.noise import Entropy
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS, RARE = 300, 40
ONLY = ("near-matches", "distance-ratio", "rare-values", "exposed-records", "identical-matches", "singling-out",
        "linkability", "inference", "attribution", "identifiers")  # fmt: skip
SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 100), role=Role.QUASI),
        Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m")), role=Role.QUASI),
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(tuple("abcdef")), role=Role.QUASI),
        Column(name="wage", kind=Kind.INTEGER, domain=Bounds(0, 100_000)),
        Column(name="job", kind=Kind.CATEGORY, domain=Levels(tuple(f"j{i}" for i in range(2 + 2 * RARE)))),
        Column(name="illness", kind=Kind.CATEGORY, domain=Levels(("x", "y", "z")), role=Role.SECRET),
    )
)


def drawn(seed: int, schema: Schema = SCHEMA) -> Table:
    rng = np.random.default_rng(seed)
    codes = {
        name: rng.integers(0, size, ROWS, dtype=np.int32) for name, size in {"sex": 2, "town": 6, "job": 2, "illness": 3}.items()
    }
    table = {"age": rng.integers(0, 100, ROWS), "wage": rng.integers(0, 50_000, ROWS), **codes}
    return Table(schema, {name: table[name] for name in schema.names})


def declared(columns: tuple[str, ...]) -> Schema:
    """The schema with these columns as quasi-identifiers."""
    return Schema(tuple(replace(c, role=Role.QUASI) if c.name in columns else c for c in SCHEMA))


def audited(train: Table, released: Table | Release, control: Table) -> AuditReport:
    return ht.audit(train, released, control, only=ONLY)


def cause_of(report: AuditReport, kind: CauseKind) -> Cause:
    (cause,) = (one for one in report.causes if one.kind is kind)
    return cause


def remedy(cause: Cause, action: Action) -> tuple[str, ...]:
    """The columns that a cause advises to treat in this way."""
    (columns,) = (one.columns for one in cause.remedies if one.action is action)
    return columns


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audited(drawn(0), ht.release(drawn(0), "k-anonymity", seed=0), drawn(1))


class TestAnUntouchedColumn:
    """k-anonymity over age, sex and town leaves the wage as it was."""

    train, control = drawn(0), drawn(1)

    def test_it_is_the_cause_of_all_alarms(self, report):
        cause = cause_of(report, CauseKind.UNTOUCHED)
        assert cause.columns == ("wage",)
        assert len(cause.alarms) == len(report.alarms) > 5
        assert (cause.known, report.evidence.reach) == ((ALL,), Reach.ALL)
        assert cause.share == pytest.approx(1, abs=0.05)
        assert "a larger k" not in cause.text

    def test_declared_a_quasi_identifier_it_is_no_cause_and_then_a_larger_k_is_advised_and_works(self, report):
        schema = declared(remedy(cause_of(report, CauseKind.UNTOUCHED), Action.MAKE_QUASI))
        train, control = drawn(0, schema), drawn(1, schema)
        better = audited(train, ht.release(train, "k-anonymity", seed=0), control)
        assert len(better.alarms) < len(report.alarms)
        assert {cause.kind for cause in better.causes} <= {CauseKind.CLASSES, CauseKind.HOMOGENEOUS}
        assert all(any(one.action is Action.LARGER_K for one in cause.remedies) for cause in better.causes)
        assert not audited(train, ht.release(train, "k-anonymity", seed=0, settings={"k": 40}), control).alarms

    def test_left_out_it_is_no_cause(self, report):
        dropped = remedy(cause_of(report, CauseKind.UNTOUCHED), Action.DROP)
        train, control = (table.select([n for n in SCHEMA.names if n not in dropped]) for table in (self.train, self.control))
        better = audited(train, ht.release(train, "k-anonymity", seed=0, settings={"k": 20}), control)
        assert not better.alarms

    def test_what_is_not_advised_does_not_help(self, report):
        again = audited(self.train, ht.release(self.train, "k-anonymity", seed=0, settings={"k": 40}), self.control)
        assert cause_of(again, CauseKind.UNTOUCHED).columns == ("wage",)


def test_rows_that_stand_in_the_release_are_its_cause_and_a_recipe_that_keeps_none_removes_it():
    train, control = drawn(0), drawn(1)
    report = audited(train, planted(drawn(2), train, 0.2, np.random.default_rng(0)), control)
    cause = cause_of(report, CauseKind.VERBATIM)
    assert len(report.causes) == 1
    assert QUASI in cause.known
    assert cause.share == pytest.approx(0.2, abs=0.03)
    assert [one.action for one in cause.remedies] == [Action.CHANGE_ALL]
    # Noise from a seed: of fresh noise some draw in a hundred looks like the rows by chance.
    remedy = ht.release(train, "independent", epsilon=1.0, seed=0, entropy=Entropy.seeded(0), unproven=True)
    assert not audited(train, remedy, control).alarms


def with_rare(seed: int, first: int) -> Table:
    """People of whom the first each have a job of their own."""
    table = drawn(seed)
    job = table["job"].copy()
    job[:RARE] = np.arange(first, first + RARE)
    return table.with_columns((SCHEMA["job"], job))


def test_rare_levels_are_merged():
    train, control, released = with_rare(0, 2), with_rare(1, 2 + RARE), with_rare(2, 2)
    report = audited(train, released, control)
    cause = cause_of(report, CauseKind.RARE)
    assert (cause.columns, len(cause.alarms)) == (("job",), len(report.alarms))
    (name,) = remedy(cause, Action.MERGE_LEVELS)
    merged = released.with_columns((SCHEMA[name], np.minimum(released[name], 1)))
    assert not audited(train, merged, control).alarms


def with_outliers(seed: int, shift: int) -> Table:
    table = drawn(seed)
    wage = table["wage"].copy()
    wage[:20] = 90_000 + shift + 10 * np.arange(20)
    return table.with_columns((SCHEMA["wage"], wage))


def test_outliers_are_cut_off():
    train, control, released = with_outliers(0, 0), with_outliers(1, 5), with_outliers(2, 0)
    report = audited(train, released, control)
    (name,) = remedy(cause_of(report, CauseKind.OUTLIERS), Action.TOP_CODE)
    assert name == "wage"
    cut = released.with_columns((SCHEMA[name], np.minimum(released[name], 45_000)))
    assert not audited(train, cut, control).alarms


def test_secrets_that_classes_give_away_ask_for_diversity():
    schema = declared(("wage", "job"))
    train, control = drawn(0, schema), drawn(1, schema)
    report = audited(train, ht.release(train, "mondrian", seed=0, settings={"k": 2}), control)
    cause = cause_of(report, CauseKind.HOMOGENEOUS)
    assert remedy(cause, Action.DIVERSITY) == ("illness",)
    diverse = audited(train, ht.release(train, "mondrian", seed=0, settings={"k": 2, "l": 3}), control)
    assert not [one for one in diverse.causes if one.kind is CauseKind.HOMOGENEOUS]
    assert not set(cause.alarms) & {finding.label for finding in diverse.alarms}


def test_columns_that_are_hardly_changed_are_found_with_those_that_are_not_changed_at_all():
    train, control = drawn(0), drawn(1)
    released = disturbed(train, Noise(sigma=0.01, lam=1, p=0.0), np.random.default_rng(0), spread=train)
    report = audited(train, released, control)
    dropped = remedy(cause_of(report, CauseKind.DISTURBED), Action.DROP)
    assert {"age", "wage"} <= set(dropped)
    better = audited(train, released.select([n for n in SCHEMA.names if n not in dropped]), control)
    assert not better.alarms


def test_a_proof_that_allowed_it_asks_for_a_smaller_epsilon():
    train, control = drawn(0), drawn(1)
    proven = ht.release(drawn(3), "independent", epsilon=4.0, seed=0)
    card = Card.from_json(proven.card())
    report = ht.audit(train, planted(drawn(2), train, 0.3, np.random.default_rng(0)), control, card=card, only=ONLY)
    assert [cause.kind for cause in report.causes] == [CauseKind.EPSILON]
    assert [one.action for one in report.causes[0].remedies] == [Action.SMALLER_EPSILON]


def test_a_release_that_leaks_nothing_has_no_cause():
    assert not audited(drawn(0), drawn(2), drawn(1)).causes


def test_no_value_of_a_row_is_in_the_advice():
    train, control, released = with_rare(0, 2), with_rare(1, 2 + RARE), with_rare(2, 2)
    text = str([cause.to_json() for cause in audited(train, released, control).causes])
    assert not any(f"j{i}" in text for i in range(2, 2 + RARE))
