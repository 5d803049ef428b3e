"""Read a table, for the first time or after it changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hushtable.studio import words
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.infer import HEAD, Draft

BLOCK = 1 << 22


def read(opened: Opened, *, watch: Watcher) -> dict[str, Any]:
    """What was read, the schema as it was drafted or given, and the hash of the file. No value of a row but levels of a draft."""
    digest = hashlib.sha256()
    size, done = opened.path.stat().st_size, 0
    with Path(opened.path).open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            watch(words.HASHING, done / max(1, size))
    schema = opened.table.schema
    return {
        "rows": opened.table.rows,
        "columns": len(schema),
        "names": list(schema.names),
        "quasi": list(schema.quasi),
        "schema": schema.dump(),
        "hash": digest.hexdigest(),
        "noticed": None if opened.draft is None else _noticed(opened.draft),
    }


def _noticed(draft: Draft) -> dict[str, Any]:
    """What the drafter says of the columns: why this kind and this role, and what a person should look at."""
    return {
        "notes": list(draft.schema.notes[len(HEAD) :]),
        "reasons": {
            line.column.name: {str(line.column.kind): line.kind_reason, str(line.column.role): line.role_reason}
            for line in draft.lines
        },
        "remarks": [{"column": r.column, "what": str(r.what), "codes": list(r.codes), "other": r.other} for r in draft.remarks],
    }
