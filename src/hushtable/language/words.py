"""Noisy counts of words, and texts written so that their words are as frequent as these.

A language model that was adapted with much noise has learnt how texts look, and little of which words go with which label. How
often each word stands in the texts of each label is a histogram, to which a row adds a vector of bounded length: that is paid for
once, and what the model writes is tilted until its words are as frequent. (The tabular networks of this package are raked to noisy
margins in the same way.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

if TYPE_CHECKING:
    # It brings PyTorch with it.
    from hushtable.language.nets import Language

UNIT = 64
"""What a row adds to the counts of its words has this length, whatever their number."""
LONG = 64
"""Tokens of a text whose words are counted."""
SURE = 3.5
"""Standard deviations of the noise by which a count must differ from that of the model's own texts before it is followed."""
MOST = 6.0
"""The largest change of the logarithm of a word's odds."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The tokens of a model by the word that they begin, whatever its case; what is no word, or a very common one, is none."""

    words: Integers
    """For each token the number of its word, or -1."""
    count: int

    @classmethod
    def of(cls, language: Language) -> Vocabulary:
        """From the tokenizer, which is public."""
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        numbers: dict[str, int] = {}
        size = language.tokenizer.get_vocab_size()
        words = np.full(size, -1, np.int64)
        for token in range(size):
            word = language.text([token]).strip().casefold()
            if word.isalpha() and (len(word) >= 3 or not word.isascii()) and word not in ENGLISH_STOP_WORDS:
                words[token] = numbers.setdefault(word, len(numbers))
        return cls(words, max(len(numbers), 1))

    def present(self, language: Language, texts: Sequence[str]) -> list[Integers]:
        """The words of each text, each once."""
        tokens = language.tokens(texts, LONG)
        found = (np.unique(self.words[np.array(own, np.int64)]) for own in tokens)
        return [own[own >= 0] for own in found]

    def frequencies(self, language: Language, texts: Sequence[str]) -> Floats:
        """What a text adds to the counts, on average, as the private ones are counted."""
        sums = np.zeros(self.count)
        for own in self.present(language, texts):
            sums[own] += _weight(len(own)) / UNIT
        return sums / max(len(texts), 1)


@dataclass(frozen=True, eq=False)
class WordCounts:
    """For each level of a column, and for missing, how much each word stands in the texts of its rows.

    A row adds ``UNIT``, divided by the root of their number and rounded down, to each of its words: a vector no longer than
    ``UNIT``. So that is the L2 change by one row more or less.
    """

    text: str
    by: str
    """The column whose levels are kept apart; empty for none."""
    language: Language | None = None
    """None in a plan, whose price does not depend on it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The text, and the levels."""
        return (*((self.by,) if self.by else ()), self.text)

    def answer(self, table: Table) -> Integers:
        """Levels x words, flat."""
        assert self.language is not None
        vocabulary = self.language.vocabulary
        levels = histogram_sizes(table.schema, (self.by,))[0] if self.by else 1
        cells = table.cells(self.by) if self.by else np.zeros(table.rows, np.int64)
        sums = np.zeros((levels, vocabulary.count), np.int64)
        words = vocabulary.present(self.language, [str(word) for word in table.words(self.text)])
        for cell, code in zip(cells.tolist(), table[self.text].tolist(), strict=True):
            if code >= 0:
                sums[cell, words[code]] += _weight(len(words[code]))
        return sums.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """A row adds ``UNIT`` at most to any count."""
        return rows * UNIT

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A row's own vector, or two of them where one row replaces another."""
        times = 1 if relation is Relation.ADD_REMOVE else 2
        return times * UNIT * LONG**0.5, times * float(UNIT), 0


def _weight(words: int) -> int:
    return int(UNIT / words**0.5) if words else 0


def tilted(wanted: Floats, own: Floats, noise: Floats, texts: int, tilt: Floats) -> Floats:
    """The tilt after a look at so many texts that were written with it: words that are surely too rare become likelier.

    ``wanted`` and ``own`` are frequencies, levels x words, and ``noise`` is the standard deviation of the former, one a level. That
    of the latter is about the root of frequency over texts, as a word adds less than one to a text; a word that stands in none of
    them may stand in the next.
    """
    error = noise[:, None]
    sure = np.abs(wanted - own) > SURE * np.sqrt(error**2 + own / texts)
    least = error + 0.3 / texts
    change = np.log((np.maximum(wanted, 0) + least) / (own + least))
    return np.clip(tilt + np.where(sure, change, 0.0), -MOST, MOST)
