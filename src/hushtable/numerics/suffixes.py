"""Suffix arrays of texts of numbers: which runs two collections of texts have in common, however long, in n log n time.

Texts are joined with a mark of its own after each, so that no run goes on from one text into the next. Suffixes are sorted by
prefix doubling (Manber and Myers 1993), those that are already alone in their place left out, and the lengths of the runs that
neighbours share follow in linear time (Kasai et al. 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from hushtable.table.arrays import Integers


@dataclass(frozen=True, eq=False)
class Suffixes:
    """All suffixes of some texts, sorted."""

    order: Integers
    """The place of each suffix in the joined texts, in the order of the suffixes."""
    shared: Integers
    """How many numbers each suffix has in common with the one before it in that order."""
    text: Integers
    """For each place of the joined texts its text."""
    starts: Integers
    """Where each text begins, and where the last one ends."""

    @classmethod
    def of(cls, texts: Sequence[Integers]) -> Suffixes:
        """Of texts of numbers from 0 on."""
        lengths = np.array([len(text) for text in texts], np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths + 1)])
        joined = np.zeros(int(starts[-1]), np.int64)
        text = np.repeat(np.arange(len(texts)), lengths + 1)
        marks = starts[1:] - 1
        inside = np.ones(len(joined), bool)
        inside[marks] = False
        if inside.any():
            joined[inside] = np.concatenate([part for part in texts if len(part)]) + len(texts)
        # Marks are smaller than all numbers and differ from one another.
        joined[marks] = np.arange(len(texts))
        order = _sorted(joined)
        return cls(order, _shared(joined, order), text, starts)


def released_runs(suffixes: Suffixes, released: int, holder: Integers, most: int) -> Integers:
    """For each place of the joined texts the length of the longest run from there that is released and rare; 0 if there is none.

    The last ``released`` texts are the release, and ``holder`` says who (a number from 0) wrote each of the others. A run is rare
    if at most ``most`` of them wrote it; if the longest released run from a place is not rare, no shorter one is.
    """
    count = len(suffixes.starts) - 1 - released
    owner = np.concatenate([holder.astype(np.int64), np.full(released, -1)])[suffixes.text[suffixes.order]]
    assert len(holder) == count
    people = int(holder.max(initial=-1)) + 1
    # From either end: the windows of the one search that end at a suffix are those of the other that begin there.
    back = np.concatenate([np.zeros(1, np.int64), suffixes.shared[:0:-1]])[: len(owner)]
    common = np.maximum(_common(owner, suffixes.shared, most, people), _common(owner[::-1].copy(), back, most, people)[::-1])
    longest = _released(owner, suffixes.shared)
    found = np.zeros(len(owner), np.int64)
    found[suffixes.order] = np.where(longest > common, longest, 0)
    return found


def _sorted(joined: Integers) -> Integers:
    """The suffixes of a text in order."""
    n = len(joined)
    order = np.argsort(joined, kind="stable")
    rank = np.empty(n, np.int64)
    heads = np.diff(joined[order], prepend=-1) != 0
    rank[order] = np.maximum.accumulate(np.where(heads, np.arange(n), 0))
    step = 1
    while n:
        alone = heads & np.append(heads[1:], True)
        # Places in the order that are not settled yet; the ranks of all others stay.
        open_places = np.flatnonzero(~alone)
        if not len(open_places):
            break
        members = order[open_places]
        follow = np.where(members + step < n, rank[np.minimum(members + step, n - 1)], -1)
        by = np.lexsort((follow, rank[members]))
        members, follow = members[by], follow[by]
        group = rank[members]
        order[open_places] = members
        first = (np.diff(group, prepend=-1) != 0) | (np.diff(follow, prepend=-2) != 0)
        heads[open_places] = first
        rank[members] = np.maximum.accumulate(np.where(first, open_places, 0))
        step *= 2
    return order


@njit(cache=True)
def _shared(joined: Integers, order: Integers) -> Integers:  # pragma: no cover - compiled
    n = len(order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    shared = np.zeros(n, np.int64)
    length = 0
    for at in range(n):
        if place[at] == 0:
            length = 0
            continue
        other = order[place[at] - 1]
        while at + length < n and other + length < n and joined[at + length] == joined[other + length]:
            length += 1
        shared[place[at]] = length
        length = max(0, length - 1)
    return shared


@njit(cache=True)
def _released(owner: Integers, shared: Integers) -> Integers:  # pragma: no cover - compiled
    """In the order of the suffixes: the longest run that a released one (of owner -1) shares with each of the others."""
    n = len(owner)
    longest = np.zeros(n, np.int64)
    run = np.int64(0)
    for i in range(n):
        run = min(run, shared[i])
        if owner[i] < 0:
            run = np.int64(2**62)
        else:
            longest[i] = run
    run = np.int64(0)
    for i in range(n - 1, -1, -1):
        if owner[i] < 0:
            run = np.int64(2**62)
        else:
            longest[i] = max(longest[i], run)
        run = min(run, shared[i])
    return longest


@njit(cache=True)
def _common(owner: Integers, shared: Integers, most: int, people: int) -> Integers:  # pragma: no cover - compiled
    """For each suffix the longest run that more than ``most`` people share, over the shortest windows of the order that hold them.

    There is one window for each suffix that it may begin with, and both ends move right from one to the next. A queue holds the
    places where neighbours share least within the window, another the windows that reach the suffix at hand, the best first.
    """
    n = len(owner)
    common = np.zeros(n, np.int64)
    times = np.zeros(max(people, 1), np.int64)
    least = np.empty(n + 1, np.int64)
    value, end = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    bottom, top, front, back, distinct, right = 0, 0, 0, 0, 0, 0
    for left in range(n):
        while right < n and distinct <= most:
            if owner[right] >= 0:
                distinct += times[owner[right]] == 0
                times[owner[right]] += 1
            while top > bottom and shared[least[top - 1]] >= shared[right]:
                top -= 1
            least[top] = right
            top += 1
            right += 1
        if distinct > most:
            while bottom < top and least[bottom] <= left:
                bottom += 1
            # One person alone shares all that there is; it is released only as far as the release goes.
            worth = shared[least[bottom]] if bottom < top else np.int64(2**62)
            while back > front and value[back - 1] <= worth:
                back -= 1
            value[back], end[back] = worth, right - 1
            back += 1
        while front < back and end[front] < left:
            front += 1
        if front < back:
            common[left] = value[front]
        if owner[left] >= 0:
            times[owner[left]] -= 1
            distinct -= times[owner[left]] == 0
    return common
