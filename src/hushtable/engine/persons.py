"""Which rows are a person's, out of memory: the persons are cut into buckets, each of which is looked at by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hushtable.table.arrays import Integers, Mask

Words = NDArray[np.uint64]
PER_ROW = 80
"""Bytes that a row of a bucket takes while its rows are put in order."""
KEYS = ("rows of a person", "are kept at once")
"""Two hashes of 64 bits: one alone could take two of a hundred million persons for one."""


def hashed(words: NDArray[np.object_]) -> Words:
    """Two words of 64 bits for each text, the same wherever it stands."""
    return np.stack([pd.util.hash_array(words, hash_key=key, categorize=False) for key in KEYS], axis=1)


def kept(
    people: Callable[[], Iterator[tuple[Words, Mask]]],
    rows: int,
    most: int,
    coins: Callable[[int], Words],
    seed: int | None,
    limit: int,
) -> Mask:
    """Which rows stay where at most so many of each person do, none of an unknown one.

    ``people`` makes a pass over who holds each row, and whether that is known. Coins fall for each row, from ``coins``; with a seed
    they go with the number of the row among its person's own.
    """
    buckets = max(1, -(-rows * PER_ROW // max(limit, 1)))
    keep = np.zeros(rows, np.bool_)
    for bucket in range(buckets):
        places, persons = _bucket(people, bucket, buckets)
        if seed is None:
            drawn = coins(len(persons))
        else:
            own = _numbers(np.lexsort((places, *persons.T)), persons)
            drawn = np.random.default_rng(seed).integers(0, 2**64, int(own.max(initial=-1)) + 1, dtype=np.uint64)[own]
        keep[places[_numbers(np.lexsort((drawn, *persons.T)), persons) < most]] = True
    return keep


def _bucket(people: Callable[[], Iterator[tuple[Words, Mask]]], bucket: int, buckets: int) -> tuple[Integers, Words]:
    """The places of the rows of some persons, and who holds each."""
    places, persons, start = list[Integers](), list[Words](), 0
    for held, known in people():
        inside = np.flatnonzero(known & (_mixed(held) % np.uint64(buckets) == bucket))
        places.append(inside + start)
        persons.append(held[inside])
        start += len(held)
    if not places:
        return np.empty(0, np.int64), np.empty((0, 1), np.uint64)
    return np.concatenate(places), np.concatenate(persons)


def _mixed(held: Words) -> Words:
    """A hash of the first word, whose low bits may say nothing of the rest."""
    mixed = held[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


def _numbers(order: NDArray[np.intp], persons: Words) -> Integers:
    """For each row its number among those of its person, when the rows are taken in this order, each person's together."""
    ordered = persons[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return numbers
