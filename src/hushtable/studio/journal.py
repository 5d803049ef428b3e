"""What was decided, when, on which screen, why, and the command that does it again. It holds no value of a row."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
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


def as_script(entries: Iterable[Entry], workspace: str) -> str:
    """A shell script that does it all again, in a copy of the table's folder; what it makes goes to a new folder."""
    lines = [
        "#!/bin/sh",
        *(f"# {line}" for line in words.SCRIPT),
        "set -eu",
        'cd "$(dirname "$0")"',
        'OUT="${1:-again}"',
        'mkdir "$OUT"',
    ]
    for entry in entries:
        lines += ["", f"# {_line(entry.time)}, {_line(entry.screen)}: {_line(entry.change)}"]
        if entry.reason:
            lines.append(f"# {words.REASON}: {_line(entry.reason)}")
        if entry.command:
            lines.append(" ".join(_word(word, workspace) for word in entry.command))
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Text that stays in its comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _word(word: str, workspace: str) -> str:
    """A word of a command; what an earlier run made is looked for where the script makes it."""
    parts = Path(word).parts
    if (
        len(parts) >= 4
        and parts[0] == workspace
        and parts[1] in ("runs", "comparisons")
        and parts[3] not in ("recipe.yaml", "schema.yaml")
    ):
        return '"$OUT"/' + shlex.quote("-".join(parts[2:4]) + "".join(f"/{p}" for p in parts[4:]))
    return shlex.quote(word)


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
