"""The choice: the front, the order, and a recommendation that follows the constraints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.api.compare.advice import recommend
from hushtable.api.compare.caveats import Setting
from hushtable.api.compare.cell import GAP, Miss, MissKind, Score, WorstAttack
from hushtable.api.compare.choice import chosen, front, judge, ranked
from hushtable.api.compare.options import CompareOptions
from hushtable.privacy.guarantee import PROVISO
from hushtable.privacy.unit import Relation, Unit
from tests.unit.api.compare.cells import attack, cell

SETTING = Setting(label="AUC for y", public=False, payable=("aim", "mst"), runs=2, rows=10, whole=10)
STEPS = st.integers(0, 4).map(lambda x: x / 4)
ASKED = CompareOptions(constraints=["score>=0"]).conditions
"""With a condition the best score decides."""


@given(st.lists(st.tuples(STEPS, STEPS, st.booleans()), min_size=1, max_size=12))
def test_the_front_is_what_no_other_beats(points):
    cells = [cell(str(i), score, risk, void=("swapped",) * void) for i, (score, risk, void) in enumerate(points)]
    valid = [(c.id, s, r) for c, (s, r, void) in zip(cells, points, strict=True) if not void]
    expected = {
        name
        for name, score, risk in valid
        if not any(s >= score and r <= risk and (s > score or r < risk) for _, s, r in valid)
    }  # fmt: skip
    assert set(front(cells)) == expected
    assert bool(expected) == bool(valid)


def test_equal_cells_are_on_the_front_together_and_cells_without_a_number_never():
    cells = [cell("a", 0.8, 0.1), cell("b", 0.8, 0.1), cell("c", 0.7, 0.1), cell("d", None, 0.0), cell("e", 0.9, None)]
    assert front(cells) == ["a", "b"]


def test_the_best_score_of_those_that_fit_is_taken():
    cells = [cell("a", 0.9, fits=False, misses=(Miss("x", "why"),)), cell("b", 0.8), cell("c", 0.7)]
    assert [one.id for one in chosen(cells, ASKED)] == ["b", "b"]


def test_stronger_evidence_decides_only_where_scores_cannot_be_told_apart():
    none, verified, proven = cell("none", 0.9), cell("k", 0.893, k=10.0), cell("dp", 0.88, epsilon=1.0)
    assert chosen([none, verified, proven], ASKED)[0].id == "k"
    wide = cell("dp", 0.88, epsilon=1.0, width=0.03)
    assert chosen([none, verified, wide], ASKED)[0].id == "dp"
    far = cell("dp", 0.6, epsilon=1.0, width=0.4)
    assert chosen([none, verified, far], ASKED)[0].id == "k"
    claimed = cell("claim", 0.899, kind="claimed")
    assert chosen([none, claimed], ASKED)[0].id == "none"


def test_within_a_kind_the_stricter_promise_is_taken_if_it_costs_nothing():
    assert chosen([cell("a", 0.9, epsilon=4.0), cell("b", 0.895, epsilon=1.0)], ASKED)[0].id == "b"
    assert chosen([cell("a", 0.9, k=5.0), cell("b", 0.895, k=50.0), cell("c", 0.7, k=100.0)], ASKED)[0].id == "b"


def test_cells_that_fail_are_last_and_those_that_do_not_fit_before_them():
    failed = cell("failed", None, None, failed="why", fits=False)
    cells = [failed, cell("misses", 0.99, fits=False, misses=(Miss("x", "why"),)), cell("low", 0.5), cell("high", 0.8)]
    order = ranked(cells, cells[2])
    assert [c.id for c in order] == ["low", "high", "misses", "failed"]
    assert [c.rank for c in order] == [1, 2, 3, 4]


def test_a_void_audit_fits_nothing():
    told = judge(cell("a", void=("control rows equal training rows",)), [[attack(0.01)]], conditions([]))
    assert not told.fits
    assert told.misses == (Miss("valid audit", "control rows equal training rows", MissKind.VOID),)


def conditions(texts):
    return CompareOptions(constraints=texts).conditions


def advice(cells, *constraints, setting=SETTING):
    asked = conditions(constraints)
    cells = [judge(c, [[attack(c.risk.upper)]], asked) for c in cells]
    return recommend(cells, asked, setting, {c.id: f"recipes/{c.id}.yaml" for c in cells})


CELLS = [
    cell("sequential", 0.92, 0.30),
    cell("mdav k=5", 0.90, 0.12, k=5.0),
    cell("mdav k=50", 0.86, 0.04, k=50.0),
    cell("aim epsilon=4", 0.88, 0.03, epsilon=4.0),
    cell("aim epsilon=1", 0.84, 0.02, epsilon=1.0),
]


def test_the_recommendation_follows_the_constraints():
    expected = {
        (): "aim epsilon=4",
        ("alarms<5",): "aim epsilon=4",
        ("score>=0.5",): "sequential",
        ("max_risk<0.2",): "mdav k=5",
        ("max_risk<0.05",): "aim epsilon=4",
        ("max_risk<0.05", "k>=10"): "mdav k=50",
        ("epsilon<=2",): "aim epsilon=1",
        ("promise=verified",): "mdav k=5",
        ("promise=proven",): "aim epsilon=4",
        ("epsilon<=2", "score>=0.9"): None,
    }
    assert {given: advice(CELLS, *given).id for given in expected} == expected


def test_a_choice_among_private_recipes_is_told_to_be_unpaid_with_three_ways_out():
    told = advice(CELLS, "promise=proven")
    words = " ".join(told.caveats)
    assert "not free" in words
    assert "tuned: private" in words
    assert [f"({i}) " in words for i in (1, 2, 3)] == [True] * 3
    assert "--best-of aim,mst" in told.command
    assert "--recipe" not in told.command
    public = advice(CELLS, "promise=proven", setting=Setting(label="AUC", public=True, runs=2))
    assert "To keep a proof" not in " ".join(public.caveats)
    assert "--recipe 'recipes/aim epsilon=4.yaml' --epsilon 4" in public.command


def test_no_command_carries_an_epsilon_that_was_chosen_by_looking():
    command = advice(CELLS, "promise=proven").command
    assert "--epsilon EPSILON " in command
    assert command.endswith("# set EPSILON by policy, not by what was measured here")
    named = advice(CELLS[:-1], "promise=proven", setting=replace(SETTING, budgets=1)).command
    assert "--epsilon 4 " in named
    assert "#" not in named


def test_a_single_private_recipe_is_not_paid_for_but_named_beforehand():
    told = advice(CELLS, "promise=proven", setting=replace(SETTING, payable=("aim",)))
    assert told.words[0] == "Take aim with epsilon set by policy; here aim epsilon=4 is the best trade."
    assert "--recipe aim --epsilon EPSILON " in told.command
    assert "--best-of aim" not in " ".join(told.caveats)
    assert any("name it beforehand" in text for text in told.caveats)


PROVEN = cell("aim epsilon=1", 0.84, 0.02, epsilon=1.0, promise=f"epsilon 1 ({PROVISO}); k-anonymity (verified)")


def test_proven_never_stands_alone_where_rows_are_private():
    told = advice([CELLS[1], PROVEN], "promise=proven")
    assert told.words[-1] == f"It promises epsilon 1 ({PROVISO}); k-anonymity (verified)."
    assert "not free" in told.caveats[0]
    other = advice([CELLS[1], PROVEN], "k>=2")
    assert other.id == "mdav k=5"
    assert PROVISO in other.words[-1]
    assert PROVISO in other.others[0].words
    assert "not free" in other.caveats[0]
    nearest = advice([PROVEN], "max_risk<0.001")
    assert PROVISO in nearest.words[-1]
    assert any("not free" in text for text in nearest.caveats)
    public = advice([CELLS[1], PROVEN], "promise=proven", setting=replace(SETTING, public=True))
    assert not any("below" in text for text in public.words)
    assert not any("not free" in text for text in public.caveats)


def test_a_claim_promises_nothing_and_its_gap_and_its_certified_twin_are_told():
    claim = "nothing; its source claims differential privacy, which is not proven (epsilon is infinite)"
    one = cell("beta-k-eps k=5", kind="claimed", promise=claim, notes=("fine",), gaps=("a query is not paid for", "another"))
    told = advice([one])
    assert f"It promises {claim}." in told.words
    assert list(told.caveats[:2]) == [
        f"{GAP}a query is not paid for (1 more in its notes).",
        "beta-k-eps-certified is hushtable's variant with a proof that holds.",
    ]  # fmt: skip
    assert not any("certified" in text for text in advice([replace(one, recipe="frechet")]).caveats)


def test_whom_the_release_protects_is_in_the_command():
    unit = Unit(relation=Relation.REPLACE_ONE, rows=3, by="patient")
    command = advice(CELLS, "k>=2", setting=replace(SETTING, unit=unit)).command
    assert "--relation replace_one --person patient --rows-per-person 3 --out" in command
    assert "--relation" not in advice(CELLS, "k>=2").command


def test_a_key_that_repeats_is_told_with_the_remedy():
    told = advice(CELLS, "k>=2", setting=replace(SETTING, repeated="patient"))
    assert any("both sides of the split" in text and "--person patient --rows-per-person N" in text for text in told.caveats)
    assert not any("--person" in text for text in advice(CELLS, "k>=2").caveats)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"risk": WorstAttack(0.0, 0.0, 0.9, "an attack")}, "Its residual risk is hardly known: 0 of 100 people were measured"),
        ({"score": Score(0.8, 0.5, 0.9)}, "Its score is hardly known: 0.800 (0.500 to 0.900)"),
        ({"score": Score(0.5, 0.4, 0.55)}, "Its score is no better than guessing, whose AUC for y is 0.5"),
    ],
)
def test_what_is_hardly_known_or_no_better_than_guessing_is_called_so(changed, match):
    setting = replace(SETTING, guess=0.5)
    assert any(text.startswith(match) for text in advice([replace(cell("a"), **changed)], setting=setting).caveats)
    assert not any(text.startswith("Its ") for text in advice([cell("a")], setting=setting).caveats)


def test_a_cost_is_told_only_where_the_intervals_are_apart():
    told = advice([cell("sequential", 0.9, width=0.02), cell("mdav k=5", 0.88, k=5.0, width=0.02)])
    (other,) = [one.words for one in told.others]
    assert "cannot be distinguished" in other
    assert "costs" not in other
    assert "gains" not in other


def test_where_nothing_fits_only_what_would_help_is_advised():
    one = [cell("a", 0.9, 0.3)]
    told = advice(one, "max_risk<0.05", setting=replace(SETTING, rows=5))
    words = " ".join(told.caveats)
    assert "--search" not in words, "it halves a gap between what fits and what does not, and nothing fits"
    assert "more rows do not help" in words
    assert "Only 5 of 10 rows were used" in words
    assert all(text.startswith("Of the nearest release, ") for text in told.why)


def test_choosing_k_by_looking_voids_nothing_and_evidence_is_kept_apart():
    told = advice(CELLS[:3], "k>=2")
    assert told.id == "mdav k=5"
    words = " ".join(told.caveats)
    assert "does not void it" in words
    assert "no alarm is no proof" in words
    assert "To keep a proof" not in words


def test_where_no_k_of_the_release_is_verified_nothing_of_the_kind_is_said():
    derived = cell(
        "mdav-sequential k=5", kind="verified", promise="k-anonymity with k = 5, of the table it was made from (verified)"
    )
    words = " ".join(advice([derived], "promise=verified").caveats)
    assert "no k-anonymity of the release" in words
    assert "measured on the release itself" not in words


@pytest.mark.parametrize("constraint", ["k>=2", "alarms<99"])
def test_what_no_attack_was_tested_on_never_fits(constraint):
    told = judge(cell("a", k=5.0, tests=0), [[]], conditions([constraint]))
    assert told.misses == (Miss("alarms", "nothing was tested, so it is not known to hold", MissKind.UNKNOWN),)


def test_what_many_audits_do_to_safe_releases_is_told_where_alarms_excluded_some():
    cells = [cell("a", runs=3), cell("b", runs=3)]
    runs = {"a": [[attack(0.02)]], "b": [[attack(0.02, p=0.01)]]}
    for excluded in ({"b"}, {"a", "b"}):
        judged = [judge(c, runs["b" if c.id in excluded else "a"], conditions([])) for c in cells]
        told = recommend(judged, conditions([]), SETTING, {})
        assert told.id == (None if "a" in excluded else "a")
        assert [text for text in told.caveats if "One audit in twenty" in text and "the 6 audits here" in text]
    assert not any("twenty" in text for text in advice([cell("a")]).caveats)


def test_alarms_that_the_constraints_allow_are_told_first():
    told = advice([cell("a", 0.9, 0.04, alarms=3)], "max_risk<0.05")
    assert told.id == "a"
    assert told.caveats[0].startswith("3 of 10 tests raise an alarm")
    assert not any("raise an alarm" in text for text in advice([cell("a", 0.9, 0.04)], "max_risk<0.05").caveats)


def test_what_another_promise_costs_is_told():
    others = {one.id: one.words for one in advice(CELLS, "k>=2").others}
    assert others["aim epsilon=4"].startswith("if you need a proof (differential privacy): aim epsilon=4 costs 0.020 of AUC for y")
    assert "fails a condition (k: no k over all quasi-identifiers is verified" in others["aim epsilon=4"]
    assert "gains 0.020" in others["sequential"]
    assert others["mdav k=50"].startswith("if you need a stricter promise: mdav k=50 costs 0.040")


def test_why_says_that_evidence_decided():
    cells = [cell("sequential", 0.9, 0.01), cell("mdav k=5", 0.895, 0.01, k=5.0)]
    told = advice(cells, "score>=0.5")
    assert told.id == "mdav k=5"
    assert any("cannot be distinguished from" in why and "is verified, and that one's is none" in why for why in told.why)


def test_where_nothing_fits_the_strictest_constraint_and_the_nearest_cell_are_named():
    told = advice(CELLS, "max_risk<0.05", "epsilon<=2", "score>=0.85")
    assert told.id is None
    assert "The condition that excludes most is epsilon<=2: 4 of 5 releases fail it." in told.words
    assert "The nearest is aim epsilon=1, which fails score: lower bound 0.838." in told.words
    assert told.command == ""
    assert not any("no release at all" in text for text in told.caveats)
    failed = [cell("a", None, None, failed="no", fits=False)]
    assert recommend(failed, conditions([]), SETTING, {}).words[0].startswith("Nothing could be released")


def test_a_limit_below_what_so_few_rows_can_tell_is_told_to_be_so():
    told = advice([cell("a", 0.9, 0.055), cell("b", 0.8, 0.30)], "max_risk<0.05")
    (nearest,) = [text for text in told.words if text.startswith("The nearest is a")]
    assert "measured is 0.045, but with so few people up to 0.055 cannot be excluded" in nearest
    assert any("What attacks gained from 1 of 2 releases is no more than chance" in text for text in told.caveats)
    # Of the other what was measured is itself too much.
    assert not any("cannot be excluded" in text for text in advice([cell("b", 0.8, 0.30)], "max_risk<0.05").words)
