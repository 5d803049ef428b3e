"""The rules of the house that no linter knows: few modules at the root, few parameters, no unexplained import inside a function."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml
from typer import Typer

import hushtable
from hushtable.cli import app

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "hushtable"
MOST_PARAMETERS = 8
# Compiled kernels take arrays one by one: numba knows no dataclass. Nothing else may be listed here.
KERNELS = {
    "anonymize/microaggregate/farthest.py: _farther",
    "anonymize/microaggregate/vmdav.py: _groups",
    "anonymize/recoding/mondrian_cuts.py: _split",
    "anonymize/recoding/suppress_cells.py: _lenders",
    "anonymize/recoding/suppress_cells.py: _settle",
    "audits/matching.py: _unlike",
    "evidence/neighbours/scan.py: _bounds",
    "evidence/neighbours/scan.py: _boxes",
    "evidence/neighbours/scan.py: _chunk",
    "evidence/neighbours/scan.py: _hopeful",
    "evidence/neighbours/scan.py: scan",
    "numerics/manifold/geodesics.py: _combine",
    "numerics/manifold/geodesics.py: _from",
    "synthesize/boosted.py: _boost",
    "synthesize/boosted.py: _grow",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed() -> dict[str, tuple[str, ast.Module]]:
    """Every module of ours by its path: its text and its tree."""
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def functions() -> Iterator[tuple[str, Function]]:
    for name, (_, tree) in parsed().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{name}: {node.name}", node


def parameters(function: Function) -> int:
    """How many a caller may give: `self` and `cls` are not given by callers."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    if plain and plain[0].arg in ("self", "cls"):
        plain = plain[1:]
    return len(plain) + len(arguments.kwonlyargs) + sum(extra is not None for extra in (arguments.vararg, arguments.kwarg))


def compiled(function: Function) -> bool:
    return any(ast.unparse(decorator).startswith("njit") for decorator in function.decorator_list)


def commands(typer: Typer) -> Iterator[str]:
    """The functions behind the commands: their options are their parameters."""
    for command in typer.registered_commands:
        assert command.callback is not None
        yield f"{command.callback.__module__.removeprefix('hushtable.').replace('.', '/')}.py: {command.callback.__name__}"
    for group in typer.registered_groups:
        assert group.typer_instance is not None
        yield from commands(group.typer_instance)


def own(node: ast.AST) -> bool:
    """Whether this is an import of ours."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").partition(".")[0] == "hushtable"
    return isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "hushtable" for alias in node.names)


def unexplained(text: str, tree: ast.Module) -> list[int]:
    """Lines of our own imports inside functions with no comment on them or on the line before; a run of imports shares one."""
    inside = {node for function in ast.walk(tree) if isinstance(function, Function) for node in ast.walk(function) if own(node)}
    if not inside:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    covered = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    bare = []
    for node in sorted(inside, key=lambda node: node.lineno):
        lines = range(node.lineno, node.end_lineno + 1)
        if covered.intersection(range(node.lineno - 1, node.end_lineno + 1)):
            covered.update(lines)
        else:
            bare.append(node.lineno)
    return bare


def test_the_root_holds_what_a_user_imports_by_name_and_nothing_else():
    assert {path.stem for path in SOURCE.glob("*.py")} <= {"__init__", "__main__", "errors", "notebook", "estimators", "display"}


def test_no_function_has_more_than_eight_parameters_but_compiled_kernels_and_commands():
    many = {name: function for name, function in functions() if parameters(function) > MOST_PARAMETERS}
    assert set(many) - set(commands(app)) == KERNELS
    assert all(compiled(many[name]) for name in KERNELS)


def test_an_import_of_our_own_inside_a_function_says_why():
    bare = {name: lines for name, (text, tree) in parsed().items() if (lines := unexplained(text, tree))}
    assert bare == {}


def test_the_check_of_imports_sees_what_it_should():
    text = """
def bare():
    from hushtable.a import b
    import numpy

def shared():
    # slow to load
    from hushtable.a import (
        b,
    )
    import hushtable.c

    import hushtable.d

def nested():
    def inner():
        from . import e  # a cycle
        return "#"
    from .a import f
"""
    assert unexplained(text, ast.parse(text)) == [3, 13, 19]


def test_the_version_is_written_in_one_place_and_cited():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == hushtable.__version__
    assert f"\n## {hushtable.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\nversion =" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
