"""Safe releases of people who hold several rows: an audit that counts people alarms as rarely as stated, by rows it does not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.audit import pick_audits
from hushtable.api.audit_report import AuditReport
from hushtable.audits.indicators import IdenticalMatches
from hushtable.audits.membership import Membership
from hushtable.audits.nearness import NearMatches
from hushtable.audits.planted import Noise, disturbed
from hushtable.audits.reconstruction import Reconstruction
from hushtable.audits.singling_out import SinglingOut
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Subject
from hushtable.table.table import Table

QUICK = ("linkability", "membership", "near-matches", "identical-matches", "control-seen")
NOISE = Noise(sigma=0.02, lam=0.05, p=0.01)
SOME = 120


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(3_000, seed=5)
    return table.select(table.schema.released)


def visits(table: Table, rng: np.random.Generator, noise: Noise = NOISE) -> Table:
    """Three to eight rows of each person, nearly alike."""
    persons = np.repeat(np.arange(table.rows), rng.integers(3, 9, table.rows))
    return replace(disturbed(table.take(persons), noise, rng, spread=table), persons=persons)


def parts(population: Table, seed: int, count: int = SOME) -> list[Table]:
    """Training, control and released rows of three times as many people, drawn independently."""
    rng = np.random.default_rng([seed, count])
    order = rng.permutation(population.rows)
    return [visits(population.take(order[i * count : (i + 1) * count]), rng) for i in range(3)]


def leaked(train: Table, fresh: Table, share: float) -> Table:
    """A release that holds the rows of this share of the training people in place of its own first."""
    first = train.persons < share * (train.persons.max() + 1), fresh.persons >= share * (fresh.persons.max() + 1)
    return Table.concat([part.take(rows) for part, rows in zip((train, fresh), first, strict=True)])


def audited(train: Table, release: Table, control: Table, only: tuple[str, ...] = QUICK) -> AuditReport:
    return ht.audit(train, release.held_by(None), control, only=only)


def counted(population: Table, runs: int, only: tuple[str, ...], *, by_person: bool) -> tuple[int, int]:
    """In how many runs there is an alarm, and how many are void."""
    collected = []
    for seed in range(runs):
        train, control, fresh = parts(population, seed)
        sides = (train, control) if by_person else (train.held_by(None), control.held_by(None))
        collected.append(audited(sides[0], fresh, sides[1], only))
    return sum(bool(report.alarms) for report in collected), sum(bool(report.void) for report in collected)


def test_a_safe_release_alarms_by_rows_and_not_by_people(population):
    assert counted(population, 3, QUICK, by_person=True) == (0, 0)
    assert counted(population, 3, QUICK, by_person=False)[0] >= 2


def test_rows_of_three_in_ten_people_are_found(population):
    for seed in range(2):
        train, control, fresh = parts(population, seed)
        report = audited(train, leaked(train, fresh, 0.3), control)
        assert {"published verbatim", "near matches"} <= {finding.name for finding in report.alarms}
        assert not report.void
        verbatim = next(f for f in report.findings if f.name == "published verbatim")
        assert (verbatim.detail["hits"], verbatim.n) == (0.3 * SOME, SOME)


@pytest.mark.nightly
def test_forty_safe_releases_alarm_as_rarely_as_stated(population):
    every = tuple(pick_audits(subject=Subject.PRIVACY))
    alarms, void = counted(population, 40, every, by_person=True)
    assert alarms <= 4
    assert void == 0
    assert counted(population, 10, every, by_person=False)[0] >= 8


class TestEveryLabelling:
    """All ways to call four of eight people the training people: p is at most x in a share x of them at most. By rows it is not."""

    everyone = visits(example(8, 5), np.random.default_rng(8), Noise(sigma=0.05, lam=1, p=0.1))
    release = visits(example(6, 6), np.random.default_rng(9), Noise(sigma=0.05, lam=1, p=0.1)).held_by(None)

    def values(self, audit: Audit, *, by_person: bool) -> dict[str, np.ndarray]:
        """For each test the p-values of all labellings."""
        table, result = self.everyone, {}
        for chosen in combinations(range(8), 4):
            ours = np.isin(table.persons, chosen)
            sides = [table.take(rows) if by_person else table.take(rows).held_by(None) for rows in (ours, ~ours)]
            for finding in audit.run(Case(sides[0], self.release, sides[1]), np.random.default_rng(0)):
                if finding.p is not None:
                    result.setdefault(finding.label, []).append(finding.p)
        return {label: np.array(p) for label, p in result.items()}

    @staticmethod
    def valid(p: np.ndarray) -> bool:
        return all((p <= x + 1e-12).mean() <= x + 1e-12 for x in np.unique(p))

    @pytest.mark.parametrize(
        "audit", [NearMatches(), IdenticalMatches(), Reconstruction(), SinglingOut(columns=(2, 3), exact=(3,))], ids=repr
    )
    def test_the_test_is_exact(self, audit):
        result = self.values(audit, by_person=True)
        assert result
        assert [label for label, p in result.items() if not self.valid(p)] == []

    def test_by_rows_it_is_not(self):
        result = self.values(NearMatches(), by_person=False)
        assert not any(map(self.valid, result.values()))


def test_half_of_the_control_people_are_the_reference_and_none_of_them_is_tested(population):
    train, control, fresh = parts(population, 0, 60)
    case = Case(train, fresh.held_by(None), control)
    for scores in Membership().scores(case, np.random.default_rng(0)):
        tested = np.unique(control.persons[scores.control_persons])
        assert len(tested) == 60 if not scores.remark else len(tested) <= 30
        by_person = scores.by_person(case)
        assert len(by_person.control) == len(np.unique(by_person.control_persons)) == len(tested)
