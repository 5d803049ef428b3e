"""The screen Compare: what is asked for, what is shown while it runs and after, and how a release keeps its proof when taken."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

import hushtable as ht
from hushtable.api.compare.cell import Cell, GuaranteeSummary, Score, WorstGain
from hushtable.api.compare.so_far import SoFar
from hushtable.privacy.guarantee import Assurance
from hushtable.studio import words
from hushtable.studio.jobs import Job, State
from hushtable.studio.questions.comparison import hindrance
from hushtable.studio.screens import compare as screen
from hushtable.studio.studio import Studio
from hushtable.studio.words import compare as said
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.worker import Worker
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, make_town, open_table

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def window(tmp_path_factory, run, state):
    """One open table for all tests of this file."""
    client = Client(Studio(make_town(tmp_path_factory.mktemp("town")), worker=Worker(PATIENT)))
    run(client.enter())
    run(open_table(client))
    yield client
    run(client.studio.close())


@pytest.fixture
def opened(window):
    """The open table, with nothing chosen and nothing run."""
    workspace = window.studio.workspace
    workspace.project.choices.clear()
    window.studio.jobs.jobs.clear()
    for kind in ("runs", "comparisons"):
        for folder in workspace.folders(kind):
            shutil.rmtree(folder)
    return window


def cell(name, recipe, settings, score, gain, seconds=3.0, **more):
    return Cell(
        id=name, recipe=recipe, settings=settings, score=Score(score, score - 0.02, score + 0.02),
        gain=WorstGain(gain, None, gain + 0.05, name=HOSTILE), seconds=seconds, runs=1, tests=9, **more,
    )  # fmt: skip


def proven(epsilon, score, recipe="aim"):
    return cell(
        f"{recipe} epsilon={epsilon}", recipe, {"epsilon": epsilon}, score, 0.0, assurance=Assurance.PROVEN, epsilon=float(epsilon),
        guarantee=GuaranteeSummary(float(epsilon), 1e-6), fits=True,
    )  # fmt: skip


CELLS = (
    cell("mdav k=5", "mdav", {"k": "5"}, 0.8, 0.3, alarms=2, assurance=Assurance.VERIFIED),
    cell("mdav k=50", "mdav", {"k": "50"}, 0.7, 0.1, assurance=Assurance.VERIFIED, fits=True),
    proven("1", 0.75),
    proven("4", 0.78),
    Cell(id="mst epsilon=1", recipe="mst", settings={"epsilon": "1"}, failed=f"it could not {HOSTILE}"),
)


def finished(client, cells=CELLS, state=State.DONE, **options):
    """A comparison as its job leaves it, without the work."""
    workspace = client.studio.workspace
    folder = workspace.numbered("comparisons")
    schema = workspace.freeze(folder)
    table = ht.read(workspace.table, schema)
    asked = {"recipes": ["mdav", "aim"], "grid": {"mdav.k": ["5", "50"]}, "target": "", "constraints": ["epsilon<=2"]} | options
    so_far = SoFar.open(folder / "comparison.so-far.json", table, ht.CompareOptions.from_json(asked))
    for one in cells:
        so_far.add(one)
    request = {
        "data": str(workspace.table), "schema": str(schema), "layout": {}, "named": {"data": "people.csv", "schema": "s.yaml"},
        "options": asked,
    }  # fmt: skip
    job = Job(folder, "compare", "compare", request, "Comparison", "compare", ("hush", "compare"), workspace.project.hash, state)
    job.result = {"fit": 2, "releases": 4, "spends": ["aim"]}
    job.save()
    client.studio.jobs.jobs[job.id] = job
    return job


def test_a_comparison_is_asked_for_in_sentences_and_started(opened, run, monkeypatch):
    started = []
    monkeypatch.setattr(
        type(opened.studio), "start", lambda self, verb, request, title, **more: started.append((verb, request, more))
    )
    page = run(opened.get("compare?new=1"))
    form = page.form("compare/start")
    for name in [name for name in form.fields if name.startswith("recipe.")]:
        del form.fields[name]
    run(
        opened.post(
            form,
            **{"recipe.mdav": "yes", "grid.mdav": "5, 20", "ask.gain": "yes", "value.gain": "2.5", "rows": "100", "more": "pram"},
        )
    )
    (verb, request, more), = started  # fmt: skip
    options = request["options"]
    assert verb == "compare"
    assert (options["recipes"], options["grid"]) == (["mdav", "pram"], {"mdav.k": ["5", "20"]})
    assert (options["constraints"], options["rows"], options["public"]) == (["max_gain<0.025"], 100, False)
    command = " ".join(more["command"])
    assert "--recipes mdav,pram --grid mdav.k=5,20 --constraint max_gain<0.025 --rows 100" in command
    assert opened.studio.workspace.journal.read()[-1].command == tuple(more["command"])


def test_every_fault_of_the_form_is_said_at_once(opened, run):
    page = run(opened.get("compare?new=1"))
    form = page.form("compare/start")
    for name in [name for name in form.fields if name.startswith("recipe.")]:
        del form.fields[name]
    got = run(opened.post(form, **{"ask.epsilon": "yes", "value.epsilon": "much", "rows": "3"}))
    assert got.status == 422
    for name in ("recipes", "value.epsilon", "rows"):
        assert f'href="#field-{name}"' in got.text
    got = run(opened.post(form, **{"recipe.mdav": "yes", "grid.mdav": "-5"}))
    assert 'href="#field-grid.mdav"' in got.text
    assert opened.studio.jobs.open == []


def test_what_would_give_no_release_is_said_before_it_is_tried(opened, run):
    page = run(opened.get("compare?new=1"))
    assert said.TO_DECLARE in page.text
    form = page.form("compare/start")
    # What was read off the rows keeps a private recipe from a release, so none is offered with a tick.
    assert not {"recipe.mst", "recipe.aim"} & form.fields.keys()
    got = run(opened.post(form, **{"recipe.mst": "yes", "more": "aim, mdaw", "grid.mst": "1"}))
    assert got.status == 422
    assert 'href="#field-recipe.mst"' in got.text
    assert 'href="#field-more"' in got.text
    assert "did you mean &#x27;mdav&#x27;?" in got.text
    assert "observed: true" not in got.text
    assert opened.studio.jobs.open == []


def test_a_release_that_was_refused_says_what_mends_it(opened, run):
    refused = Cell(id="aim epsilon=1", recipe="aim", settings={"epsilon": "1"}, failed="step 'bins': age: observed: true\nmore")
    page = run(opened.get("compare")) if finished(opened, (*CELLS[:2], refused)) else None
    text = page.text.partition("aim epsilon=1")[2]
    assert text.index(said.TO_DECLARE) < text.index(said.IN_FULL) < text.index("observed: true")
    assert f"{opened.prefix}/columns#many" in text


@pytest.mark.parametrize(
    ("recipe", "settings", "kind"),
    [("pram", {}, ""), ("no-such-recipe", {}, "columns"), ("safe-k", {"k": "2"}, "promise"), ("aim", {"epsilon": "0.0001"}, "")],
)
def test_the_kind_of_a_refusal_is_seen_without_the_rows(recipe, settings, kind):
    schema = ht.people(60).schema
    found = hindrance(Cell(id=recipe, recipe=recipe, settings=settings, failed="why"), schema)
    assert found == {"undeclared": None, "refused": kind}


def test_cells_are_ranked_drawn_and_nothing_in_them_is_markup(opened, run):
    finished(opened)
    page = run(opened.get("compare"))
    assert page.status == 200
    assert page.text.index("mdav k=50") < page.text.index("mst epsilon=1")
    assert 'class="plane wide"' in page.text
    assert f"{said.FAILED}" in page.text
    assert "<script>" not in page.text.replace("<script src=", "")


def test_between_computed_values_nothing_is_said_but_what_one_more_takes(opened, run, monkeypatch):
    job = finished(opened)
    page = run(opened.get("compare"))
    slide = next(f for f in page.forms() if f.action.endswith("compare/look") and "at.mdav.k" in f.fields)
    page = run(opened.send(slide, **{"at.mdav.k": "50"}))
    assert said.ADD not in [f.fields.get("knob") for f in page.forms()]
    assert 'href="#release-' in page.text
    page = run(opened.send(slide, **{"at.mdav.k": "20"}))
    assert said.not_computed("k", "20", 3.0) in page.text
    assert "20 <" in page.text or "> 20" in page.text
    started = []
    monkeypatch.setattr(type(opened.studio), "start", lambda self, verb, request, title, **more: started.append((request, more)))
    run(opened.send(page.form("compare/add")))
    (request, more), = started  # fmt: skip
    assert request["options"]["grid"]["mdav.k"] == ["5", "50", "20"]
    assert more["folder"] == job.folder
    assert opened.studio.workspace.journal.read()[-1].change == said.added("001", "mdav", "k", "20")


def test_the_best_within_a_largest_risk_is_one_that_was_computed(opened, run):
    finished(opened)
    page = run(opened.get("compare"))
    slide = next(f for f in page.forms() if f.action.endswith("compare/look") and "at.risk" in f.fields)
    assert "aim epsilon=4" in run(opened.send(slide, **{"at.risk": "10"})).text.partition('id="looked-risk"')[2][:300]
    assert said.within("", "") in run(opened.send(slide, **{"at.risk": "1"})).text


def test_what_was_verified_is_taken_and_noted_as_chosen_by_looking(opened, run):
    finished(opened)
    page = run(opened.get("compare"))
    page = run(opened.send(page.form("compare/take", cell="mdav k=50")))
    assert said_of_recipe.SETUP in page.text
    chosen = opened.studio.workspace.chosen("run")
    assert (chosen["recipe"], chosen["settings"], chosen["tuned"]) == ("mdav", {"k": "50"}, "private")
    assert opened.studio.workspace.journal.read()[-1].change == said.took("mdav k=50", "001", public=False)


def test_a_proof_that_was_seen_is_taken_in_one_of_three_ways(opened, run):
    finished(opened)
    page = run(opened.get("compare"))
    page = run(opened.send(page.form("compare/take", cell="aim epsilon=1")))
    assert said.LOOKED in page.text
    assert said.CANNOT_PAY in page.text
    assert "recipe" not in opened.studio.workspace.chosen("run")
    # It was fixed before: where, must be said.
    named = page.form("compare/way", way="name")
    assert run(opened.post(named)).status == 422
    page = run(opened.send(named, before="protocol of 3 May"))
    assert said_of_recipe.VOID not in page.text
    assert opened.studio.workspace.journal.read()[-1].reason == "protocol of 3 May"


def test_a_proof_that_is_taken_all_the_same_is_void_on_its_card(opened, run, monkeypatch):
    finished(opened)
    page = run(opened.get("compare?take=aim+epsilon%3D1&c=001"))
    page = run(opened.send(page.form("compare/way", way="void")))
    assert said_of_recipe.VOID in page.text
    started = []

    def start(self, verb, request, title, **more):
        started.append(request)
        return Job(more["folder"], verb, verb, request, title)

    monkeypatch.setattr(type(opened.studio), "start", start)
    run(opened.post(page.form("recipe/settings"), do="run", domains="learn"))
    (request,) = started
    recipe = ht.Recipe.parse(Path(request["recipe"]).read_text(encoding="utf-8"))
    assert (recipe.recipe, recipe.tuned) == ("aim", "private")


def test_a_comparison_of_public_rows_costs_nothing(opened, run):
    finished(opened, public=True)
    page = run(opened.get("compare"))
    page = run(opened.send(page.form("compare/take", cell="aim epsilon=1")))
    assert said_of_recipe.VOID not in page.text
    assert opened.studio.workspace.chosen("run")["tuned"] == "public"


def test_what_was_stopped_can_go_on_and_says_what_is_done(opened, run):
    finished(opened, CELLS[:2], State.CANCELLED)
    page = run(opened.get("compare"))
    assert said.STOPPED in page.text
    assert page.form("compare/again")
    assert "mdav k=5" in page.text


def test_the_rest_is_estimated_from_the_cells_of_the_same_recipe():
    job = Job(None, "compare", "compare", {}, "")  # type: ignore[arg-type]
    job.stages.plan({"mdav k=5": 1.0, "mdav k=10": 1.0, "aim epsilon=1": 1.0})
    assert screen._remaining(job) == said.TIME_UNKNOWN
    job.seconds = {"mdav k=5": 8.0}
    assert screen._remaining(job) == said.remaining(8.0, 1, 1)


def test_no_such_comparison(opened, run):
    assert words.NO_SUCH_RUN in run(opened.get("compare?c=999")).text


def test_a_comparison_is_run_stopped_and_goes_on_where_it_was(opened, run):
    """The real thing, on the small table: one cell, then another beside it."""
    workspace = opened.studio.workspace
    schema = workspace.freeze(workspace.numbered("comparisons"))
    options = {"recipes": ["pram"], "grid": {"pram.keep": ["0.5"]}, "only": ["singling-out"], "rows": 100, "seed": 0}
    request = {
        "data": str(workspace.table), "schema": str(schema), "layout": {}, "named": {"data": "people.csv", "schema": "s"},
        "options": options,
    }  # fmt: skip

    async def go(asked):
        job = opened.studio.jobs.start("compare", asked, workspace.folder / "comparisons" / "001", "Comparison")
        while job.state.open:
            await asyncio.sleep(0.05)
        return job

    job = run(go(request))
    assert job.state is State.DONE, job.faults
    first = json.loads((job.folder / "comparison" / "comparison.json").read_text())
    page = run(opened.get("compare"))
    assert "pram keep=0.5" in page.text
    job = run(go(request | {"options": options | {"grid": {"pram.keep": ["0.5", "0.8"]}}}))
    assert list(job.seconds) == ["pram keep=0.8"]
    second = json.loads((job.folder / "comparison" / "comparison.json").read_text())
    scores = [{one["id"]: one["score"] for one in found["cells"]} for found in (first, second)]
    assert scores[0]["pram keep=0.5"] == scores[1]["pram keep=0.5"]
