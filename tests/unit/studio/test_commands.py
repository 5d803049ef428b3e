"""The commands that the studio shows do what it did, whatever the file looks like."""

from __future__ import annotations

import sys

import pytest

from hushtable.cli.app import main
from hushtable.studio import commands
from hushtable.studio.workspace import Workspace

ROWS = "".join(f"{i};{20 + i * 7 % 50};{['Köln', 'Bern', 'Graz'][i % 3]};{i * 37 % 90},5\n" for i in range(60))
SCHEMA = """columns:
  row_id: {kind: key, role: identifier}
  age: {kind: integer, role: quasi, domain: [0, 120]}
  city: {kind: category, role: quasi, domain: [Köln, Bern, Graz]}
  pay: {kind: real, role: plain, domain: [0, 100], format: "1234,56"}
"""


@pytest.fixture
def workspace(tmp_path):
    path = tmp_path / "wages of Köln.csv"
    path.write_bytes(f";age;city;pay\n{ROWS}".encode("cp1252"))
    opened = Workspace.open(path)
    opened.project.layout = {"header": True, "encoding": "cp1252", "delimiter": ";", "index": True}
    opened.change_schema(SCHEMA, "columns", "written")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "words",
    [
        commands.profile,
        lambda own: commands.preflight(own, "independent", {}, 1.0),
        lambda own: commands.hierarchy(own, "age", {"intervals": [10, 20]}),
        lambda own: commands.evaluate(own, {"age": 1, "city": 0}, {"k": 2}),
    ],
    ids=["profile", "preflight", "hierarchy", "evaluate"],
)
def test_a_shown_command_reads_the_file_as_the_studio_did(workspace, words, monkeypatch, capsys):
    monkeypatch.chdir(workspace.folder.parent)
    monkeypatch.setattr(sys, "argv", words(workspace))
    with pytest.raises(SystemExit) as ended:
        sys.exit(main())
    assert not ended.value.code, capsys.readouterr().err
