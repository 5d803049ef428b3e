"""Whether the first line of a file holds names or somebody's record, judged by the lines below it. No value is ever quoted.

A column of numbers or dates under a word speaks for names, under a number that fits among them for data. A column of words speaks
for data if the cell above it occurs again below, and for names if a new value would be rare there. Numbered columns (0, 1, 2, as
pandas writes them) and years side by side (2019, 2020) are names, unless all of them occur again below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

import numpy as np

from hushtable.table.arrays import Integers

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?%?", re.ASCII)
_GROUPED = re.compile(r"[-+]?\d{1,3}([.,' ]\d{3})*([.,]\d+)?%?", re.ASCII)
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T][\d:.]+.*)?", re.ASCII)
_LONG = re.compile(r"\d[\d\s./-]{5,}\d|@")
_YEARS = range(1800, 2151)
_MOSTLY = 0.9
_RARE = 0.05
"""The share of new values below which a word that does not occur below speaks for names."""
_FEWEST = 8
"""Rows below which words say nothing."""


class FirstLine(StrEnum):
    """What the first line of a file is."""

    NAMES = "names"
    DATA = "data"
    UNKNOWN = "unknown"
    REPEATED = "repeated"
    """Names, which stand again among the rows, as where files were put one below the other."""


def judge(cells: Sequence[str], columns: Iterable[tuple[Sequence[str], Integers]]) -> FirstLine:
    """What the first line is, from its cells and the distinct values of each column below it with their counts."""
    numbered = _numbered(cells)
    names = data = again = 0.0
    known = 0
    times: set[int] = set()
    worded = False
    for cell, (words, counts) in zip(cells, columns, strict=True):
        if not cell or not len(words):
            continue
        known += 1
        again += cell in words
        times.add(int(counts[words.index(cell)]) if cell in words else 0)
        worded = worded or (not _shape(cell) and _numeric_share(words, counts) >= _MOSTLY)
        vote = _vote(cell, words, counts)
        if vote < 0 and numbered:
            continue
        names, data = names + max(vote, 0.0), data + max(-vote, 0.0)
    if numbered:
        # Somebody's record would have to be 0, 1, 2, ... by chance: only where these are ordinary values below.
        return FirstLine.DATA if names == 0 and again == known else FirstLine.NAMES
    if worded and len(cells) > 1 and len(times) == 1 and 0 not in times:
        return FirstLine.REPEATED
    repeated = len(cells) - len(set(cells))
    data += min(1.0, repeated) if data else 0.0
    if data > names or (data and data == names):
        return FirstLine.DATA
    return FirstLine.NAMES if names else FirstLine.UNKNOWN


def personal(cells: Sequence[str]) -> tuple[int, ...]:
    """The places of cells that look like somebody's and not like names: dates, numbers, long digits, addresses of e-mail."""
    numbered = _numbered(cells)
    return tuple(i for i, cell in enumerate(cells) if _LONG.search(cell) or (_shape(cell) and not numbered))


def _vote(cell: str, words: Sequence[str], counts: Integers) -> float:
    """How strongly one column speaks for names (above zero) or for data (below)."""
    rows = int(counts.sum())
    if _numeric_share(words, counts) >= _MOSTLY:
        if not _shape(cell):
            # A missing code can stand above numbers as well; a word of letters that never comes again is a name.
            return 0.0 if cell in words or not re.search(r"[^\W\d_]{2}|^[^\W\d]\w*$", cell) else 1.0
        return -1.0 if _fits(cell, words) else 0.0
    if cell in words:
        return -1.0
    new = float((counts == 1).sum()) / max(1, rows)
    return 1.0 if rows >= _FEWEST and new < _RARE and not _shape(cell) else 0.0


def _numeric_share(words: Sequence[str], counts: Integers) -> float:
    """The share of rows with a number or a date."""
    return sum(int(count) for word, count in zip(words, counts, strict=True) if _shape(word)) / max(1, int(counts.sum()))


def _shape(text: str) -> str:
    """What a text looks like: a number, a date, or neither."""
    if _NUMBER.fullmatch(text) or _GROUPED.fullmatch(text):
        return "number"
    return "date" if _DATE.fullmatch(text) else ""


def _fits(cell: str, words: Sequence[str]) -> bool:
    """Whether a number or date could be one of the values below it."""
    shapes = {_shape(word) for word in words} - {""}
    if _shape(cell) not in shapes:
        return False
    if _shape(cell) == "date" or cell in words:
        return True
    values = [value for word in words if (value := _value(word)) is not None]
    value = _value(cell)
    if value is None or not values:
        return bool(_GROUPED.fullmatch(cell))
    whole = cell.lstrip("+-").isdigit()
    # A year or a number above values that all have a fraction is a name: 2020 above 13.75.
    if whole and all("." in word for word in words if _NUMBER.fullmatch(word)):
        return False
    low, high = min(values), max(values)
    room = 0.1 * (high - low) + 1
    return low - room <= value <= high + room


def _value(text: str) -> float | None:
    return float(text.removesuffix("%")) if _NUMBER.fullmatch(text) and np.isfinite(float(text.removesuffix("%"))) else None


def _numbered(cells: Sequence[str]) -> bool:
    """Whether all numbers of a first line are names as software writes them: counted up from 0 or 1, or years side by side."""
    numbers = [int(cell) for cell in cells if re.fullmatch(r"\d{1,9}", cell, re.ASCII)]
    others = sum(bool(_shape(cell)) for cell in cells) - len(numbers)
    if others or len(numbers) < 2:
        return False
    steps = {after - before for before, after in pairwise(numbers)}
    if len(steps) > 1 or min(steps) == 0:
        return False
    years = all(number in _YEARS for number in numbers)
    return years or (len(numbers) > 2 and steps == {1} and numbers[0] in (0, 1))
