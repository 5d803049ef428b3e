"""Which column an attacker wants to know."""

from __future__ import annotations

from collections.abc import Collection

from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role


def secret_of(case: Case, named: str, kinds: Collection[Kind]) -> str | None:
    """The column named, else the first declared secret, else the first target, else the last; None where none can vary."""
    if named:
        if named not in case.columns or not _varies(case.train.schema[named]) or case.train.schema[named].kind not in kinds:
            raise InputError("is not among the released columns whose value could be guessed here", where=f"secret {named}")
        return named
    columns = [case.train.schema[name] for name in case.columns]
    fit = [column for column in columns if column.kind in kinds and _varies(column)]
    for role in (Role.SECRET, Role.TARGET):
        if chosen := [column.name for column in fit if column.role is role]:
            return chosen[0]
    return fit[-1].name if fit else None


def _varies(column: Column) -> bool:
    """Whether its domain has two values or more."""
    if isinstance(column.domain, Levels):
        return len(column.domain.levels) > 1
    return isinstance(column.domain, Bounds) and column.domain.high > column.domain.low
