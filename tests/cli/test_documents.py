"""The README and the pages by hand, followed word by word by somebody who has nothing else."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hushtable.data.people import people
from hushtable.table import io

ROOT = Path(__file__).resolve().parents[2]


def blocks(document: str, language: str) -> list[str]:
    """The code blocks of one language; those for the shell name none."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [code for name, code in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if name == language]


@pytest.fixture
def folder(tmp_path):
    """An empty folder but for a table and its schema."""
    table = people(400, seed=8)
    io.write(table, tmp_path / "patients.csv")
    (tmp_path / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return tmp_path


def shell(folder: Path, text: str) -> str:
    """Run lines in a shell, each command in a process of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", text], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def follow(folder, hush, monkeypatch):
    """Run lines as a shell would, in this process: loading everything again takes longer than most commands."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)

    def run(text: str) -> str:
        output = ""
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            assert words[:1] == ["hush"], f"not a command of ours: {line}"
            code, out, err = hush(*words[1:])
            assert code == 0, f"{line}\n{out}{err}"
            output += out
        return output

    yield run
    for name in [name for name in set(sys.modules) - before if (folder / f"{name}.py").is_file()]:
        del sys.modules[name]


def test_the_commands_of_the_readme(folder):
    (folder / "schema.yaml").unlink()
    commands = next(block for block in blocks("README.md", "") if "hush schema" in block)
    assert "what its card says" in shell(folder, commands)
    assert (folder / "audit" / "audit.html").is_file()


def test_the_sheet_and_the_mapping_of_the_pages(folder, follow):
    io.write(people(300, seed=9), folder / "new-patients.csv")
    commands = next(block for block in blocks("docs/pages/choosing.md", "console") if "hush pareto" in block)
    printed = follow(commands + "hush verify release\nhush verify release-new\n")
    assert re.search(r"\d new rows \([\d.]+ %\) were suppressed", printed)
    assert (folder / "sheet" / "pareto.html").is_file()


@pytest.mark.nightly
def test_the_power_and_the_certificate_of_the_pages(folder):
    release = "hush release patients.csv --schema schema.yaml --recipe mdav --hold-out 0.3 --seed 1 --out release\n"
    commands = next(block for block in blocks("docs/pages/auditing.md", "console") if "hush certify" in block)
    printed = shell(folder, release + commands)
    assert "smallest planted leak of whole rows that it notices" in printed
    assert "rises" in printed
    assert (folder / "certificate" / "certificate.html").is_file()


def test_the_library_as_the_readme_shows_it(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "script.py").write_text(blocks("README.md", "python")[0], encoding="utf-8")
    runpy.run_path("script.py", run_name="__main__")
    assert "Proven" in capsys.readouterr().out
    assert {"release", "audit"} <= {p.name for p in folder.iterdir()}


def test_a_method_in_one_file(folder):
    (folder / "rounding.py").write_text(blocks("docs/pages/extending.md", "python")[0], encoding="utf-8")
    commands = next(block for block in blocks("docs/pages/extending.md", "") if "hush check" in block)
    assert "Promised: nothing" in shell(folder, commands.replace("DATA", "patients.csv"))
    assert (folder / "out" / "card.html").is_file()


@pytest.mark.parametrize(("number", "target"), [(1, "pair:Pair"), (2, "log:Log"), (3, "alone:Alone"), (4, "same:SameAge")])
def test_every_other_example_passes_the_battery(folder, follow, number, target):
    (folder / f"{target.partition(':')[0]}.py").write_text(blocks("docs/pages/extending.md", "python")[number], encoding="utf-8")
    assert "checks passed" in follow(f"hush check {target}")


def test_an_audit_of_ones_own_runs_beside_a_release(folder, follow):
    (folder / "alone.py").write_text(blocks("docs/pages/extending.md", "python")[3], encoding="utf-8")
    printed = follow(
        "hush release patients.csv --schema schema.yaml --recipe mdav --hold-out 0.3 --seed 1 --out r\n"
        "hush audit --train r.private/train.csv --control r.private/control.csv --release r --schema schema.yaml "
        "--only alone:Alone --out a",
    )
    assert "0.0% of the released rows are alone" in printed


def test_a_private_core_of_ones_own_is_proven(folder, follow):
    (folder / "pair.py").write_text(blocks("docs/pages/extending.md", "python")[1], encoding="utf-8")
    (folder / "pair.yaml").write_text("recipe: pair\nsteps:\n- pair:Pair: {columns: [sex, smoker]}\n", encoding="utf-8")
    printed = follow(
        "hush release patients.csv --schema schema.yaml --recipe pair.yaml --epsilon 1 --out out\nhush verify out --trust"
    )
    assert "Guarantee: proven" in printed
    assert "is what its card says" in printed
