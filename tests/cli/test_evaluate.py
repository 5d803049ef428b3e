"""The command evaluate: one choice of levels, those beside it, and the recipe that releases it."""

from __future__ import annotations

import json

import hushtable as ht

LEVELS = {"birth_date": 4, "occupation": 1, "postcode": 3}


def test_a_choice_is_shown_and_its_recipe_releases_it(hush, town, tmp_path):
    data = (town / "people.csv", "--schema", town / "schema.yaml")
    words = ["evaluate", *data, "--k", "3", "--limit", "1"]
    for name, level in LEVELS.items():
        words += ["--level", f"{name}={level}"]
    code, told, _ = hush(*words, "-o", tmp_path / "fixed.yaml")
    assert code == 0, told
    assert "One rung away" in told
    assert "for you alone" in told
    code, told, _ = hush(*words, "--json")
    assert code == 0
    choice = json.loads(told)["choice"]
    table = ht.read(town / "people.csv", town / "schema.yaml")
    assert choice == ht.evaluate(table, LEVELS, k=3, limit=1.0).choice.to_json()
    made = ("release", *data, "--recipe", tmp_path / "fixed.yaml", "--seed", "1", "--out", tmp_path / "out")
    code, _, told = hush(*made, "--allow-copies", "a test")
    assert code == 0, told
    result = json.loads((tmp_path / "out" / "card.json").read_text())["result"]["generalize"]
    assert (result["suppressed_rows"], result["classes"]) == (choice["suppressed"], choice["kept"])


def test_what_is_no_level_is_refused(hush, town):
    words = ("evaluate", town / "people.csv", "--schema", town / "schema.yaml", "--level")
    for level, reason in (("birth_date", "column=level"), ("birth_date=two", "whole number"), ("birth=1", "birth_date")):
        code, _, told = hush(*words, level)
        assert code == 2
        assert reason in told
