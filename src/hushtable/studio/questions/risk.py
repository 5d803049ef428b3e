"""Who could be recognised by what: column by column, and by the columns that others may know together."""

from __future__ import annotations

from typing import Any

from hushtable.studio.questions.room import Opened, Watcher


def risk(opened: Opened, *, watch: Watcher, columns: list[str]) -> list[dict[str, Any]]:
    """For each of these columns whom it singles out alone, what it adds to those that others may know, and what decides it."""
    counted = opened.columns
    quasi = [name for name in opened.live.schema.quasi if name in counted.names]
    found: list[dict[str, Any]] = []
    for name in columns:
        if name not in counted.names:
            found.append({"name": name, "alone": None, "adds": None, "follows": []})
            continue
        others = [other for other in quasi if other != name]
        adds = counted.share([*others, name]) - (counted.share(others) if others else 0.0)
        follows = [{"source": f.source, "share": f.share} for f in opened.follows.get(name, ())]
        found.append({"name": name, "alone": counted.share([name]), "adds": adds, "follows": follows})
    return found


def headline(opened: Opened, *, watch: Watcher) -> dict[str, Any]:
    """The share of people whom the columns that others may know single out, and the rows that were counted."""
    counted = opened.columns
    quasi = [name for name in opened.live.schema.quasi if name in counted.names]
    share = counted.share(quasi) if quasi else 0.0
    return {"columns": quasi, "share": share, "rows": opened.live.rows, "of": opened.table.rows, "people": counted.people}
