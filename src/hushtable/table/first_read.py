"""The first read of a file: how it seems to be written, a few of its lines masked, and whether its first line is a person's.

Only the start of the file is read, so it takes no longer for a large one. No value of a row is given, only its shape.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from hushtable.errors import InputError
from hushtable.table.files import SIGNATURES, delimiter_of, form_of, parquet_columns, parquet_rows, plain, records_of
from hushtable.table.header import FirstLine, judge, personal
from hushtable.table.layout import INDEX, Layout
from hushtable.table.values import Raw

START = 1 << 20
"""So many bytes of a text are read."""
LINES = 2_000
"""By so many lines at most the first one is judged, and the decimal mark."""
SHOWN = 10
"""So many rows are shown, masked."""
WIDTH = 40
"""A masked cell is cut to so many characters."""
PACKED = 8
"""So many times a packed text is longer than its file, about."""
_COMMA, _POINT = re.compile(r"[-+]?\d+,\d+"), re.compile(r"[-+]?\d*\.\d+")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+")


@dataclass(frozen=True, kw_only=True)
class FirstRead:
    """How a file is read, as far as its start shows; whatever is wrong in ``layout`` can be replaced and tried again."""

    file: str
    form: str
    """csv, gzip or parquet."""
    layout: Layout
    """How a text file is read, all of it said but the decimal mark; a Parquet file has a layout of its own."""
    decimal: str
    """The decimal mark of most numbers that have one; a column's own is told by its values unless the layout says it."""
    verdict: FirstLine | None
    """What the first line of a text file looks like."""
    names: tuple[str, ...]
    """Of the columns, as a table would have them; masked where the first line looks like somebody's record."""
    personal: tuple[int, ...]
    """The places of names that look like somebody's data: dates, numbers, long digits."""
    rows: tuple[tuple[str, ...], ...]
    """The first rows, masked: letters are A or a, digits are 9."""
    ragged: tuple[int, ...]
    """The numbers of the first lines that have more or fewer cells than the first."""
    about: int
    """How many rows there are, about."""

    @property
    def questioned(self) -> bool:
        """Whether the first line should be looked at by a person before anything else."""
        return self.verdict in (FirstLine.DATA, FirstLine.REPEATED) or bool(self.personal)

    def to_json(self) -> dict[str, Any]:
        """Plain values; no value of a row."""
        return {
            "file": self.file,
            "form": self.form,
            "layout": self.layout.to_json(),
            "decimal": self.decimal,
            "verdict": None if self.verdict is None else str(self.verdict),
            "questioned": self.questioned,
            "names": list(self.names),
            "personal": list(self.personal),
            "rows": [list(row) for row in self.rows],
            "ragged": list(self.ragged),
            "about": self.about,
        }


def peek(path: str | Path, layout: Layout | None = None) -> FirstRead:
    """Read the start of a file; what the layout says is taken for granted, and the rest is guessed."""
    path, layout = Path(path), layout or Layout()
    form = form_of(path)
    if not path.is_file():
        raise InputError("is a folder, not a file" if path.is_dir() else "the file does not exist", where=path.name)
    if form == "parquet":
        layout.require_none(path.name)
        return _parquet(path)
    start = _start(path, form)
    text, encoding = _decoded(start, layout.encoding, path.name)
    separator = re.match(r'\ufeff?"?sep=([,;|\t])"?\r?\n', text, re.IGNORECASE)
    body = text[separator.end() :] if separator else text.removeprefix("\ufeff")
    bare = re.sub(r'"[^"]*"', "", body)
    delimiter = layout.delimiter or (separator[1] if separator else delimiter_of(bare, tabs=".tsv" in path.name.lower()))
    # The last line may be cut in two where the file goes on.
    records = records_of(body, delimiter)[: LINES + 1]
    if len(start) >= START and len(records) > 1:
        records = records[:-1]
    if not records:
        raise InputError("the file is empty", where=path.name)
    found = replace(layout, encoding=encoding, delimiter=delimiter)
    lines = max(1, len(re.findall(r"\r\n?|\n", body)))
    size = path.stat().st_size * (PACKED if form == "gzip" else 1)
    whole = len(start) < START
    return _described(path.name, form, found, records, lines if whole else int(size * lines / len(start)))


def masked(value: str) -> str:
    """The shape of a text: letters become A or a, digits 9; marks stay, and all other signs are a question mark."""
    return "".join(map(_masked, value[:WIDTH])) + ("…" if len(value) > WIDTH else "")


def _masked(sign: str) -> str:
    if sign.isalpha():
        return "A" if sign.isupper() or sign.istitle() else "a"
    if sign.isnumeric():
        return "9"
    return sign if sign.isascii() and sign.isprintable() else " " if sign.isspace() else "?"


def _described(file: str, form: str, layout: Layout, records: list[list[str]], lines: int) -> FirstRead:
    first, below = records[0], records[1:]
    width = max(Counter(map(len, below or records)).items(), key=lambda pair: (pair[1], pair[0]))[0]
    short = len(first) == width - 1
    blank = short or (len(first) == width > 1 and not first[0])
    cells = [INDEX, *first] if short else first
    columns = [_counted([row[i] for row in below if len(row) == len(cells)]) for i in range(len(cells))]
    verdict = judge(cells, columns)
    headed = layout.headed if layout.header is not None or layout.names else verdict is not FirstLine.DATA
    index = (layout.index or blank) and headed
    if index:
        cells = [cells[0] or INDEX, *cells[1:]]
    mark = layout.decimal or _decimal([words for words, _ in columns])
    rows = below if headed else records
    strange = personal(first) if headed and not layout.names else ()
    if layout.names:
        names = layout.names
    elif headed:
        names = tuple(masked(cell) if strange or verdict is FirstLine.DATA else cell for cell in cells)
    else:
        names = tuple(f"column_{i}" for i in range(1, len(cells) + 1))
    return FirstRead(
        file=file, form=form, layout=replace(layout, header=headed, index=index), decimal=mark, verdict=verdict,
        names=names, personal=strange, rows=tuple(tuple(map(masked, row)) for row in rows[:SHOWN]),
        ragged=tuple(i for i, row in enumerate(below, 2) if len(row) != len(cells)), about=max(0, lines - headed),
    )  # fmt: skip


def _start(path: Path, form: str) -> bytes:
    try:
        with gzip.open(path) if form == "gzip" else path.open("rb") as stream:
            start = stream.read(START)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError("the gzip file is damaged or cut short, or is not gzip", where=path.name) from None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=path.name) from None
    for signature, reason in SIGNATURES.items():
        if start.startswith(signature):
            raise InputError(reason, where=path.name)
    if not start.strip():
        raise InputError("the file is empty", where=path.name)
    return start


def _decoded(start: bytes, encoding: str, where: str) -> tuple[str, str]:
    """The text and its encoding: what was said, or the first of a few that it can be."""
    if encoding:
        guesses = [encoding]
    elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        guesses = ["utf-16"]
    elif 2 * start[:512].count(b"\0") > len(start[:512]) - 2:
        guesses = ["utf-16-le" if start[1:2] == b"\0" else "utf-16-be"]
    else:
        guesses = ["utf-8", "cp1252", "latin-1"]
    for guess in guesses:
        try:
            # A sign may be cut in two where the file goes on.
            return codecs.getincrementaldecoder(guess)().decode(start, final=len(start) < START), guess
        except UnicodeError:
            continue
    raise InputError(f"the file is not {guesses[-1]}; give another encoding", where=where)


def _counted(words: Sequence[str]) -> tuple[list[str], Any]:
    held = Counter(word for word in words if word)
    return list(held), np.array(list(held.values()), np.int64)


def _decimal(columns: Sequence[Sequence[str]]) -> str:
    """The mark that stands before decimals in more of the columns; empty where none has decimals."""
    marks = Counter[str]()
    for words in columns:
        for mark, pattern in ((",", _COMMA), (".", _POINT)):
            with_mark = [word for word in words if pattern.fullmatch(word)]
            # What always stands before three digits may part thousands as well.
            if 2 * len(with_mark) > len(words) and not all(map(_GROUPED.fullmatch, with_mark)):
                marks[mark] += 1
    return max(marks, key=marks.__getitem__) if marks else ""


def _parquet(path: Path) -> FirstRead:
    with duckdb.connect() as connection:
        columns = parquet_columns(connection, path)
        picks = ", ".join(f"{column.pick} AS c{i}" for i, column in enumerate(columns))
        found = connection.execute(f"SELECT {picks} FROM {parquet_rows(path)} LIMIT {SHOWN}").fetchnumpy()
        count = connection.execute(f"SELECT count(*) FROM {parquet_rows(path)}").fetchone()
    cells = []
    for i in range(len(columns)):
        raw = Raw.of(plain(found[f"c{i}"]))
        cells.append([masked(raw.words[code]) if code >= 0 else "" for code in raw.codes.tolist()])
    names = tuple(column.name for column in columns)
    strange = personal(names)
    return FirstRead(
        file=path.name, form="parquet", layout=Layout(), decimal="", verdict=None,
        names=tuple(map(masked, names)) if strange else names, personal=strange, rows=tuple(zip(*cells, strict=True)), ragged=(),
        about=count[0] if count else 0,
    )  # fmt: skip
