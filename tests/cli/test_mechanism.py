"""``hush audit-mechanism``: a verdict, an exit code, JSON, a folder; and input that cannot be used."""

from __future__ import annotations

import json


def test_a_claim_that_does_not_hold_is_refuted_with_exit_code_three(hush, tmp_path):
    words = ("audit-mechanism", "beta-k-eps", "--canary", "corner", "--runs", 60, "--seed", 1, "--out", tmp_path / "out")
    code, out, _ = hush(*words)
    assert code == 3
    assert "Stated by a publication's claim: epsilon 0.5" in out
    assert "refuted: epsilon is at least" in out
    assert "No row of anybody" in out
    plain = json.loads((tmp_path / "out" / "mechanism.json").read_text())
    assert plain["label"] == "refuted"
    assert "▲ refuted" in (tmp_path / "out" / "mechanism.html").read_text()


def test_a_certified_recipe_is_not_refuted(hush):
    code, out, _ = hush("audit-mechanism", "independent", "--epsilon", 2, "--canary", "crowd", "--runs", 12, "--seed", 1)
    assert code == 0
    assert "not refuted (at least" in out
    assert "one record changes the answer by no more than is stated" in out
    assert "Passing proves nothing" in out


def test_too_few_runs_and_an_epsilon_that_nobody_states_are_told_as_that(hush):
    code, out, _ = hush("audit-mechanism", "mdav", "--epsilon", 1, "--runs", 20, "--canary", "tie", "--seed", 1)
    assert code == 0
    assert "too few runs to refute: at least 24 are needed" in out
    assert "asked about 1; the recipe states none" in out
    assert "at most the stated" not in out
    assert "ceiling" in out
    assert "0.81" in out


def test_a_recipe_that_cannot_be_tested_at_all_is_no_success(hush):
    for more in ((), ("--one-run",)):
        code, out, err = hush("audit-mechanism", "dpmix", "--epsilon", 1, "--relation", "add_remove", *more)
        assert code == 2
        assert "the number of rows must be public" in err
        assert "refuted" not in out


def test_json_has_everything_and_one_run_is_a_line_like_the_others(hush):
    code, out, _ = hush("audit-mechanism", "independent", "--epsilon", 2, "--one-run", "--seed", 1, "--json")
    plain = json.loads(out)
    assert code == 0
    assert plain["folder"] is None
    assert [line["canary"] for line in plain["lines"]] == ["one run"]
    assert {"epsilon_lb", "epsilon_stated", "guesses", "right", "verdict"} <= set(plain["lines"][0])


def test_input_that_cannot_be_used(hush):
    for words, match in (
        (("independent",), "--epsilon"),
        (("independent", "--epsilon", 1, "--runs", "many"), "a number or auto"),
        (("independent", "--epsilon", 1, "--canary", "bird"), "no canary bird"),
        (("nothing", "--epsilon", 1), "no recipe 'nothing'"),
        (("mdav",), "states no epsilon"),
        (("mdav", "--epsilon", 0), "positive number"),
        (("independent", "--epsilon", "-1"), "positive number"),
        (("independent", "--epsilon", "nan"), "positive number"),
    ):
        code, _, err = hush("audit-mechanism", *words)
        assert code == 2
        assert match in err
