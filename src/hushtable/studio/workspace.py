"""The private folder of one table: its project, schema, runs, comparisons and journal, in files that the command line reads too."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hushtable.errors import InputError
from hushtable.studio import words
from hushtable.studio.files import WORKSPACE
from hushtable.studio.journal import Journal
from hushtable.table.disk import read_text, whole_file
from hushtable.table.lenient import mapping

PROJECT = "project.yaml"
SCHEMA = "schema.yaml"
NOTICED = "noticed.json"
VERSION = 1
KEPT = 200
"""So many states of the schema can be gone back to."""


@dataclass(frozen=True)
class Stamp:
    """The size and time of a file: where neither changed, its content is taken to be the same."""

    size: int
    time: int

    def __str__(self) -> str:
        """As the table worker compares it."""
        return f"{self.size} {self.time}"

    @classmethod
    def of(cls, path: Path) -> Stamp | None:
        """Of a file; None where there is none."""
        try:
            state = path.stat()
        except OSError:
            return None
        return cls(state.st_size, state.st_mtime_ns)


@dataclass
class Project:
    """What was chosen for a table, apart from its schema."""

    table: str
    """The name of the table's file, beside the workspace."""
    layout: dict[str, Any] = field(default_factory=dict)
    """How the file is written, where it does not say so itself."""
    hash: str = ""
    """SHA-256 of the table when it was read last."""
    stamp: tuple[int, int] = (0, 0)
    """Size and time of the file then."""
    rows: int = 0
    columns: int = 0
    schema_at: int = 0
    """Which of the kept states of the schema holds now."""
    choices: dict[str, Any] = field(default_factory=dict)
    """What the screens keep: each under its own name, plain values."""


class Workspace:
    """An open workspace; no other process has it open."""

    def __init__(self, folder: Path, lock: int, project: Project) -> None:
        self.folder, self.project, self._lock = folder, project, lock
        self.journal = Journal(folder / "journal.jsonl")
        self._roles: tuple[Stamp | None, dict[str, str]] = None, {}

    @classmethod
    def beside(cls, table: Path) -> Path:
        """The folder for a table: that of its name, or of its name with the ending where another table has the first."""
        table = table.resolve()
        short = table.with_name(f"{_stem(table.name)}{WORKSPACE}")
        if not (short / PROJECT).exists() or _project(short).table == table.name:
            return short
        return table.with_name(f"{table.name}{WORKSPACE}")

    @classmethod
    def open(cls, table: Path) -> Workspace:
        """Open the workspace of a table, or make it; InputError where another studio has it open, or it cannot be written."""
        folder, table = cls.beside(table), table.resolve()
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            # It holds what was computed from rows, whoever made it.
            folder.chmod(0o700)
            for name in ("hierarchies", "runs", "comparisons", "answers", "history"):
                (folder / name).mkdir(mode=0o700, exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError(words.no_workspace(folder.name, error), where="file") from None
        try:
            # Held by the process: it is free again however the process ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise InputError(words.in_use(folder.name), where="file") from None
        project = _project(folder) if (folder / PROJECT).exists() else Project(table.name)
        return cls(folder, lock, project)

    def close(self) -> None:
        """Let another studio open it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    @property
    def table(self) -> Path:
        """The file of the table."""
        return self.folder.parent / self.project.table

    @property
    def name(self) -> str:
        """The name of the table without its ending."""
        return _stem(self.project.table)

    @property
    def schema(self) -> Path:
        """The schema that holds now."""
        return self.folder / SCHEMA

    @property
    def changed(self) -> bool:
        """Whether the table's file is another than the one that was read last; reading it again brings certainty."""
        stamp = Stamp.of(self.table)
        return stamp is None or (stamp.size, stamp.time) != self.project.stamp

    def relative(self, path: Path) -> str:
        """A path as a command in the table's folder names it."""
        return path.relative_to(self.folder.parent).as_posix()

    def save(self) -> None:
        """Write the project; it appears whole."""
        p = self.project
        plain = {
            "version": VERSION, "table": p.table, "layout": p.layout, "hash": p.hash, "stamp": list(p.stamp), "rows": p.rows,
            "columns": p.columns, "schema_at": p.schema_at, "choices": p.choices,
        }  # fmt: skip
        with whole_file(self.folder / PROJECT, private=True) as partial:
            partial.write_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def choose(self, screen: str, values: Mapping[str, Any]) -> None:
        """Keep what a screen was told, plain values under its own name."""
        self.project.choices[screen] = dict(values)
        self.save()

    def chosen(self, screen: str) -> dict[str, Any]:
        """What a screen was told before."""
        choice = self.project.choices.get(screen, {})
        return dict(choice) if isinstance(choice, dict) else {}

    def roles(self) -> dict[str, str]:
        """The role of each column, as the schema has it; empty while there is none."""
        stamp = Stamp.of(self.schema)
        if stamp != self._roles[0]:
            # What the worker wrote: no more than names and roles are taken from it here.
            plain = yaml.load(self.schema_text(), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) if stamp else {}  # noqa: S506
            columns = plain.get("columns", {}) if isinstance(plain, dict) else {}
            self._roles = stamp, {str(n): str(c.get("role", "plain")) for n, c in columns.items() if isinstance(c, dict)}
        return self._roles[1]

    def notice(self, found: Mapping[str, Any]) -> None:
        """Keep what is said of the columns beside the schema: reasons, remarks, labels. Each is replaced as a whole."""
        with whole_file(self.folder / NOTICED, private=True) as partial:
            partial.write_text(json.dumps({**self.noticed(), **found}, ensure_ascii=False), encoding="utf-8")

    def noticed(self) -> dict[str, Any]:
        """What was said of the columns before; empty where the file is not there, or is none of ours."""
        path = self.folder / NOTICED
        try:
            plain = json.loads(read_text(path, NOTICED)) if path.exists() else {}
        except json.JSONDecodeError:
            return {}
        return mapping(plain)

    @classmethod
    def table_of(cls, folder: Path) -> Path:
        """The table that a workspace is for."""
        return folder.parent / _project(folder).table

    @classmethod
    def layout_of(cls, table: Path) -> dict[str, Any]:
        """How a table was last said to be written; empty where it was never open."""
        folder = cls.beside(table)
        return _project(folder).layout if (folder / PROJECT).exists() else {}

    def schema_text(self) -> str:
        """The YAML of the schema."""
        return read_text(self.schema, SCHEMA)

    def freeze(self, folder: Path) -> Path:
        """Copy the schema as it is now, with the hierarchies that it names, for a run that is to be repeated; the copy."""
        copy = folder / SCHEMA
        try:
            shutil.copyfile(self.schema, copy)
            if any((self.folder / "hierarchies").iterdir()):
                shutil.copytree(self.folder / "hierarchies", folder / "hierarchies", dirs_exist_ok=True)
        except OSError as error:
            raise InputError(words.no_workspace(self.folder.name, error), where=folder.name) from None
        return copy

    def change_schema(self, text: str, screen: str, change: str, reason: str = "", command: Sequence[str] = ()) -> None:
        """Put another schema in its place, to be undone; what was undone before is forgotten.

        The text is taken as it is: whoever calls this had it checked by the table worker.
        """
        if self.schema.exists() and not self._state(self.project.schema_at).exists():
            self._keep(self.schema_text())
        at = self.project.schema_at + 1
        for later in self._states():
            if later >= at:
                self._state(later).unlink()
        self.project.schema_at = at
        self._keep(text)
        for old in self._states()[:-KEPT]:
            self._state(old).unlink()
        self._put(text)
        self.save()
        self.journal.write(screen, change, reason, command)

    @property
    def can_undo(self) -> bool:
        """Whether there is a state of the schema before this one."""
        return self.project.schema_at - 1 in self._states()

    @property
    def can_redo(self) -> bool:
        """Whether a change was undone and nothing else was changed since."""
        return self.project.schema_at + 1 in self._states()

    def undo(self, screen: str) -> bool:
        """Go back by one change of the schema; whether there was one."""
        return self.can_undo and self._go(self.project.schema_at - 1, screen, words.UNDONE)

    def redo(self, screen: str) -> bool:
        """Make the change that was undone last; whether there was one."""
        return self.can_redo and self._go(self.project.schema_at + 1, screen, words.REDONE)

    def numbered(self, kind: str, number: str | None = None) -> Path:
        """The folder with this number under ``runs``, ``comparisons`` or ``answers``, or a new one."""
        if number is not None:
            found = next((folder for folder in self.folders(kind) if folder.name == number), None)
            if found is None:
                raise InputError(words.NO_SUCH_RUN, where=kind)
            return found
        numbers = [int(folder.name) for folder in self.folders(kind)]
        folder = self.folder / kind / f"{max(numbers, default=0) + 1:03d}"
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise InputError(words.no_workspace(self.folder.name, error), where=kind) from None
        return folder

    def folders(self, kind: str) -> list[Path]:
        """The numbered folders, the latest first."""
        return sorted((p for p in (self.folder / kind).iterdir() if p.name.isdigit() and p.is_dir()), reverse=True)

    def _go(self, at: int, screen: str, change: str) -> bool:
        self._put(read_text(self._state(at), "history"))
        self.project.schema_at = at
        self.save()
        self.journal.write(screen, change)
        return True

    def _state(self, number: int) -> Path:
        return self.folder / "history" / f"{number:06d}.yaml"

    def _states(self) -> list[int]:
        return sorted(int(path.stem) for path in (self.folder / "history").glob("[0-9]*.yaml"))

    def _keep(self, text: str) -> None:
        with whole_file(self._state(self.project.schema_at), private=True) as partial:
            partial.write_text(text, encoding="utf-8")

    def _put(self, text: str) -> None:
        with whole_file(self.schema, private=True) as partial:
            partial.write_text(text, encoding="utf-8")


def _project(folder: Path) -> Project:
    """The project of a workspace; InputError where its file is none."""
    where = f"{folder.name}/{PROJECT}"
    try:
        plain = yaml.safe_load(read_text(folder / PROJECT, where))
    except yaml.YAMLError:
        raise InputError(words.DAMAGED_PROJECT, where=where) from None
    if not isinstance(plain, dict) or plain.get("version") != VERSION or not isinstance(plain.get("table"), str):
        raise InputError(words.DAMAGED_PROJECT, where=where)
    # A name beside the workspace and nothing else: the file may come from anybody.
    if Path(plain["table"]).name != plain["table"]:
        raise InputError(words.DAMAGED_PROJECT, where=where)
    size, time = plain.get("stamp") or (0, 0)
    return Project(
        plain["table"], dict(plain.get("layout") or {}), str(plain.get("hash", "")), (int(size), int(time)),
        int(plain.get("rows", 0)), int(plain.get("columns", 0)), int(plain.get("schema_at", 0)), dict(plain.get("choices") or {}),
    )  # fmt: skip


def _stem(name: str) -> str:
    """The name of a table without its endings."""
    for ending in (".csv.gz", ".tsv.gz", ".txt.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name
