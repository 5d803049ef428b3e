"""What a classifier of text learns: which column of free text, and which column of classes."""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.display import meant
from hushtable.errors import PlanError
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema


@dataclass(frozen=True)
class Task:
    """A column of text and the column that is to be predicted from it."""

    text: str
    target: str

    @classmethod
    def of(cls, schema: Schema, text: str, target: str, step: str) -> Task:
        """The named columns; else the only text, and the column of role target or the only one with levels. PlanError otherwise."""
        unknown = [name for name in (text, target) if name and name not in schema]
        if unknown:
            near = meant(unknown, schema.names)
            raise PlanError(
                f"{step}: there is no column {', '.join(map(repr, unknown))}{near}; the table has {', '.join(schema.names)}"
            )
        classes = [column for column in schema if _classes(column)]
        targets = [column for column in classes if column.role is Role.TARGET] or classes
        found = cls(
            text or _only(schema.texts, "text", "column of kind text", step),
            target or _only([column.name for column in targets], "target", "column with levels, or one of role target", step),
        )
        if schema[found.text].kind is not Kind.TEXT:
            raise PlanError(f"{step}: {found.text} is not of kind text")
        if not _classes(schema[found.target]):
            raise PlanError(f"{step}: {found.target} has no levels to tell apart: a target has at least two declared levels")
        return found

    @property
    def columns(self) -> tuple[str, str]:
        """Both."""
        return self.text, self.target


def _classes(column: Column) -> bool:
    return column.coded and column.role is not Role.IDENTIFIER and len(column.levels) > 1


def _only(names: tuple[str, ...] | list[str], knob: str, what: str, step: str) -> str:
    if len(names) == 1:
        return names[0]
    got = f"it has {', '.join(names)}" if names else "it has none"
    raise PlanError(f"{step}: name the {knob} (--set {knob}=COLUMN), where a table has no single {what}; {got}")
