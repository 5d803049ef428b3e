"""The package as a whole: light to import, true to its own lists."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hushtable
from hushtable.errors import MissingExtra
from hushtable.pipeline import registry

ROOT = Path(__file__).resolve().parents[2]


def test_importing_is_fast_and_imports_nothing_heavy():
    code = "import sys, hushtable; print(sorted(m for m in ('numpy', 'pandas', 'sklearn', 'numba', 'duckdb') if m in sys.modules))"
    start = time.perf_counter()
    findings = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert time.perf_counter() - start < 1.0
    assert findings.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [n for n in hushtable.__all__ if n != "__version__"])
def test_every_public_name_can_be_loaded(name):
    assert callable(getattr(hushtable, name))


def test_type_checkers_see_the_names_that_are_loaded():
    """The imports under TYPE_CHECKING are the table of names, and both say where a thing lives."""
    tree = ast.parse(Path(hushtable.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert {alias.name: node.module for node in block.body for alias in node.names} == hushtable._WHERE
    assert all(alias.name == alias.asname for node in block.body for alias in node.names), "a name is public only if renamed"


def test_no_public_name_is_that_of_a_package():
    """Once a package is imported, its name at the root is the package."""
    packages = {path.parent.name for path in Path(hushtable.__file__).parent.glob("*/__init__.py")}
    modules = {path.stem for path in Path(hushtable.__file__).parent.glob("*.py")}
    assert not (packages | modules) & set(hushtable._WHERE)


def test_every_command_is_a_verb_in_python():
    from hushtable.cli.app import COMMANDS

    others = {
        "schema": "draft",
        "keys": "make_keys",
        "report": "render",
        "audit-mechanism": "audit_mechanism",
        "model": "add_model",
    }
    # The studio is for people who do not write Python.
    assert {others.get(name, name) for name in COMMANDS if name != "studio"} <= set(hushtable._WHERE)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'protect'"):
        hushtable.protect


@pytest.mark.parametrize("target", [*registry.steps().values(), *registry.audits().values()])
def test_every_registered_name_leads_to_a_class(target):
    assert isinstance(registry.load(target), type)


def test_a_missing_extra_names_the_one_command():
    assert "pip install 'hushtable[dp]'" in str(MissingExtra("dp-accounting", "dp", "tight accounting"))
