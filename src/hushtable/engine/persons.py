"""Which rows are a person's, out of memory: the persons are cut into buckets, each of which is looked at by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.engine.tuples import slot_of
from hushtable.table.arrays import Integers, Mask
from hushtable.table.coins import Words, coins

People = Callable[[], Iterator[tuple[Words, Mask]]]
"""Makes a pass over who holds each row, in a few words of 64 bits, and whether that is known."""
PER_ROW = 80
"""Bytes that a row of a bucket takes while its rows are put in order."""


def kept(people: People, rows: int, most: int, key: Words, limit: int) -> Mask:
    """Which rows stay where at most so many of each person do, none of an unknown one."""
    keep = np.zeros(rows, np.bool_)
    for places, persons in _buckets(people, rows, limit):
        keep[places[chosen(persons, most, key)]] = True
    return keep


def chosen(persons: Words, most: int, key: Words) -> Mask:
    """Which of these rows stay, which are all rows of their persons, in order."""
    drawn = coins(key, persons, _numbers(np.arange(len(persons)), persons))
    return np.asarray(_numbers(np.argsort(drawn, kind="stable"), persons) < most)


def count(people: People, rows: int, most: int, limit: int) -> int:
    """How many rows stay."""
    numbers = (_numbers(np.arange(len(persons)), persons) for _, persons in _buckets(people, rows, limit))
    return sum(int((own < most).sum()) for own in numbers)


def _buckets(people: People, rows: int, limit: int) -> Iterator[tuple[Integers, Words]]:
    """The places of the rows of some persons, in order, and who holds each; all rows of a person in one bucket."""
    buckets = max(1, -(-rows * PER_ROW // max(limit, 1)))
    for bucket in range(buckets):
        places, persons, start = list[Integers](), list[Words](), 0
        for held, known in people():
            inside = np.flatnonzero(known & (_mixed(held) % np.uint64(buckets) == bucket))
            places.append(inside + start)
            persons.append(held[inside])
            start += len(held)
        if places:
            yield np.concatenate(places), np.concatenate(persons)


def _mixed(held: Words) -> Words:
    """A hash of the first word, whose low bits may say nothing of the rest."""
    mixed = held[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


def _numbers(order: NDArray[np.intp], persons: Words) -> Integers:
    """For each row its number among those of its person, when the rows are taken in this order."""
    room = 16
    while room < 2 * len(persons):
        room *= 2
    return np.asarray(_numbered(order, persons.view(np.int64), np.full(room, -1, np.int64), np.zeros(room, np.int64)))


@njit(cache=True, nogil=True)
def _numbered(order, persons, owners, counts):  # type: ignore[no-untyped-def]
    numbers = np.empty(len(order), np.int64)
    mask = np.uint64(len(owners) - 1)
    for row in order:
        at = slot_of(persons[row], mask)
        while True:
            owner = owners[at]
            if owner < 0:
                owners[at] = row
                break
            same = True
            for word in range(persons.shape[1]):
                if persons[owner, word] != persons[row, word]:
                    same = False
                    break
            if same:
                break
            at = (at + np.uint64(1)) & mask
        numbers[row] = counts[at]
        counts[at] += 1
    return numbers
