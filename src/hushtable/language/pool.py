"""Public texts from a file: labelled, compared with, or learnt from, at no cost."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TextIO

from hushtable.errors import InputError

HOW = "give a file of public texts (--set pool=FILE): one text a line, or a CSV or TSV file with a column of them"
_BETWEEN = {".csv": ",", ".tsv": "\t"}
_USUAL = ("text", "sentence")


def public_texts(path: str, column: str, where: str) -> list[str]:
    """The texts of a file, in its order and without empty ones; InputError where it cannot be read or holds none.

    Of a CSV or TSV file (also ``.gz``) the column of this name is read, else one named ``text`` or ``sentence``, else its only one.
    """
    if not path:
        raise InputError(f"needs public texts: {HOW}", where=where)
    file = Path(path)
    ending = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    try:
        with _opened(file) as lines:
            texts = _column(lines, _BETWEEN[ending], column, file.name) if ending in _BETWEEN else lines.read().splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=f"{where}: {file.name}") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError("is not a text file in UTF-8", where=f"{where}: {file.name}") from None
    found = [text.strip() for text in texts if text.strip()]
    if not found:
        raise InputError("holds no text", where=f"{where}: {file.name}")
    return found


def _opened(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _column(lines: TextIO, between: str, column: str, name: str) -> list[str]:
    # Tab-separated texts hold quotation marks that mean nothing.
    rows = csv.reader(lines, delimiter=between, quoting=csv.QUOTE_NONE if between == "\t" else csv.QUOTE_MINIMAL)
    head = next(rows, [])
    wanted = next((own for own in (column, *_USUAL) if own in head), head[0] if len(head) == 1 else None)
    if wanted is None:
        raise InputError(f"has no column {column!r}, 'text' or 'sentence'; it has {', '.join(head)}", where=name)
    place = head.index(wanted)
    return [row[place] for row in rows if len(row) > place]
