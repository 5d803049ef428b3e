"""What a recipe needs beside the package is known before a row is read, and named with the one command to type."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

import hushtable as ht
from hushtable.api import methods
from hushtable.api.compare.grid import trials
from hushtable.errors import InputError, MissingExtra
from hushtable.pipeline import extras, registry
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.extras import missing_extras, require_extras
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Core
from hushtable.synthesize.sequential.sequential import Sequential


@dataclass(frozen=True, kw_only=True)
class Odd(Sequential):
    """A step of a package of somebody else's."""

    extra: ClassVar[str] = "theirs"


@pytest.fixture
def bare(monkeypatch):
    """A machine without any of the libraries."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None)


def test_a_step_without_an_extra_needs_nothing(bare):
    assert missing_extras(recipes.load("mdav").steps) == ()
    assert missing_extras([Odd()]) == ()


def test_what_is_missing_is_named_once_with_the_command(bare):
    steps = recipes.load("copula-shirley").steps
    assert missing_extras([*steps, *steps]) == ("vine",)
    with pytest.raises(MissingExtra, match=r"recipe 'x' needs pyvinecopulib.*pip install 'hushtable\[vine\]'"):
        require_extras(steps, "recipe 'x'")


def test_it_is_asked_for_before_a_row_is_read(bare, small, monkeypatch):
    monkeypatch.setattr(Core, "fit", lambda *given: pytest.fail("it was fitted"))
    with pytest.raises(MissingExtra, match="vine"):
        ht.release(small, "copula-shirley", seed=1)


def test_a_file_is_not_even_opened(bare, tmp_path):
    request = ht.ReleaseRequest(
        data=tmp_path / "no.csv", schema=tmp_path / "no.yaml", folder=tmp_path / "out", recipe="copula-shirley"
    )
    with pytest.raises(MissingExtra, match="vine"):
        ht.release_to_folder(request)


def test_a_comparison_leaves_such_recipes_out_with_one_line(bare, small):
    wanted, notes = trials(small.schema, ["copula-shirley", "mdav"], {})
    assert {trial.recipe.recipe for trial in wanted} == {"mdav"}
    assert notes == ["copula-shirley left out: fitting needs pyvinecopulib, which is not installed: pip install 'hushtable[vine]'."]


def test_nothing_left_to_compare_says_why(bare, small):
    with pytest.raises(InputError, match=r"nothing to compare; copula-shirley left out.*hushtable\[vine\]"):
        trials(small.schema, ["copula-shirley"], {})


def test_several_are_one_line(bare, small):
    plain = recipes.load("copula-shirley")
    other = Recipe(recipe="mine", steps=plain.steps)
    _, notes = trials(small.schema, [plain, other, "mdav"], {})
    (note,) = notes
    assert note.startswith("copula-shirley and mine left out")


def test_the_list_of_methods_marks_them(bare):
    listed = {row["name"]: row for row in methods.everything()["recipes"]}
    assert listed["copula-shirley"]["needs"] == "pyvinecopulib: pip install 'hushtable[vine]'"
    assert "needs" not in listed["mdav"]
    assert methods.describe("copula-shirley")["needs"]


def test_where_it_is_installed_nothing_is_marked():
    assert not any("needs" in row for row in methods.everything()["recipes"])


@pytest.mark.parametrize("name", registry.STEPS)
def test_every_step_that_trains_a_network_says_so(name):
    kind = registry.load(registry.STEPS[name])
    sources = [inspect.getsource(sys.modules[one.__module__]) for one in kind.__mro__ if one.__module__.startswith("hushtable.")]
    trains = any("from hushtable.learn import network" in source for source in sources)
    assert (kind.extra in ("neural", "language")) == trains
