"""The words of a recommendation and its command say the same, and a proof that is taken is never said to be worth nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.api.compare.advice import recommend
from hushtable.api.compare.axis import Axis
from hushtable.api.compare.caveats import Setting
from hushtable.api.compare.cell import Miss, WorstGain
from hushtable.api.compare.making import Making, Way
from hushtable.api.compare.options import CompareOptions
from tests.unit.api.compare.cells import cell, measured

SETTING = Setting(label="AUC for y", public=False, private=("aim", "mst"), payable=("aim", "mst"), runs=2, budgets=3)
AIM = [
    cell(f"aim epsilon={e:g}", s, 0.05, epsilon=e, settings={"epsilon": f"{e:g}"})
    for e, s in ((0.5, 0.80), (1.0, 0.86), (4.0, 0.864))
]
MST = cell("mst epsilon=1", 0.83, 0.05, epsilon=1.0, settings={"epsilon": "1"})


def advise(cells, setting, *constraints):
    conditions = CompareOptions(constraints=constraints).conditions
    return recommend(cells, conditions, setting, {c.id: f"recipes/{c.id}.yaml" for c in cells})


@pytest.mark.parametrize(
    ("cells", "setting", "headline", "command"),
    [
        ([*AIM, MST], SETTING, "Take the best of a few releases by aim or mst", "--best-of aim,mst --epsilon EPSILON "),
        ([*AIM, MST], replace(SETTING, budgets=1), "(--best-of), at epsilon 1;", "--best-of aim,mst --epsilon 1 "),
        (AIM, replace(SETTING, payable=("aim",)), "Take aim with epsilon set by policy", "--recipe aim --epsilon EPSILON "),
        (AIM[1:2], replace(SETTING, payable=("aim",), budgets=1), "Take aim epsilon=1.", "--recipe aim --epsilon 1 "),
        ([replace(MST, recipe="dp-merf"), AIM[0]], SETTING, "Choose on public rows (--public)", "--recipes aim,mst --public"),
        ([*AIM, MST], replace(SETTING, payable=()), "Choose on public rows (--public)", "--recipes aim,mst --public"),
        ([*AIM, MST], replace(SETTING, public=True), "Take aim epsilon=1.", "--recipe 'recipes/aim epsilon=1.yaml' --epsilon 1 "),
        ([cell("mdav k=5", 0.9, k=5.0)], SETTING, "Take mdav k=5.", "--recipe 'recipes/mdav k=5.yaml' --out"),
    ],
)  # fmt: skip
def test_what_is_recommended_is_what_the_command_makes(cells, setting, headline, command):
    told = advise(cells, setting)
    assert headline in told.words[0]
    assert command in told.command
    everything = " ".join((*told.words, *told.why, *told.caveats)).lower()
    assert "nothing is proven" not in everything
    assert "proves nothing" not in everything


def test_a_proof_that_is_taken_is_kept_by_the_command_and_the_reason_is_said_once():
    told = advise([*AIM, MST], SETTING)
    assert told.made == "Made so, that epsilon is proven, the choice between them included."
    assert sum("is not free" in text for text in told.caveats) == 1
    assert "The command here keeps the proof" in told.caveats[0]
    assert told.caveats[1].startswith(
        "Three ways keep a proof. (1) As the command here does, pay for the choice: --best-of aim,mst"
    )
    nothing = advise([replace(one, fits=False) for one in (*AIM, MST)], SETTING)
    assert nothing.command == ""
    assert "command here" not in " ".join(nothing.caveats)


def test_knobs_that_were_tried_with_several_values_are_left_open_and_one_is_written():
    def tried(rounds, epsilon):
        return cell(f"aim r={rounds}", 0.8, epsilon=epsilon, settings={"rounds": rounds, "size": "3", "epsilon": "1"})

    making = Making.of(tried("10", 1.0), [tried("10", 1.0), tried("20", 1.0)], replace(SETTING, payable=("aim",)), "")
    assert making.way is Way.NAME
    assert making.headline.startswith("Take aim with rounds and epsilon set by policy;")
    assert "--set rounds=ROUNDS --set size=3 --epsilon EPSILON" in making.command
    assert making.command.endswith("# set ROUNDS and EPSILON by policy, not by what was measured here")


def test_the_trade_is_told_both_ways():
    told = " ".join(advise([*AIM, MST], SETTING).why)
    assert "knee of what was tried" in told
    assert (
        "aim epsilon=4 would add 0.004 of AUC for y (within noise) and allow what is concluded about a person to become 54.6 times "
        "as likely instead of 2.72 times."
    ) in told
    assert "aim epsilon=0.5 would cost 0.060 of AUC for y." in told
    ks = [cell(f"mdav k={k}", s, 0.05, k=float(k)) for k, s in ((5, 0.91), (10, 0.90), (50, 0.80))]
    told = " ".join(advise(ks, SETTING).why)
    assert "mdav k=5 would add 0.010 of AUC for y (within noise) and hide each person among 5 instead of 10." in told
    assert "mdav k=50 would cost 0.100" in told


def test_an_alternative_with_alarms_is_told_with_what_attacks_gain_from_it():
    leak = cell("mdav k=5", 0.95, k=5.0, alarms=9, fits=False, gain=WorstGain(0.98, 0.9, 0.99, "linkability", alarm=True),
                misses=(Miss("alarms", "9 of 10 tests raise an alarm"),))  # fmt: skip
    (other,) = [one.words for one in advise([*AIM, MST, leak], SETTING).others if one.id == leak.id]
    assert other.endswith("(alarms: 9 of 10 tests raise an alarm), and attacks gain 98 of 100 people")


def test_the_use_for_which_it_is_worst_is_named():
    axis = Axis("a score", "AUC for y", "", baseline=0.93)
    better = replace(MST, measures=measured(0.02, 0.0))
    taken = replace(AIM[1], measures=measured(0.03, 0.4))
    told = " ".join(advise([taken, better], replace(SETTING, axis=axis)).why)
    assert (
        "Its weakest point is rules broken: 0.400, where the best that was tried, mst epsilon=1, has 0.000; fresh real rows have "
        "0.001." in told
    )
    same = replace(MST, measures=taken.measures, score=taken.score)
    assert "It is worst" not in " ".join(advise([taken, same], replace(SETTING, axis=axis)).why)
    assert "It is worst" not in " ".join(advise([AIM[1]], replace(SETTING, axis=axis)).why), "one alone has no worst"
