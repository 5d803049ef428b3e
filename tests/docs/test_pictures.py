"""Pictures of recipes: the same in every build, true to the release, and honest where there is none."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from docs.build import pictures
from hushtable.errors import MissingExtra
from hushtable.pipeline import recipe as recipes


@pytest.mark.parametrize("name", ["mdav", "mondrian", "independent", "swap"])
def test_a_picture_is_the_same_in_every_build(name):
    drawn = pictures.picture(name)
    assert drawn == pictures.picture(name)
    root = ElementTree.fromstring(drawn)
    assert root.get("role") == "img"
    assert "240 rows before" in root.get("aria-label")
    assert "style=" not in drawn


def test_a_generalized_release_is_drawn_as_boxes_and_a_plain_one_is_not():
    assert "hush-box" in pictures.picture("mondrian")
    assert "hush-box" not in pictures.picture("mdav")


def test_marks_are_as_many_as_places():
    root = ElementTree.fromstring(pictures.picture("mdav"))
    marks = [e for e in root.iter() if str(e.get("class", "")).startswith(("hush-a", "hush-b", "hush-c"))]
    before = pictures.toy().frame()
    assert len(before.drop_duplicates()) < len(marks) < 2 * len(before.drop_duplicates())


def test_a_recipe_that_cannot_run_says_why(monkeypatch):
    def missing(*_, **__):
        raise MissingExtra("torch", "neural", "this recipe")

    monkeypatch.setattr(pictures.ht, "release", missing)
    assert "pip install 'hushtable[neural]'" in pictures.picture("mdav")


def test_a_cached_picture_is_not_drawn_again_until_the_code_changes(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(pictures, "picture", lambda name: drawn.append(name) or "<svg/>")
    assert pictures.cached("mdav", tmp_path) == pictures.cached("mdav", tmp_path)
    assert drawn == ["mdav"]
    monkeypatch.setattr(pictures, "_fingerprint", lambda: "0" * 64)
    pictures.cached("mdav", tmp_path)
    assert drawn == ["mdav", "mdav"]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_has_a_picture_unless_it_needs_text(name):
    drawn = pictures.picture(name)
    assert drawn.startswith("No picture: " if recipes.load(name).reads_text else "<svg")
