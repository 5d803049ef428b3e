"""Is the control fresh, and what do the attacks see."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.audits.sanity import ControlSeen, Coverage
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.table.table import Table

N = 600


@pytest.fixture(scope="module")
def parts() -> list[Table]:
    # Few columns, so that people resemble one another and chance alone repeats rows.
    table = people(6 * N, seed=4).select(["sex", "marital_status", "education", "household_size", "smoker", "satisfaction"])
    return [table.take(np.arange(i * N, (i + 1) * N)) for i in range(6)]


def seen(case: Case, seed: int = 0):
    (finding,) = ControlSeen().run(case, np.random.default_rng(seed))
    assert finding.p is None
    assert finding.risk is None
    return finding


@pytest.mark.parametrize("times", [1, 3])
def test_a_release_that_saw_the_control_is_told(parts, times):
    train, control, *fresh = parts
    release = Table.concat([train, control.take(np.arange(N // 2)), *fresh[: times - 1]])
    finding = seen(Case(train, release, control))
    assert finding.detail["seen"]
    assert finding.value > finding.baseline
    assert "take another" in finding.note


def test_a_release_that_did_not_is_not(parts):
    """Fresh, leaky, small and large releases; the level is 5 % each."""
    train, control, *fresh = parts
    for release in (fresh[0], train, fresh[0].take(np.arange(60)), Table.concat(fresh)):
        finding = seen(Case(train, release, control))
        assert not finding.detail["seen"], finding.note
        assert "no sign" in finding.note


def test_the_warning_is_as_rare_as_stated():
    """40 fresh splits; each warns with probability 0.05 at most, so 7 or more with probability below 0.004. A release of
    another size that is not cut to the size of the training rows, the broken twin, warns nearly always."""
    table = people(4000, seed=9).select(["sex", "marital_status", "education", "household_size"])
    warned = twin = 0
    for seed in range(40):
        rows = np.random.default_rng(seed).permutation(table.rows)
        train, control, release = (table.take(part) for part in np.split(rows, [300, 900]))
        case = Case(train, release, control)
        warned += seen(case, seed).detail["seen"]
        ids = case.row_ids()
        here, there = np.isin(ids["control"], ids["release"]), np.isin(ids["control"], ids["train"])
        twin += int((here & ~there).sum()) > 2 * int((there & ~here).sum()) + 5
    assert warned <= 6
    assert twin > 30


def test_a_single_control_row_more_is_no_proof():
    case = Case(*(example(5, seed) for seed in range(3)))
    assert seen(case).detail["test"] == 1


def test_coverage_names_what_no_attack_sees():
    table = people(60, seed=1)
    train, control = table.take(np.arange(30)), table.take(np.arange(30, 60))
    same = train.take(np.zeros(30, np.int64))
    release = train.select([n for n in train.schema.names if n not in ("income", "postcode", "name")])
    release = release.with_column(release.schema["sex"], same["sex"])
    (finding,) = Coverage().run(Case(train, release, control), np.random.default_rng(0))
    columns = finding.detail["columns"]
    assert columns["not in the release"] == ["name", "postcode", "income"]
    assert columns["looked up as they are, in no other attack (identifiers, keys)"] == ["person_id"]
    assert "sex" in columns["constant in the release"]
    assert finding.value == pytest.approx(len(columns["compared"]) / len(train.schema))
    assert finding.detail["rows"] == {"train": 30, "release": 30, "control": 30}
    for word in ("income", "postcode", "person_id", "sex"):
        assert word in finding.note
    assert finding.p is None


def test_coverage_says_when_one_column_is_all_there_is():
    train, control = example(20, 0), example(20, 1)
    (finding,) = Coverage().run(Case(train, train.select(["age"]), control), np.random.default_rng(0))
    assert "only age is shared" in finding.note
    assert finding.value == pytest.approx(1 / 7)
