"""Global suppression, the search: which values to suppress wherever they occur, so that alike records number k or more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable.privacy.spread import heads
from hushtable.table.arrays import Integers, Mask

TRIALS = 256
"""The most suppressed values that are tried again at the end."""


def suppress(codes: NDArray[np.int32], weights: Integers, k: int, persons: Integers | None = None) -> Mask:
    """Columns x values: true where a value is suppressed. Records with nothing left may be those of fewer than k persons.

    As long as some records are alike with those of fewer than k persons, the value goes that is held by most of them among all
    that hold it. Then values that turn out not to be needed come back, those with most cells first.
    """
    m = codes.shape[1]
    words = np.random.default_rng(0).integers(1, 2**64, (m, int(codes.max(initial=0)) + 1), dtype=np.uint64)
    totals = np.array([np.bincount(line, minlength=words.shape[1]) for line in codes.T])
    # A value that fewer than k persons hold cannot stand in a class of k.
    holders = np.array([heads(line, persons, words.shape[1]) for line in codes.T])
    stars = (totals > 0) & (holders < k)
    while (rare := _rare(codes, words, stars, k, persons)).any():
        held = np.array([np.bincount(line[rare], minlength=words.shape[1]) for line in codes.T])
        share = np.where(stars | (held == 0), 0.0, held / np.maximum(totals * weights[:, None], 1))
        # One value at a time where there are few, a hundredth of them where there are many.
        count = 1 + np.count_nonzero(share) // 100
        stars.ravel()[np.argsort(-share, axis=None, kind="stable")[:count]] = True
    gone = np.argwhere(stars & (holders >= k))
    order = np.argsort(-(totals * weights[:, None])[tuple(gone.T)], kind="stable")
    for j, value in gone[order[:TRIALS]]:
        stars[j, value] = False
        stars[j, value] = _rare(codes, words, stars, k, persons).any()
    return stars


def _rare(codes: NDArray[np.int32], words: NDArray[np.uint64], stars: Mask, k: int, persons: Integers | None) -> Mask:
    """The records that keep some value and are alike with those of fewer than k persons."""
    left = np.where(stars, np.uint64(0), words)
    keys = np.zeros(len(codes), np.uint64)
    for line, own in zip(codes.T, left, strict=True):
        keys += own[line]
    groups = np.unique(keys, return_inverse=True)[1]
    return np.asarray((heads(groups, persons)[groups] < k) & (keys != 0), dtype=np.bool_)
