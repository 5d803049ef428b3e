"""The command line as a whole: quick to start, complete, and completed by the shell."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hushtable.cli.app import COMMANDS

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


def run(*words: str, **more: str) -> str:
    command = [sys.executable, "-m", "hushtable.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT | more).stdout


def test_help_loads_nothing_that_is_slow():
    """Nobody waits for compiled code to read a help text."""
    code = (
        "import sys, hushtable.cli\n"
        "heavy = ('numpy', 'pandas', 'scipy', 'sklearn', 'numba', 'duckdb', 'torch')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert loaded.stdout.strip() == "[]"
    start = time.perf_counter()
    shown = run("--help")
    assert time.perf_counter() - start < 4.0
    assert all(name in shown for name in COMMANDS)


def test_commands_are_one_file_each():
    files = {"audit-mechanism": "mechanism"}
    assert [command.__module__.rpartition(".")[2] for command in COMMANDS.values()] == [files.get(name, name) for name in COMMANDS]


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_its_help(hush, name):
    code, shown, _ = hush(name, "--help")
    assert code == 0
    assert (COMMANDS[name].__doc__ or "").split(".")[0].split()[0] in shown


def test_the_shell_completes_commands_and_options():
    words = {"_HUSH_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    program = "from hushtable.cli import main; import sys; sys.argv = ['hush']; main()"

    def completed(line: str, place: str) -> list[str]:
        environment = ENVIRONMENT | words | {"COMP_WORDS": line, "COMP_CWORD": place}
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment).stdout.split()

    assert completed("hush rel", "1") == ["release"]
    assert "--save-model" in completed("hush release --s", "2")
    assert "--install-completion" in run("--help")


@pytest.mark.parametrize("name", ["--train", "--real"])
@pytest.mark.parametrize("form", ["{} {}", "{}={}"])
def test_the_rows_of_a_release_have_one_name_and_the_former_one_works(hush, town, tmp_path, name, form):
    rows = form.format(name, town / "people.csv").split(" ")
    words = ["--release", town / "people.csv", "--schema", town / "schema.yaml", "--only", "margins", "--out", tmp_path / "out"]
    assert hush("utility", *rows, *words)[0] == 0
    # Refused for its control, and not for its options.
    code, _, complaint = hush(
        "audit", *rows, "--control", town / "people.csv", *words[:-1], tmp_path / "audit", "--constraint", "k>1"
    )
    assert code == 2
    assert "is the same file as --train" in complaint


def test_help_lists_one_name(hush):
    for command in ("audit", "utility"):
        told = hush(command, "--help")[1]
        assert "--train" in told
        assert "--real" not in told
