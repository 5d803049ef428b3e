"""Exposed records and rare values: a handful of copies, partial copies and rare levels are found, and chance is not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits import covert
from hushtable.audits.exposed import ExposedRecords
from hushtable.audits.rare import RareValues
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.evidence import harness
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Audit, Finding, Risk, Trace
from hushtable.evidence.verdict import alarms
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.table import Table

N = 400
LEVELS = tuple(f"place {i}" for i in range(300))


class Crowd(Audit):
    """Eighty tests that find nothing: what a whole audit sets against one."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        trace = Trace(np.zeros(9, bool), np.zeros(9, bool), np.arange(9), np.arange(9))
        return [judge(trace, Scenario(name=f"crowd {i}", risk=Risk.INFERENCE, knows="", does=""), naive=None) for i in range(80)]


TESTS = {"exposed-records": ExposedRecords(), "rare-values": RareValues(), "crowd": Crowd()}


def tables(seed: int, n: int = N) -> list[Table]:
    """Training, control and fresh rows of nine columns; the last has levels of which most are rare."""
    table = people(3 * n, seed=100 + seed).select(
        ["sex", "marital_status", "education", "occupation", "weekly_hours", "income", "height_cm", "systolic_bp"]
    )
    rng = np.random.default_rng(seed)
    place = Column(name="place", kind=Kind.CATEGORY, domain=Levels(LEVELS))
    table = table.with_column(place, np.minimum(rng.zipf(1.5, 3 * n) - 1, 299).astype(np.int32))
    rows = rng.permutation(3 * n)
    return [table.take(rows[i * n : (i + 1) * n]) for i in range(3)]


def alarmed(train: Table, release: Table, control: Table) -> set[str]:
    return {f.name for f in alarms(harness.run(Case(train, release, control), TESTS))}


@pytest.mark.parametrize("whom", ["outliers", "at random"])
def test_five_copies_among_four_hundred_rows_are_found(whom):
    for seed in range(6):
        train, control, fresh = tables(seed)
        order = np.argsort(-train.floats("income")) if whom == "outliers" else None
        release = covert.handful(train, fresh, 5, np.random.default_rng(seed), order)
        assert "exposed records" in alarmed(train, release, control), seed


def test_four_copies_are_too_few_to_tell_and_the_finding_says_so():
    train, control, fresh = tables(0)
    release = covert.handful(train, fresh, 4, np.random.default_rng(0))
    finding = ExposedRecords().run(Case(train, release, control), np.random.default_rng(0))[0]
    assert finding.p is None
    assert finding.detail["hits"] == 4
    assert "fewer than 5 copies cannot be distinguished from chance" in finding.note
    # With twice as many people outside four are enough.
    more = Table.concat([control, tables(50)[1]])
    assert "exposed records" in alarmed(train, release, more)


def test_four_of_nine_columns_in_thirty_of_a_hundred_rows_are_found():
    for seed in range(4):
        train, control, fresh = tables(seed)
        release = covert.partial(train, fresh, 0.3, np.random.default_rng(seed))
        assert "rare combinations" in alarmed(train, release, control), seed


def test_levels_that_are_released_for_having_been_in_the_table_are_found():
    """The release draws its places from the training rows, one by one, and everything else from nobody."""
    noticed = 0
    for seed in range(6):
        train, control, fresh = tables(seed)
        drawn = np.random.default_rng(seed).integers(0, N, N)
        release = fresh.with_column(train.schema["place"], train["place"][drawn])
        noticed += "rare values" in alarmed(train, release, control)
    assert noticed >= 5


def test_without_a_leak_an_alarm_is_as_rare_as_stated():
    """30 runs; each alarms with probability 0.05 at most, so 6 or more with probability below 0.004."""
    assert sum(bool(alarmed(train, fresh, control)) for train, control, fresh in map(tables, range(30))) <= 5


def valid(values: list[float]) -> bool:
    """Whether a p-value is at most x in a share x of all labellings at most."""
    p = np.array(values)
    return all((p <= x + 1e-12).mean() <= x + 1e-12 for x in np.unique(p))


def labellings(audit: Audit, size: int, ours: int) -> dict[str, list[Finding]]:
    """What an audit finds under every way to say who stands in the training table; most of them are in the release."""
    everyone = example(size, 3)
    release = Table.concat([everyone.take(np.arange(size - 3)), example(5, 9)])
    results: dict[str, list[Finding]] = {}
    for chosen in combinations(range(size), ours):
        inside = np.isin(np.arange(size), chosen)
        case = Case(everyone.take(inside), release, everyone.take(~inside))
        for finding in audit.run(case, np.random.default_rng(0)):
            results.setdefault(finding.name, []).append(finding)
    return results


def test_the_test_of_exposed_records_is_exact_over_every_labelling():
    """The broken twin takes its few from the training people alone, and counts them as if from all."""
    result = labellings(ExposedRecords(), 13, 4)["exposed records"]
    assert min(f.p for f in result) < 0.05
    assert valid([f.p for f in result])
    few = result[0].detail["fewest"]
    assert not valid([fisher(min(few, f.detail["hits"]), 4, few - min(few, f.detail["hits"]), 9) for f in result])


def test_the_tests_of_rare_values_are_exact_over_every_labelling():
    """The broken twin takes the most telling set of columns as if it were the only one."""
    result = labellings(RareValues(), 9, 4)
    assert all(valid([f.p for f in one]) for one in result.values())
    assert not all(valid([f.p / f.detail["tests"] for f in one]) for one in result.values())


def test_people_are_counted_and_not_their_rows():
    """One person with six rows, all copied, is one copy; six people with a row each are six."""
    train, control, fresh = tables(2)
    release = covert.handful(train, fresh, 6, np.random.default_rng(0), range(6))
    key = Column(name="who", kind=Kind.CATEGORY, domain=Levels(tuple(map(str, range(N)))))
    holder = np.r_[np.zeros(6, np.int32), np.arange(6, N, dtype=np.int32)]
    one = train.with_column(key, holder).held_by("who").select(train.schema.names)
    rest = control.with_column(key, np.arange(N, dtype=np.int32)).held_by("who").select(train.schema.names)
    several, single = (
        ExposedRecords().run(Case(ours, release, others), np.random.default_rng(0))[0]
        for ours, others in ((train, control), (one, rest))
    )
    assert (several.detail["hits"], single.detail["hits"]) == (6, 1)
    assert several.p is not None
    assert single.p is None


def test_a_default_audit_reports_the_copies():
    train, control, fresh = tables(1)
    report = ht.audit(train, covert.handful(train, fresh, 6, np.random.default_rng(0)), control, only=list(TESTS)[:2])
    assert [f.name for f in report.alarms] == ["exposed records"]
    assert {record.row for record in report.records if not record.weak}
