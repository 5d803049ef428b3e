"""Recipes: exact round trips, clear faults, knobs by text."""

from __future__ import annotations

import pytest

from hushtable.anonymize.microaggregate.microaggregate import Centre, Microaggregate
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.sequential.sequential import Sequential


@pytest.mark.parametrize("name", recipes.names())
def test_bundled_recipes_are_written_and_read_back_exactly(name):
    result = recipes.load(name)
    assert result.recipe == name
    assert result.title
    assert result.guarantee
    assert result.cite
    assert Recipe.parse(result.dump()) == result
    assert Recipe.parse(result.dump()).dump() == result.dump()


def test_odd_values_survive_the_round_trip():
    steps = (Sequential(order=("no", "1e5", "a: b", "ü\n#x", ""), methods=("x=linear",)), Bins(edges=Edges.TREE, share=0.1))
    result = Recipe(recipe="yes", title="on: off #", steps=(*steps, Margins(share=1e-9)), tuned="public")
    assert Recipe.parse(result.dump()) == result


def test_every_fault_is_listed_at_once():
    text = """
    recipe: x
    color: blue
    steps:
      - microaggregate: {k: 1}
      - microaggregate: {size: 3}
      - nothing: {}
      - bins: {edges: fancy}
      - bins: {bins: many}
      - [1, 2]
    """
    with pytest.raises(InputError) as caught:
        Recipe.parse(text)
    reported = str(caught.value)
    for part in (
        "color",
        "k: must be at least 2",
        "unknown knob 'size'",
        "no step 'nothing'",
        "uniform, tree, quantile",
        "a whole number",
        "one 'name",
    ):
        assert part in reported
    assert len(caught.value.faults) == 7


@pytest.mark.parametrize("text", ["", "[]", "steps: 3", "recipe: x", "a: [", "recipe: x\nsteps: []"])
def test_something_else_is_no_recipe(text):
    with pytest.raises(InputError):
        Recipe.parse(text)


def test_knobs_are_set_by_text():
    applied = recipes.load("mdav").set({"k": "10", "columns": "age, sex", "centre": "median"})
    assert applied.steps == (Microaggregate(k=10, columns=("age", "sex"), centre=Centre.MEDIAN),)


def test_a_knob_of_two_steps_needs_the_name_of_its_step():
    both = Recipe(recipe="x", steps=(Bins(), Margins()))
    with pytest.raises(InputError, match="several steps"):
        both.set({"share": "0.2"})
    assert both.set({"margins.share": "0.2"}).steps[1] == Margins(share=0.2)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("size", "3", "no step has this knob"),
        ("k", "ten", "a whole number"),
        ("k", "1", "at least 2"),
        ("centre", "mid", "one of mean, median"),
    ],
)
def test_wrong_settings_are_named(key, value, told):
    with pytest.raises(InputError, match=told):
        recipes.load("mdav").set({key: value})


def test_unknown_names_list_what_there_is(tmp_path):
    with pytest.raises(InputError, match="mdav"):
        recipes.load("mdva")
    with pytest.raises(InputError, match="does not exist"):
        recipes.load(tmp_path / "no.yaml")


def test_a_recipe_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "mine.yaml").write_bytes(b"recipe: caf\xe9\n")
    with pytest.raises(InputError, match=r"recipe mine\.yaml: the file is not UTF-8"):
        recipes.load(tmp_path / "mine.yaml")


def test_a_step_of_another_package_goes_by_module_and_class():
    parsed = Recipe.parse("recipe: x\nsteps:\n- hushtable.anonymize.microaggregate.microaggregate:Microaggregate: {k: 3}\n")
    assert parsed.steps == (Microaggregate(k=3),)
    with pytest.raises(InputError, match="is not a step"):
        Recipe.parse("recipe: x\nsteps:\n- pathlib:Path: {}\n")
    with pytest.raises(InputError, match="cannot load"):
        Recipe.parse("recipe: x\nsteps:\n- no.such.module:Path: {}\n")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sample: 5", "expected knobs as {knob: value} after the name, got 5"),
        ("sample: [beta]", "expected knobs as"),
        ("sequential: {methods: [1]}", "methods: expected a text, got 1"),
        ("sequential: {order: [2020]}", "order: expected a text, got 2020"),
    ],
)
def test_knobs_of_the_wrong_form_are_named(line, told):
    with pytest.raises(InputError) as caught:
        Recipe.parse(f"recipe: x\nsteps:\n- {line}\n")
    assert told in str(caught.value)
