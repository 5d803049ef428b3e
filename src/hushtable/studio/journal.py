"""What was decided, when, on which screen, why, and the command that does it again. It holds no value of a row."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from hushtable.errors import InputError
from hushtable.studio import words


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One decision."""

    time: str
    """ISO 8601, with the time zone."""
    screen: str
    change: str
    """What was changed, in a sentence without a value of a row."""
    reason: str = ""
    command: tuple[str, ...] = ()
    """The words of the command that does it again; none where a file was edited."""


class Journal:
    """The file, one JSON value on a line; it only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, screen: str, change: str, reason: str = "", command: Sequence[str] = ()) -> Entry:
        """Add a decision."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        entry = Entry(time=now, screen=screen, change=change, reason=reason, command=tuple(command))
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
        except OSError as error:
            raise InputError(words.unwritable(error), where=self.path.name) from None
        return entry

    def read(self) -> list[Entry]:
        """All decisions; a line that was cut short, as by a full disk, is left out."""
        if not self.path.exists():
            return []
        entries = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                plain = json.loads(line)
                entries.append(Entry(**{**plain, "command": tuple(plain.get("command", ()))}))
            except (ValueError, TypeError):
                continue
        return entries


def as_script(entries: Iterable[Entry], workspace: str, skipped: Collection[Sequence[str]] = ()) -> str:
    """A shell script that does it all again, in a copy of the table's folder; what it makes goes to a new folder.

    ``skipped`` are the commands of jobs that did not come to their end: they stand there as comments.
    """
    lines = [
        "#!/bin/sh",
        *(f"# {line}" for line in words.SCRIPT),
        "set -eu",
        'cd "$(dirname "$0")"',
        f"[ -d {shlex.quote(workspace)} ] || {{ echo {shlex.quote(words.no_workspace_here(workspace))} >&2; exit 1; }}",
        'OUT="${1:-again}"',
        'mkdir "$OUT"',
    ]
    places, left = _Places(workspace), {tuple(command) for command in skipped}
    for entry in entries:
        lines += ["", f"# {_line(entry.time)}, {_line(entry.screen)}: {_line(entry.change)}"]
        if entry.reason:
            lines.append(f"# {words.REASON}: {_line(entry.reason)}")
        if entry.command and entry.command in left:
            lines += [f"# {words.NOT_ENDED}", f"# {_line(shlex.join(entry.command))}"]
        elif entry.command:
            lines += [f"# {words.NO_SEED}"] if _differs(entry.command) else []
            lines.append(" ".join(places.words(entry.command)) + (ALL_THE_SAME if entry.command[1:2] == ("audit",) else ""))
    return "\n".join(lines) + "\n"


ALL_THE_SAME = ' || [ "$?" -eq 3 ]'
"""An audit whose conditions do not hold ends with code 3; what was decided afterwards is done all the same."""


def _differs(command: Sequence[str]) -> bool:
    """Whether another run of it gives other rows: a release without a seed, or with noise, which is fresh each time."""
    return tuple(command[:2]) == ("hush", "release") and ("--seed" not in command or "--epsilon" in command)


def _line(text: str) -> str:
    """Text that stays in its comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class _Places:
    """Where a script puts what its commands make; later commands look for it there."""

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self._made: dict[str, str] = {}

    def words(self, command: Sequence[str]) -> list[str]:
        """The words of a command, quoted; what it writes goes to the new folder under a name of its own."""
        written = []
        for before, word in zip(("", *command), command, strict=False):
            written.append(self._new(word) if before in OUTPUTS else self._word(word))
        return written

    def _new(self, path: str) -> str:
        parts = Path(path).parts
        if len(parts) >= 4 and parts[0] == self.workspace:
            parts = ("-".join(parts[2:4]), *parts[4:])
        stem, number = "-".join(part for part in parts if part not in ("/", "..")), 1
        name, taken = stem, set(self._made.values())
        while name in taken:
            number += 1
            name = f"{Path(stem).stem}-{number}{Path(stem).suffix}"
        self._made[path] = name
        return self._at(name)

    def _word(self, word: str) -> str:
        if word in self._made:
            return self._at(self._made[word])
        for path, name in self._made.items():
            # What lies in it, and the private folder that is written beside a release.
            for ending in ("/", ".private/"):
                if word.startswith(path + ending):
                    return self._at(name + word.removeprefix(path))
        return shlex.quote(word)

    def _at(self, name: str) -> str:
        return f'"$OUT"/{shlex.quote(name)}'


OUTPUTS = ("--out", "--zip", "--save-model", "--resume")
"""The options after which a command names what it writes."""


def as_markdown(entries: Iterable[Entry], title: str) -> str:
    """The same to be read."""
    lines = [f"# {_shown(title)}", ""]
    for entry in entries:
        lines.append(f"- **{_shown(entry.time)}**, {_shown(entry.screen)}: {_shown(entry.change)}")
        if entry.reason:
            lines.append(f"  {words.REASON}: {_shown(entry.reason)}")
        if entry.command:
            lines += ["", "      " + _line(shlex.join(entry.command)), ""]
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    """Text of others as Markdown that shows it."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|!" else c for c in _line(text))
