"""The screens as a browser without script has them: pages, forms and redirects."""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import subprocess
import sys

import pytest

from hushtable.studio import words
from hushtable.studio.jobs import State
from hushtable.studio.studio import Studio
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import run as said_of_run
from hushtable.studio.worker import TooLong
from hushtable.table import io
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import open_table


def values(folder):
    """Every value of the table that is long enough to be told from a word of the page."""
    table = io.read(folder / "people.csv")
    return {v for name in ("person_id", "birth_date", "income") for v in table.strings(name) if v is not None and len(v) > 3}


def test_the_start_folder_is_listed_and_its_folders_can_be_entered(client, run):
    page = run(client.get("open"))
    assert "people.csv" in page.text
    assert "notes.pdf" not in page.text
    assert "kept.private" not in page.text
    (below,) = re.findall(r'href="([^"]*folder=[^"]*)"', page.text)
    deeper = run(client.get(below))
    assert "deeper.csv.gz" in deeper.text
    assert said_of_open.UP in deeper.text


def test_no_path_stands_in_an_address(client, run, town):
    page = run(client.get("open"))
    for address in re.findall(r'(?:href|action|value|data-[a-z]+)="([^"]*)"', page.text):
        assert str(town) not in address
        assert "people" not in address


def test_screens_that_need_a_table_lead_to_the_first(client, run):
    assert said_of_open.QUESTION in run(client.get("columns")).text
    assert said_of_open.QUESTION in run(client.get("run")).text


def test_a_table_that_was_read_shows_its_form_and_none_of_its_values(shared, run):
    page = run(shared.get("open"))
    assert said_of_open.was_read("people.csv", 120, 6) in page.text
    assert "9999-99-99" in page.text
    assert [value for value in values(shared.studio.files.root) if value in page.plain] == []


def test_columns_are_shown_with_kind_role_domain_and_masked_examples(shared, run):
    page = run(shared.get("columns"))
    assert [value for value in values(shared.studio.files.root) if value in page.plain] == []
    for text in ("birth_date", said_of_columns.KINDS["date"], said_of_columns.ROLES["quasi"], "read from the rows", "9999-99-99"):
        assert text in page.text
    assert "hush profile people.csv --schema people.studio/schema.yaml" in page.text


def test_bars_are_filled_in_one_by_one_and_all_at_once_without_script(shared, run):
    page = run(shared.get("columns"))
    places = re.findall(r'data-load="([^"]*)"', page.text)
    pieces = [run(shared.get(place.replace("&amp;", "&"))).text for place in places]
    # The headline, the bars of six columns, and why they are short.
    assert len(places) == 8
    whole = run(shared.get("columns?risk=all")).text
    for piece in pieces:
        assert piece.removesuffix("</div>").removeprefix('<div id="headline">') in whole
    assert "of people are unique by birth_date, sex" in pieces[0]


@pytest.mark.parametrize("number", ["", "-1", "6", "x", "999999"])
def test_a_bar_of_no_column_is_none(shared, run, number):
    assert run(shared.get(f"columns/-/risk?column={number}")).text == f"<span>{words.NOTHING}</span>"


def test_the_strip_shows_what_was_chosen_and_leads_there(shared, run):
    text = run(shared.get("run")).text
    strip = text[text.index('id="strip"') : text.index('id="faults"')]
    for part in ("people.csv", "120", "columns"):
        assert part in strip
    assert f'href="{shared.prefix}/columns"' in strip


def test_a_table_is_read_from_the_list_and_a_workspace_made(client, run, town):
    run(open_table(client))
    page = run(client.get("open"))
    assert said_of_open.was_read("people.csv", 120, 6) in page.text
    assert (town / "people.studio" / "schema.yaml").exists()
    (entry,) = client.studio.workspace.journal.read()
    assert entry.command == ("hush", "schema", "people.csv", "--out", "people.schema.yaml")
    again = Client(Studio(town, worker=client.studio.worker))

    async def second():
        await again.enter()
        await open_table(again)
        text = (await again.get("open")).text
        await again.studio.leave()
        return text

    # Two studios cannot have it open.
    assert "open in another studio" in run(second())


def test_reading_can_be_cancelled_and_leaves_nothing(client, run, town):
    async def go():
        page = await client.get("open")
        entries, _ = client.studio.files.listing(client.studio.files.root)
        page = await client.send(page.form("open/table", file=entries[1].id))
        assert said_of_open.reading("people.csv") in page.text
        assert "<noscript><meta" in page.text
        return await client.send(page.form("open/cancel"))

    page = run(go())
    assert said_of_open.EMPTY not in page.text
    assert client.studio.reading is None
    assert not (town / "people.studio").exists()


def test_a_first_line_that_is_a_record_is_questioned_and_read_otherwise_when_told_so(client, run, town):
    lines = (town / "people.csv").read_text().splitlines()
    (town / "bare.csv").write_text("\n".join(lines[1:]) + "\n")
    run(open_table(client, "bare.csv"))
    page = run(client.get("open"))
    assert said_of_open.questioned("bare.csv") in html.unescape(page.text)
    assert lines[1].split(",")[0] not in page.text
    assert not (town / "bare.studio").exists()

    async def go():
        await client.send(page.form("open/layout"), header="no")
        await client.studio.reading.task
        return await client.get("open")

    page = run(go())
    assert said_of_open.was_read("bare.csv", 120, 6) in page.text
    assert "column_1" in page.text
    assert "hush schema bare.csv --out bare.schema.yaml --no-header" in page.text


def test_a_table_that_cannot_be_read_says_why_with_its_lines(client, run, town):
    rows = [f"{i},{i % 7}" for i in range(20)]
    (town / "bad.csv").write_text("\n".join(["number,weight", rows[0], "3", *rows]) + "\n")
    run(open_table(client, "bad.csv"))
    page = run(client.get("open"))
    assert "line 3" in page.text
    assert said_of_open.unreadable("bad.csv") in page.text


def test_what_is_wrong_with_the_rows_is_said_without_a_value_of_them(client, run, town):
    (town / "marked.csv").write_text("number,weight\n" + "".join(f"{i},{i}.5\n" for i in range(4001, 4030)))
    run(open_table(client, "marked.csv"))
    schema = town / "marked.studio" / "schema.yaml"
    schema.write_text("columns:\n  number: {kind: integer}\n  weight: {kind: integer, role: plain}\n")
    page = run(client.get("columns"))
    assert "weight: values that are not whole numbers; in 29 rows, such as row number 1, 2 and 3" in page.text, re.sub(
        "<[^>]+>", " ", page.text
    )
    assert "4001" not in page.text


def test_an_encoding_is_found_and_corrected(client, run, town):
    rows = "\n".join(f"{i},Köln,{i % 3}" for i in range(30))
    (town / "old.csv").write_bytes(f"nr,stadt,wert\n{rows}\n".encode("cp1252"))
    run(open_table(client, "old.csv"))
    page = run(client.get("open"))
    assert "Aaaa" in page.text
    assert "--encoding cp1252" in page.text

    async def go():
        await client.send(page.form("open/layout"), encoding="latin-1")
        await client.studio.reading.task
        return await client.get("open")

    assert "--encoding latin-1" in run(go()).text


def test_delimiter_decimal_mark_and_row_numbers_are_found_said_and_corrected(client, run, town):
    rows = "".join(f"{i};{i % 7},5;x{i % 3}\n" for i in range(60))
    (town / "german.csv").write_text(f";wert;art\n{rows}")
    run(open_table(client, "german.csv"))
    page = run(client.get("open"))
    for text in ("semicolon", "comma", "numbers the rows", "row_id"):
        assert text in page.text
    assert "hush schema german.csv --out german.schema.yaml --index" in page.text
    before = client.studio.workspace.schema_text()

    async def go():
        await client.send(page.form("open/layout"), delimiter=";", decimal=".")
        await client.studio.reading.task
        return await client.get("open")

    assert "--delimiter ';' --index --decimal ." in html.unescape(run(go()).text)
    assert client.studio.workspace.schema_text() != before
    assert client.studio.workspace.undo("open")
    assert client.studio.workspace.schema_text() == before


def test_a_value_that_is_none_of_the_options_is_a_fault_beside_its_field(client, run):
    run(open_table(client))
    page = run(client.get("open"))
    got = run(client.post(page.form("open/layout"), header="perhaps", encoding="klingon"))
    assert got.status == 422
    for name in ("header", "encoding"):
        assert f'href="#field-{name}"' in got.text
        assert f'id="fault-{name}"' in got.text


def test_markup_in_names_and_values_stays_text(client, run, town):
    name = "<script>alert(1)</script>"
    rows = "".join(f'{i},"<img src=x onerror=alert({i})>",{i % 4}\n' for i in range(40))
    (town / "<b>.csv").write_text(f'nr,"{name}","a""onclick=""x"\n{rows}')
    run(open_table(client, "<b>.csv"))
    for path in ("open", "columns", "columns?risk=all", "run", "journal"):
        text = run(client.get(path)).text
        assert name not in text
        assert "<b>" not in text.replace("<b>", "", 0) or "<b>.csv" not in text
        assert "<img" not in text
        assert '"onclick' not in text


def test_a_changed_table_makes_results_stale_and_is_read_again(client, run, town):
    run(open_table(client))
    path = town / "people.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[5] + "\n")
    page = run(client.get("open"))
    assert said_of_open.CHANGED in page.text

    async def go():
        await client.send(page.form("open/anew"))
        await client.studio.reading.task
        return await client.get("open")

    assert said_of_open.was_read("people.csv", 121, 6) in run(go()).text
    assert words.TABLE_CHANGED in [entry.change for entry in client.studio.workspace.journal.read()]


async def run_to_the_end(client, job):
    for _ in range(2400):
        if not job.state.open:
            return job
        await asyncio.sleep(0.05)
    raise AssertionError(job.state)


def choose(client, run, recipe="mdav"):
    """Choose a recipe; the page on which it is set."""
    page = run(client.get("recipe"))
    return run(client.send(page.form("recipe/choose", recipe=recipe)))


def start(client, run, recipe="mdav", **fields):
    """Start a release by the form of its screen, and wait until it has ended."""
    page = choose(client, run, recipe)
    got = run(client.post(page.form("recipe/settings"), do="run", **fields))
    assert got.status == 303, got.text
    job = next(client.studio.jobs.latest())
    return run(run_to_the_end(client, job))


def test_a_release_is_made_shown_and_done_again_by_the_script_and_cannot_call_the_studio(client, run, town, tmp_path_factory):
    run(open_table(client))
    job = start(client, run, **{"set.microaggregate.k": "7", "seed": "1"})
    assert job.state is State.DONE, job.faults
    page = run(client.get("run"))
    assert said_of_run.DONE in page.text
    command = "hush release people.csv --schema people.studio/runs/001/schema.yaml --recipe mdav --set microaggregate.k=7 --seed 1"
    assert f"{command} --hold-out 0.3 --out people.studio/runs/001/release" in page.text
    (address,) = re.findall(r'href="([^"]*/result/[^"]*)"', page.text)
    card = run(client.get(address))
    assert card.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "k-anonymity" in card.text
    script = run(client.get("journal.sh")).text
    copy = tmp_path_factory.mktemp("copy") / "town"
    shutil.copytree(town, copy)
    (copy / "journal.sh").write_text(script)
    hush = copy / "hush"
    hush.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hushtable.cli "$@"\n')
    hush.chmod(0o700)
    path = f"{copy}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "journal.sh", "anew"], cwd=copy, env={**os.environ, "PATH": path}, check=True, capture_output=True)
    ours = town / "people.studio" / "runs" / "001" / "release" / "data.csv"
    assert (copy / "anew" / "001-release" / "data.csv").read_bytes() == ours.read_bytes()
    # By its id alone, and only for as long as it lies in the workspace.
    assert run(client.get("result/release/card.html")).status == 404
    assert run(client.get("result/../project.yaml")).status in (404, 405)
    own = town / "people.studio" / "runs" / "001" / "release" / "card.html"
    own.unlink()
    own.symlink_to(town / "people.csv")
    assert run(client.get(address)).status == 404


def test_a_refused_release_says_the_sentence_of_the_library(client, run):
    run(open_table(client))
    job = start(client, run, **{"set.microaggregate.k": "100000"})
    assert job.state is State.FAILED
    page = run(client.get("run"))
    assert said_of_run.ENDED[State.FAILED] in page.text
    assert str(job.faults[0].reason)[:40] in page.text


def test_faults_of_the_form_are_all_said_and_what_was_typed_is_kept(client, run):
    run(open_table(client))
    page = choose(client, run)
    typed = {"seed": "-1", "hold_out": "often", "set.microaggregate.k": "many"}
    got = run(client.post(page.form("recipe/settings"), do="run", **typed))
    assert got.status == 422
    for name in typed:
        assert f'href="#field-{name}"' in got.text
        assert f'id="fault-{name}"' in got.text
    assert 'value="often"' in got.text
    assert client.studio.jobs.open == []


def test_the_journal_is_shown_and_exported(shared, run):
    assert "hush schema people.csv" in run(shared.get("journal")).text
    script = run(shared.get("journal.sh"))
    assert script.headers["content-disposition"] == 'attachment; filename="journal.sh"'
    assert 'hush schema people.csv --out "$OUT"/people.schema.yaml' in script.text
    assert run(shared.get("journal.md")).text.startswith("# people.csv")
    assert run(shared.get("journal.exe")).status == 404


def test_events_tell_what_is_at_work_and_end_when_the_screen_locks(client, run):
    from hushtable.studio.app import _events

    async def go():
        found = []
        async for line in _events(client.studio, client.cookie):
            found.append(line)
            client.studio.session.lock(client.cookie)
        return found

    assert run(go()) == ["data: []\n\n", "event: locked\ndata: {}\n\n"]


def test_a_question_that_takes_too_long_is_offered_as_a_job_and_its_answer_kept(client, run, monkeypatch):
    run(open_table(client))

    ask = client.studio.worker.ask

    async def too_long(question, arguments, **more):
        if question == "grid":
            raise TooLong(question, arguments)
        return await ask(question, arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(client.studio.worker, "ask", too_long)
        page = run(client.get("columns"))
    assert words.TOO_LONG in page.text
    form = page.form("run/answer")
    assert run(client.post(form, arguments="[]")).status == 422
    assert run(client.post(form, question="__import__")).status == 422
    run(client.send(form))
    run(run_to_the_end(client, next(client.studio.jobs.latest())))
    page = run(client.get("run?job=" + next(client.studio.jobs.latest()).id))
    assert said_of_run.GO_ON in page.text
    with monkeypatch.context() as patch:
        # The grid is not asked for again.
        patch.setattr(client.studio.worker, "ask", too_long)
        assert said_of_columns.CAPTION in run(client.get("columns")).text
