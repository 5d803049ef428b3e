"""Exact copies among all rows of three tables, however many there are: nobody is left out, and no person is picked.

Rows are compared by numbers of 64 bits (``row_keys``), which are put on disk in buckets of equal leading bits: each bucket is
compared by itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushtable.display import Progress, silent
from hushtable.engine.raw import get, put
from hushtable.engine.store import private_folder, unwritten
from hushtable.evidence.row_keys import Keys, row_keys
from hushtable.table.rows import Rows

BUCKETS = 64
TABLES = ("train", "release", "control")


@dataclass(frozen=True)
class Copies:
    """How many rows of one table equal a row of another."""

    released: int
    """Released rows that equal a training row."""
    fresh: int
    """Control rows that equal a training row."""
    train: int
    """Training rows that equal a released row."""
    control: int
    """Control rows that equal a released row."""


def copies(wholes: Mapping[str, Rows], columns: Sequence[str], work: Path | None = None, progress: Progress = silent) -> Copies:
    """Counted over all rows, on these columns; the numbers of the rows are for as long in a private folder of ``work``."""
    folder = private_folder(work)
    try:
        for which in TABLES:
            _scattered(wholes[which], columns, [_file(folder, which, bucket) for bucket in range(BUCKETS)], progress)
        found = [_compared(folder, bucket) for bucket in range(BUCKETS)]
    except OSError as error:
        raise unwritten(error, folder) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Copies(*map(sum, zip(*found, strict=True)))


def _file(folder: Path, which: str, bucket: int) -> Path:
    return folder / f"{which}-{bucket:02d}"


def _scattered(rows: Rows, columns: Sequence[str], paths: Sequence[Path], progress: Progress) -> None:
    done = 0
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for batch in rows.batches(columns=columns):
            # In the order of the keys those of a bucket stand together.
            keys = np.sort(row_keys(batch, columns))
            ends = np.searchsorted(keys, np.arange(1, BUCKETS, dtype=np.uint64) << np.uint64(64 - 6))
            for own, out in zip(np.split(keys, ends), files, strict=True):
                put(out, own)
            done += batch.rows
            progress("exact copies", done / rows.rows)


def _compared(folder: Path, bucket: int) -> tuple[int, int, int, int]:
    keys = {which: _read(_file(folder, which, bucket)) for which in TABLES}
    train, release = np.unique(keys["train"]), np.unique(keys["release"])
    return (
        _among(keys["release"], train), _among(keys["control"], train),
        _among(keys["train"], release), _among(keys["control"], release),
    )  # fmt: skip


def _read(path: Path) -> Keys:
    return get(path, np.dtype(np.uint64), 0, path.stat().st_size // 8)


def _among(keys: Keys, others: Keys) -> int:
    """How many of them are among others, which are sorted."""
    if not len(others):
        return 0
    place = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return int((others[place] == keys).sum())
