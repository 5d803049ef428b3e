"""What is published to a package index: a source archive, the wheel built of it, and the wheel alone in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hushtable
from tests.conftest import ROOT

# Environments of their own, filled from the package index: minutes, and a network.
pytestmark = pytest.mark.nightly


def run(folder: Path, *words: object) -> str:
    """Run a program in a folder, without this project on its path."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(word) for word in words], cwd=folder, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path, *requirements: object) -> Path:
    """A new environment with these installed, in the pinned versions: the folder of its programs."""
    run(folder.parent, sys.executable, "-m", "venv", folder)
    run(folder.parent, folder / "bin" / "pip", "install", "-q", "-c", ROOT / "constraints.txt", *requirements)
    return folder / "bin"


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The source archive."""
    folder = tmp_path_factory.mktemp("source")
    run(ROOT, environment(folder / "builder", "hatchling") / "hatchling", "build", "-t", "sdist", "-d", folder)
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(source) -> Path:
    """The wheel, built of the source archive."""
    run(source.parent, source.parent / "builder" / "bin" / "pip", "wheel", "-q", "--no-deps", "-w", source.parent, source)
    return next(source.parent.glob("*.whl"))


def test_the_source_archive_has_what_tests_and_pages_need(source):
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"pyproject.toml", "README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE", "constraints.txt"}
    assert names >= {"tests/conftest.py", "tests/saved/aim/card.json", "src/hushtable/py.typed", "docs/tutorial.py"}
    assert not [name for name in names if name.startswith((".venv", ".git/", "build/", "demo", "site/"))]


def test_the_wheel_has_the_package_and_only_that(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "src" / "hushtable"
    ours = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in ours} >= {".py", ".yaml", ".js", ".css", ".typed"}
    assert {name for name in names if ".dist-info/" not in name} == {path.relative_to(package.parent).as_posix() for path in ours}
    assert wheel.name == f"hushtable-{hushtable.__version__}-py3-none-any.whl"


def test_the_wheel_alone_runs_the_demo(wheel, tmp_path):
    programs, elsewhere = environment(tmp_path / "alone", wheel), tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(elsewhere, programs / "hush", "--version").strip() == hushtable.__version__
    place = run(elsewhere, programs / "python", "-c", "import hushtable; print(hushtable.__file__)")
    assert Path(place.strip()).is_relative_to(tmp_path / "alone")
    run(elsewhere, programs / "hush", "demo", "--out", "demo")
    assert list((elsewhere / "demo").rglob("card.html"))
