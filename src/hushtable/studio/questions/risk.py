"""Who could be recognised by what: column by column, and by the columns that others may know together."""

from __future__ import annotations

from typing import Any

from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.uniqueness import ColumnRisk


def risk(
    opened: Opened, *, watch: Watcher, columns: list[str], of: list[str] | None = None, person: str | None = None
) -> list[dict[str, Any]]:
    """For each of these columns whom it singles out alone, what it adds to those that others may know, and what decides it.

    ``of`` are those that will be asked for one by one: what they have in common is worked out once.
    """
    asked = sorted({*(columns if of is None else of), *columns})
    key = f"risk of {asked} by {person}"
    if key not in opened.cache:
        opened.cache[key] = (opened.unique(person).bars(of=asked), {})
    bars, found = opened.cache[key]
    while not found.keys() >= set(columns):
        bar = next(bars)
        found[bar.name] = bar
    return [_plain(found[name]) for name in columns]


def _plain(bar: ColumnRisk) -> dict[str, Any]:
    follows = [{"source": f.source, "share": f.share, "both": f.both} for f in bar.follows]
    return {"name": bar.name, "alone": None if bar.adds is None else bar.alone, "adds": bar.adds, "follows": follows}


def headline(opened: Opened, *, watch: Watcher, person: str | None = None) -> dict[str, Any]:
    """Whom the columns that others may know single out, the fewest that do half of it, and what the others do beside them."""
    key = f"headline by {person}"
    if key not in opened.cache:
        unique, schema = opened.unique(person), opened.live.schema
        found = unique.headline([name for name in schema.quasi if name in schema.released])
        # Columns that others may know but that never leave, as they are keys or free text.
        never = [name for name in schema.quasi if name not in unique.columns.names]
        opened.cache[key] = found.to_json() | {"of": opened.table.rows, "never": never}
    return dict(opened.cache[key])
