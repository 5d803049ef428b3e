"""The files that may be opened: below the start folder, by their endings, and named by ids that say nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hushtable.errors import InputError
from hushtable.studio import words

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq")
DICTIONARIES = (".csv", ".json")
WORKSPACE = ".studio"
HIDDEN = (WORKSPACE, ".private", ".audit")
"""Folders that hold no tables to open: those of the studio, and what was set aside or found out."""
MOST = 500
"""So many entries of a folder are listed."""


@dataclass(frozen=True)
class Entry:
    """A table or a folder that can be opened."""

    id: str
    name: str
    folder: bool
    bytes: int = 0


class Files:
    """What lies below the start folder. Symbolic links are resolved before it is decided whether something does."""

    def __init__(self, root: Path, name: Callable[[str], str]) -> None:
        self.root = root.resolve()
        self._name = name
        self._known: dict[str, Path] = {}

    def inside(self, path: Path) -> bool:
        """Whether a path, with all links resolved, lies below the start folder."""
        try:
            return path.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def id(self, path: Path) -> str:
        """The id of a path; the path itself never leaves the server in a URL."""
        own = self._name(str(path))
        self._known[own] = path
        return own

    def file(self, id_: str, endings: tuple[str, ...] = TABLES) -> Path:
        """The file with this id; InputError where there is none, or it lies outside, or is of a kind that is not opened."""
        path = self._path(id_)
        # The link and what it leads to: neither may pretend to be something else.
        if not all(p.name.lower().endswith(endings) for p in (path, path.resolve())) or not path.is_file():
            raise InputError(words.NO_SUCH_FILE, where="file")
        return path

    def folder(self, id_: str) -> Path:
        """The folder with this id; the start folder where none is named."""
        path = self._path(id_) if id_ else self.root
        if not path.is_dir() or path.name.endswith(HIDDEN):
            raise InputError(words.NO_SUCH_FILE, where="folder")
        return path

    def workspace(self, id_: str) -> Path:
        """The workspace with this id."""
        path = self._path(id_)
        if not path.is_dir() or not path.name.endswith(WORKSPACE):
            raise InputError(words.NO_SUCH_FILE, where="file")
        return path

    def listing(self, folder: Path, endings: tuple[str, ...] = TABLES) -> tuple[list[Entry], bool]:
        """Folders and tables of a folder by name, and whether there are more than are listed."""
        found = []
        try:
            paths = sorted(folder.iterdir(), key=lambda p: (p.is_file(), p.name.lower()))
        except OSError as error:
            raise InputError(words.unreadable(error), where="folder") from None
        for path in paths:
            if path.name.startswith(".") or not self.inside(path):
                continue
            if path.is_dir() and not path.name.endswith(HIDDEN):
                found.append(Entry(self.id(path), path.name, folder=True))
            elif path.is_file() and path.name.lower().endswith(endings):
                found.append(Entry(self.id(path), path.name, folder=False, bytes=path.stat().st_size))
        return found[:MOST], len(found) > MOST

    def _path(self, id_: str) -> Path:
        path = self._known.get(id_)
        # Asked again each time: a link may have been turned since it was listed.
        if path is None or not self.inside(path):
            raise InputError(words.NO_SUCH_FILE, where="file")
        return path
