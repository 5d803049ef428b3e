"""The power study: it finds what a test can see, and says None where it sees nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from hushtable.audits import covert
from hushtable.audits.identifiers import PublishedIdentifiers
from hushtable.audits.power import SHARES, WHOLE, parts, power, summary, with_power
from hushtable.audits.text.verbatim import VerbatimTexts
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace, uncomputed
from hushtable.evidence.power import Power

N = 400


@dataclass(frozen=True, kw_only=True)
class Copies(Audit):
    """Who stands in the release; ``blind`` sees only as many as it is given."""

    blind: int = 0

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        ids = case.row_ids()
        ours, others = (np.isin(ids[who], ids["release"]) for who in ("train", "control"))
        if ours.sum() <= self.blind:
            ours = np.zeros_like(ours)
        trace = Trace(ours, others, np.arange(len(ours)), np.arange(len(others)))
        name = f"copies {self.blind}"
        result = judge(trace, Scenario(name=name, risk=Risk.SINGLING_OUT, knows="knows a row", does="finds it"), naive=None)
        bare = Finding(name="bare", value=0.0, better=Better.LOWER, subject=Subject.PRIVACY, n=1, note="no test")
        return [result, bare, uncomputed("never", 1, "a reason")] if not self.blind else [result]


@pytest.fixture(scope="module")
def case() -> Case:
    table = people(3 * N, seed=2)
    table = table.select(table.schema.released)
    train, control, fresh = (table.take(np.arange(i * N, (i + 1) * N)) for i in range(3))
    return Case(train, fresh, control)


def test_the_smallest_share_that_every_repeat_notices(case):
    # Fisher's p with k hits of 400 against 0 of 400 is about 2^-k: with two tests, 6 hits are noticed and 5 are not.
    result = power(case, {"sharp": Copies(), "dull": Copies(blind=30)}, shares=(0.005, 0.0125, 0.015, 0.05, 0.1))
    assert result == {("copies 0", ""): 0.015, ("copies 30", ""): 0.1, WHOLE: 0.015}


def test_more_tests_cost_power(case):
    many = {f"dull {i}": Copies(blind=1000 + i) for i in range(40)}
    alone, crowd = (power(case, {"sharp": Copies()} | more, shares=(0.0125, 0.03)) for more in ({}, many))
    assert alone["copies 0", ""] == 0.0125
    assert crowd["copies 0", ""] == 0.03
    assert crowd["copies 1000", ""] is None


def test_what_notices_nothing_says_none_and_stops_at_once(case):
    heard = []
    result = power(case, {"dull": Copies(blind=1000)}, progress=lambda name, share: heard.append(name))
    assert result == {("copies 1000", ""): None, WHOLE: None}
    assert heard == ["planted leaks: 0.1", "planted leaks"]


def test_a_share_counts_only_if_all_larger_ones_are_noticed(case):
    @dataclass(frozen=True, kw_only=True)
    class Whimsical(Copies):
        def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
            ids = case.row_ids()
            few = np.isin(ids["train"], ids["release"]).sum() < 15
            return (Copies() if few else Copies(blind=1000)).run(case, rng)[:1]

    assert power(case, {"odd": Whimsical()}, shares=(0.02, 0.1))[WHOLE] is None


def test_a_finding_that_missed_one_repeat_is_out_for_good(case):
    @dataclass(frozen=True, kw_only=True)
    class Absent(Audit):
        """Misses the second repeat of the largest share, and notices everything else."""

        calls: list[int] = field(default_factory=list)

        def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
            self.calls.append(1)
            p = 1.0 if len(self.calls) == 2 else 0.0
            plain = {"better": Better.LOWER, "subject": Subject.PRIVACY, "n": 1, "note": "told"}
            return [Finding(name="absent", value=0.0, p=p, **plain), Finding(name="present", value=0.0, p=0.0, **plain)]

    result = power(case, {"absent": Absent()}, shares=(0.05, 0.1))
    assert result == {("absent", ""): None, ("present", ""): 0.05, WHOLE: 0.05}


def test_the_same_seed_gives_the_same_answer(case):
    audits = {"sharp": Copies()}
    assert power(case, audits, seed=3, shares=(0.01, 0.02)) == power(case, audits, seed=3, shares=(0.02, 0.01))


def test_findings_carry_what_they_would_have_noticed(case):
    findings = Copies().run(case, np.random.default_rng(0))
    reported = with_power(findings, {("copies 0", ""): 0.01, ("bare", ""): 0.5, WHOLE: 0.01})
    assert [f.detectable for f in reported] == [0.01, None, None]
    assert [f.detectable for f in findings] == [None] * 3


def test_a_summary_counts_the_tests():
    power = summary({("a", ""): 0.01, ("a", "b"): 0.1, ("c", ""): None, WHOLE: 0.01})
    assert power == Power(shares=tuple(sorted(SHARES)), smallest=0.01, tests=3, noticed=(0, 1, 1, 1, 2))
    assert Power.from_json(power.to_json()) == power


def test_identifiers_and_texts_are_planted_where_there_are_any(case):
    rng = np.random.default_rng(0)
    audits = {"identifiers": PublishedIdentifiers(), "text-verbatim": VerbatimTexts()}
    known = Case(covert.named(case.train, rng), case.release, covert.named(case.control, rng))
    result = parts(known, audits, harness.run(known, audits), repeats=1)
    # Tests that reserve no error share most of it, as in every audit of many tests.
    assert result == {"an identifier digested": 0.05, "a text respelled": 0.025}
    assert parts(case, audits, harness.run(case, audits), repeats=1) == {}
    assert parts(known, {}, []) == {}


@pytest.mark.parametrize("knobs", [{"shares": ()}, {"shares": (0.0,)}, {"shares": (1.5,)}, {"repeats": 0}])
def test_a_study_of_nothing_is_refused(case, knobs):
    with pytest.raises(InputError):
        power(case, {"sharp": Copies()}, **knobs)
