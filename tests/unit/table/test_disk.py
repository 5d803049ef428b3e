"""What unfinished runs leave on disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from hushtable.table.disk import OWNER, owner, remove_abandoned, whole_folder


@pytest.fixture
def ended():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_folders_of_processes_that_ended_are_removed_and_no_others(tmp_path, ended):
    node = owner().rpartition("-")[0]
    names = {
        "ended": f"hush-{node}-{ended}-x",
        "running": f"hush-{node}-{os.getppid()}-x",
        "elsewhere": f"hush-{node}x-{ended}-x",
        "other": f"work-{node}-{ended}-x",
    }
    for name in names.values():
        (tmp_path / name).mkdir()
    (tmp_path / f"hush-{node}-{ended}-file").write_text("")
    (tmp_path / f"hush-{node}-{ended}-link").symlink_to(tmp_path / names["other"])
    remove_abandoned(tmp_path, f"hush-{OWNER}-.*")
    left = {path.name for path in tmp_path.iterdir()}
    assert names["ended"] not in left
    assert len(left) == 5


def test_what_a_killed_run_left_of_an_output_is_removed_by_the_next(tmp_path, ended):
    node = owner().rpartition("-")[0]
    (tmp_path / f".{node}-{ended}.out").mkdir()
    (tmp_path / f".{node}-{ended}.other").mkdir()
    with whole_folder(tmp_path / "out"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{node}-{ended}.other", "out"]


def test_an_owner_fits_its_pattern():
    assert re.fullmatch(OWNER, owner())
