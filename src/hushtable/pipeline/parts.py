"""Rows written in parts, each a file of its own with its hash; parts that were finished before a stop are not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from hushtable.pipeline.large import BLOCKS
from hushtable.pipeline.release import DATA_FOLDER, file_hash, part_name
from hushtable.table import io
from hushtable.table.disk import read_text, whole_file
from hushtable.table.rows import Rows
from hushtable.table.table import Table

STATE = "parts.json"
"""What is kept of the parts that are finished, in the folder that a run goes on from."""


@dataclass(frozen=True)
class Parts:
    """The parts that are there."""

    rows: tuple[int, ...] = ()
    """Of each."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """Of each file, by its name in the release."""

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows)


def write_parts(
    blocks: Callable[[int], Iterator[Table]],
    folder: Path,
    form: str = "parquet",
    *,
    mark: str = "",
    report: Callable[[int], None] = lambda rows: None,
) -> Parts:
    """Write the blocks into ``folder``, ``BLOCKS`` to a part; ``blocks(i)`` gives them from number i on, the same ones each time.

    ``mark`` tells these blocks from all others. Where it is given, what was finished is noted beside the folder, and parts that
    are noted there under the same mark, and have the same content still, are left as they are. Each part appears whole.
    ``report`` is told how many rows are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    note = folder.parent / STATE
    done = _finished(note, folder, form, mark) if mark else Parts()
    kept = {Path(name).name for name in done.hashes}
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()
    left = blocks(len(done.rows) * BLOCKS)
    while several := list(islice(left, BLOCKS)):
        part, name = Table.concat(several), part_name(len(done.rows), form)
        io.write(part, folder / name)
        hashes = {**done.hashes, f"{DATA_FOLDER}/{name}": file_hash(folder / name)}
        done = Parts((*done.rows, part.rows), hashes)
        if mark:
            with whole_file(note, private=True) as partial:
                partial.write_text(json.dumps({"mark": mark, **asdict(done)}), encoding="utf-8")
        report(done.total)
    return done


def write_rows(rows: Rows, folder: Path, form: str = "parquet") -> Parts:
    """Write rows as they are, in their order."""
    return write_parts(lambda first: rows.batches(), folder, form)


def _finished(note: Path, folder: Path, form: str, mark: str) -> Parts:
    """The parts that a run before this one finished, up to the first that is not what it was."""
    try:
        kept = json.loads(read_text(note, note.name)) if note.exists() else {}
    except ValueError:
        kept = {}
    found = Parts()
    if kept.get("mark") != mark:
        return found
    for number, rows in enumerate(kept["rows"]):
        name = part_name(number, form)
        digest = kept["hashes"].get(f"{DATA_FOLDER}/{name}")
        if digest is None or not (folder / name).is_file() or file_hash(folder / name) != digest:
            break
        found = Parts((*found.rows, rows), {**found.hashes, f"{DATA_FOLDER}/{name}": digest})
    return found
