"""The workspace: private, locked, undone and done again, and the journal that repeats it."""

from __future__ import annotations

import os
import shlex
import stat

import pytest

from hushtable.errors import InputError
from hushtable.studio.journal import Journal, as_markdown, as_script
from hushtable.studio.workspace import Workspace

SCHEMA = "columns:\n  age: {kind: integer, role: %s}\n  yes: {kind: category, role: quasi}\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,yes\n1,a\n2,b\n")
    return path


@pytest.fixture
def workspace(table):
    opened = Workspace.open(table)
    yield opened
    opened.close()


def test_it_is_its_owners_alone(table):
    before = os.umask(0)
    try:
        opened = Workspace.open(table)
        opened.save()
        opened.change_schema(SCHEMA % "plain", "columns", "first")
    finally:
        os.umask(before)
    assert opened.folder == table.with_name("people.studio")
    assert stat.S_IMODE(opened.folder.stat().st_mode) == 0o700
    for path in (opened.folder / "project.yaml", opened.schema):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    opened.close()


def test_a_folder_that_others_could_read_is_closed_to_them(table):
    table.with_name("people.studio").mkdir(mode=0o755)
    opened = Workspace.open(table)
    assert stat.S_IMODE(opened.folder.stat().st_mode) == 0o700
    opened.close()


def test_two_studios_cannot_have_it_open(workspace, table):
    with pytest.raises(InputError, match="open in another studio"):
        Workspace.open(table)
    workspace.close()
    Workspace.open(table).close()


def test_a_lock_file_that_was_left_behind_locks_nothing(table):
    folder = table.with_name("people.studio")
    folder.mkdir()
    (folder / "lock").write_text("12345")
    Workspace.open(table).close()


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(table):
    if os.geteuid() == 0:
        table.with_name("people.studio").write_text("a file where the folder should be")
    else:
        table.parent.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"people\.studio"):
            Workspace.open(table)
    finally:
        table.parent.chmod(0o700)


def test_tables_of_one_name_have_workspaces_of_their_own(workspace, table):
    workspace.save()
    other = table.with_suffix(".parquet")
    assert Workspace.beside(other).name == "people.parquet.studio"
    assert Workspace.beside(table) == workspace.folder


def test_a_project_is_read_as_it_was_written(workspace, table):
    project = workspace.project
    project.layout, project.hash, project.stamp, project.rows, project.columns = {"header": False}, "ab", (3, 4), 5, 2
    workspace.choose("run", {"recipe": "mdav", "settings": {"k": "5"}})
    workspace.close()
    again = Workspace.open(table)
    assert again.project == project
    assert again.chosen("run") == {"recipe": "mdav", "settings": {"k": "5"}}
    assert again.chosen("nothing") == {}
    again.close()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "version: 1", "version: 99\ntable: people.csv", "version: 1\ntable: ../../etc/passwd", "!!python/object:x {}"],
)
def test_a_project_that_is_none_is_refused(workspace, table, text):
    (workspace.folder / "project.yaml").write_text(text)
    workspace.close()
    with pytest.raises(InputError, match=r"project\.yaml"):
        Workspace.open(table)


def test_it_knows_that_the_table_changed(workspace, table):
    state = table.stat()
    workspace.project.stamp = (state.st_size, state.st_mtime_ns)
    assert not workspace.changed
    table.write_text("age,yes\n3,c\n4,d\n5,e\n")
    assert workspace.changed
    table.unlink()
    assert workspace.changed


def test_roles_are_those_of_the_schema_whatever_the_columns_are_called(workspace):
    assert workspace.roles() == {}
    workspace.change_schema(SCHEMA % "secret", "columns", "first")
    assert workspace.roles() == {"age": "secret", "yes": "quasi"}
    workspace.change_schema(SCHEMA % "target", "columns", "second")
    assert workspace.roles()["age"] == "target"


def test_changes_are_undone_and_done_again(workspace):
    assert not workspace.undo("columns")
    for role in ("plain", "quasi", "secret"):
        workspace.change_schema(SCHEMA % role, "columns", f"to {role}")
    assert (workspace.can_undo, workspace.can_redo) == (True, False)
    assert workspace.undo("columns")
    assert workspace.undo("columns")
    assert workspace.schema_text() == SCHEMA % "plain"
    assert not workspace.undo("columns")
    assert workspace.redo("columns")
    assert workspace.schema_text() == SCHEMA % "quasi"
    workspace.change_schema(SCHEMA % "target", "columns", "to target")
    assert not workspace.can_redo
    assert workspace.undo("columns")
    assert workspace.schema_text() == SCHEMA % "quasi"


def test_undo_holds_over_a_restart_and_for_a_schema_that_was_edited_by_hand(workspace, table):
    workspace.schema.write_text(SCHEMA % "identifier")
    workspace.change_schema(SCHEMA % "plain", "columns", "first")
    workspace.close()
    again = Workspace.open(table)
    assert again.undo("columns")
    assert again.schema_text() == SCHEMA % "identifier"
    again.close()


def test_runs_are_numbered_and_found_by_number_alone(workspace):
    assert workspace.numbered("runs").name == "001"
    assert workspace.numbered("runs").name == "002"
    assert workspace.numbered("runs", "001").name == "001"
    assert [folder.name for folder in workspace.folders("runs")] == ["002", "001"]
    for number in ("003", "../runs/001", ".", ""):
        with pytest.raises(InputError):
            workspace.numbered("runs", number)


def test_a_run_keeps_the_schema_it_was_made_with(workspace):
    workspace.change_schema(SCHEMA % "plain", "columns", "first")
    (workspace.folder / "hierarchies" / "age.csv").write_text("1,1-2\n")
    run = workspace.numbered("runs")
    copy = workspace.freeze(run)
    workspace.change_schema(SCHEMA % "secret", "columns", "second")
    assert copy.read_text() == SCHEMA % "plain"
    assert (run / "hierarchies" / "age.csv").read_text() == "1,1-2\n"


def test_the_journal_tells_what_when_where_and_why(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.read() == []
    journal.write("columns", "role of age: secret", "asked by the ethics board", ["hush", "schema"])
    (entry,) = journal.read()
    assert (entry.screen, entry.change, entry.reason, entry.command) == (
        "columns", "role of age: secret", "asked by the ethics board", ("hush", "schema"),
    )  # fmt: skip
    assert entry.time[4] == "-"
    assert entry.time[-6] in "+-"


def test_a_line_that_was_cut_short_spoils_no_other(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("run", "first")
    with journal.path.open("a") as file:
        file.write('{"time": "2026')
        file.write('\n[]\n{"odd": 1}\n')
    journal.write("run", "second")
    assert [entry.change for entry in journal.read()] == ["first", "second"]


def test_a_journal_on_a_full_disk_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Journal(tmp_path / "gone" / "journal.jsonl").write("run", "first")


def test_the_script_runs_what_was_run_and_hostile_text_stays_text(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("open", "a $(touch x)\nrm -rf /", "`id`\n; ls", [])
    out = "people.studio/runs/001/release"
    journal.write(
        "run", "run", "", ["hush", "release", "a b;$(x).csv", "--schema", "people.studio/runs/001/schema.yaml", "--out", out]
    )
    journal.write("audit", "audit", "", ["hush", "audit", "--release", out, "--train", f"{out}.private/train.csv"])
    script = as_script(journal.read(), "people.studio")
    commands = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert commands.pop(2).startswith("[ -d people.studio ] || {")
    assert commands[:4] == ["set -eu", 'cd "$(dirname "$0")"', 'OUT="${1:-again}"', 'mkdir "$OUT"']
    assert shlex.split(commands[4]) == [
        "hush", "release", "a b;$(x).csv", "--schema", "people.studio/runs/001/schema.yaml", "--out", "$OUT/001-release",
    ]  # fmt: skip
    assert '--release "$OUT"/001-release --train "$OUT"/001-release.private/train.csv' in commands[5]
    assert len(commands) == 6


def test_hostile_text_stays_text_in_markdown(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("open", "# <script>alert(1)</script>\n\n[x](javascript:y)")
    text = as_markdown(journal.read(), "a*b.csv")
    assert "# a\\*b.csv" in text
    assert "<script>" not in text.replace("\\<", "")
    assert "\\[x\\](javascript:y)" in text
