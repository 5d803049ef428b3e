"""Rows on disk: a file of packed cells for each column, in one private folder that is removed with the object."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from hushtable.engine.packing import Cells, Packing
from hushtable.engine.raw import get, put
from hushtable.errors import InputError
from hushtable.table.arrays import Array, Mask
from hushtable.table.coins import Words, identified
from hushtable.table.columns import FREE
from hushtable.table.disk import OWNER, owner, remove_abandoned
from hushtable.table.rows import BATCH
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Texts = Callable[[tuple[str, ...], int, int], Table]
"""Reads columns of free text and keys, from one row to another."""


class StoredRows(Protocol):
    """Rows on disk, of which any columns are read from one row to another."""

    @property
    def schema(self) -> Schema:
        """Of all columns."""
        ...

    @property
    def rows(self) -> int:
        """How many there are."""
        ...

    @property
    def packings(self) -> Mapping[str, Packing]:
        """How the cells of each column lie, but for free text and keys."""
        ...

    @property
    def texts(self) -> Texts | None:
        """Reads free text and keys, where they were not left behind."""
        ...

    def cells(self, name: str, start: int, stop: int) -> Array:
        """What is stored of one column, from one row to another."""
        ...

    def array(self, name: str, start: int, stop: int) -> Array:
        """The values of one column, from one row to another."""
        ...

    def people(self, name: str, start: int, stop: int) -> tuple[Words, Mask]:
        """Who holds each row by a column of keys, from one row to another, and whether that is known."""
        ...


def stored(schema: Schema) -> list[str]:
    """The columns that have a file: all but those of free text and keys."""
    return [column.name for column in schema if column.kind not in FREE or column.generalized]


def private_folder(beside: Path | None) -> Path:
    """A new folder that only its owner can read: in this one, or where the system keeps temporary files.

    Those of runs that were killed, and could not remove them, are removed.
    """
    parent = beside or Path(tempfile.gettempdir())
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_abandoned(parent, f"hush-{OWNER}-.*")
        return Path(tempfile.mkdtemp(prefix=f"hush-{owner()}-", dir=parent))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(parent)) from None


def unwritten(error: OSError, folder: Path) -> InputError:
    """That something of a private folder could not be written, and why."""
    return InputError(f"cannot be written: {error.strerror or error}", where=str(folder.parent))


@dataclass(eq=False)
class Store:
    """The columns of many rows in a folder of their own."""

    schema: Schema
    """Of all columns. Those of free text and keys have no file; ``texts`` reads them."""
    rows: int
    folder: Path
    texts: Texts | None = None
    packings: dict[str, Packing] = field(init=False)
    hashes: dict[str, Path] = field(default_factory=dict)
    """Of columns of keys that were asked for: two words of 64 bits for each row, and a third that is 1 where the key is known."""

    def __post_init__(self) -> None:
        """Remove the folder with the object, or at the end of the process."""
        self.packings = {name: Packing(self.schema[name]) for name in stored(self.schema)}
        weakref.finalize(self, _remove, self.folder, os.getpid())

    @classmethod
    def write(cls, schema: Schema, parts: Iterable[tuple[int, Cells]], folder: Path, texts: Texts | None = None) -> Store:
        """Write what ``parts`` give, so many rows at a time, one after the other."""
        rows = 0
        try:
            with ExitStack() as stack:
                files = {name: stack.enter_context(_file(folder, i).open("wb")) for i, name in enumerate(stored(schema))}
                for length, part in parts:
                    for name, file in files.items():
                        put(file, part[name])
                    rows += length
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise unwritten(error, folder) from None
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(schema, rows, folder, texts)

    @classmethod
    def of(cls, tables: Iterable[Table], schema: Schema, folder: Path, texts: Texts | None = None) -> Store:
        """Write tables of one schema, one below the other; ``texts`` reads what of them is free text."""
        packings = {name: Packing(schema[name]) for name in stored(schema)}

        def parts() -> Iterator[tuple[int, Cells]]:
            for table in tables:
                yield table.rows, {name: packing.pack(table[name]) for name, packing in packings.items()}

        return cls.write(schema, parts(), folder, texts)

    def cells(self, name: str, start: int, stop: int) -> Array:
        """What is stored of one column, from one row to another."""
        return get(self.file(name), self.packings[name].dtype, start, stop - start)

    def array(self, name: str, start: int, stop: int) -> Array:
        """The values of one column, from one row to another."""
        return self.packings[name].unpack(self.cells(name, start, stop))

    def people(self, name: str, start: int, stop: int) -> tuple[Words, Mask]:
        """Who holds each row by a column of keys, from one row to another, and whether that is known; hashed once, and kept."""
        if name not in self.hashes:
            path = self.folder / f"{len(self.hashes):05d}.people"
            try:
                with path.open("wb") as file:
                    for first in range(0, self.rows, BATCH):
                        put(file, self._hashed(name, first, min(first + BATCH, self.rows)))
            except OSError as error:
                raise unwritten(error, self.folder) from None
            self.hashes[name] = path
        words = get(self.hashes[name], np.dtype(np.uint64), 3 * start, 3 * (stop - start)).reshape(-1, 3)
        return np.ascontiguousarray(words[:, :2]), words[:, 2].astype(np.bool_)

    def _hashed(self, name: str, start: int, stop: int) -> Words:
        assert self.texts is not None
        table = self.texts((name,), start, stop)
        return np.column_stack([identified(table[name], table.texts[name]), (~table.missing(name)).astype(np.uint64)])

    def file(self, name: str) -> Path:
        """Where a column lies."""
        return _file(self.folder, list(self.packings).index(name))


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:05d}.cells"


def _remove(folder: Path, owner: int) -> None:
    # A process that was forked from the owner ends first, and leaves the files to it.
    if os.getpid() == owner:
        with suppress(OSError):
            shutil.rmtree(folder)
