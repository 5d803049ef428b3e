"""BERTScore (Zhang et al. 2020): how far the words of two texts mean the same, by vectors of the words.

Each word of one text is matched with the most similar word of the other, wherever it stands. Vectors come from any embedding; the
one given here needs no weights: it knows how words are spelled and nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from hushtable.table.arrays import Floats
from hushtable.table.words import words

Embedding = Callable[[str], Floats]
"""From a text to a matrix with a row for each of its words; none where it has no word."""


@dataclass(frozen=True)
class BertScore:
    """Precision, recall and their harmonic mean, of one pair of texts or averaged over pairs."""

    precision: float
    """How similar the words of the candidate are to the nearest of the reference."""
    recall: float
    """How similar the words of the reference are to the nearest of the candidate."""
    f1: float


def bert_score(candidate: Floats, reference: Floats) -> BertScore:
    """Of two texts by the vectors of their words (rows): greedy matching by cosine. Two texts without words are alike."""
    if not len(candidate) or not len(reference):
        same = float(len(candidate) == len(reference))
        return BertScore(same, same, same)
    ours, theirs = (_unit(vectors) for vectors in (candidate, reference))
    best, other = np.full(len(ours), -1.0), np.full(len(theirs), -1.0)
    # In blocks: two long texts have more pairs of words than memory.
    for start in range(0, len(ours), 1024):
        similar = ours[start : start + 1024] @ theirs.T
        best[start : start + 1024] = similar.max(axis=1)
        other = np.maximum(other, similar.max(axis=0))
    precision, recall = float(best.mean()), float(other.mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def mean_bert_score(candidates: Sequence[str], references: Sequence[str], embedding: Embedding | None = None) -> BertScore:
    """The mean over pairs of texts; F1 is the mean of the pairs' own, so it is at most the mean of precision and recall."""
    embedding = embedding or Spelling()
    pairs = zip(candidates, references, strict=True)
    scores = [bert_score(embedding(one), embedding(other)) for one, other in pairs]
    if not scores:
        raise ValueError("there is no pair of texts")
    precision, recall, f1 = (float(np.mean([getattr(score, part) for score in scores])) for part in ("precision", "recall", "f1"))
    return BertScore(precision, recall, f1)


@dataclass(frozen=True)
class Spelling:
    """Vectors of words by their spelling: the sum of random vectors of the whole word and of three letters in a row.

    The vector of each piece is drawn with a seed that follows from its letters, so the same word has the same vector everywhere.
    """

    dimensions: int = 64
    letters: int = 3

    def __call__(self, text: str) -> Floats:
        """The vectors of the words of a text."""
        own = words(text)
        distinct = {word: at for at, word in enumerate(dict.fromkeys(own))}
        vectors = np.array([self._word(word) for word in distinct]).reshape(len(distinct), self.dimensions)
        return vectors[[distinct[word] for word in own]] if own else vectors

    def _word(self, word: str) -> Floats:
        # A text of one endless word has pieces without end.
        spelled = f"<{word[:100]}>"
        pieces = [spelled, *(spelled[at : at + self.letters] for at in range(len(spelled) - self.letters + 1))]
        total = np.zeros(self.dimensions)
        for piece in pieces:
            total += np.random.default_rng(crc32(piece.encode())).standard_normal(self.dimensions)
        return total


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))
