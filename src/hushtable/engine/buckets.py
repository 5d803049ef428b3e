"""Records on disk in buckets: written as they come, and read a bucket at a time."""

from __future__ import annotations

import os
import shutil
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.engine.raw import get, put
from hushtable.engine.store import private_folder, unwritten
from hushtable.table.arrays import Array, Integers

MOST = 256
"""So many files are open at once."""
Records = NDArray[Any]
"""Rows of one structured dtype."""


class Buckets:
    """Files of records in a private folder, which is removed with the object."""

    def __init__(self, dtype: np.dtype[Any], count: int, beside: Path | None) -> None:
        """So many buckets, at most ``MOST``."""
        self.dtype, self.sizes = dtype, np.zeros(min(max(count, 1), MOST), np.int64)
        self.folder = private_folder(beside)
        self._open = ExitStack()
        self._files = [self._open.enter_context(self._path(i).open("wb")) for i in range(len(self.sizes))]
        weakref.finalize(self, _remove, self.folder, self._open, os.getpid())

    def __len__(self) -> int:
        """How many buckets."""
        return len(self.sizes)

    def add(self, which: Array, records: Records) -> None:
        """Put each record into its bucket, behind those that are there."""
        order = np.argsort(which, kind="stable")
        sizes = np.bincount(which, minlength=len(self)).astype(np.int64)
        ends = np.cumsum(sizes)
        ordered = records[order]
        try:
            for bucket in np.flatnonzero(sizes).tolist():
                put(self._files[bucket], ordered[ends[bucket] - sizes[bucket] : ends[bucket]])
        except OSError as error:
            raise unwritten(error, self.folder) from None
        self.sizes += sizes

    def close(self) -> None:
        """Nothing is added from here on."""
        try:
            self._open.close()
        except OSError as error:
            raise unwritten(error, self.folder) from None

    def read(self, bucket: int, start: int = 0, count: int | None = None) -> Records:
        """Records of one bucket in the order in which they came: all from ``start`` on, or so many."""
        return get(self._path(bucket), self.dtype, start, int(self.sizes[bucket]) - start if count is None else count)

    def _path(self, bucket: int) -> Path:
        return self.folder / f"{bucket:05d}.records"


def mixed(words: Integers | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words of 64 bits, each bit of which depends on every bit of what it was made of (Steele, Lea and Flood 2014, splitmix)."""
    own = words.view(np.uint64).copy()
    own ^= own >> np.uint64(30)
    own *= np.uint64(0xBF58476D1CE4E5B9)
    own ^= own >> np.uint64(27)
    own *= np.uint64(0x94D049BB133111EB)
    own ^= own >> np.uint64(31)
    return own


def _remove(folder: Path, files: ExitStack, owner: int) -> None:
    # A process that was forked from the owner ends first, and leaves the files to it.
    if os.getpid() == owner:
        with suppress(OSError):
            files.close()
        with suppress(OSError):
            shutil.rmtree(folder)
