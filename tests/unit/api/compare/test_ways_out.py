"""Where nothing fits: advice for each condition that can work, and limits that so few rows cannot show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.api.compare.advice import _excluded
from hushtable.api.compare.axis import Axis
from hushtable.api.compare.caveats import Setting
from hushtable.api.compare.cell import WorstGain
from hushtable.api.compare.choice import judge
from hushtable.api.compare.enough import least_bound, rows_needed, upper_bound
from hushtable.api.compare.options import CompareOptions
from hushtable.api.compare.summary import worst_gain
from hushtable.api.compare.ways_out import ways_out
from tests.unit.api.compare.cells import attack, cell, gaining

SETTING = Setting(label="AUC for y", public=False, axis=Axis("a", "AUC for y", "", baseline=0.93), control=1000)


def advice(cells, *constraints, setting=SETTING):
    conditions = CompareOptions(constraints=constraints).conditions
    return " ".join(ways_out([judge(one, runs, conditions) for one, runs in cells], conditions, setting))


def tried(name, findings=None, **more):
    findings = findings or [attack(0.02)]
    return cell(name, **more, gain=worst_gain(findings)), [findings]


def test_a_limit_that_no_release_can_show_is_said_with_the_rows_that_would():
    finding = gaining(500, 1000, 500, 1000)
    told = advice([tried("aim epsilon=1", [finding], epsilon=1.0)], "max_gain<0.01")
    assert (
        "No release at all could keep it here: with 1,000 control rows an attack that succeeds on 50 of 100 people outside" in told
    )
    assert "has an upper bound of 4.4 of 100 even if it gains nothing" in told
    needed = rows_needed(worst_gain([finding]), 0.01, 1000)
    assert f"About {needed:,} control rows are needed (--hold-out, or more rows)" in told
    assert upper_bound(0.5, 0.5, needed) < 0.01 < upper_bound(0.5, 0.5, 0.9 * needed)


def test_gains_that_chance_explains_are_not_taken_for_leaks():
    finding = gaining(165, 1000, 130, 1000)
    told = advice([tried("aim epsilon=4", [finding], epsilon=4.0)], "max_gain<0.02")
    assert finding.gain.value > 0.02
    assert "No release at all could keep it here" in told
    assert "smaller epsilon" not in told
    needed = rows_needed(worst_gain([finding]), 0.02, 1000)
    assert needed > 4 * rows_needed(worst_gain([gaining(130, 1000, 130, 1000)]), 0.02, 1000) / 2, "the largest of many was lucky"
    wide = advice([tried("aim epsilon=4", [finding], epsilon=4.0)], "max_gain<0.05")
    assert "What attacks gained from 1 of 1 releases is no more than chance explains" in wide
    assert "control rows instead of 1,000 (--hold-out, or more rows) would show less" in wide


@pytest.mark.parametrize(("hits", "others", "rows"), [(0, 0, 300), (25, 25, 800), (700, 705, 1000), (2400, 2400, 2500)])
def test_rows_that_are_needed_follow_from_the_interval_itself(hits, others, rows):
    worst = worst_gain([gaining(hits, rows, others, rows)])
    assert least_bound(worst) == pytest.approx(upper_bound(others / rows, others / rows, rows), rel=0.02)
    for limit in (0.02, 0.002):
        needed = rows_needed(worst, limit, rows)
        assert upper_bound(others / rows, others / rows, 1.02 * needed) < limit
        assert upper_bound(others / rows, others / rows, 0.85 * needed) > limit


def test_where_attacks_did_gain_more_rows_are_not_advised():
    told = advice([tried("mdav k=5", [gaining(600, 1000, 100, 1000, p=0.001)], k=5.0)], "max_gain<0.05")
    assert "Attacks gained more than chance explains from every release, so more rows do not help." in told
    assert "--recipes aim,mst --epsilon 1" in told
    private = advice([tried("aim epsilon=2", [gaining(600, 1000, 100, 1000, p=0.001)], epsilon=2.0)], "max_gain<0.05")
    assert "Try a smaller epsilon than 2." in private


def test_a_residual_risk_that_is_hardly_known_is_better_asked_for_as_a_gain():
    finding = replace(gaining(981, 1000, 980, 1000), value=0.04, low=0.0, high=0.5)
    told = advice([tried("aim epsilon=1", [finding], epsilon=1.0)], "max_risk<0.05")
    assert "ask for the gain instead (max_gain<0.014 is kept by the nearest)" in told


def test_alarms_that_do_not_fall_with_k_are_said_not_to():
    cells = [(cell(f"mdav k={k}", k=float(k), alarms=n), [[attack(0.3, p=0.001)]]) for k, n in ((5, 65), (10, 64), (50, 60))]
    told = advice(cells)
    assert "alarms<1 is kept by none; the nearest is mdav k=50 with 60." in told
    assert "A larger k hardly helps mdav: it raises 65, 64 and 60 alarms at k = 5, 10 and 50." in told
    falling = [(cell(f"mdav k={k}", k=float(k), alarms=n), [[attack(0.3, p=0.001)]]) for k, n in ((5, 65), (50, 2))]
    assert "hardly helps" not in advice(falling)


@pytest.mark.parametrize(
    ("constraint", "match"),
    [
        ("epsilon<=0.5", "epsilon<=0.5 is kept by none; the nearest is aim epsilon=1 with 1. Try --epsilon 0.5."),
        ("k>=100", "k>=100 is kept by none; the nearest is mdav k=5 with 5. Try --recipes mdav --grid mdav.k=100."),
        ("score>=0.95", "The real rows themselves reach 0.930, so no release can be expected to keep it."),
        ("score>=0.92", "Only a weaker promise (a larger epsilon, a smaller k) or more rows keep more."),
        ("score>=0.8", "Measured it was 0.800, and only its lower bound is below"),
    ],
)
def test_each_condition_that_none_keeps_has_advice_of_its_own(constraint, match):
    assert match in advice([tried("aim epsilon=1", epsilon=1.0), tried("mdav k=5", k=5.0)], constraint)


def test_conditions_that_collide_are_named_with_who_keeps_them():
    told = advice([tried("aim epsilon=1", score=0.7, epsilon=1.0), tried("sequential", score=0.9)], "epsilon<=2", "score>=0.8")
    assert "Each condition is kept by some release, but all by none: epsilon<=2 by aim epsilon=1; score>=0.8 by sequential" in told
    assert "sequential fails epsilon<=2 alone" not in told, "it has no number of it"
    told = advice(
        [tried("aim epsilon=1", score=0.7, epsilon=1.0), tried("aim epsilon=4", score=0.9, epsilon=4.0)], "epsilon<=2", "score>=0.8"
    )
    assert "aim epsilon=1 fails score>=0.8 alone, with 0.698." in told


def test_the_worst_measured_gain_is_of_an_alarm_and_the_bound_of_any_attack_with_attempts_enough():
    leak, wide, small = gaining(300, 1000, 100, 1000, p=0.001), gaining(64, 150, 45, 150), gaining(800, 1000, 550, 1000)
    found = worst_gain([leak, replace(wide, name="wide guess"), small])
    assert (found.value, found.alarm, found.name) == (pytest.approx(0.2), True, "linkability")
    assert (found.bounded_by, found.widest) == ("linkability", small.gain.high)
    assert found.upper >= found.widest > wide.gain.high
    few = replace(gaining(4, 10, 3, 10), name="rare guess")
    assert few.gain.high > small.gain.high
    assert worst_gain([leak, few, small]).upper == worst_gain([leak, small]).upper, "ten attempts say nothing"
    calm = worst_gain([gaining(100, 1000, 120, 1000)])
    assert (calm.value, calm.alarm) == (0.0, False), "never negative"
    assert WorstGain.from_json(found.to_json()) == found
    assert worst_gain([attack(0.3)]) is None


def test_releases_that_leak_nothing_read_alike_and_conditions_go_by_their_own_bounds():
    lucky, unlucky = (worst_gain([gaining(hits, 1000, 300, 1000) for _ in range(40)]) for hits in (290, 305))
    assert lucky.upper == unlucky.upper, "what an audit of this size reads where nothing leaks"
    assert lucky.widest < unlucky.widest < lucky.upper
    assert "an audit of this size cannot exclude" in _excluded(lucky)
    assert "the largest upper bound" in _excluded(replace(lucky, high=lucky.widest))
