"""Texts as sparse vectors (TF-IDF of words and of four letters in a row), and the nearest of many texts to each of others.

No matrix of all pairs is made: texts are compared in blocks, through the words that they share. Words that so many texts share that
comparing them would take longer than all others together are left out; they distinguish least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.neighbours.search import Neighbours
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.words import words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LETTERS = 4
"""Letters in a row that count as a feature beside whole words: spelling errors change few of them."""
PAIRS = 100_000_000
"""Pairs of texts that share a feature, summed over the features of a kind: with more, the commonest are left out."""
BLOCK = 512
"""Texts that are compared with all others at a time."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Some collections of texts as vectors of unit length, over features that they have in common; a text of none is zero."""

    parts: tuple[csr_matrix, ...]

    @classmethod
    def of(cls, *collections: Sequence[str], pairs: int = PAIRS) -> Vectors:
        """Features are weighed by their rarity in all collections together, which cannot know who is in which.

        With ``pairs`` the last collection is what the others are to be compared with.
        """
        from scipy.sparse import hstack

        sizes = np.cumsum([len(texts) for texts in collections])[:-1]
        texts = [words(text) for some in collections for text in some]
        whole = hstack([_weighted(texts, kind, int(sizes[-1]), pairs) for kind in (_words, _letters)], "csr") / np.sqrt(2)
        ends = [0, *sizes.tolist(), len(texts)]
        return cls(tuple(whole[start:end] for start, end in pairwise(ends)))

    def nearest(self, queries: int, targets: int) -> Neighbours:
        """For each text of one collection the most similar one of another; as distance, 1 less the cosine of the two."""
        ours, theirs = self.parts[queries], self.parts[targets].T.tocsc()
        similar, index = np.zeros(ours.shape[0]), np.zeros(ours.shape[0], np.int64)
        for start in range(0, ours.shape[0], BLOCK):
            block = (ours[start : start + BLOCK] @ theirs).tocsr()
            similar[start : start + BLOCK] = block.max(axis=1).toarray()[:, 0]
            index[start : start + BLOCK] = np.asarray(block.argmax(axis=1)).ravel()
        return Neighbours(distance=1 - np.clip(similar, 0, 1)[:, None], index=index[:, None])


def held(texts: Iterable[str | None]) -> Mask:
    """Which of these texts are there, and hold a word."""
    return np.array([text is not None and bool(words(text)) for text in texts], bool)


def _words(text: Sequence[str]) -> Iterable[str]:
    return text


def _letters(text: Sequence[str]) -> Iterable[str]:
    spaced = f" {' '.join(text)} "
    return (spaced[at : at + LETTERS] for at in range(len(spaced) - LETTERS + 1))


def _weighted(
    texts: Sequence[Sequence[str]], features: Callable[[Sequence[str]], Iterable[str]], queries: int, pairs: int
) -> csr_matrix:
    """The features of one kind: 1 + log of their count, times the logarithm of their rarity, in vectors of unit length."""
    from scipy.sparse import csr_matrix, diags

    known: dict[str, int] = {}
    starts, columns, counts = [0], list[int](), list[int]()
    for text in texts:
        own = Counter(features(text))
        columns += [known.setdefault(feature, len(known)) for feature in own]
        counts += own.values()
        starts.append(len(columns))
    shape = (len(texts), max(1, len(known)))
    places, number = np.array(columns, np.int64), np.array(starts, np.int64)
    matrix: Any = csr_matrix((1 + np.log(np.array(counts, np.float64)), places, number), shape)
    ours = np.bincount(places[: number[queries]], minlength=shape[1])
    theirs = np.bincount(places[number[queries] :], minlength=shape[1])
    kept = _kept(ours * theirs, pairs)
    matrix = matrix @ diags(np.where(kept, np.log((1 + len(texts)) / (1 + ours + theirs)) + 1, 0.0))
    lengths: Floats = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = diags(1 / np.where(lengths > 0, lengths, 1.0)) @ matrix
    # What one side alone has counts for the length, and for no pair.
    shared: csr_matrix = matrix.tocsr()[:, np.flatnonzero(kept & (ours > 0) & (theirs > 0))]
    return shared


def _kept(shared: Integers, pairs: int) -> Mask:
    """The features to compare by: the rarest, as many as the pairs that share them allow."""
    order = np.argsort(shared, kind="stable")
    kept = np.zeros(len(shared), bool)
    kept[order[np.cumsum(shared[order]) <= pairs]] = True
    return kept
