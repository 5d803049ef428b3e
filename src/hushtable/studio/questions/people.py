"""Whom the attacks of an audit find, each beside the released row that gives them away; values only of a record that is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.api.read_sides import training_schema
from hushtable.api.records import Pair
from hushtable.errors import InputError
from hushtable.evidence.beside import Side
from hushtable.studio import words
from hushtable.studio.questions.audit import report_of
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table import io
from hushtable.table.disk import read_text
from hushtable.table.first_read import masked
from hushtable.table.table import Table

PEOPLE = ".people.json"
"""How the file ends in which the records at risk lie beside the released rows, every value masked; it lies beside the audit."""
PAIRS, COLUMNS = 3, 60
"""So many released rows are kept of a record, and so many columns of each, those that agree first; the others are counted."""
PAGE = 20
"""So many records are on a page."""


def people(opened: Opened, *, watch: Watcher, audit: str, group: int | None = None, start: int = 0) -> dict[str, Any]:
    """A page of the records at risk, the riskiest first; ``group`` is the place of a group of people in the list of groups."""
    file = Path(audit + PEOPLE)
    try:
        plain = json.loads(read_text(file, file.name))
    except ValueError:
        raise InputError(words.NO_SUCH_RUN, where="audit") from None
    records, groups = plain["records"], plain["groups"]
    if group is not None and 0 <= group < len(groups):
        inside = set(groups[group]["rows"])
        records = [record for record in records if record["row"] in inside]
    start = start if 0 <= start < len(records) else 0
    return {
        "records": records[start : start + PAGE],
        "start": start,
        "of": len(records),
        "groups": [{name: one[name] for name in ("column", "level", "alarm")} | {"count": len(one["rows"])} for one in groups],
        "at_risk": plain["at_risk"],
        "chance": all(record["weak"] for record in plain["records"]),
        "people": plain["people"],
    }


def person(
    opened: Opened, *, watch: Watcher, audit: str, train: str, release: str, schema: str, row: int, holder: str | None = None
) -> list[dict[str, Any]]:
    """The released rows that give one record away, beside it, with all values. Whoever asks had it noted."""
    ours, theirs = _sides(opened, train, release, schema)
    found = ht.records(report_of(opened, audit), ours.held_by(holder), theirs, rows=[row], values=True)
    return [pair_line(pair, hidden=False) for one in found for pair in one.pairs[:PAIRS]]


def pair_line(pair: Pair, *, hidden: bool = True) -> dict[str, Any]:
    """A released row beside a record, in plain values; the columns that agree come first."""
    ordered = sorted(pair.sides, key=lambda side: not side.agrees)
    return {
        "released": pair.released,
        "attacks": list(dict.fromkeys(hit.name for hit in pair.attacks)),
        "agreeing": len(pair.agreeing),
        "sides": [_side(side, hidden=hidden) for side in ordered[:COLUMNS]],
        "more": len(ordered[COLUMNS:]),
    }


def _side(side: Side, *, hidden: bool) -> dict[str, Any]:
    ours, theirs = (text if text is None or not hidden else masked(text) for text in (side.ours, side.theirs))
    return {"column": side.column, "agreement": str(side.agreement), "agrees": side.agrees, "ours": ours, "theirs": theirs}


def _sides(opened: Opened, train: str, release: str, schema: str) -> tuple[Table, Table]:
    """Both tables; those that were read last are kept."""
    key = (train, release, schema)
    if opened.cache.get("sides", ((),))[0] != key:
        ours = io.read(Path(train), training_schema(Path(schema)).undrafted())
        opened.cache["sides"] = key, ours, ht.read_release(release, ours.schema)[0]
    _, ours, theirs = opened.cache["sides"]
    return ours, theirs
