"""A comparison on a small table: what it keeps, how it goes on, what fails alone, and what it says."""

from __future__ import annotations

import json
import os
import re
import stat
from multiprocessing import Pipe
from threading import Thread
from unittest.mock import Mock

import numpy as np
import pytest

import hushtable as ht
from hushtable.api import workers
from hushtable.api.compare import CompareOptions, compare, experiment, run
from hushtable.api.compare.axis import target_of
from hushtable.api.compare.cell import GuaranteeSummary
from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.cores import usual_workers
from hushtable.api.compare.experiment import Experiment
from hushtable.api.compare.grid import Trial
from hushtable.api.compare.observation import Observation
from hushtable.checks import example
from hushtable.checks.tables import awkward
from hushtable.errors import InputError, MissingExtra
from hushtable.evidence.finding import Better
from hushtable.pipeline.recipe import Recipe, load
from hushtable.privacy.guarantee import Assurance, Statement
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.api.compare.cells import attack, measure

CHEAP = {"margins": {}, "association": {}, "downstream": {"models": "linear", "seeds": "0"}}


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    monkeypatch.setattr(experiment, "MEASURES", CHEAP)


@pytest.fixture(scope="module")
def table() -> Table:
    return example(160, seed=3)


QUICK = {"only": ["near-matches", "linkability"], "target": "school"}
WAYS = {"recipes": ["mdav", "independent"], "grid": {"mdav.k": [3, 20]}, "epsilons": [2.0]}
LENIENT = {"constraints": ["alarms<100"]}
"""Of a release that leaks nothing one audit in twenty raises an alarm, and its noise is fresh."""


@pytest.fixture(scope="module")
def result(tmp_path_factory, table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "MEASURES", CHEAP)
        folder = tmp_path_factory.mktemp("compared") / "out"
        return folder, compare(table, **WAYS, **QUICK, **LENIENT, runs=2, folder=folder)


def test_everything_the_page_needs_is_there(result):
    _, comparison = result
    plain = comparison.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    again = Comparison.from_json(plain)
    assert again.to_json() == plain
    assert (again.cells, again.recommendation, again.constraints) == (
        comparison.cells,
        comparison.recommendation,
        comparison.constraints,
    )
    assert plain["table"] == {"rows": 160, "train": 120, "control": 40, "columns": 7, "target": "school"}
    cells = {c["id"]: c for c in plain["cells"]}
    assert set(cells) == {"mdav k=3", "mdav k=20", "independent epsilon=2"}
    assert cells["mdav k=20"]["guarantee"]["k"] == 20
    assert cells["mdav k=20"]["assurance"] == "verified"
    assert cells["mdav k=20"]["promise"].startswith("k-anonymity with k = 20 over ")
    assert cells["independent epsilon=2"]["assurance"] == "proven"
    assert 1.9 < cells["independent epsilon=2"]["guarantee"]["epsilon"] <= 2
    for one in cells.values():
        assert not one["failed"]
        assert one["runs"] == 2
        assert one["score"]["low"] <= one["score"]["value"] <= one["score"]["high"]
        assert one["risk"]["high"] == max(risk["high"] for risk in one["risks"].values())
        assert {"mean TVD", plain["utility"]["name"]} <= set(one["measures"])
    assert sorted(c["rank"] for c in plain["cells"]) == [1, 2, 3]
    assert {c.id for c in comparison.front} == {c["id"] for c in plain["cells"] if c["front"]}
    assert plain["utility"]["label"] == "AUC for school"
    assert 0.5 < plain["utility"]["baseline"] <= 1


def test_the_folder_is_private_and_holds_no_row(result, table):
    folder, comparison = result
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {p.name for p in folder.iterdir()} >= {"comparison.json", "comparison.html", "comparison.md", "recipes", "cells"}
    # As whole numbers: a measure with more digits may begin like a value of a row.
    numbers = {number for p in folder.rglob("*") if p.is_file() for number in re.findall(r"[\d.]+", p.read_text())}
    assert not numbers & {str(text) for text in table.strings("height")}
    assert comparison.best is not None
    written = Recipe.parse((folder / "recipes" / f"{comparison.best.id.replace(' ', '-').replace('=', '-')}.yaml").read_text())
    assert written == comparison.recipe
    assert written.tuned == "private"


def test_another_call_makes_nothing_again_and_follows_other_constraints(result, table, monkeypatch):
    folder, _ = result
    monkeypatch.setattr(Experiment, "observe", lambda *_: pytest.fail("it was made again"))
    again = compare(table, **WAYS, **QUICK, runs=2, folder=folder, constraints=["k>=10", "alarms<100"])
    assert again.best.id == "mdav k=20"
    assert {p.stem for p in (folder / "recipes").iterdir()} >= {"mdav-k-20"}
    nothing = compare(table, **WAYS, **QUICK, runs=2, folder=folder, constraints=["k>=10", "epsilon<=1"])
    assert nothing.best is None
    assert list((folder / "recipes").iterdir()) == []
    with pytest.raises(InputError, match="Nothing that was tried"):
        _ = nothing.recipe


def test_a_folder_of_another_study_is_refused(result, table, tmp_path):
    folder, _ = result
    with pytest.raises(InputError, match="study of other rows, audits or settings"):
        compare(table, **WAYS, **QUICK, folder=folder, seed=1)
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="holds no study"):
        compare(table, **WAYS, **QUICK, folder=tmp_path)


def test_a_comparison_that_was_stopped_goes_on_and_ends_with_the_same_numbers(result, table, tmp_path, monkeypatch):
    folder, whole = result
    count = []

    def observe(study, trial, run):
        """What was observed there, so that noise is the same too; stopped once, at the third."""
        if len(count) == 2 and not stopped:
            stopped.append(trial.id)
            raise KeyboardInterrupt
        count.append(trial.id)
        return Observation.from_json(json.loads((folder / "cells" / f"{trial.file}-{run}.json").read_text()))

    stopped: list[str] = []
    monkeypatch.setattr(Experiment, "observe", observe)
    with pytest.raises(KeyboardInterrupt):
        compare(table, **WAYS, **QUICK, **LENIENT, runs=2, folder=tmp_path / "out")
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 2
    assert not (tmp_path / "out" / "comparison.json").exists()
    again = compare(table, **WAYS, **QUICK, **LENIENT, runs=2, folder=tmp_path / "out")
    assert len(count) == 6
    assert again.cells == whole.cells


def test_options_are_given_whole_too(result, table, monkeypatch):
    folder, whole = result
    monkeypatch.setattr(Experiment, "observe", lambda *_: pytest.fail("it was made again"))
    assert compare(table, CompareOptions(**WAYS, **QUICK, **LENIENT, runs=2), folder=folder).cells == whole.cells


def test_a_seed_fixes_everything_but_the_noise_of_differential_privacy(result, table):
    again = compare(table, ["mdav"], grid={"mdav.k": [20]}, **QUICK, runs=2).cells[0]
    before = next(c for c in result[1].cells if c.id == "mdav k=20")
    same = ("risk", "risks", "alarms", "tests", "score", "measures", "guarantee", "rows")
    assert {key: getattr(again, key) for key in same} == {key: getattr(before, key) for key in same}


def test_a_cell_that_cannot_be_made_is_a_line_with_its_reason(table):
    comparison = compare(table, ["mdav", "k-anonymity"], grid={"mdav.k": [5, 5000], "k-anonymity.k": [5]}, **QUICK, **LENIENT)
    failed = {c.id: c.failed for c in comparison.cells if c.failed}
    assert "mdav k=5000" in failed
    assert "5000" in failed["mdav k=5000"]
    assert comparison.cells[-1].id == "mdav k=5000"
    assert comparison.cells[-1].score is None
    assert "mdav k=5000: " + failed["mdav k=5000"] in str(comparison)
    assert repr(comparison) == f"Comparison(3 releases; take {comparison.best.id})"


def test_a_k_of_some_columns_or_of_another_table_is_not_the_k_of_the_release(table):
    ways = {"mdav": "mdav.k", "univariate": "univariate.k", "mdav-sequential": "mdav-sequential.microaggregate.k"}
    comparison = compare(table, list(ways), grid={key: [5] for key in ways.values()}, **QUICK, constraints=["k>=5", "alarms<100"])
    cells = {c.recipe: c for c in comparison.cells}
    assert {name: c.guarantee.k for name, c in cells.items()} == {"mdav": 5, "univariate": None, "mdav-sequential": None}
    assert [c.recipe for c in comparison.cells if c.fits] == ["mdav"]
    assert {c.assurance for c in comparison.cells} == {"verified"}
    assert "of the table it was made from" in cells["mdav-sequential"].promise
    assert "of the table it was made from" not in cells["univariate"].promise


def test_a_recipe_that_is_proven_for_another_relation_is_compared_under_it(table):
    comparison = compare(table, ["dpcopula-kendall", "independent"], epsilons=[2.0], **QUICK, **LENIENT)
    cells = {c.recipe: c for c in comparison.cells}
    assert {c.assurance for c in cells.values()} == {"proven"}, [c.failed for c in comparison.cells]
    assert "for one record replaced by another (would be proven only if it had" in cells["dpcopula-kendall"].promise
    assert "replaced" not in cells["independent"].promise


def test_what_is_told_to_anybody_who_looks_holds_the_price_of_looking(table):
    comparison = compare(table, ["independent"], epsilons=[2.0], **QUICK, **LENIENT)
    for shown in (
        str(comparison),
        ht.show(comparison).html,
        *(comparison.files()[f"comparison.{form}"] for form in ("html", "md")),
    ):
        assert "would be proven only if it had been chosen before looking" in shown
        assert "is not free" in shown
    assert "--recipe independent --epsilon 2 " in comparison.recommendation.command
    assert comparison.recommendation.command.endswith("# proven only if recipe and epsilon were fixed before looking")


@pytest.fixture(scope="module")
def visits() -> Table:
    """Four rows of each of sixty persons."""
    who = Column(name="who", kind=Kind.KEY, role=Role.IDENTIFIER)
    plain, persons = example(240, seed=4), np.arange(240, dtype=np.int32) // 4
    words = np.array([f"p{i:02d}" for i in range(60)], object)
    return Table(Schema((who, *plain.schema.columns)), {"who": persons, **plain.arrays}, {"who": words})


def test_all_rows_of_a_person_lie_on_one_side(visits, monkeypatch):
    seen = []
    observed = Experiment.observe
    monkeypatch.setattr(Experiment, "observe", lambda study, trial, run: seen.append(study) or observed(study, trial, run))
    ways = {"recipes": ["mdav"], "grid": {"mdav.k": [5]}, "target": "school", "only": ["near-matches"]}
    comparison = compare(visits, **ways, **LENIENT, person="who", rows_per_person=2)
    (study,) = seen
    assert not set(study.train["who"]) & set(study.control["who"])
    assert comparison.cells[0].rows == 2 * len(set(study.train["who"]))
    assert all(len(set(part.persons)) == len(set(part["who"])) for part in study.people(100))
    assert "--person who --rows-per-person 2" in comparison.recommendation.command
    assert not any("both sides" in text for text in comparison.recommendation.caveats)
    comparison = compare(visits, **ways, **LENIENT)
    assert set(seen[1].train["who"]) & set(seen[1].control["who"])
    assert any("key who repeat" in text for text in comparison.recommendation.caveats)


def test_a_part_of_a_table_holds_all_rows_of_its_people(visits):
    part = experiment._part(visits.held_by("who"), 102, 0)
    assert part.rows == 100
    assert set(np.bincount(part["who"])) == {0, 4}
    assert experiment._part(visits, 102, 0).rows == 102


def test_a_wish_for_k_is_one_for_k_persons(visits, monkeypatch):
    """Four equal rows of each person: a class of four rows would be one person's."""
    result, release = [], ht.release
    monkeypatch.setattr(experiment, "release", lambda *given, **more: result.append(release(*given, **more)) or result[-1])
    same = visits.take(np.arange(0, 240, 4).repeat(4))
    ways = {"recipes": ["mdav"], "grid": {"mdav.k": [4]}, "target": "school", "only": ["near-matches"], "constraints": ["k>=4"]}
    comparison = compare(same, **ways, person="who", rows_per_person=4)
    assert comparison.cells[0].guarantee.k == 4
    assert result[0].guarantee.criteria["k"] == 4
    assert result[0].guarantee.criteria["by_rows"]["k"] == 16


def test_what_is_not_installed_is_tried_again_next_time(table, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "release", Mock(side_effect=MissingExtra("a library", "extra", "it")))
    comparison = compare(table, ["mdav"], grid={"mdav.k": [5]}, folder=tmp_path / "out", **QUICK)
    assert "pip install" in comparison.cells[0].failed
    assert not list((tmp_path / "out" / "cells").iterdir())


def crash(*_, **__):
    raise ValueError("could not convert string to float: 'Smith'")


def test_an_error_that_was_not_foreseen_costs_its_cell_alone_and_is_tried_again(table, tmp_path, monkeypatch):
    result = ht.release
    monkeypatch.setattr(
        experiment, "release", lambda t, recipe, **more: (crash if recipe.recipe == "mdav" else result)(t, recipe, **more)
    )
    ways = {"recipes": ["mdav", "sequential"], "grid": {"mdav.k": [5]}, "folder": tmp_path / "out"}
    cells = {c.recipe: c for c in compare(table, **ways, **QUICK).cells}
    assert not cells["sequential"].failed
    assert cells["mdav"].failed.startswith("ValueError: an error that was not foreseen, in test_run.py, line ")
    assert "Smith" not in "".join(p.read_text() for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 1
    monkeypatch.setattr(experiment, "release", result)
    assert not any(c.failed for c in compare(table, **ways, **QUICK).cells)


def test_want_of_memory_is_told_and_a_user_who_stops_is_obeyed(table, monkeypatch):
    for error, reported in ((MemoryError(), "not enough memory"), (KeyboardInterrupt(), None)):
        monkeypatch.setattr(experiment, "release", Mock(side_effect=error))
        if reported is None:
            with pytest.raises(KeyboardInterrupt):
                compare(table, ["mdav"], **QUICK)
        else:
            assert all(reported in c.failed for c in compare(table, ["mdav"], **QUICK).cells)


def test_without_a_target_the_score_is_how_alike_pairs_are(small):
    plain = compare(small.select(["age", "town", "school"]), ["sequential"], only=["near-matches"]).to_json()
    (one,) = plain["cells"]
    assert plain["table"]["target"] == ""
    assert plain["utility"]["label"] == "1 - mean pair TVD"
    assert one["score"]["value"] == pytest.approx(1 - one["measures"]["mean pair TVD"]["value"])
    assert plain["utility"]["baseline"] == pytest.approx(1 - one["measures"]["mean pair TVD"]["baseline"])


def test_public_rows_cost_nothing_and_a_recipe_once_tuned_on_private_rows_stays_so(table):
    comparison = compare(table, ["independent"], epsilons=[2.0], public=True, **QUICK, **LENIENT)
    assert comparison.recipe.tuned == "public"
    marked = Recipe(recipe="mine", steps=load("mdav").steps, tuned="private")
    comparison = compare(table, [marked], grid={"mine.k": [20]}, constraints=["k>=20", "alarms<100"], public=True, **QUICK)
    assert comparison.recipe.tuned == "private"


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"target": "nowhere"}, "no column 'nowhere' to predict"),
        ({"target": "shoe"}, "no column 'shoe' to predict"),
        ({"rows": 30}, "has 30 rows; a comparison needs at least 40"),
        ({"runs": 0, "workers": 0, "epsilons": [-1.0]}, r"(?s)runs: .*workers: .*epsilon: "),
        ({"recipes": ["nothing", "nowhere"]}, r"(?s)'nothing'.*'nowhere'"),
        ({"constraints": ["happiness<1"]}, "there is no 'happiness'"),
        ({"only": ["nothing"]}, "no audit 'nothing'"),
        ({"only": ["margins", "linkability"]}, "--only margins: measures utility"),
        ({"only": ["control-seen", "coverage"]}, "name an attack too"),
        ({"hold_out": 1.5}, "between 0 and 1"),
        ({"person": "nobody"}, "person: there is no column 'nobody'"),
        ({"rows_per_person": 2}, "person: name the key column"),
        ({"person": "town", "rows_per_person": 0}, "rows_per_person: at least one"),
    ],
)
def test_bad_input_is_refused_before_anything_is_made(table, monkeypatch, more, match):
    monkeypatch.setattr(Experiment, "observe", lambda *_: pytest.fail("something was made"))
    with pytest.raises(InputError, match=match):
        compare(table, **({"recipes": ["mdav"], **QUICK} | more))


def test_a_target_of_one_class_is_refused_if_named_and_left_aside_if_not(table):
    one = table.take(table["sick"] == 0)
    with pytest.raises(InputError, match="target sick: shows a single value"):
        compare(one, ["mdav"], target="sick")
    assert target_of(one, "") == "pay"
    assert target_of(table.take(np.zeros(50, np.int64)), "") == ""


def test_tables_that_are_legal_and_unpleasant_are_compared():
    for name in ("everything missing", "every row the same", "one column"):
        comparison = compare(awkward()[name], ["mdav", "sequential"], grid={"mdav.k": [5]}, only=["near-matches"])
        assert len(comparison.cells) == 2, name
        assert json.dumps(comparison.to_json(), allow_nan=False)
        assert comparison.files()["comparison.html"]


def risky(study, trial, run):
    """As if only k, or epsilon, decided: the risk is at most 0.4 / k, or 0.02 epsilon."""
    k = trial.value("k") if trial.settings else None
    high = 0.4 / k if k else 0.02 * trial.epsilon
    score = measure("train on release, test on real: AUC", 0.9 - 0.001 * (k or 0), Better.HIGHER, scope="school", baseline=0.95)
    assurance = Assurance.VERIFIED if k else Assurance.PROVEN
    guarantee = GuaranteeSummary(epsilon=trial.epsilon, k=k)
    statements = (Statement("much", assurance),)
    return Observation(
        seconds=1.0, rows=9, assurance=assurance, statements=statements, guarantee=guarantee, findings=(attack(high), score)
    )


def test_the_search_goes_on_to_the_last_setting_that_keeps_the_constraints(table, monkeypatch):
    monkeypatch.setattr(Experiment, "observe", risky)
    comparison = compare(table, ["mdav", "mst"], constraints=["max_risk<0.05"], search=True, **QUICK)
    words = {one["recipe"]: one["words"] for one in comparison.to_json()["searched"]}
    assert words["mdav"] == "smallest k found that meets the constraints: 9 (8 does not)"
    assert words["mst"].startswith("largest epsilon found that meets the constraints: 2.")
    assert {"mdav k=7", "mdav k=8", "mdav k=9"} <= {c.id for c in comparison.cells}
    assert comparison.best.epsilon is not None
    verified = compare(table, ["mdav"], constraints=["max_risk<0.05"], search=True, **QUICK)
    assert verified.best.id == "mdav k=10"
    assert compare(table, ["mdav"], constraints=["max_risk<0.05"], **QUICK).to_json()["searched"] == []


@pytest.mark.nightly
def test_several_processes_give_what_one_gives(table):
    study = Experiment(
        table.take(np.arange(100)), table.take(np.arange(100, 160)), "school", 0, None, 80, ("near-matches",), {"margins": {}}
    )
    tasks = [(Trial(load("mdav").set({"k": k}), (("k", k),)), 0) for k in ("3", "5", "5000")]
    observed = {update.task[0].id: update.outcome for update in workers.perform(tasks, study, 2) if update.task}
    assert observed["mdav k=5"].findings == study.observe(*tasks[1]).findings
    assert observed["mdav k=3"].findings != observed["mdav k=5"].findings
    assert "5000" in observed["mdav k=5000"].failed


def test_a_process_answers_after_an_error_that_was_not_foreseen(table, monkeypatch):
    monkeypatch.setattr(experiment, "release", crash)
    ours, theirs = Pipe()
    hand = Thread(target=workers._serve, args=(theirs, Experiment(table, table, "school", 0)), daemon=True)
    hand.start()
    for _ in range(2):
        ours.send((Trial(load("mdav")), 0))
        assert ours.poll(20), "it ended without an answer"
        reported = ours.recv()
        assert reported.failed.startswith("ValueError: ")
        assert reported.again
    ours.close()
    hand.join()


def test_as_many_processes_as_cores_that_may_be_used_and_four_at_most(monkeypatch):
    for cores, expected in ((1, 1), (3, 3), (64, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)), raising=False)
        assert usual_workers() == expected
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert usual_workers() == 2


def test_a_process_that_ended_costs_its_cell_alone_which_is_tried_again_next_time(table, tmp_path, monkeypatch):
    def lost(todo, make, count):
        return [workers.Update([], task, None, "the process that made it ended with code -9") for task in todo]

    monkeypatch.setattr(run, "perform", lost)
    cell = compare(table, ["mdav"], grid={"mdav.k": [5]}, **QUICK, folder=tmp_path / "out").cells[0]
    assert "code -9" in cell.failed
    monkeypatch.undo()
    monkeypatch.setattr(experiment, "MEASURES", CHEAP)
    assert not compare(table, ["mdav"], grid={"mdav.k": [5]}, **QUICK, folder=tmp_path / "out").cells[0].failed
