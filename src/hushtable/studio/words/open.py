"""The sentences of the screen Open."""

from __future__ import annotations

from collections.abc import Sequence

LABEL = "Open"
QUESTION = "Which table?"
READING = "How much of the table was read"
RIGHTLY = "Was it read rightly?"
MASKED = "The first ten rows, masked: A and a stand for letters, 9 for a digit. Nothing else is shown of them."
FACTS = "How the file is written"
FOUND = {
    "encoding": "Encoding",
    "delimiter": "Between cells",
    "decimal": "Before decimals",
    "header": "First line",
    "index": "First column",
}
NO_DECIMALS = "no decimals seen"
NAMES, RECORD = "the names of the columns", "a record"
NUMBERS_ROWS, LIKE_OTHERS = "numbers the rows, without a name", "a column like the others"
QUESTION_FIRST = "Is the first line somebody's record?"
IS_RECORD, ARE_NAMES = "It is a record: read it again so", "These are names of columns"
NAMES_ARE_NAMES = "The first line holds the names of the columns, although it looks like values"
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
DELIMITER = "What stands between two cells?"
DELIMITER_WORDS = {"": "told by the lines", ",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a blank"}
DECIMAL = "What stands before decimals?"
DECIMAL_WORDS = {"": "told by the values of each column", ".": "a point", ",": "a comma"}
UNNAMED = "The first column has no name, because it numbers the rows"
NO_HEADER = "A column without a name stands below a header: the first line cannot be a record then"
UNNAMED_HINT = "As pandas and R write it. It is called row_id and dropped."
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


def questioned(count: int, verdict: str) -> str:
    """That the header may be a record; its cells are not repeated."""
    if verdict == "repeated":
        return "The names of the columns stand again among the rows: were files put one below the other? Names are published."
    some = (
        "The first line looks"
        if not count
        else "The name of 1 column looks"
        if count == 1
        else f"The names of {count} columns look"
    )
    return f"{some} like values (dates, numbers, long ids). If that is somebody's record, say so: names are published."


def ragged(lines: Sequence[int]) -> str:
    """Lines that have more or fewer cells than the first."""
    if not lines:
        return ""
    shown = ", ".join(f"{line:,}" for line in lines[:5])
    if len(lines) == 1:
        return f"Line {shown} has more or fewer cells than the first."
    return f"{len(lines):,} lines have more or fewer cells than the first, e.g. lines {shown}."


def about(rows: int) -> str:
    """How many rows a file has that was not read yet."""
    return f"It has about {rows:,} rows. This is how its start would be read:"


def live(rows: int, of: int) -> str:
    """That the table is very large."""
    return (
        f"The table is very large: what the next screens answer at once is worked out on {rows:,} of its {of:,} rows, picked at "
        "random, and they say so. Releases and audits take all rows."
    )
