"""Whom a row is about: the key that identifies persons who hold several rows, as it was said on Columns; or that nobody said it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushtable.report.html import Html, element
from hushtable.studio.words import persons as said
from hushtable.studio.workspace import Workspace

if TYPE_CHECKING:
    from hushtable.studio.view import View

NAME = "persons"
"""Where the workspace keeps it."""


@dataclass(frozen=True)
class Persons:
    """What was said of whom the rows are about."""

    by: str | None = None
    """The column that says it; None where each row is one person, or nobody said."""
    rows: int = 1
    """The most rows of a person that a release reads."""
    known: bool = False
    """Whether somebody said it."""

    @property
    def unit(self) -> dict[str, Any] | None:
        """As the options of a release have it; None for a record, which is theirs without it."""
        return None if self.by is None else {"by": self.by, "rows": self.rows}


def persons(workspace: Workspace) -> Persons:
    """What holds now: of a column that the schema lacks since, nothing is known."""
    chosen = workspace.chosen(NAME)
    by = str(chosen.get("by") or "")
    if "by" not in chosen or (by and by not in workspace.roles()):
        return Persons()
    return Persons(by or None, int(chosen.get("rows") or 1), known=True)


def households(workspace: Workspace) -> list[str]:
    """Columns that number households: who shares a value of theirs is not one person."""
    return [remark["column"] for remark in workspace.noticed().get("remarks") or [] if remark["what"] == "household"]


async def unsaid(view: View, *, here: bool = False) -> Html | None:
    """That people may hold several rows, where the rows look so and nobody said; with the way to say it."""
    if persons(view.workspace).known:
        return None
    found = await view.ask("persons", apart=households(view.workspace))
    one = next((one for one in found["columns"] if one["name"] == found["proposed"]), None)
    if one is None:
        return None
    link = None if here else element("a", said.TO_COLUMNS, href=f"{view.to('columns')}#persons")
    return element("p", said.unsaid(one), " ", said.HERE if here else link, class_="caution")
