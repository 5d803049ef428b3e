"""What is tried: recipes that suit the schema, settings of their main knobs, and every fault at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.api.compare.grid import DEFAULT, KNOBS, main_knob, trials
from hushtable.errors import InputError
from hushtable.pipeline.recipe import load, names
from hushtable.table.columns import Role
from hushtable.table.schema import Schema


def ids(schema, recipes=("default",), grid=None, epsilons=()):
    return [trial.id for trial in trials(schema, recipes, grid or {}, epsilons)[0]]


def test_every_shipped_recipe_has_a_grid_that_its_knobs_allow(small):
    result, _ = trials(small.schema, names(), {}, ())
    assert {trial.recipe.recipe for trial in result} == set(names())
    assert len({trial.file for trial in result}) == len(result)
    assert all(knob in KNOBS for trial in result for knob, _ in trial.settings)


def test_the_default_suits_the_schema_and_says_what_it_left_out(small):
    assert {one.split()[0] for one in ids(small.schema)} <= set(DEFAULT)
    nobody = Schema(tuple(replace(c, role=Role.PLAIN) if c.role is Role.QUASI else c for c in small.schema))
    result, notes = trials(nobody, ["default"], {}, ())
    assert not {"mdav", "k-anonymity", "mondrian"} & {trial.recipe.recipe for trial in result}
    assert sum("'quasi'" in note for note in notes) >= 2
    guessed = Schema(tuple(replace(c, domain=replace(c.domain, observed=True)) if c.domain else c for c in small.schema))
    result, notes = trials(guessed, ["default"], {}, ())
    assert {trial.recipe.recipe for trial in result}.isdisjoint({"mst", "aim"})
    assert "sequential" in [trial.id for trial in result]
    assert any(note.startswith("aim was left out") and "Declare in the schema" in note for note in notes)


def test_grids_and_budgets(small):
    assert ids(small.schema, ["mdav"]) == ["mdav k=5", "mdav k=10", "mdav k=50"]
    assert ids(small.schema, ["mdav"], {"mdav.k": [3, "7 "]}) == ["mdav k=3", "mdav k=7"]
    assert ids(small.schema, ["aim", "mst"], {"aim.epsilon": [2]}, [0.5]) == ["aim epsilon=2", "mst epsilon=0.5"]
    both = ids(small.schema, ["k-anonymity"], {"k-anonymity.k": [2, 3], "k-anonymity.limit": [0, 0.1]})
    assert both == [f"k-anonymity k={k} limit={limit}" for k in (2, 3) for limit in (0, 0.1)]
    assert ids(small.schema, ["sequential"]) == ["sequential"]


def test_files_and_objects_are_recipes_too(small, tmp_path):
    (tmp_path / "mine.yaml").write_text("recipe: mine\nsteps:\n- microaggregate: {k: 4}\n")
    assert ids(small.schema, [str(tmp_path / "mine.yaml"), load("sequential")], {"mine.k": ["4"]}) == ["mine k=4", "sequential"]
    assert main_knob(load("safe-k")) == "epsilon"


def test_every_fault_is_told_at_once(small, tmp_path):
    grid = {"mdav.q": [1], "sequential.epsilon": [1], "aim.epsilon": ["much"], "nobody.k": [1], "mdav.k": []}
    with pytest.raises(InputError) as refused:
        trials(small.schema, ["mdav", "nothing", "nowhere", "sequential", "aim"], grid, ())
    reported = str(refused.value)
    for part in ("'nothing'", "'nowhere'", "no budget", "positive numbers", "expected recipe.knob", "names no value"):
        assert part in reported
    with pytest.raises(InputError, match=r"no step has this knob; there are microaggregate\.k"):
        trials(small.schema, ["mdav"], {"mdav.q": [1]}, ())
    with pytest.raises(InputError, match=r"at least 2, got 1\nknob k: expected a whole number, got 'foo'"):
        trials(small.schema, ["mdav"], {"mdav.k": ["1", "foo"]}, ())
    with pytest.raises(InputError, match="two different recipes have this name"):
        trials(small.schema, [load("mdav"), load("mdav").set({"k": "7"})], {}, ())
    with pytest.raises(InputError, match="nothing to compare"):
        trials(small.schema, [], {}, ())


@pytest.mark.parametrize(
    ("recipe", "knob"),
    [
        ("argn", ""),
        ("realtabformer", ""),
        ("tabddpm", ""),
        ("ctgan", ""),
        ("rtvae", ""),
        ("kctgan", "k"),
        ("argn-private", "epsilon"),
        ("dpgan", "epsilon"),
    ],
)
def test_no_knob_of_a_network_is_taken_for_one_that_protects(recipe, knob):
    assert main_knob(load(recipe)) == knob


def test_one_network_is_tried_by_default(small):
    assert [one for one in ids(small.schema) if load(one.split()[0]).steps[-1].extra] == ["argn"]
