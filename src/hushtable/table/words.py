"""The words of a free text, without case, punctuation and spaces; what another spelling of the text has in common with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema

# Scripts that put no spaces between words: there every letter counts as one. Emoji count as words of their own.
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_WORD = re.compile(rf"[{_ALONE}{_EMOJI}]|[^\W_{_ALONE}]+")
_ASCII = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text in order, in one case and one form of each letter."""
    if text.isascii():
        return _ASCII.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def numbered(texts: Iterable[Sequence[str]]) -> tuple[list[Integers], int]:
    """Texts of words as texts of numbers, one number for each word from 0 on; and how many there are."""
    known: dict[str, int] = {}
    coded = [np.array([known.setdefault(word, len(known)) for word in text], np.int64) for text in texts]
    return coded, len(known)


def text_columns(*schemas: Schema) -> list[Column]:
    """The columns of free text that all these schemas have, as the first one declares them."""
    return [
        column
        for column in schemas[0]
        if column.kind is Kind.TEXT
        and column.role is not Role.IDENTIFIER
        and all(column.name in other and other[column.name].kind is Kind.TEXT for other in schemas[1:])
    ]
