"""What a hierarchy makes of a column, as lines for whoever holds the rows."""

from __future__ import annotations

from hushtable.display import listed
from hushtable.report.html import Html, element, join, table
from hushtable.report.words import number
from hushtable.table.builders import FEW, Group, Preview

PRIVATE = "Read off the raw rows: for you alone, not for publication."
HEADS = ["level", "group", "people"]
SHOWN = 12
"""So many groups of a level are listed."""


def hierarchy_preview(preview: Preview) -> Html:
    """All of it for a notebook."""
    lines = [element("p", line) for line in notes(preview)]
    return join(element("p", PRIVATE, class_="soft"), lines, table(HEADS, group_rows(preview), label="Groups", numbers=[0, 2]))


def group_rows(preview: Preview) -> list[list[str]]:
    """A line for each group, the first few of each level."""
    rows = []
    for level, groups in enumerate(preview.levels):
        rows += [[str(level), group.label, people(group)] for group in groups[:SHOWN]]
        if preview.sizes[level] > SHOWN:
            rows.append([str(level), f"and {number(preview.sizes[level] - SHOWN)} more", ""])
    return rows


def people(group: Group) -> str:
    """How many people a group has; under five it is not said how many."""
    return f"< {FEW}" if group.people is None else number(group.people)


def notes(preview: Preview) -> list[str]:
    """What is wrong with it."""
    if not preview.orphans:
        return []
    return [f"{number(len(preview.orphans))} values have no group: {listed(preview.orphans, 5)}."]
