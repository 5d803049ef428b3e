"""How a text file holds its table, where the file itself does not say: without a header, under other names, in another encoding."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.table.disk import read_text

INDEX = "row_id"
"""The name of a first column that has none because it numbers the rows."""
OVERRIDES = (
    "--no-header (the columns become column_1, column_2, ...) or --names FILE (a name on each line); Python: header=False or "
    "names=[...]"
)
"""What to give where the first line is no header."""


@dataclass(frozen=True)
class Layout:
    """What a person says about a text file.

    By default the first line is a header, unless it looks like data, and the text is UTF-8.
    """

    header: bool | None = None
    """Whether the first line holds the names; None to judge it by the lines below where no schema names the columns."""
    names: tuple[str, ...] = ()
    """Names for the columns: of a file without a header, or with ``header`` in place of its own."""
    encoding: str = ""
    """As Python calls it: ``cp1252``, ``latin-1``, ``utf-16``. When empty UTF-8, or UTF-16 where the file begins with its mark."""
    delimiter: str = ""
    """What stands between two cells, one character; when empty it is told by the first lines."""
    decimal: str = ""
    """The decimal mark of numbers whose format no schema says: a point or a comma. When empty it is told by the values."""
    index: bool = False
    """Whether the first column has no name because it numbers the rows, as pandas and R write it: it is then called row_id."""

    def __post_init__(self) -> None:
        """Names must be there and differ; the encoding and the marks must be known."""
        faults = [Fault("names", f"name {i} is empty") for i, name in enumerate(self.names, 1) if not name]
        twice = sorted({name for name in self.names if name and self.names.count(name) > 1})
        faults += [Fault("names", f"{name!r} stands more than once") for name in twice]
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            faults.append(
                Fault("encoding", f"there is no encoding {self.encoding!r}; expected one such as cp1252, latin-1 or utf-16")
            )
        if len(self.delimiter) > 1 or self.delimiter in ('"', "\n", "\r"):
            faults.append(Fault("delimiter", f"expected one character such as a comma or a tab, got {self.delimiter!r}"))
        if self.decimal not in ("", ".", ","):
            faults.append(Fault("decimal", f"expected a point or a comma, got {self.decimal!r}"))
        if self.index and not self.headed:
            faults.append(Fault("index", "a column without a name stands below a header: leave it out where there is none"))
        if faults:
            raise InputError(faults)

    @classmethod
    def of(
        cls,
        header: bool | None = None,
        names: Sequence[str] | str | Path | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        index: bool | None = None,
    ) -> Layout:
        """A layout from what a function or a command was given; ``names`` may be a file of them, ``delimiter`` the word tab."""
        listed = read_names(Path(names)) if isinstance(names, (str, Path)) else [str(name).strip() for name in names or ()]
        mark = "\t" if delimiter in ("tab", "\\t") else delimiter or ""
        return cls(header, tuple(listed), encoding or "", mark, decimal or "", bool(index))

    @property
    def headed(self) -> bool:
        """Whether the first line is a header, as far as anybody said."""
        return not self.names if self.header is None else self.header

    @property
    def judged(self) -> bool:
        """Whether the lines below are to be asked if the first line is a header."""
        return self.header is None

    def require_none(self, where: str) -> None:
        """InputError where a layout was given for what has one of its own."""
        if self != Layout():
            raise InputError("has column names and types of its own; a layout is for text files", where=where)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        plain = {"header": self.header, "names": list(self.names), "encoding": self.encoding}
        return plain | {"delimiter": self.delimiter, "decimal": self.decimal, "index": self.index}


def read_names(path: Path) -> list[str]:
    """The names in a file: a JSON list, or one on each line, or all on one line with commas, semicolons or tabs between them."""
    text = read_text(path, path.name)
    if text.lstrip().startswith("["):
        try:
            listed = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"is not valid JSON, at line {error.lineno}", where=path.name) from None
        if not all(isinstance(name, str) for name in listed):
            raise InputError("expected a JSON list of texts", where=path.name)
        return [name.strip() for name in listed]
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("holds no names; expected one on each line", where=path.name)
    mark = max(",;\t", key=lines[0].count)
    cells = list(csv.reader(io.StringIO(text), delimiter=mark if len(lines) == 1 else "\x1f"))
    return [cell.strip() for row in cells for cell in row if len(lines) == 1 or cell.strip()]
