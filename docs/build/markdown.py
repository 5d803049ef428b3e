"""Texts of the code as Markdown that shows them: nothing in a docstring can become markup by accident."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_<>|\[\]#~])")


def escaped(text: str) -> str:
    """Plain text; what stands in single or double backticks stays code."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(_code(part) if part.startswith("`") else _SPECIAL.sub(r"\\\1", part) for part in parts)


def code(text: object) -> str:
    """Code in a line; a bar in it would end a cell of a table."""
    shown = str(text).replace("|", "&#124;")
    return f"<code>{shown.replace('<', '&lt;')}</code>" if "`" in shown or "&#124;" in shown else f"`{shown}`"


def paragraphs(docstring: str | None) -> str:
    """A docstring as paragraphs."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(docstring or ""))
    return "\n\n".join(escaped(" ".join(part.split())) for part in parts)


def first_sentence(docstring: str | None) -> str:
    """The first line of a docstring."""
    return escaped(inspect.cleandoc(docstring or "").split("\n", 1)[0])


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("\n", " ") for cell in line) + " |" for line in lines)


def fenced(text: str, language: str = "") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def _code(part: str) -> str:
    return code(part.strip("`"))
