"""Noisy counts of words, and words to write drawn by them.

A language model that was adapted with much noise has learnt how texts look, and little of which words go with which label. How
often each word stands in the texts of each label is a histogram, to which a row adds a vector of bounded length: that is paid for
once. Each released row is then given words drawn by these counts, and the model writes a text that holds them. (The tabular
networks of this package are raked to noisy margins for the same reason.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hushtable.language.cells import Cells
from hushtable.privacy.unit import Relation
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    # It brings PyTorch with it.
    from hushtable.language.nets import Language

UNIT = 64
"""What a row adds to the counts of its words has this length, whatever their number."""
LONG = 64
"""Different words of a text that are counted, at most."""
FALSE = 0.1
"""The share of words without any text behind them that is accepted among those that are followed."""
LEAST = 1.5
"""Standard deviations of its noise below which the count of a word in one level is taken for none."""
CERTAIN = 0.9
"""The largest chance of a word."""
OUTSTANDING, APART = 2.0, 0.3
"""A word speaks of a cell if its chance there is so many deviations of the noise, and this in the logarithm, from its mean."""
UNUSUAL = 2.0
"""So many times as often as in texts of the untouched model a word stands in the rows' texts that must be given."""
WORD = re.compile(r"[^\W\d_]+")
MARKS = ("Ġ", "▁")
"""What tokens that begin after a space begin with, in the files of tokenizers."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that a tokenizer writes as one token after a space, whatever their case. It is public."""

    names: tuple[str, ...]
    tokens: tuple[tuple[int, ...], ...]
    """For each word the tokens that write it after a space."""
    first: tuple[tuple[int, ...], ...]
    """For each word the tokens that write it where a text begins."""

    @classmethod
    def of(cls, language: Language) -> Vocabulary:
        """From the tokenizer."""
        after, begin = dict[str, list[int]](), dict[str, list[int]]()
        for token in range(language.tokenizer.get_vocab_size()):
            word = language.text([token]).strip().casefold()
            if WORD.fullmatch(word) and (len(word) > 1 or not word.isascii()):
                spaced = str(language.tokenizer.id_to_token(token)).startswith(MARKS)
                (after if spaced else begin).setdefault(word, []).append(token)
        return cls(tuple(after), tuple(map(tuple, after.values())), tuple(tuple(begin.get(word, ())) for word in after))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of the words, by name."""
        return {name: number for number, name in enumerate(self.names)}

    def rates(self, texts: Sequence[str]) -> Floats:
        """The share of the texts that hold each word; half a text more for each, as none is impossible."""
        held = np.concatenate([np.zeros(0, np.int64), *self.present(texts)])
        found: Floats = (np.bincount(held, minlength=len(self.names)) + 0.5) / (len(texts) + 1)
        return found

    def present(self, texts: Iterable[str]) -> list[Integers]:
        """The words of each text, each once, at most ``LONG`` of them."""
        words = (dict.fromkeys(WORD.findall(text.casefold())) for text in texts)
        known = ([self.numbers[word] for word in own if word in self.numbers] for own in words)
        return [np.array(sorted(own[:LONG]), np.int64) for own in known]


@dataclass(frozen=True, eq=False)
class WordCounts:
    """For each cell of some labels how much each word stands in the texts of its rows.

    A row adds ``UNIT``, divided by the root of their number and rounded down, to each of its words: a vector no longer than
    ``UNIT``. So that is the L2 change by one row more or less.
    """

    text: str
    cells: Cells
    """The labels whose texts are kept apart."""
    vocabulary: Vocabulary | None = None
    """None in a plan, whose price does not depend on it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The text, and the levels."""
        return (*self.cells.names, self.text)

    def answer(self, table: Table) -> Integers:
        """Cells x words, flat."""
        assert self.vocabulary is not None
        sums = np.zeros((self.cells.number, len(self.vocabulary.names)), np.int64)
        words = self.vocabulary.present(str(word) for word in table.words(self.text))
        for cell, code in zip(self.cells.rows(table).tolist(), table[self.text].tolist(), strict=True):
            if code >= 0 and len(words[code]):
                sums[cell, words[code]] += int(UNIT / len(words[code]) ** 0.5)
        return sums.ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """A row adds ``UNIT`` at most to any count."""
        return rows * UNIT

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A row's own vector, or two of them where one row replaces another."""
        times = 1 if relation is Relation.ADD_REMOVE else 2
        return times * UNIT * LONG**0.5, times * float(UNIT), 0


@dataclass(frozen=True, eq=False)
class WordChances:
    """For each cell of some labels the chance of some words to stand in a text."""

    words: Integers
    """Their numbers in the vocabulary."""
    chances: Floats
    """Cells x words."""

    @classmethod
    def of(cls, counts: Floats, texts: Integers, deviation: float, usual: Floats | None = None) -> WordChances:
        """From noisy counts (cells x words, in units of ``UNIT``), the number of texts of each cell, and the noise of a count.

        A word is followed if its count in some cell stands out of the noise: the bound is the lowest at which no more than
        ``FALSE`` of those above it are expected to be noise (Benjamini and Hochberg 1995). A word of a text with m words was
        counted by 1 / sqrt(m), and all words of a text together by sqrt(m), so the mean of the latter leads from counts to chances.

        ``usual``: how often each word stands in texts of the untouched model. Words that it writes often enough by itself, and that
        say nothing of the cell, are left to it: texts that must hold every "and" and "the" of a list do not read like texts.
        """
        from scipy.stats import norm

        outstanding = counts / deviation
        ordered = np.sort(outstanding, axis=None)[::-1]
        false = norm.sf(ordered) * len(ordered) / np.arange(1, len(ordered) + 1)
        bound = ordered[false <= FALSE].min(initial=np.inf)
        words = np.flatnonzero((outstanding >= bound).any(axis=0))
        root = max(float(counts.sum()) / max(int(texts.sum()), 1), 1.0)
        share = counts[:, words] / np.maximum(texts, 1)[:, None] * root
        chances = np.where(outstanding[:, words] >= LEAST, share, 0.0).clip(0.0, CERTAIN)
        if usual is not None:
            overall = np.maximum(counts[:, words].sum(0) / max(int(texts.sum()), 1) * root, 1e-9)
            noise = deviation * root / np.maximum(texts, 1)[:, None]
            apart = (np.abs(share - overall) >= OUTSTANDING * noise) & (np.abs(np.log(np.maximum(share, 1e-9) / overall)) >= APART)
            needed = (apart & (texts > 0)[:, None]).any(axis=0) | (overall > UNUSUAL * usual[words])
            words, chances = words[needed], chances[:, needed]
        return cls(words, chances)

    def drawn(self, levels: Integers, most: int, rng: np.random.Generator) -> list[Integers]:
        """For each text of these levels the numbers of words to write, at most so many."""
        found = (np.flatnonzero(rng.random(len(self.words)) < self.chances[level]) for level in levels.tolist())
        return [self.words[np.sort(rng.permutation(own)[:most])] for own in found]

    def among(self, present: Sequence[Integers]) -> list[Integers]:
        """Of the words of texts those that have a chance."""
        return [own[np.isin(own, self.words)] for own in present]
