"""The sentences of the screen Open."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
HEADER_WORDS = {"judged": "judge by the lines below", "yes": "yes", "no": "no, it is a record"}
ENCODING = "Encoding"
ENCODING_WORDS = {
    "": "UTF-8",
    "cp1252": "Windows, Western Europe (cp1252)",
    "latin-1": "older systems, Western Europe (latin-1)",
    "utf-16": "UTF-16",
}
INDEX = "Is one column only the number of the row?"
INDEX_HINT = "It identifies rows and is dropped."
NO_INDEX = "none"
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


def index_column(name: str) -> str:
    """A column was said to be an index."""
    return f"Column {name} is the index of the file: it identifies rows and is dropped"


def odd_name(name: str) -> bool:
    """Whether the name of a column looks like somebody's value."""
    return bool(re.fullmatch(r"[-+]?[\d.,:/ -]*\d[\d.,:/ -]*", name)) or bool(re.search(r"\d{5,}|@", name))


def questioned(names: Sequence[str]) -> str:
    """That the header may be a record; its cells are not repeated."""
    if not names:
        return ""
    some = "1 column" if len(names) == 1 else f"{len(names)} columns"
    return (
        f"The names of {some} look like values (dates, numbers, long ids). If the first line is somebody's record, "
        "say so below: names are published."
    )
