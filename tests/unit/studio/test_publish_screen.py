"""The screen Publish, and the journal's script: run on a copy of the table it makes the same release."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

import hushtable as ht
from hushtable.api.publish import Item
from hushtable.display import silent
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.release import load_card
from hushtable.studio import commands
from hushtable.studio.journal import as_script
from hushtable.studio.studio import Studio
from hushtable.studio.verbs.publish import check, publish
from hushtable.studio.words import publish as said
from hushtable.studio.words import run as said_of_run
from hushtable.studio.worker import Worker
from tests.conftest import ROOT
from tests.unit.studio.audited import attacked, digest, released
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, make_town, open_table

ABOUT = {"title": "A town", "contact": "data@example.org", "licence": "CC BY 4.0", "purpose": "teaching"}
ANSWER = {"by": "A. Steward", "reason": "a fictitious town"}


@pytest.fixture(scope="module")
def audited(tmp_path_factory, run, state):
    """A window on a studio whose table was released and attacked."""
    opened = Client(Studio(make_town(tmp_path_factory.mktemp("published")), worker=Worker(PATIENT)))
    run(opened.enter())
    run(open_table(opened))
    opened.made = released(opened)
    opened.job = attacked(opened, opened.made, only=("identical-matches",))
    yield opened
    run(opened.studio.close())


@pytest.fixture
def started(monkeypatch):
    """Jobs are put in the queue and not run."""
    monkeypatch.setattr("hushtable.studio.jobs.Jobs._next", lambda self: None)


def test_without_a_release_there_is_nothing_to_publish(client, run):
    run(open_table(client))
    assert said.NONE_YET in run(client.get("publish")).text


def test_the_checklist_fills_itself(audited, run):
    text = html.unescape(run(audited.get("publish?new=1")).text)
    found = ht.checklist(
        audited.made.request["folder"], audit=audited.job.request["out"],
        source=(audited.studio.workspace.table, audited.made.table),
    )  # fmt: skip
    shown = dict(re.findall(r'class="check (\w+)">.*?<p>(.*?)<span', text))
    states = re.findall(r'class="check (\w+)"', text)
    assert states == [str(check_.state) for check_ in found.checks]
    assert set(said.ITEMS) == set(Item)
    assert shown
    assert all(reason in text for check_ in found.checks for reason in check_.reasons)
    assert said.ANSWERABLE in text


def test_what_is_typed_stands_on_the_card_and_nowhere_in_an_address(audited, run):
    page = run(audited.get("publish?new=1"))
    got = run(audited.post(page.form("publish/publish"), **ABOUT, do="see"))
    assert "town" not in got.headers["location"]
    text = run(audited.get(got.headers["location"])).text
    card = text[text.index('id="card"') :]
    assert "data@example.org" in card
    assert "CC BY 4.0" in card
    hostile = "<script>alert(1)</script>"
    text = run(audited.send(page.form("publish/publish"), **(ABOUT | {"title": hostile}), do="see")).text
    assert hostile not in text
    assert "&lt;script&gt;alert(1)" in text


def test_files_are_listed_with_their_hashes_and_nothing_private_is(audited, run):
    text = run(audited.get("publish?new=1")).text
    listed = text[text.index('class="file-list') if 'class="file-list' in text else text.index("file-list") :]
    for name, hash_ in load_card(audited.made.request["folder"])["hashes"].items():
        assert name in listed
        assert hash_ in listed
    for private in ("train.csv", "control.csv", "audit.json", "journal.jsonl"):
        assert private not in listed


@pytest.mark.parametrize("lacking", [*ABOUT, *ANSWER])
def test_what_the_card_needs_and_who_answers_is_required(audited, run, started, lacking):
    page = run(audited.get("publish?new=1"))
    got = run(audited.send(page.form("publish/publish"), **(ABOUT | ANSWER | {lacking: " "}), do="publish"))
    assert got.status == 422
    assert said.LACKING[lacking] in got.text
    assert f'href="#field-{lacking}"' in got.text


def test_publishing_is_a_job_that_the_journal_has_with_its_reason(audited, run, started):
    page = run(audited.get("publish?new=1"))
    run(audited.send(page.form("publish/publish"), **ABOUT, **ANSWER, do="publish"))
    job = next(iter(audited.studio.jobs.latest()))
    assert job.request["about"] == ABOUT
    entry = audited.studio.workspace.journal.read()[-1]
    assert entry.reason == ANSWER["reason"]
    assert entry.command == tuple(commands.publish(audited.studio.workspace, job.request))
    audited.studio.jobs.jobs.pop(job.id)
    job.record.unlink()


def request_of(audited, tmp_path, **more):
    return {
        "release": audited.made.request["folder"], "audit": audited.job.request["out"],
        "source": str(audited.studio.workspace.table), "digest": audited.made.table, "about": ABOUT, **ANSWER,
        "out": str(tmp_path / "town"), "zip": str(tmp_path / "town.zip"), **more,
    }  # fmt: skip


def test_a_release_is_published_as_a_folder_and_a_zip_that_verifies(audited, tmp_path):
    found = publish(request_of(audited, tmp_path), tmp_path, silent)
    assert found["sha256"] == digest(tmp_path / "town.zip")
    assert not ht.verify(tmp_path / "town.zip").faults
    card = load_card(tmp_path / "town")
    assert card["data_title"] == "A town"
    with zipfile.ZipFile(tmp_path / "town.zip") as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
    assert names == {name for name, _, _ in found["files"]} == {*card["hashes"], "card.json"}
    assert "data.csv" in names


def test_where_it_is_refused_nothing_is_left(audited, tmp_path):
    with pytest.raises(GuaranteeRefused, match="changed"):
        publish(request_of(audited, tmp_path, digest="0" * 64), tmp_path, silent)
    with pytest.raises(GuaranteeRefused, match="name and a reason"):
        publish(request_of(audited, tmp_path, by=""), tmp_path, silent)
    assert list(tmp_path.iterdir()) == []


def test_a_check_as_a_job_says_what_the_page_says(audited, tmp_path):
    own = check(request_of(audited, tmp_path), tmp_path, silent)
    assert own["refused"] == []
    assert set(own["answerable"]) <= set(Item)


def test_what_was_published_is_saved_from_the_page_with_the_command_of_its_recipient(audited, run):
    folder = audited.made.folder

    async def go():
        page = await audited.get("publish?new=1")
        page = await audited.send(page.form("publish/publish"), **ABOUT, **ANSWER, do="publish")
        (address,) = re.findall(r'data-job="([^"]*)"', page.text)
        page = await audited.until(f"publish?run=001&job={address}", said.PUBLISHED)
        (target,) = re.findall(r'href="([^"]*/bundle/[^"]*)"', page.text)
        return page, await audited.get(target)

    page, saved = run(go())
    assert "hush verify people-001.zip" in page.text
    assert saved.body == (folder / "people-001.zip").read_bytes()
    assert saved.headers["content-disposition"].startswith("attachment")
    # Only what was published is handed out so: a page of another kind is none.
    other = audited.studio.result(audited.job, "audit/audit.html")
    assert run(audited.get(f"bundle/{other}")).status == 404
    assert run(audited.get("publish")).text.count(said.DOWNLOAD) == 1


def test_a_changed_table_is_refused(client, run):
    run(open_table(client))
    released(client)
    table = client.studio.workspace.table
    table.write_text(table.read_text() + "\n")
    page = run(client.get("publish?new=1"))
    assert said.REFUSED in page.text
    assert 'value="publish"' not in page.text
    assert run(client.send(page.form("publish/publish"), **ABOUT, **ANSWER, do="publish")).status == 422


def test_the_journals_script_makes_the_same_release_on_a_copy(client, run, town, tmp_path_factory):
    """Parity: what was clicked, run again by the real commands in a copy of the table's folder, has the same rows."""

    async def go():
        await open_table(client)
        page = await client.get("recipe?q=mdav")
        await client.send(page.form("recipe/choose", recipe="mdav"))
        for fields in ({"set.microaggregate.k": "4"}, {"hold_out": "often"}, {}):
            page = await client.get("recipe")
            await client.send(page.form("recipe/settings"), **({"seed": "7", "hold_out": "0.3", "do": "run"} | fields))
        job = next(iter(client.studio.jobs.latest()))
        # The last one is cancelled before its end: the script leaves it out.
        await client.studio.jobs.cancel(job.id)
        return await client.until("run?job=runs-001-release", said_of_run.DONE)

    run(go())
    private = town / "people.studio" / "runs" / "001" / "release.private"
    script = run(client.get("journal.sh")).text
    assert script.count("hush release") == 2
    assert len(re.findall(r"^hush release", script, re.M)) == 1
    copy = tmp_path_factory.mktemp("copy")
    for name in ("people.csv", "people.studio"):
        (shutil.copytree if (town / name).is_dir() else shutil.copy)(town / name, copy / name)
    shutil.rmtree(copy / "people.studio" / "runs" / "001" / "release")
    shutil.rmtree(copy / "people.studio" / "runs" / "001" / "release.private")
    (copy / "journal.sh").write_text(script)
    folder = copy / "bin"
    folder.mkdir()
    hush = folder / "hush"
    hush.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; from hushtable.cli import main; main()" "$@"\n')
    hush.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "journal.sh", "new"], cwd=copy, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    ours, theirs = private.with_name("release"), copy / "new" / "001-release"
    assert digest(theirs / "data.csv") == digest(ours / "data.csv")
    for name in ("train.csv", "control.csv"):
        assert digest(copy / "new" / "001-release.private" / name) == digest(private / name)
    cards = [json.loads((one / "card.json").read_text()) for one in (ours, theirs)]
    for card in cards:
        card.pop("date")
        card.pop("hashes")
    assert cards[0] == cards[1]
    # It needs the private folder beside the table, and says so.
    bare = tmp_path_factory.mktemp("bare")
    (bare / "journal.sh").write_text(script)
    done = subprocess.run(["sh", "journal.sh"], cwd=bare, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "people.studio" in done.stderr
    assert not (bare / "again").exists()


def entry(*command):
    from hushtable.studio.journal import Entry

    return Entry(time="2026-11-19T10:00:00+00:00", screen="run", change="done", command=command)


def test_what_a_command_made_is_found_by_the_next_ones():
    base = "town.studio/runs/001"
    steps = [
        ("hush", "schema", "town.csv", "--out", "town.schema.yaml"),
        ("hush", "release", "town.csv", "--schema", f"{base}/schema.yaml", "--seed", "1", "--out", f"{base}/release"),
        ("hush", "audit", "--train", f"{base}/release.private/train.csv", "--release", f"{base}/release", "--out", f"{base}/audit"),
        ("hush", "publish", f"{base}/release", "--audit", f"{base}/audit", "--out", f"{base}/t-001", "--zip", f"{base}/t-001.zip"),
        ("hush", "schema", "town.csv", "--out", "town.schema.yaml"),
    ]
    lines = [line for line in as_script((entry(*step) for step in steps), "town.studio").splitlines() if line.startswith("hush")]
    assert lines == [
        'hush schema town.csv --out "$OUT"/town.schema.yaml',
        'hush release town.csv --schema town.studio/runs/001/schema.yaml --seed 1 --out "$OUT"/001-release',
        'hush audit --train "$OUT"/001-release.private/train.csv --release "$OUT"/001-release --out "$OUT"/001-audit'
        ' || [ "$?" -eq 3 ]',
        'hush publish "$OUT"/001-release --audit "$OUT"/001-audit --out "$OUT"/001-t-001 --zip "$OUT"/001-t-001.zip',
        'hush schema town.csv --out "$OUT"/town.schema-2.yaml',
    ]


@pytest.mark.parametrize("word", ["$(touch x)", "'; rm -rf /;'", "a\nb", "`x`"])
def test_no_word_of_a_command_is_run_by_the_script(word, tmp_path):
    script = as_script([entry("true", word, "--out", word)], "t.studio")
    (tmp_path / "t.studio").mkdir()
    (tmp_path / "s.sh").write_text(script)
    done = subprocess.run(["sh", "s.sh"], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "s.sh", "t.studio"]


def test_a_release_without_a_seed_is_said_to_differ():
    text = as_script([entry("hush", "release", "t.csv", "--out", "r")], "t.studio")
    assert "other rows each time" in text
    assert "other rows each time" not in as_script([entry("hush", "release", "t.csv", "--seed", "1", "--out", "r")], "t.studio")
