"""The screen Recipe: what fits, what it means, what is tried before it is run, and what is asked for where that is grave."""

from __future__ import annotations

import asyncio
import re
import shutil

import pytest

from hushtable.data.people import people
from hushtable.studio import words
from hushtable.studio.jobs import State
from hushtable.studio.questions import recipes as question
from hushtable.studio.studio import Studio
from hushtable.studio.words import recipe as said
from hushtable.studio.worker import Worker
from hushtable.table import io
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, make_town, open_table


def shortlist(page):
    """The names of the recipes that are suggested."""
    return re.findall(r'(?:id="choose-)([\w-]+)"', page.text)


def answer(client, run, **answers):
    page = run(client.get("recipe"))
    return run(client.send(page.form("recipe/answer"), **answers))


def choose(client, run, recipe):
    page = run(client.get("recipe"))
    return run(client.send(page.form("recipe/choose", recipe=recipe)))


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


def test_answers_pick_at_most_five_and_are_noted(opened, run):
    page = answer(opened, run, leaves="anybody", values="true", use="counts")
    assert shortlist(page) == ["k-anonymity", "k-anonymity-local", "mondrian", "local-suppression"]
    # Why the fifth is not among them, on a table whose domains were read off the rows.
    assert said.LEFT_OUT in page.text or "safe-k" in page.text
    entry = opened.studio.workspace.journal.read()[-1]
    assert (entry.screen, "True, if coarser" in entry.change) == ("recipe", True)
    assert shortlist(answer(opened, run, values="invented", use="tests", leaves="nobody"))[0] == "gaussian-copula"
    # It is all there when the page is opened again.
    assert shortlist(run(opened.get("recipe")))[0] == "gaussian-copula"


def test_an_answer_that_is_none_is_a_fault(opened, run):
    page = run(opened.get("recipe"))
    got = run(opened.post(page.form("recipe/answer"), use="everything"))
    assert got.status == 422
    assert words.NOT_AN_OPTION in got.text


def test_all_recipes_are_searched_by_words_and_nothing_else_is_shown(opened, run):
    page = run(opened.get("recipe?q=rank+swap"))
    assert 'id="pick-rank-swap"' in page.text
    assert 'id="pick-mst"' not in page.text
    assert said.NOTHING_FOUND in run(opened.get("recipe?q=%3Cscript%3E")).text
    assert "<script>" not in run(opened.get("recipe?q=%3Cscript%3E")).text


def test_a_budget_is_told_as_the_error_to_expect(opened, run):
    page = choose(opened, run, "independent")
    told = []
    for epsilon in ("1", "4"):
        page = run(opened.send(page.form("recipe/settings"), epsilon=epsilon))
        (width,) = re.findall(r"100 people become 100 ± ([\d,]+) at epsilon (\d)", page.text)
        assert width[1] == epsilon
        told.append(int(width[0].replace(",", "")))
    assert told[0] > 2 * told[1] > 0
    # It was planned, and no row was read for it.
    assert "not measured" in page.text


def test_knobs_that_cannot_be_are_said_beside_their_fields_and_the_others_are_kept(opened, run):
    page = choose(opened, run, "mdav")
    got = run(opened.post(page.form("recipe/settings"), **{"set.microaggregate.k": "-3", "seed": "x"}))
    assert got.status == 422
    assert 'href="#field-set.microaggregate.k"' in got.text
    assert 'href="#field-seed"' in got.text
    page = run(opened.send(page.form("recipe/settings"), **{"set.microaggregate.k": "11"}))
    assert opened.studio.workspace.chosen("run")["settings"] == {"microaggregate.k": "11"}
    assert 'value="11"' in page.text
    assert "--recipe mdav --set microaggregate.k=11" in page.text


def test_a_release_that_hands_out_rows_of_people_needs_a_typed_reason(opened, run):
    page = choose(opened, run, "sample")
    piece = run(opened.get("recipe/-/tried"))
    assert said.REFUSED in piece.text
    assert 'name="allow_copies"' in piece.text
    got = run(opened.post(page.form("recipe/settings"), do="run"))
    assert got.status == 422
    assert said.NEEDS_REASON in got.text
    assert opened.studio.jobs.open == []
    # With a reason it is run, and the reason is in the journal and in the command.
    got = run(opened.post(page.form("recipe/settings"), do="run", allow_copies="a <b>fictional</b> town"))
    assert got.status == 303
    entry = opened.studio.workspace.journal.read()[-1]
    assert entry.reason == "a <b>fictional</b> town"
    assert "--allow-copies" in entry.command


def test_what_must_be_declared_before_a_private_run_is_said_in_words_with_the_ways_out(opened, run):
    page = choose(opened, run, "mst")
    assert 'id="undeclared"' in page.text
    assert said.TO_DECLARE in page.text
    assert said.TO_LEARN in page.text
    assert "hush schema" not in page.text
    assert "observed: true" not in page.text
    got = run(opened.post(page.form("recipe/settings"), do="run"))
    assert got.status == 422
    assert 'href="#field-domains"' in got.text
    assert opened.studio.jobs.open == []
    page = run(opened.send(page.form("recipe/settings"), domains="learn"))
    assert 'id="undeclared"' not in page.text


def test_no_row_is_read_to_try_a_private_recipe(opened, run):
    choose(opened, run, "independent")
    run(opened.send(run(opened.get("recipe")).form("recipe/settings"), domains="learn"))
    assert said.PRIVATE in run(opened.get("recipe/-/tried")).text


def test_what_takes_long_is_offered_as_a_job_and_its_result_is_shown(opened, run):
    choose(opened, run, "univariate")
    piece = run(opened.get("recipe/-/tried"))
    assert said.TAKES_LONGER in piece.text
    page = run(opened.get("recipe"))
    run(opened.send(page.form("recipe/settings"), do="try"))
    job = next(opened.studio.jobs.latest())
    assert job.verb == "preflight"

    async def ended():
        while job.state.open:
            await asyncio.sleep(0.05)

    run(asyncio.wait_for(ended(), 120))
    assert job.state is State.DONE, job.faults
    assert said.UNTOUCHED in run(opened.get("recipe/-/tried")).text
    # Of another setting it says nothing.
    run(opened.send(page.form("recipe/settings"), **{"set.microaggregate.k": "9"}))
    assert said.TAKES_LONGER in run(opened.get("recipe/-/tried")).text


def test_nothing_of_a_row_is_kept_or_told(run, opened):
    page = choose(opened, run, "mdav")
    run(opened.get("recipe?tried=1"))
    town = opened.studio.files.root
    table = io.read(town / "people.csv", opened.studio.workspace.schema)
    secrets = {value for name in ("person_id", "birth_date") for value in table.strings(name) if value}
    for text in (
        page.text,
        (town / "people.studio" / "project.yaml").read_text(),
        (town / "people.studio" / "journal.jsonl").read_text(),
    ):
        assert not any(secret in text for secret in secrets)


def test_a_recipe_that_is_gone_is_said(opened, run):
    opened.studio.workspace.choose("run", {"recipe": "of-another-version"})
    assert said.NO_SUCH_RECIPE in run(opened.get("recipe")).text


def test_settings_as_they_come_are_not_sent():
    found = question.settle(None, watch=print, recipe="mst", settings={"mst.corrected": "true", "bins.bins": "16"})
    assert found == {"bins.bins": "16"}


def test_a_trial_is_remembered_for_its_own_settings(tmp_path):
    from hushtable.studio.questions.room import read_under
    from hushtable.table.files import opened as files
    from hushtable.table.layout import Layout

    io.write(people(80, seed=1).select(("sex", "age" if "age" in people(2).schema.names else "income")), tmp_path / "t.csv")
    with files(tmp_path / "t.csv", Layout()) as (names, source):
        room = read_under(tmp_path / "t.csv", Layout(), names, source, None, lambda *_: None)
        asked = {"recipe": "mdav", "settings": {}, "epsilon": None}
        assert question.tried(room, watch=lambda *_: None, remembered=True, **asked) is None
        found = question.tried(room, watch=lambda *_: None, **asked)
        assert question.tried(room, watch=lambda *_: None, remembered=True, **asked) == found
        other = asked | {"settings": {"microaggregate.k": "9"}}
        assert question.tried(room, watch=lambda *_: None, remembered=True, **other) is None
