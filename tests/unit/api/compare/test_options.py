"""The options of a comparison: one object that Python, the command line and a file share."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from hushtable.api.compare.options import CompareOptions
from hushtable.errors import InputError
from hushtable.pipeline.recipe import load

OPTIONS = CompareOptions(
    recipes=["mdav", load("sequential")], grid={"mdav.k": [5, "10 "]}, epsilons=[0.5, 1], constraints=["k>=5"], only="linkability",
    public=True, rows=500, seed=3,
)  # fmt: skip


def test_lists_may_be_single_values_and_are_tuples():
    assert OPTIONS.grid == {"mdav.k": ("5", "10")}
    assert OPTIONS.only == ("linkability",)
    assert CompareOptions(recipes="mdav").recipes == ("mdav",)
    assert CompareOptions(recipes=load("mdav")).recipes == (load("mdav"),)


def test_a_file_holds_all_of_them():
    saved = json.loads(json.dumps(OPTIONS.to_json()))
    assert CompareOptions.from_json(saved) == OPTIONS
    assert set(saved) == {field.name for field in fields(CompareOptions)}
    assert CompareOptions.from_json({}) == CompareOptions()


def test_a_recipe_inside_a_file_runs_no_code_of_a_sender():
    text = "recipe: sent\nsteps:\n- sent_module:Sent: {}\n"
    with pytest.raises(InputError, match="is no step of hushtable"):
        CompareOptions.from_json({"recipes": [{"recipe": text}]})


def test_they_are_given_whole_or_by_name_and_never_both():
    assert CompareOptions.of(OPTIONS, {}) is OPTIONS
    assert CompareOptions.of(None, {}) == CompareOptions.of(None, {"grid": None, "rows": None}) == CompareOptions()
    assert CompareOptions.of(["mdav"], {"runs": 2}) == CompareOptions(recipes=("mdav",), runs=2)
    for given, settings, match in (
        (OPTIONS, {"runs": 2}, "beside whole options: runs"),
        (["mdav"], {"recipes": ["mst"]}, "recipes: are given twice"),
        (None, {"recipies": ["mst"]}, r"recipies: there is no such option \(did you mean 'recipes'\?\); there are recipes, target"),
    ):
        with pytest.raises(InputError, match=match):
            CompareOptions.of(given, settings)


def test_all_faults_are_reported_at_once():
    with pytest.raises(InputError) as error:
        CompareOptions(runs=0, workers=0, attacked=1, epsilons=[-1.0, "1"], rows_per_person=2, constraints=["happiness<1", "k<=5"])
    assert [fault.where for fault in error.value.faults] == [
        "runs", "workers", "attacked", "epsilon", "epsilon", "person", "--constraint", "--constraint",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], ["alarms<1"]),
        (["k >= 5", "k>=5"], ["k>=5", "alarms<1"]),
        (["k>=5", "alarms<=2"], ["k>=5", "alarms<=2"]),
        (["membership by density ratio<0.1"], ["membership_by_density_ratio<0.1", "alarms<1"]),
    ],
)
def test_no_alarm_is_asked_for_unless_alarms_are_named(given, asked):
    assert [condition.expression for condition in CompareOptions(constraints=given).conditions] == asked


def test_a_constraint_may_bound_what_a_comparison_measures_and_nothing_else():
    for text in ("score>=0.8", "mean TVD<0.1", "real or released: AUC<0.9", "association levels kept>=0.5"):
        CompareOptions(constraints=text)
    for text, match in (("happiness<1", "there is no 'happiness'"), ("mean TVD>=0.1", "bound it from above")):
        with pytest.raises(InputError, match=match):
            CompareOptions(constraints=text)
