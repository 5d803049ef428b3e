"""Risk per group: rates of those attacked in the group and nobody else, corrected for all groups and attacks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, holm, residual_risk, wilson
from hushtable.evidence.finding import Finding, Risk, Trace
from hushtable.evidence.groups import QUARTERS, Groups, by_group
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def table(sex: list[int], age: list[int], levels: tuple[str, ...] = ("f", "m", "x")) -> Table:
    columns = (
        Column(name="sex", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(levels)),
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 100)),
        Column(name="shoe", kind=Kind.CATEGORY, role=Role.PLAIN, domain=Levels(("a", "b"))),
    )
    return Table(
        Schema(columns),
        {"sex": np.array(sex, np.int32), "age": np.array(age, np.int64), "shoe": np.arange(len(sex), dtype=np.int32) % 2},
    )


@pytest.fixture
def case() -> Case:
    """400 training rows and 200 control rows, whose levels are written in another order; five people of a third sex."""
    train = table([0] * 200 + [1] * 195 + [2] * 5, list(range(100)) * 4)
    control = table([1] * 100 + [2] * 98 + [-1] * 2, list(range(100)) * 2, ("x", "m", "f"))
    return Case(train, train.take(np.arange(10)), control)


def attack(train, control, whom=None, others=None, name="attack") -> Finding:
    persons = np.arange(len(train)) if whom is None else whom
    outside = np.arange(len(control)) if others is None else others
    trace = Trace(np.asarray(train, bool), np.asarray(control, bool), persons, outside)
    return judge(trace, Scenario(name=name, risk=Risk.INFERENCE, knows="x", does="y"), naive=None)


def test_a_leak_in_one_group_is_found_there(case: Case):
    hit = np.zeros(400, bool)
    hit[:60] = True
    result = by_group(case, [attack(hit, np.zeros(200, bool))])
    worst = result.worst[0]
    assert (worst.column, worst.level, worst.attacked, worst.control_attacked) == ("sex", "f", 200, 98)
    assert worst.rate == 0.3
    risk = residual_risk(wilson(60, 200), wilson(0, 98))
    assert (worst.value, worst.low, worst.high) == pytest.approx((risk.value, risk.low, risk.high))
    men = next(g for g in result.worst if g.level == "m")
    assert (men.rate, men.control_attacked, men.p_adjusted) == (0, 100, 1.0)


def test_small_groups_are_left_out_and_counted_and_columns_without_a_role_are_not_looked_at(case: Case):
    result = by_group(case, [attack(np.ones(400, bool), np.zeros(200, bool))])
    assert {(g.column, g.level) for g in result.worst} == {("sex", "f"), ("sex", "m"), *(("age", q) for q in QUARTERS)}
    assert result.left_out == 1, "the third sex; the missing occur outside the table only"
    assert result.tested == result.alarms == 6


def test_a_group_needs_enough_people_on_both_sides(case: Case):
    few = np.arange(90, 110)
    result = by_group(case, [attack(np.ones(400, bool), np.zeros(20, bool), others=few)])
    assert {g.column for g in result.worst} == set(), "ten men and ten women outside, and five to ten of each quarter"
    assert result.left_out == 7


def test_denominators_are_those_attacked_in_the_group(case: Case):
    whom, others = np.arange(0, 400, 2), np.arange(0, 200, 4)
    result = by_group(case, [attack(np.ones(200, bool), np.ones(50, bool), whom, others)])
    men = next(g for g in result.worst if g.level == "m")
    assert (men.attacked, men.control_attacked) == (98, 25)
    assert men.control_rate == 1.0, "25 of 25 attacked, not 25 of the 100 in the group"


def test_all_groups_and_attacks_are_corrected_together(case: Case):
    rng = np.random.default_rng(0)
    findings = [attack(rng.random(400) < 0.5, rng.random(200) < 0.3, name=str(i)) for i in range(3)]
    alone = [g for f in findings for g in by_group(case, [f]).worst]
    for g in alone:
        hits, others = round(g.rate * g.attacked), round(g.control_rate * g.control_attacked)
        exact = fisher(hits, g.attacked, others, g.control_attacked)
        assert g.p == (pytest.approx(exact) if g.rate > g.control_rate else 1.0)
        assert g.p >= exact - 1e-12
    corrected = {(g.name, g.column, g.level): p for g, p in zip(alone, holm([g.p for g in alone]), strict=True)}
    result = by_group(case, findings)
    assert result.tested == len(alone) == 18
    assert [g.p_adjusted for g in result.worst] == pytest.approx([corrected[g.name, g.column, g.level] for g in result.worst])
    assert result.alarms == sum(p <= 0.05 for p in corrected.values())


def test_each_group_stands_once_with_the_worst_attack_on_it_and_what_is_surely_gained_orders_them(case: Case):
    women = np.arange(400) < 200
    sharp, blunt = attack(women & (np.arange(400) % 2 == 0), np.zeros(200, bool), name="sharp"), attack(women, np.zeros(200, bool))
    result = by_group(case, [sharp, blunt])
    assert len({(g.column, g.level) for g in result.worst}) == len(result.worst) == 6
    assert {g.name for g in result.worst if g.p_adjusted <= 0.05} == {"attack"}
    lows = [g.low for g in result.worst if g.p_adjusted <= 0.05]
    assert lows == sorted(lows, reverse=True)
    assert result.worst[0].level == "f"
    assert result.worst[0].whole == blunt.value
    assert len(by_group(case, [sharp, blunt], most=4).worst) == 4


def test_attacks_that_are_not_on_people_one_by_one_have_no_groups(case: Case):
    nobody = np.full(400, -1)
    twice = np.zeros(400, np.int64)
    findings = [attack(np.ones(400, bool), np.zeros(200, bool), whom) for whom in (nobody, twice)]
    measured = Finding(name="k", value=3.0, better="higher", subject="privacy", n=1, note="")
    assert by_group(case, [*findings, measured]) == Groups()


def test_alike_people_raise_no_alarm_more_often_than_stated(case: Case):
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(60):
        alarms += by_group(case, [attack(rng.random(400) < 0.3, rng.random(200) < 0.3) for _ in range(3)]).alarms > 0
    assert alarms <= 8, "3 are expected at most; more than 8 happen once in a hundred"
    leaky = by_group(case, [attack(rng.random(400) < 0.45, rng.random(200) < 0.3)])
    assert leaky.alarms > 0, "the same check sees a leak"


def test_it_is_plain_and_quiet(case: Case):
    groups = by_group(case, [attack(np.ones(400, bool), np.zeros(200, bool))])
    assert groups.worst
    assert Groups.from_json(json.loads(json.dumps(groups.to_json()))) == groups
