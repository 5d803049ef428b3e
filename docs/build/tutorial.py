"""The tutorial as a page: its text, its code, and what the code printed when the site was built."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.build import markdown as md

SCRIPT = Path(__file__).resolve().parents[1] / "tutorial.py"


@dataclass(frozen=True)
class Cell:
    """A cell of the script: text to read, or code to run."""

    text: str
    code: bool


def cells(script: str) -> list[Cell]:
    """The cells that ``# %%`` begins; ``# %% [markdown]`` begins one to read."""
    parsed = []
    for part in script.split("\n# %%")[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            parsed.append(Cell("\n".join(lines), code=False))
        elif body.strip():
            parsed.append(Cell(body.strip("\n"), code=True))
    return parsed


def run(script: list[Cell]) -> tuple[list[str], dict[str, Any]]:
    """What every cell prints, the value of its last line included, as in a notebook; and the names that are left at the end."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    return [_printed(cell.text, names) if cell.code else "" for cell in script], names


def page(*, run: bool) -> str:
    """The page; its code is run in an empty folder that is thrown away, or not at all."""
    script = cells(SCRIPT.read_text(encoding="utf-8"))
    printed = _run_apart(script) if run else [""] * len(script)
    parts = []
    for cell, output in zip(script, printed, strict=True):
        parts.append(md.fenced(cell.text, "python") if cell.code else cell.text)
        if output.strip():
            parts.append(md.fenced(output, "text"))
    return "\n\n".join(parts) + "\n"


def _run_apart(script: list[Cell]) -> list[str]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return run(script)[0]
        finally:
            os.chdir(before)


def _printed(code: str, names: dict[str, Any]) -> str:
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(body, []), "tutorial", "exec"), names)
        value = None if last is None else eval(compile(last, "tutorial", "eval"), names)
        if value is not None:
            print(repr(value))
    return out.getvalue()
