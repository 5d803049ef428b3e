"""To declare a schema: one deliberate act by which somebody answers for what stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hushtable.errors import InputError
from hushtable.table.columns import Facet
from hushtable.table.disk import read_text, whole_file
from hushtable.table.entries import flow
from hushtable.table.infer import HEAD
from hushtable.table.schema import Schema

_VALUE = r"observed:\s*(?:true|\[[^\]]*\])"
_LINE = re.compile(rf"\s*{_VALUE}\s*")
_INSIDE = re.compile(rf",\s*{_VALUE}|(?<=\{{){_VALUE}\s*,?\s*")


def declare(path: str | Path, by: str = "", facets: Iterable[str] = ()) -> tuple[Schema, Schema]:
    """Take the marks out of a schema file, all or those of some facets; the schema before and after.

    Comments stay where they are, but for the drafter's own on the marks.
    """
    path = Path(path)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(
            "is no schema file: draft one with 'hush schema DATA -o schema.yaml', read every line of it, and declare that",
            where=path.name,
        )
    before = Schema.load(path)
    if not before.undeclared and not before.drafted:
        raise InputError("has no mark: everything in it is declared already", where=path.name)
    after = before.declared(by, tuple(facets) or tuple(Facet))
    text = _without_marks(read_text(path, path.name), by)
    # Where the file is written in a way of its own, or marks are to stay, it is written anew.
    same = Schema.parse(text, folder=path.parent) == after
    if same:
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    else:
        after.save(path)
    return before, after


def _without_marks(text: str, by: str) -> str:
    lines = [line for line in text.splitlines() if line.removeprefix("# ") not in HEAD[2:] and not _LINE.fullmatch(line)]
    lines = [line for line in lines if not (by and line.startswith("declared_by:"))]
    who = [f"declared_by: {flow(by)}"] if by else []
    start = next((i for i, line in enumerate(lines) if line.startswith("columns:")), 0)
    return "\n".join([*lines[:start], *who, *(_INSIDE.sub("", line) for line in lines[start:])]) + "\n"
