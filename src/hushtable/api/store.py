"""The store of long work: each result is written as soon as it is there, so that work that was stopped goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hushtable import __version__
from hushtable.errors import InputError
from hushtable.table.disk import read_text, refuse_inside_release, whole_file
from hushtable.table.table import Table

Result = dict[str, Any]
"""One result: plain values, as JSON holds them."""


@dataclass(frozen=True, eq=False)
class Store:
    """Results by name, in memory and, if there is a folder, in one file each that appears whole or not at all."""

    folder: Path | None = None
    results: dict[str, Result] = field(default_factory=dict)
    """Those that were made or read so far."""

    @classmethod
    def open(cls, folder: Path | None, settings: Iterable[object], tables: Iterable[Table]) -> Store:
        """Open a new folder, or one that holds results of the same settings and rows; any other is refused."""
        if folder is None:
            return cls()
        refuse_inside_release(folder)
        identity = "\n".join([f"hushtable {__version__}", *map(str, settings), *map(_digest, tables)]) + "\n"
        path = folder / "study.txt"
        if path.exists():
            if read_text(path, path.name) != identity:
                raise InputError("holds a study of other rows, audits or settings; name another folder", where=str(folder))
        elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise InputError("exists already and holds no study; name another folder", where=str(folder))
        try:
            for each in (folder, folder / "cells"):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None
        store = cls(folder)
        store.write("study.txt", identity)
        return store

    def has(self, name: str) -> bool:
        """Whether the result of this name is there."""
        return name in self.results or (self.folder is not None and _file(self.folder, name).exists())

    def get(self, name: str) -> Result:
        """The result of this name, from memory or from its file; InputError if there is none."""
        if name not in self.results:
            if self.folder is None:
                raise InputError("there is no such result", where=name)
            path = _file(self.folder, name)
            self.results[name] = json.loads(read_text(path, path.name))
        return self.results[name]

    def put(self, name: str, value: Result) -> Result:
        """Write a result, and return it as ``get`` will."""
        text = json.dumps(value, ensure_ascii=False)
        self.write(f"cells/{name}.json", text)
        # Through JSON also when it was just made: work that was stopped must not differ from work that was not.
        result: Result = json.loads(text)
        self.results[name] = result
        return result

    def get_or_make(self, name: str, make: Callable[[], Result]) -> Result:
        """The result of this name; made and written if it is not there."""
        return self.get(name) if self.has(name) else self.put(name, make())

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder, if there is one."""
        if self.folder is not None:
            with whole_file(self.folder / name) as partial:
                partial.write_text(text, encoding="utf-8")


def _file(folder: Path, name: str) -> Path:
    return folder / "cells" / f"{name}.json"


def _digest(table: Table) -> str:
    """Enough to notice other rows. It could confirm a guess about a single cell, so the folder is its owner's alone."""
    digest = hashlib.sha256(table.schema.dump().encode())
    for name in table.schema.names:
        digest.update(np.ascontiguousarray(table[name]).tobytes())
    return digest.hexdigest()[:6]
