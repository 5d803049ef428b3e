"""Canaries in texts: the beginning of a real text with an end of words drawn by lot, which no text has but by memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hushtable.audits.regenerate import regenerate
from hushtable.errors import InputError
from hushtable.numerics.ngrams import Ngrams
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import MISSING_CODE
from hushtable.table.table import Table
from hushtable.table.words import numbered, text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Scorer = Callable[[Sequence[str], Table], Floats]
"""The logarithm of the likelihood of each text, given the row of a table beside it."""
FEWEST = 20
"""Different words that lots are drawn from."""


@dataclass(frozen=True, eq=False)
class Planted:
    """Canaries, each with one end that was planted and others that were not."""

    rows: Table
    """The rows that lent their other columns."""
    texts: list[list[str]]
    """For each canary the text that was planted, and then those with other ends."""

    def scores(self, scorer: Scorer) -> Floats:
        """Canaries x ends: how likely each is. All in one call: a scorer may depend on what it is given, but not on who is who."""
        ends = len(self.texts[0])
        rows = self.rows.take(np.repeat(np.arange(self.rows.rows), ends))
        return scorer([text for own in self.texts for text in own], rows).reshape(-1, ends)


def column_to_plant(case: Case, name: str = "") -> str | None:
    """The text column that canaries are planted in: the one that is named, else the first; None where there is none."""
    names = [column.name for column in text_columns(case.train.schema)]
    return name if name in names else None if name else next(iter(names), None)


def vocabulary(case: Case, name: str) -> list[str]:
    """The words of training and control texts: lots of words that a model does not know would be no lots."""
    texts = (text for table in (case.train, case.control) if name in table.schema for text in table.strings(name))
    return sorted({word for text in texts if text is not None for word in words(text)[:1000]})


def plant(
    table: Table, name: str, ends: int, count: int, size: tuple[int, int], known: list[str], rng: np.random.Generator
) -> tuple[Table, Planted]:
    """The table with ``count`` rows whose text is a canary, and the canaries: so many words of a real text, so many by lot."""
    rows = np.sort(rng.choice(table.rows, count, replace=False))
    before, after = size
    strings = table.strings(name)
    lots = rng.choice(np.array(known, object), (count, ends, after))
    texts = [[" ".join([*words(strings[row] or "")[:before], *end]) for end in own] for row, own in zip(rows, lots, strict=True)]
    changed = strings.copy()
    changed[rows] = [own[0] for own in texts]
    return _with_text(table, name, changed), Planted(table.take(rows), texts)


def model_of_release(case: Case, changed: Table, name: str, order: int, seed: int) -> Scorer:
    """The generator run on changed rows, and a model of the texts that it then releases (Meeus et al. 2025)."""
    release = regenerate(case, changed, seed)
    if name not in release.schema:
        raise InputError(f"the new release has no {name}", where="generator")
    spelled = [words(text) for text in release.strings(name) if text is not None]

    def score(texts: Sequence[str], rows: Table) -> Floats:
        coded, known = numbered([*spelled, *(words(text) for text in texts)])
        model = Ngrams.fit(coded[: len(spelled)], known, order)
        return -model.bits(coded[len(spelled) :])

    return score


def _with_text(table: Table, name: str, strings: NDArray[np.object_]) -> Table:
    present = np.array([text is not None for text in strings], bool)
    codes = np.full(len(strings), MISSING_CODE, np.int32)
    known, codes[present] = np.unique(strings[present].astype(str), return_inverse=True)
    array: Integers = codes.astype(table[name].dtype)
    return Table(table.schema, {**table.arrays, name: array}, {**table.texts, name: known.astype(object)}, persons=table.persons)
