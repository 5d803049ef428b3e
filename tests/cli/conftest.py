"""Fixtures of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hushtable.cli import main
from hushtable.data.people import people
from hushtable.table import io


@pytest.fixture(scope="session")
def town(tmp_path_factory) -> Path:
    """A folder with people.csv and its schema."""
    folder = tmp_path_factory.mktemp("town")
    table = people(600, seed=3)
    io.write(table, folder / "people.csv")
    (folder / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return folder


@pytest.fixture
def hush(monkeypatch, capsys):
    """Run a command; its exit code, standard output and standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hush", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            sys.exit(main())
        reported = capsys.readouterr()
        return int(ended.value.code or 0), reported.out, reported.err

    return run
