"""The sentences of the screen Open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LABEL = "Open"
QUESTION = "Which table?"
READING = "How much of the table was read"
RIGHTLY = "Was it read rightly?"
MASKED = "The first ten rows, masked: A and a stand for letters, 9 for a digit. Nothing else is shown of them."
MASKED_LABEL = "The first ten rows, masked"
NOT_RIGHTLY = "It was not read rightly"
GO_ON = "Go on to the columns"
READ_AGAIN = "Read it again"
CHANGED = "The file is another than the one that was read. Results of before are stale."
HEADER = "Does the first line hold the names of the columns?"
HEADERS = {"judged": "judge by the lines below", "yes": "yes", "no": "no, it is a record"}
DELIMITER = "What stands between two cells?"
DELIMITERS = {"": "judge by the first lines", ",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
DECIMAL = "What stands before the decimals of a number?"
DECIMALS = {"": "judge by the values", ".": "a point (3.14)", ",": "a comma (3,14)"}
ENCODING = "Encoding"
ENCODINGS = {
    "": "UTF-8, or UTF-16 by its mark",
    "cp1252": "Windows, Western Europe (cp1252)",
    "latin-1": "older systems, Western Europe (latin-1)",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
}
INDEX = "The first column has no name: it numbers the rows"
INDEX_HINT = "It is then called row_id."
PARQUET = "A Parquet file says by itself how it is written."
UP = "One folder up"
FOLDER = "folder"
OPEN = "Open"
NAME, SIZE, ACTION = "Name", "Size", "What to do"
LISTING = "Tables of this folder"
RECENT = "Open before"
GO_ON_WITH = "Go on"
WHERE_THEY_LIE = "CSV, TSV, gzip and Parquet. A table is read where it lies; nothing is uploaded or copied."
EMPTY = "There is no table here that could be opened."
MORE = "There are more than are listed: start the studio in a folder below this one."
ANOTHER = "Open another table"


def reading(name: str) -> str:
    """What is read."""
    return f"{name} is being read"


def unreadable(name: str) -> str:
    """What could not be read."""
    return f"{name} could not be read. Say how it is written, or open another table."


def was_read(name: str, rows: int, columns: int) -> str:
    """What was read."""
    return f"{name}: {rows:,} rows, {columns:,} columns"


def more_columns(count: int) -> str:
    """Columns that are not shown."""
    return f"{count:,} more columns are not shown here."


def workspace(name: str) -> str:
    """A workspace by its name."""
    return name.removesuffix(".studio")


def folder(name: str) -> str:
    """The head of a listing."""
    return f"Tables in {name}"


def questioned(name: str) -> str:
    """That the header may be a record."""
    return f"Does the first line of {name} hold the names of the columns? It looks like somebody's record, and names are published."


def written(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a file was taken to be written."""
    layout = found["layout"]
    if found["form"] == "parquet":
        return []
    return [
        ("Delimiter", DELIMITERS.get(layout["delimiter"], layout["delimiter"])),
        ("Decimal mark", {".": "point", ",": "comma"}.get(found["decimal"], "none seen")),
        ("Encoding", ENCODINGS.get(layout["encoding"], layout["encoding"].upper())),
        ("First line", "names" if layout["header"] else "a record"),
        ("First column", "numbers the rows" if layout["index"] else ""),
    ]


def ragged(lines: Sequence[int]) -> str:
    """Lines of another length."""
    some = ", ".join(map(str, lines[:5]))
    return f"{len(lines)} of the first lines have more or fewer cells than the others: {some}{' …' if len(lines) > 5 else ''}"


def live(rows: int, of: int) -> str:
    """That the table is very large."""
    return (
        f"The table is very large: what the next screens answer at once is worked out on {rows:,} of its {of:,} rows, picked at "
        "random, and they say so. Releases and audits take all rows."
    )
