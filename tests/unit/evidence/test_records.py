"""Risk per record: the attributable share by hand, the order, what is weak, and that values stay out unless asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hushtable.data.people import people
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import wilson
from hushtable.evidence.finding import Finding, Risk, Trace
from hushtable.evidence.records import Record, Tail, at_risk, riskiest


def attack(train, control, name="attack", p=1e-9, persons=None, **more) -> Finding:
    train, control = np.asarray(train, bool), np.asarray(control, bool)
    whom = np.arange(len(train)) if persons is None else np.asarray(persons)
    trace = Trace(train, control, whom, np.arange(len(control)), **more)
    result = judge(trace, Scenario(name=name, risk=Risk.SINGLING_OUT, knows="x", does="y"), naive=None)
    return replace(result, p_adjusted=p)


def bits(size: int, *hit: int) -> np.ndarray:
    result = np.zeros(size, bool)
    result[list(hit)] = True
    return result


def test_a_record_risks_the_share_of_hits_that_chance_does_not_owe():
    ours, others = np.arange(1000) < 200, np.arange(1000) < 50
    record = riskiest([attack(ours, others)], 1)[0]
    expected = 1 - wilson(50, 1000).high / wilson(200, 1000).low
    assert record.risk == pytest.approx(expected, abs=1e-12)
    assert 0.6 < expected < 0.75, "the bare counts say 0.75; the lower bound says less"
    assert record.row == 1
    assert not record.weak


def test_few_hits_do_not_shout():
    few, many = (riskiest([attack(np.arange(n) < n // 50, bits(n))], 1)[0].risk for n in (100, 10_000))
    assert few < 0.1
    assert many > 0.95


def test_the_largest_share_counts_then_the_number_of_attacks_then_the_row():
    blunt = attack(np.arange(1000) < 500, np.arange(1000) < 300, "blunt")
    sharp = attack(bits(1000, *range(5, 45)), bits(1000), "sharp")
    again = attack(bits(1000, *range(40, 80)), bits(1000), "again")
    result = riskiest([blunt, sharp, again], 1000)
    assert [r.row - 1 for r in result[:5]] == [40, 41, 42, 43, 44], "three attacks"
    assert [r.row - 1 for r in result[5:40]] == list(range(5, 40)), "two attacks, as sure"
    assert result[75].row == 1
    assert result[75].risk < result[0].risk
    assert [hit.name for hit in result[0].attacks] == ["sharp", "again", "blunt"]
    assert len(result) == 500


def test_one_sure_attack_outweighs_many_blunt_ones():
    blunt = [attack(np.arange(1000) < 500, np.arange(1000) < 300, str(i)) for i in range(5)]
    sharp = attack(bits(1000, *range(900, 940)), bits(1000), "sharp")
    assert riskiest([*blunt, sharp], 1)[0].row == 901


def test_what_chance_explains_is_weak_and_comes_last_or_not_at_all():
    sure = attack(np.arange(1000) < 200, np.arange(1000) < 50, "sure")
    rare = attack(bits(1000, 0, 900, 901), bits(1000), "rare", p=0.2)
    common = attack(np.arange(1000) < 810, np.arange(1000) < 800, "common", p=0.9)
    untested = attack(bits(1000, 950), bits(1000), "untested", p=None)
    result = riskiest([sure, rare, common, untested], 1000)
    assert [r.row - 1 for r in result if r.weak] == [900, 901, 950]
    assert all(r.risk == 0 for r in result[-3:])
    assert [(h.name, h.weak) for h in result[0].attacks] == [("sure", False), ("rare", True)]


def test_several_attempts_on_one_person_are_one_hit_and_those_on_nobody_none():
    hits = [True, True, False, True, True]
    result = riskiest([attack(hits, [False] * 500, persons=[7, 7, 7, -1, 3], released=np.array([4, 5, 6, 7, -1]))])
    assert {r.row: r.attacks[0].released for r in result} == {8: 5, 4: None}
    assert all(len(r.attacks) == 1 for r in result)


def test_values_are_shown_only_if_asked_for():
    def describe(attempt: int, values: bool) -> str:
        return f"age = {attempt + 40}" if values else "age"

    finding = attack(np.arange(100) < 30, bits(100), describe=describe)
    assert {r.attacks[0].description for r in riskiest([finding])} == {"age"}
    assert riskiest([finding], 1, values=True)[0].attacks[0].description == "age = 40"


def test_nothing_to_show():
    blind = Finding(name="x", value=None, better="lower", subject="privacy", n=3, note="why")
    assert riskiest([]) == riskiest([blind, attack(bits(10), bits(10))]) == []
    assert riskiest([attack(bits(10, 2), bits(0))]) != [], "no control: hit, but nothing is sure"
    assert riskiest([attack(bits(10, 2), bits(0))])[0].risk == 0


def test_the_ranking_equals_the_plain_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, m = rng.integers(5, 60, 2)
        findings = []
        for number in range(rng.integers(1, 6)):
            size = rng.integers(1, 80)
            train, control = rng.random(size) < rng.random(), rng.random(m) < rng.random() / 2
            findings.append(attack(train, control, str(number), rng.choice([0.01, 0.5]), rng.integers(-1, n, size)))
        result = riskiest(findings, 1000)
        assert [(r.row, round(r.risk, 9), len(r.attacks)) for r in result] == plain(findings, n)


def plain(findings: list[Finding], people: int) -> list[tuple[int, float, int]]:
    scored = []
    for row in range(people):
        risk, sure, guess, count = 0.0, 0, 0.0, 0
        for f in findings:
            t, c = f.trace.train, f.trace.control
            if not any(t[i] for i in range(len(t)) if f.trace.persons[i] == row):
                continue
            estimate = max(0.0, 1 - c.mean() / t.mean())
            if f.p_adjusted <= 0.05:
                low = wilson(int(t.sum()), len(t)).low
                risk, sure = max(risk, 1 - wilson(int(c.sum()), len(c)).high / low), sure + 1
            elif estimate <= 0.5:
                continue
            guess, count = max(guess, estimate, 1e-12), count + 1
        if count:
            scored.append((-risk, -sure, -guess, row, count))
    return [(row + 1, round(-risk, 9), count) for risk, _, _, row, count in sorted(scored)]


@pytest.fixture(scope="module")
def case() -> Case:
    table = people(5020, 0)
    return Case(*(table.take(np.arange(a, b)) for a, b in ((0, 3000), (3000, 3020), (3020, 5020))))


def test_people_outside_say_how_much_of_the_tail_is_chance(case: Case):
    rng = np.random.default_rng(1)
    leaked = np.arange(3000) < 150
    findings = []
    for number in range(20):
        t, c = rng.random(3000) < 0.01, rng.random(2000) < 0.01
        findings.append(attack(t | leaked, c, str(number)))
    half, most = at_risk(case, findings, (0.5, 0.9))
    assert half.people > 300, "the largest of twenty risks promises too much"
    assert half.people - half.chance == pytest.approx(150, abs=60)
    assert most.people <= half.people
    assert [Tail.from_json(json.loads(json.dumps(tail.to_json()))) for tail in (half, most)] == [half, most]
    records = riskiest(findings)
    assert [Record.from_json(json.loads(json.dumps(record.to_json()))) for record in records] == records


def test_attacks_on_some_only_are_not_counted_in_the_tail(case: Case):
    trace = Trace(np.ones(50, bool), np.zeros(2000, bool), np.arange(50), np.arange(2000))
    some = replace(judge(trace, Scenario(name="x", risk=Risk.SINGLING_OUT, knows="", does=""), naive=None), p_adjusted=1e-9)
    assert [t.people for t in at_risk(case, [some])] == [0, 0]
    assert [t.people for t in at_risk(case, [])] == [0, 0]
