"""Which columns could say whom a row is about, and how many rows a value of each has."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable.evidence.validity import REPEATED
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.columns import Kind, Role
from hushtable.table.roles import usual_rows


def persons(opened: Opened, *, watch: Watcher, apart: list[str]) -> dict[str, Any]:
    """The keys and identifiers, and which of them seems to identify persons who hold several rows; never one kept ``apart``.

    Where several do, it is the one with most values.
    """
    if "persons" not in opened.cache:
        opened.cache["persons"] = [
            _counted(opened, column.name)
            for column in opened.table.schema
            if (column.kind is Kind.KEY or column.role is Role.IDENTIFIER) and column.kind is not Kind.TEXT
        ]
    found: list[dict[str, Any]] = opened.cache["persons"]
    repeating = [one for one in found if one["share"] >= REPEATED and one["values"] > 1 and one["name"] not in apart]
    best = max(repeating, key=lambda one: one["values"], default=None)
    return {"columns": found, "proposed": "" if best is None else best["name"]}


def _counted(opened: Opened, name: str) -> dict[str, Any]:
    table = opened.table
    groups, _ = table.groups([name])
    held = np.bincount(groups[~table.missing(name)], minlength=1)
    held = held[held > 0]
    return {
        "name": name,
        "values": len(held),
        "most": int(held.max(initial=0)),
        "usual": max(1, usual_rows(held)) if len(held) else 1,
        "share": float(held[held > 1].sum() / max(1, held.sum())),
    }
