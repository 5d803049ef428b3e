"""The sentences of the screen Columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed
from hushtable.studio.words import percent

LABEL = "Columns"
QUESTION = "Who could be recognised by what?"
CAPTION = "The columns of the table"
KIND, ROLE, DOMAIN, MISSING, EXAMPLES, RISK = "Kind", "Role", "Domain", "Missing", "Examples, masked", "Risk"
HEADS = ("Column", KIND, ROLE, DOMAIN, MISSING, EXAMPLES, RISK)
ROLES = {
    "identifier": "drop",
    "quasi": "others may know",
    "secret": "keep secret",
    "target": "to predict",
    "plain": "other",
}
KINDS = {
    "category": "category",
    "ordinal": "ordered category",
    "integer": "whole number",
    "real": "number",
    "date": "date",
    "text": "free text",
    "key": "key",
}
ALONE, ADDS = "alone", "adds"
WAITING = "…"
COUNTING = "Counting whom the columns single out …"
NEVER_LEAVES = "never released"
WITHOUT_SCRIPT = "Work out the risk of every column"


def headline(found: Mapping[str, Any]) -> str:
    """Whom the columns that others may know single out."""
    names, share = found["columns"], found["share"]
    if not names:
        return "No column is marked as one that others may know: nobody could be recognised, if that is so."
    return f"{percent(share)} of people are unique by {listed(names, 8)}."


def sampled(rows: int, of: int) -> str:
    """That a part of the rows was counted."""
    return f"Counted on {rows:,} of {of:,} rows, picked at random: among all rows fewer are unique."


def domain(plain: Mapping[str, Any], *, observed: bool) -> str:
    """The domain of a column, and where it comes from."""
    if "levels" in plain:
        text = f"{plain['levels']:,} values"
    elif plain.get("range"):
        text = f"{plain['range'][0]} to {plain['range'][1]}"
    elif "range" in plain:
        text = "a range"
    else:
        return "–"
    return f"{text}, read from the rows" if observed else f"{text}, declared"


def missing(codes: Sequence[str], share: float) -> str:
    """How many rows lack a value, and what stands there."""
    text = "none" if not share else percent(share)
    return f"{text}; written as {listed([repr(code) for code in codes], 3)}" if codes and share else text


def follows(sources: Sequence[str]) -> str:
    """Which columns tell this one."""
    return f"follows from {listed(list(sources), 2)}"


def notes(count: int) -> str:
    """What to check."""
    return "1 note on the draft" if count == 1 else f"{count} notes on the draft"
