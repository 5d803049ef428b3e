"""The first read of a file as lines for people; no value of a row stands in them."""

from __future__ import annotations

from hushtable.report.words import number
from hushtable.table.first_read import FirstRead

MARKS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "blank", ".": "point", "": "none seen"}


def facts(found: FirstRead) -> list[tuple[str, str]]:
    """How the file is read, each with its name."""
    lines = [("rows", f"about {number(found.about)}"), ("columns", number(len(found.names)))]
    if found.verdict is None:
        return lines
    layout = found.layout
    return [
        *lines,
        ("encoding", layout.encoding),
        ("delimiter", MARKS.get(layout.delimiter, layout.delimiter)),
        ("decimal mark", MARKS[found.decimal]),
        ("first line", "names" if layout.headed else "a record"),
        ("first column", "numbers the rows" if layout.index else "a column like the others"),
    ]


def warnings(found: FirstRead) -> list[str]:
    """What a person should look at before anything else."""
    lines = []
    if found.questioned:
        lines.append(
            "The first line looks like somebody's record and not like column names, which would be published: if it is one, give "
            "--no-header or --names FILE; if it holds names, give --header."
        )
    if found.ragged:
        places = ", ".join(map(str, found.ragged[:3]))
        lines.append(f"{number(len(found.ragged))} of these lines have more or fewer cells than the first, e.g. line {places}.")
    return lines
