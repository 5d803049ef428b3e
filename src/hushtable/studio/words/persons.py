"""The sentences on whom a row is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.studio.words import percent

FIELD = "Which column says who a row is about?"
HINT = "People are then counted, attacked and protected with all of their rows, and each stands on one side of what is set aside."
EACH = "none: each row is one person"
ROWS = "At most so many rows of a person"
ROWS_HINT = (
    "A release reads no more of anybody, picked at random. With a privacy budget its noise grows with this number. Empty: as many "
    "as 99 of 100 people have."
)
SAVE = "Save"
TO_COLUMNS = "Say it on Columns"
HERE = "Say it here."
LABEL = "Persons"
OTHER = (
    "When this release was made, it was said otherwise who a row is about: its rows were set aside, and its promise made, for "
    "somebody else. Make it again."
)
ANEW = "Make it again"


def option(one: Mapping[str, Any]) -> str:
    """A column that could say it."""
    if one["most"] <= 1:
        return f"{one['name']} (no value twice)"
    return f"{one['name']} ({one['values']:,} values, up to {one['most']:,} rows)"


def unsaid(one: Mapping[str, Any]) -> str:
    """That nobody said it, although a key repeats."""
    return (
        f"Values of {one['name']} repeat: {percent(one['share'])} of the rows share theirs with another. If they are people, each "
        "holds several rows, and what counts rows says too little of their risk; nobody has said so yet."
    )


def chosen(by: str | None, rows: int) -> str:
    """For the journal."""
    return "Each row is one person" if by is None else f"Column {by} says who a row is about; of each at most {number(rows)}"


def short(by: str, rows: int) -> str:
    """For the strip of choices."""
    return f"by {by}, at most {number(rows)}"


def protected(by: str, rows: int) -> str:
    """Whom a release protects, before it is run."""
    return f"It is made for persons by {by}, at most {number(rows)} of each."


def number(rows: int) -> str:
    """So many rows."""
    return "1 row" if rows == 1 else f"{rows:,} rows"
