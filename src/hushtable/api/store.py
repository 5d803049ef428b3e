"""Results of a long study, each written as soon as it is there, so that a study that was stopped goes on where it stopped."""

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


@dataclass(frozen=True, eq=False)
class Cells:
    """Plain results by name, in memory and, if there is a folder, one file each that appears whole or not at all."""

    folder: Path | None
    done: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path | None, knobs: Iterable[object], tables: Iterable[Table]) -> Cells:
        """Open a new folder, or one that holds results of the same knobs and rows; any other is refused."""
        if folder is None:
            return cls(None)
        refuse_inside_release(folder)
        told = "\n".join([f"hushtable {__version__}", *map(str, knobs), *map(_digest, tables)]) + "\n"
        path = folder / "study.txt"
        if path.exists():
            if read_text(path, path.name) != told:
                raise InputError("holds a study of other rows, audits or settings; name another folder", where=str(folder))
        elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise InputError("exists already and holds no study; name another folder", where=str(folder))
        try:
            for made in (folder, folder / "cells"):
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None
        cells = cls(folder)
        cells.write("study.txt", told)
        return cells

    def kept(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of this name: remembered, read from its file, or made and written."""
        if name not in self.done:
            path = self.folder / "cells" / f"{name}.json" if self.folder else None
            text = read_text(path, path.name) if path is not None and path.exists() else None
            if text is None:
                text = json.dumps(make(), ensure_ascii=False)
                self.write(f"cells/{name}.json", text)
            # Through JSON also when it was just made: a study that was stopped must not differ from one that was not.
            self.done[name] = json.loads(text)
        return self.done[name]

    def has(self, name: str) -> bool:
        """Whether the result of this name is there, so that ``kept`` will not make it."""
        return name in self.done or (self.folder is not None and (self.folder / "cells" / f"{name}.json").exists())

    def write(self, name: str, text: str) -> None:
        """A file of the folder, if there is one."""
        if self.folder is not None:
            with whole_file(self.folder / name) as partial:
                partial.write_text(text, encoding="utf-8")


def _digest(table: Table) -> str:
    """Enough to notice other rows. It could confirm a guess about a single cell, so the folder is its owner's alone."""
    held = hashlib.sha256(table.schema.dump().encode())
    for name in table.schema.names:
        held.update(np.ascontiguousarray(table[name]).tobytes())
    return held.hexdigest()[:6]
