"""Persons who hold several rows: asked for on Columns, said where nobody did, and taken along by what counts or releases rows."""

from __future__ import annotations

import csv
import html
import json
import random
import shutil

import pytest

import hushtable as ht
from hushtable.cli import main
from hushtable.display import silent
from hushtable.pipeline.release import load_card
from hushtable.privacy.unit import Unit
from hushtable.studio import commands
from hushtable.studio.jobs import State
from hushtable.studio.persons import NAME, Persons, persons
from hushtable.studio.studio import Studio
from hushtable.studio.verbs.best_levels import best_levels
from hushtable.studio.verbs.release import release
from hushtable.studio.words import explorer
from hushtable.studio.words import persons as said
from hushtable.studio.worker import Worker
from tests.unit.studio.audited import attacked, released
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, open_table

KEY = "patient_id"


def make_visits(folder):
    """One row a visit: most people have several, and what is said of a person is the same in all of them."""
    draw = random.Random(4)
    rows = []
    for i in range(150):
        town, age, sex = draw.choice(["Bern", "Graz", "Ulm", "Metz"]), draw.randrange(18, 90), draw.choice("fm")
        for _ in range(draw.choice([1, 2, 3, 4])):
            rows.append({
                KEY: f"P{i:05d}", "town": town, "age": age, "sex": sex, "diagnosis": draw.choice("abcde"),
                "ward": draw.choice(["north", "south", "east"]),
            })  # fmt: skip
    draw.shuffle(rows)
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def window(tmp_path_factory, run, state):
    folder = tmp_path_factory.mktemp("visits")
    make_visits(folder)
    opened = Client(Studio(folder, worker=Worker(PATIENT)))
    run(opened.enter())
    run(open_table(opened, "visits.csv"))
    yield opened
    run(opened.studio.close())


@pytest.fixture
def visits(window):
    """The open table, with nothing said and nothing run."""
    workspace = window.studio.workspace
    workspace.project.choices.clear()
    window.studio.jobs.jobs.clear()
    for folder in workspace.folders("runs"):
        shutil.rmtree(folder)
    return window


@pytest.fixture
def queued(monkeypatch):
    """Jobs are put in the queue and not run."""
    monkeypatch.setattr("hushtable.studio.jobs.Jobs._next", lambda self: None)


def say(client, run, by=KEY, rows="4"):
    page = run(client.get("columns"))
    return run(client.send(page.form("columns/persons"), person=by, rows_per_person=rows))


def text_of(client, run, path):
    return html.unescape(run(client.get(path)).text)


def table_of(client):
    return ht.read(client.studio.workspace.table, client.studio.workspace.schema)


def test_a_key_that_repeats_is_proposed_and_named_until_somebody_says_who_a_row_is_about(visits, run):
    page = run(visits.get("columns"))
    form = page.form("columns/persons")
    held = sorted(map(len, _rows_of(visits).values()))
    assert form.fields["person"] == KEY
    assert form.fields["rows_per_person"] == str(held[-1]) == "4"
    assert f"Values of {KEY} repeat" in page.text
    assert " of rows are unique by " in text_of(visits, run, "columns/-/headline")
    page = say(visits, run)
    assert persons(visits.studio.workspace) == Persons(KEY, 4, known=True)
    assert visits.studio.workspace.journal.read()[-1].change == said.chosen(KEY, 4)
    assert f"Values of {KEY} repeat" not in page.text
    assert said.short(KEY, 4) in page.text
    assert page.form("columns/persons").fields["person"] == KEY
    assert f"--person {KEY}" in page.text
    count = len(visits.studio.workspace.journal.read())
    page = say(visits, run)
    assert len(visits.studio.workspace.journal.read()) == count
    # That each row is one person is an answer as well.
    page = say(visits, run, by="", rows="")
    assert persons(visits.studio.workspace) == Persons(None, 1, known=True)
    assert f"Values of {KEY} repeat" not in page.text
    assert " of people are unique by " in text_of(visits, run, "columns/-/headline")
    assert "--person" not in page.text[page.text.index('id="command"') :]


def _rows_of(client):
    with client.studio.workspace.table.open(newline="") as file:
        found: dict[str, list[dict[str, str]]] = {}
        for row in csv.DictReader(file):
            found.setdefault(row[KEY], []).append(row)
    return found


def test_what_is_typed_wrongly_is_said_and_nothing_is_kept(visits, run):
    page = run(visits.get("columns"))
    for fields in ({"person": "town"}, {"rows_per_person": "0"}, {"rows_per_person": "many"}):
        got = run(visits.post(page.form("columns/persons"), **fields))
        assert got.status == 422
    assert persons(visits.studio.workspace) == Persons()
    # Without a number so many as nearly all people have; of a column that is gone nothing is known.
    say(visits, run, rows="")
    assert persons(visits.studio.workspace).rows == 4
    visits.studio.workspace.choose(NAME, {"by": "gone", "rows": 2})
    assert persons(visits.studio.workspace) == Persons()


def test_a_household_is_no_person(shared, visits, run):
    workspace = visits.studio.workspace
    noticed = workspace.noticed()
    workspace.notice({"remarks": [{"column": KEY, "what": "household", "codes": [], "other": ""}]})
    page = run(visits.get("columns"))
    workspace.notice({"remarks": noticed["remarks"]})
    assert page.form("columns/persons").fields["person"] == ""
    assert f"Values of {KEY} repeat" not in page.text
    # Nor is anything said where no value of a key is there twice.
    assert "repeat:" not in run(shared.get("columns")).text


def test_headline_and_bars_count_people(visits, run):
    rows, quasi = text_of(visits, run, "columns/-/headline"), table_of(visits).schema.quasi
    say(visits, run)
    people = text_of(visits, run, "columns/-/headline")
    found = ht.uniqueness(table_of(visits), person=KEY).headline([name for name in quasi if name != KEY])
    assert f"{100 * found.alone:.0f}" in people.split("%")[0]
    assert people.split("%")[0] != rows.split("%")[0]
    bars = {bar.name: bar for bar in ht.uniqueness(table_of(visits), person=KEY).bars()}
    asked = run(visits.studio.ask("risk", {"columns": ["age", "ward"], "person": KEY}))
    assert [one["alone"] for one in asked] == [bars["age"].alone, bars["ward"].alone]


def test_levels_are_judged_by_people(visits, run):
    say(visits, run)
    levels = {"town": 0, "age": 0, "sex": 0}
    demand = {"k": 5, "l": 0.0, "t": 1.0, "limit": 0.05}
    named = {name: level for name, level in levels.items() if name in table_of(visits).schema.quasi}
    judged = run(visits.studio.ask("rung", {"levels": named, "current": None, "demand": demand | {"person": KEY}}))
    assert judged["here"] == ht.evaluate(table_of(visits), named, **demand, person=KEY).choice.to_json()
    page = text_of(visits, run, "explorer")
    assert f"--person {KEY}" in page
    assert f"--person {KEY}" in text_of(visits, run, "levels")


def test_the_search_for_the_best_levels_counts_people(visits, run, queued, tmp_path, monkeypatch):
    say(visits, run)
    run(visits.send(run(visits.get("explorer")).form("explorer/demand"), k="8", limit="0.2"))
    run(visits.send(run(visits.get("explorer")).form("explorer/search")))
    (job,) = [job for job in visits.studio.jobs.latest() if job.verb == "best_levels"]
    result = best_levels(job.request, job.folder, silent)
    own, rows = (ht.pareto(table_of(visits), ks=[8], limits=[0.2], person=by).lines[0] for by in (KEY, None))
    assert {name: result[name] for name in own.to_json()} == own.to_json()
    assert own.value > rows.value
    job.state, job.result = State.DONE, result
    job.save()
    assert explorer.proven(result) in text_of(visits, run, "explorer")
    # What the journal holds is the command that does the same.
    (command,) = [list(entry.command) for entry in visits.studio.workspace.journal.read() if entry.command[1:2] == ("pareto",)]
    assert command == list(job.command)
    assert _after(command, "--person", 2) == ["--person", KEY]
    command[command.index("--out") + 1] = str(tmp_path / "sheet")
    monkeypatch.chdir(visits.studio.workspace.folder.parent)
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert json.loads((tmp_path / "sheet" / "pareto.json").read_text()) == json.loads(
        (job.folder / "sheet" / "pareto.json").read_text()
    )


def test_more_rows_of_a_person_need_more_noise(visits, run):
    asked = {"recipe": "mst", "settings": {}, "epsilon": 1.0}
    one = run(visits.studio.ask("error", asked))["width"]
    four = run(visits.studio.ask("error", asked | {"unit": {"by": KEY, "rows": 4}}))["width"]
    assert four > 1.5 * one


def test_what_is_tried_compared_and_audited_takes_the_persons_along(visits, run, queued):
    say(visits, run, rows="2")
    run(visits.send(run(visits.get("recipe?q=mdav")).form("recipe/choose", recipe="mdav")))
    page = run(visits.get("recipe"))
    assert said.protected(KEY, 2) in html.unescape(page.text)
    assert f"--person {KEY} --rows-per-person 2" in page.text
    run(visits.send(page.form("recipe/settings"), do="try"))
    trial = next(iter(visits.studio.jobs.latest()))
    assert trial.request["unit"] == {"by": KEY, "rows": 2}
    page = run(visits.get("compare?new=1"))
    got = run(visits.post(page.form("compare/start"), **{"use.mdav": "yes"}))
    jobs = [job for job in visits.studio.jobs.latest() if job.verb == "compare"]
    assert got.status == 303, got.text
    assert (jobs[0].request["options"]["person"], jobs[0].request["options"]["rows_per_person"]) == (KEY, 2)
    assert _after(jobs[0].command, "--person", 4) == ["--person", KEY, "--rows-per-person", "2"]


def _after(command, word, count):
    start = list(command).index(word)
    return list(command[start : start + count])


def test_a_release_with_persons_is_that_of_its_command(visits, run, queued, tmp_path, monkeypatch):
    say(visits, run, rows="3")
    run(visits.send(run(visits.get("recipe?q=mdav")).form("recipe/choose", recipe="mdav")))
    page = run(visits.get("recipe"))
    fields = {"seed": "7", "hold_out": "0.3", "set.microaggregate.k": "4", "do": "run"}
    run(visits.send(page.form("recipe/settings"), **fields))
    job = next(job for job in visits.studio.jobs.latest() if job.verb == "release")
    result = release(job.request, job.folder, silent)
    ours = job.folder / "release"
    assert load_card(ours)["guarantee"]["unit"] == load_card(ours)["guarantee"]["unit"] | {"by": KEY, "rows": 3}
    assert result["used_rows"] < result["train_rows"]
    command = list(job.command)
    assert _after(command, "--person", 4) == ["--person", KEY, "--rows-per-person", "3"]
    command[command.index("--out") + 1] = str(tmp_path / "again")
    monkeypatch.chdir(visits.studio.workspace.folder.parent)
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    for name in ("data.csv", "recipe.yaml", "schema.yaml"):
        assert (tmp_path / "again" / name).read_bytes() == (ours / name).read_bytes()
    for name in ("train.csv", "control.csv"):
        assert (tmp_path / "again.private" / name).read_bytes() == (job.folder / "release.private" / name).read_bytes()
    # Each person lies on one side, and the audit is told who they are.
    private = ours.with_name("release.private")
    sides = [set(ht.read(private / f"{name}.csv", ours.parent / "schema.yaml").strings(KEY)) for name in ("train", "control")]
    assert not sides[0] & sides[1]
    job.state, job.result, job.table = State.DONE, result, visits.studio.workspace.project.hash
    job.save()
    page = run(visits.get("audit"))
    assert said.OTHER not in html.unescape(page.text)
    run(visits.send(page.form("audit/start")))
    audit = next(job for job in visits.studio.jobs.latest() if job.verb == "audit")
    assert audit.request["person"] == KEY
    assert _after(commands.records(visits.studio.workspace, audit.request), "--person", 2) == ["--person", KEY]
    del visits.studio.jobs.jobs[audit.id]
    done = attacked(visits, job, only=("identical-matches",), person=KEY)
    report = json.loads((done.folder / "audit" / "audit.json").read_text())
    assert report["people"]["train"] == len(sides[0])
    text = text_of(visits, run, "publish?new=1")
    assert "one row a person" not in text
    assert ('class="check holds"><span class="sign" aria-hidden="true">✓</span><div><p>The audit counts') in text


def test_where_nobody_said_it_the_audit_does_not_simply_count(visits, run):
    job = released(visits)
    done = attacked(visits, job, only=("identical-matches",))
    assert "person" not in done.request
    text = text_of(visits, run, "publish?new=1")
    assert f"Values of {KEY} repeat" in text
    assert said.TO_COLUMNS in text
    assert ('class="check open"><span class="sign" aria-hidden="true">?</span><div><p>The audit counts') in text
    assert "the tests assume one row a person" in text
    assert f"Values of {KEY} repeat" in text_of(visits, run, "audit")
    # Once it is said, the release that was made without it is to be made again, for persons.
    say(visits, run)
    page = run(visits.get("audit"))
    assert said.OTHER in html.unescape(page.text)


def test_made_again_a_release_is_for_the_persons_that_are_named_now(visits, run, queued):
    released(visits)
    say(visits, run)
    page = run(visits.get("audit"))
    run(visits.send(page.form("audit/anew")))
    again = next(job for job in visits.studio.jobs.latest() if job.state is not State.DONE)
    assert again.request["options"] == {"seed": 1, "unit": {"by": KEY, "rows": 4}}
    assert Unit(**again.request["options"]["unit"]) == Unit(by=KEY, rows=4)


def test_a_command_says_how_the_file_is_written(visits, monkeypatch):
    workspace = visits.studio.workspace
    monkeypatch.setitem(workspace.project.layout, "encoding", "cp1252")
    made = (
        commands.profile(workspace),
        commands.hierarchy(workspace, "age", {"intervals": [10]}),
        commands.evaluate(workspace, {"age": 1}, {}),
        commands.preflight(workspace, "mdav", {}, None),
    )
    for words in made:
        assert _after(words, "--encoding", 2) == ["--encoding", "cp1252"]
