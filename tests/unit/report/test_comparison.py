"""The page and the text of a comparison: the decision first, the kinds of evidence apart, nothing that breaks it."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import Any

import pytest

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import Score, WorstAttack
from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.grid import Trial
from hushtable.api.compare.observation import Observation
from hushtable.api.compare.summary import summarize
from hushtable.pipeline import recipe as recipes
from hushtable.report.compare_text import changes, reading, with_interval
from hushtable.report.ranking import measures
from tests.unit.report import comparisons
from tests.unit.report.documents import Reader


@cache
def read(name: str) -> Reader:
    return Reader(page(comparisons.EVERY[name]()))


def page(given: dict[str, Any]) -> str:
    return Comparison.from_json(given).page()


def markdown(given: dict[str, Any]) -> str:
    return Comparison.from_json(given).markdown()


def section(reader: Reader, anchor: str) -> str:
    (found,) = [e for e in reader.all("section") if e.attributes["id"] == anchor]
    return " ".join(found.text.split())


def without(told: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in keys}


def test_the_first_section_is_the_decision_with_its_three_facts() -> None:
    reader = read("ordinary")
    assert reader.all("section")[0].attributes["id"] == "choice"
    told = section(reader, "choice")
    assert told.index("Publish mdav with k = 10") < told.index("Promised")
    assert "◆ verifiedk-anonymity with k = 10" in told
    bound = "the largest upper bound of any attack (membership, outliers)"
    assert f"Gain of attacks, at most2.6 of 100so many more of 100 people in the table than outside it: {bound}" in told
    measured = "Measured: 1.2 more of 100, by the worst attack (linkability, 10 neighbours)."
    assert f"{measured} 0 of 41 tests raised an alarm." in told
    assert "0.871AUC for income: how well models that learnt from the release rank real people" in told
    assert "Measured in 2 runs, interval 0.863 to 0.879; the real rows reach 0.929." in told
    for words in ("k-anonymity is verified, not proven", "If you need a proof: aim at epsilon 1", "hush release adult.csv"):
        assert words in told


def test_what_would_change_the_choice_is_read_off_the_numbers() -> None:
    barred, near, safer = changes(Comparison.from_json(comparisons.ordinary()))
    assert barred.startswith("A better score has sequential (AUC for income 0.921), but it fails: max_gain: upper bound 0.180")
    assert near.startswith("Its score is within the noise of mondrian k=10 and aim epsilon=4:")
    assert safer == "If less risk is worth more than score: aim epsilon=4 (AUC for income 0.862), a gain of at most 1.6 of 100"


def test_what_the_recommendation_says_itself_is_not_said_twice() -> None:
    told = comparisons.ordinary()
    told["recommendation"]["others"] = [{"id": name, "words": "if so"} for name in ("sequential", "aim epsilon=4")]
    (near,) = changes(Comparison.from_json(told))
    assert "noise" in near
    told["recommendation"]["others"] = []
    assert any(line.startswith("If its promise must be proven: aim epsilon=4") for line in changes(Comparison.from_json(told)))


def test_where_nothing_fits_nothing_is_promoted() -> None:
    reader = read("nothing fits")
    told = section(reader, "choice")
    assert told.startswith("The choiceNo release meets what was asked: max_risk excludes all 3.")
    assert "Why noneThe nearest is mdav k=50." in told
    assert "recommended" not in section(reader, "releases")
    assert not reader.all("circle", "chosen")
    assert "Promised" not in told
    assert "The best score has mdav k=5 (mean pair TVD 0.1), but it fails: max_gain" in told


def test_the_ranking_keeps_the_kinds_of_evidence_apart() -> None:
    reader = read("ordinary")
    rows = [e for e in reader.all("tr") if "data-release" in e.attributes]
    assert [e.attributes["data-release"] for e in rows] == [str(i) for i in range(1, 18)]
    first = " ".join(rows[0].text.split())
    assert first.startswith("1mdav k=10recommended◆ verifiedk-anonymity with k = 10")
    assert "1.2at most 2.6linkability, 10 neighbours0 of 410.8710.863 to 0.879✓ meets all" in first
    assert (rows[0].attributes["data-risk"], rows[0].attributes["data-score"]) == ("0.0264", "0.871")
    assert "data-epsilon" not in rows[0].attributes
    assert [e.attributes["data-assurance"] for e in rows[:4]] == ["verified", "verified", "proven", "proven"]
    assert {e.attributes["data-assurance"]: e.attributes["data-strength"] for e in rows} == {
        "proven": "2", "verified": "1", "claimed": "0", "none": "0",
    }  # fmt: skip
    assert [e.attributes["value"] for e in reader.all("option")][:3] == ["0", "1", "2"]
    last = " ".join(rows[-1].text.split())
    assert "✗ fails max_gain: upper bound 0.078" in last
    assert "not attacked" in next(e.text for e in rows if "dpcopula" in e.text)


def test_a_number_is_sorted_by_its_value_and_a_risk_by_its_bound() -> None:
    reader = read("ordinary")
    (row,) = [e for e in reader.all("tr") if e.attributes.get("data-release") == "1"]
    keys = [e.attributes.get("data-sort") for e in reader.all("td") if row in e.parents]
    assert keys[:6] == ["1", None, None, "0.0264", "0", "0.871"]


def test_marks_lead_to_the_line_of_their_release() -> None:
    reader = read("sixty")
    ids = {e.attributes["id"] for e in reader.all("tr") if "id" in e.attributes}
    links = [(e.attributes["href"] or "")[1:] for e in reader.all("a", "mark")]
    assert len(links) == 120, "once wide and once for a phone"
    assert set(links) == ids


def test_what_failed_is_told_with_its_reason_and_not_ranked() -> None:
    reader = read("ordinary")
    assert "No choice of levels makes 10 rows" in section(reader, "failed")
    assert "could not be run" in reader.one("header").text
    assert "No choice of levels" not in section(reader, "releases")
    assert "failed" not in [e.attributes["id"] for e in read("sixty").all("section")]


def test_recipes_are_told_with_their_settings_and_sources() -> None:
    told = section(read("ordinary"), "recipes")
    assert "aimMarginals chosen one after the other.Tried: epsilon = 4; epsilon = 1; epsilon = 0.5." in told
    assert comparisons.AIM in told


def test_controls_wait_for_their_script_and_every_one_has_a_name() -> None:
    reader = read("ordinary")
    panel = reader.one("div", "controls")
    assert "hidden" in panel.attributes
    for control in (*reader.all("input"), *reader.all("select")):
        (label,) = [p for p in control.parents if p.name == "label"]
        assert len(label.text) > 3
    (risk, epsilon) = [e for e in reader.all("input") if e.attributes["type"] == "range"]
    for slider in (risk, epsilon):
        stops, words = ((slider.attributes[key] or "").split("|") for key in ("data-stops", "data-words"))
        assert int(slider.attributes["max"] or 0) == len(stops) == len(words) - 1
        assert [float(s) for s in stops] == sorted(map(float, stops))
    assert epsilon.attributes["data-stops"] == "0.5|1|4"
    (status,) = reader.all("p", "answer")
    assert status.attributes["aria-live"] == "polite"


def test_no_control_for_epsilon_where_there_is_none_to_choose() -> None:
    assert len([e for e in read("nothing fits").all("input") if e.attributes["type"] == "range"]) == 1


def test_only_this_page_has_the_script_of_the_comparison() -> None:
    assert 'querySelector(".controls")' in page(comparisons.alone())


def test_notes_are_told_once_with_all_that_say_them() -> None:
    told = comparisons.ordinary()
    for cell in told["cells"][:2]:
        cell["notes"] = ["rare levels were merged"]
    told["cells"][2]["void"] = ["the control rows are training rows"]
    listed = section(Reader(page(told)), "releases")
    assert listed.count("Rare levels were merged.") == 1
    assert "1, 2: Rare levels were merged.3: Audit void: the control rows are training rows." in listed


def test_a_risk_that_is_hardly_known_is_said_to_be() -> None:
    told = comparisons.ordinary()
    assert "little is known" not in page(told)
    next(c for c in told["cells"] if c["id"] == "mdav k=10")["gain"] |= {"value": 0.0, "high": 1.0}
    assert "Gain of attacks, at most100 of 100" in section(Reader(page(told)), "choice")
    assert "little is known" in page(told)


def test_a_proof_chosen_by_looking_at_private_rows_is_told_with_its_condition() -> None:
    told = comparisons.ordinary()
    told["recommendation"]["id"] = "aim epsilon=4"
    assert "● proven if chosen before looking" in section(Reader(page(told)), "choice")
    assert "makes the proof void" in markdown(told)
    told["made"]["public"] = True
    assert "if chosen before looking" not in page(told)


def test_an_earlier_file_is_shown_by_its_residual_risks_and_says_so() -> None:
    told = comparisons.earlier()
    comparison = Comparison.from_json(told)
    assert not comparison.by_gain
    assert "holds no gains" in dict(reading(comparison))["Risk"]
    chosen = section(Reader(page(told)), "choice")
    worst = "the worst attack (linkability, 10 neighbours) succeeds on this share of the people whom it would miss if"
    assert f"Risk, at most2.64 %{worst}" in chosen
    assert "Measured: 1.2 % (0 to 2.64 %). 0 of 41 tests raised an alarm." in chosen
    assert "residual risk" in markdown(told)
    told["cells"][0] |= {"gain": {"value": 0.1, "high": 0.2}}
    assert not Comparison.from_json(told).by_gain, "two units are never mixed"
    assert Comparison.from_json(comparisons.ordinary()).by_gain


def test_the_small_set_of_uses_comes_before_other_measures() -> None:
    told = comparisons.ordinary()
    for cell in told["cells"]:
        if cell["measures"]:
            cell["measures"]["rules broken"] = {"value": 0.125, "baseline": 0.001, "better": "lower"}
    assert measures(Comparison.from_json(told)) == ["association difference", "rules broken", "mean TVD"]
    assert "0.001" in section(Reader(page(told)), "releases")


def test_the_lower_edge_is_explained_only_where_marks_stand_on_it() -> None:
    told = comparisons.ordinary()
    assert "marks on the lower edge" not in page(told)
    told["cells"][-2 if told["cells"][-1]["failed"] else -1]["score"] = {"value": -30.0, "low": -31.0, "high": -29.0}
    next(c for c in told["cells"] if c["score"])["score"] = {"value": -30.0, "low": -31.0, "high": -29.0}
    assert "marks on the lower edge lie below it" in page(told)


def test_what_the_comparison_left_out_is_told() -> None:
    left_out = "private recipes were left out: the levels of job are not declared"
    assert f"{left_out}." in section(Reader(page(comparisons.ordinary() | {"notes": [left_out]})), "reading")


def test_a_single_run_is_said_to_tell_nothing_of_its_noise() -> None:
    told = comparisons.ordinary()
    assert "made once" not in page(told)
    told["made"]["runs"] = 1
    assert "Each release was made once" in page(told)


@pytest.mark.parametrize("name", comparisons.EVERY)
def test_pages_and_texts_are_pure_functions(name: str) -> None:
    told = comparisons.EVERY[name]()
    before = copy.deepcopy(told)
    assert page(told) == page(told)
    assert markdown(told) == markdown(told)
    assert repr(told) == repr(before)


def test_what_was_kept_as_json_gives_the_same_page() -> None:
    told = comparisons.ordinary()
    assert page(json.loads(json.dumps(told))) == page(told)


@pytest.mark.parametrize("missing", ["made", "table", "constraints", "utility", "recommendation", "searched"])
def test_no_part_of_it_is_needed(missing: str) -> None:
    told = without(comparisons.ordinary(), missing)
    Reader(page(told))
    assert "## All releases" in markdown(told)


@pytest.mark.parametrize("key", sorted(comparisons.cell("mdav", 5, 0.0, 0.8)))
def test_no_part_of_a_cell_is_needed(key: str) -> None:
    told = comparisons.alone()
    told["cells"] += [comparisons.cell("aim", 1, 0.01, 0.7), comparisons.failed("mst", "no levels")]
    for gone in (None, ...):
        cells = [without(c, key) if gone is ... else c | {key: None} for c in told["cells"]]
        Reader(page(told | {"cells": cells}))
        markdown(told | {"cells": cells})


def test_the_sample_cells_are_made_as_the_engine_makes_them() -> None:
    trial, axis = Trial(recipes.load("mdav")), Axis("a measure", "a label", "a meaning")
    engine = summarize(trial, [Observation(seconds=1.0, failed="no rows")], axis).to_json()
    for cell in comparisons.ordinary()["cells"]:
        assert cell.keys() == engine.keys()
        assert cell["guarantee"].keys() == engine["guarantee"].keys()


def test_markdown_holds_the_decision_the_table_and_the_caveats() -> None:
    text = markdown(comparisons.ordinary())
    assert (
        text.index("INTERNAL")
        < text.index("**Publish mdav with k = 10")
        < text.index("## Before you decide")
        < text.index("## All releases")
    )
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + 17 + 1
    assert lines[-1].startswith("|  | fresh real rows |  |  |  | 0.929 |  | 0.006 | 0.004 | 0.5 |")
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, "as many cells in every line"
    assert "- k-anonymity is verified, not proven" in text
    assert "income: its levels are not declared" in text
    assert "`hush release adult.csv --schema schema.yaml --recipe mdav --set k=10 --out released`" in text


def test_markdown_of_hostile_text_shows_it_as_text() -> None:
    text = markdown(comparisons.hostile())
    outside = re.sub(r"`[^`]*`", "", text)
    assert not re.search(r"(?<!\\)<", outside)
    assert "\u202e" not in text
    assert "\x00" not in text
    text.encode("utf-8")


def test_estimates_make_odd_numbers_safe() -> None:
    assert Score.from_json({"value": 0.5, "low": True, "high": "0.3"}) == Score(0.5)
    assert WorstAttack.from_json({"value": float("nan")}) is None
    assert Score.from_json(None) is Score.from_json([]) is None
    assert with_interval(Score(0.012, 0.0, 0.031), percent=True) == "1.2 % (0 to 3.1 %)"
    assert Score(0.5).upper == 0.5


def test_how_often_chance_alone_raises_an_alarm_is_said() -> None:
    said = dict(reading(Comparison.from_json(told := comparisons.EVERY["ordinary"]())))["Alarms"]
    made = sum(c["runs"] for c in told["cells"] if not c.get("failed"))
    assert f"One audit in twenty of a release that leaks nothing raises an alarm; with {made} audits here" in said
