"""Local suppression, the search: which cells to suppress so that every record shares what remains with at least k records.

The fewest cells are hard to find (Meyerson and Williams, "On the complexity of optimal k-anonymity", PODS 2004). Here the masks,
the sets of suppressed columns, are tried in ascending cost. Under each, the records that are still open are grouped by what the
mask keeps, and groups of k or more are final. Before the next dearer masks, a group that is too small borrows records from
classes that can spare them, where that costs less than its own records would lose by going on.

A lower bound says how good that is: a record cannot cost less than the cheapest mask under which k records are like it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.arrays import Integers, Mask

MOST_MASKS = 4096
"""Every mask is tried if there are no more (12 columns)."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The cells to suppress, records x columns, and a cost that no choice can go below."""

    cells: Mask
    bound: int


def suppress(codes: NDArray[np.int32], weights: Integers, k: int) -> Choice:
    """Choose the cells: all records alike as written then number k or more, or have no cell left.

    ``codes`` (records x columns) count from 0, ``weights`` are what a suppressed cell of each column costs. Records are
    distinguished by 64 random bits, so the caller must count the classes again.
    """
    masks = masks_of(weights, codes.max(axis=0, initial=0))
    costs = np.asarray(masks @ weights, np.int64)
    search = _Search(codes, masks, costs, k)
    levels = [*np.flatnonzero(np.diff(costs, prepend=-1)).tolist(), len(costs)]
    for first, last in pairwise(levels):
        search.level(range(first, last), costs[last] if last < len(costs) else None)
    every = len(masks) == 2 ** len(weights)
    return Choice(masks[search.picked], int(search.least.sum()) if every else 0)


def masks_of(weights: Integers, widths: NDArray[np.integer]) -> Mask:
    """Masks (true where a column is suppressed) in ascending cost, from none to all.

    Where there are too many: all masks of few columns, then ever larger ones along a chain that gives up the cheapest
    columns first, and of those the ones with the most values (``widths``).
    """
    m = len(weights)
    sizes = [size for size in range(m + 1) if sum(comb(m, s) for s in range(size + 1)) <= MOST_MASKS]
    sets = [frozenset(some) for size in sizes for some in combinations(range(m), size)]
    chain = np.lexsort((-widths, weights)).tolist()
    sets += [frozenset(chain[:size]) for size in range(len(sizes), m + 1)]
    masks = np.array([[j in some for j in range(m)] for some in sets]).reshape(len(sets), m)
    return masks[np.argsort(masks @ weights, kind="stable")]


class _Search:
    """Records on their way to a mask. Class 0 holds all open records, and can spare every one of them."""

    def __init__(self, codes: NDArray[np.int32], masks: Mask, costs: Integers, k: int) -> None:
        n, m = codes.shape
        # Sums of random words distinguish what remains under any mask; the same words in every run.
        words = np.random.default_rng(0).integers(0, 2**64, (m, int(codes.max(initial=0)) + 1), dtype=np.uint64)
        self.words = words[np.arange(m), codes]
        self.columns = [np.flatnonzero(~mask) for mask in masks]
        self.costs, self.k = costs, k
        self.picked, self.paid = np.full(n, len(masks) - 1), np.full(n, costs[-1])
        self.owner, self.sizes = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
        self.sizes[0], self.classes = 2 * n + k, 1
        self.least, self.unbound = np.full(n, costs[-1]), np.arange(n)
        self.open = np.arange(n)
        self.table, self.slots = np.empty(_capacity(n), np.uint64), np.empty(_capacity(n), np.int64)

    def level(self, masks: range, dearer: int | None) -> None:
        """Try the masks of one cost, those that close most records first; ``dearer`` is the next cost."""
        for mask in masks:
            self._bound(mask)
        cover = [self._closable(mask)[0].sum() for mask in masks]
        for at in np.argsort(cover, kind="stable")[::-1].tolist():
            if cover[at]:
                self._close(masks[at])
        if dearer is not None:
            self.paid[self.open] = dearer
            for mask in masks:
                self._borrow(mask)

    def _groups(self, mask: int, rows: Integers) -> tuple[Integers, Integers]:
        groups, counts = _grouped(self.words, self.columns[mask], rows, self.table, self.slots)
        return groups, counts

    def _bound(self, mask: int) -> None:
        if len(self.unbound):
            groups, counts = self._groups(mask, np.arange(len(self.words)))
            enough = counts[groups[self.unbound]] >= self.k
            self.least[self.unbound[enough]] = np.minimum(self.least[self.unbound[enough]], self.costs[mask])
            self.unbound = self.unbound[~enough]

    def _closable(self, mask: int) -> tuple[Mask, Integers, Integers]:
        """Which open records lie in groups of k or more, and the groups."""
        groups, counts = self._groups(mask, self.open)
        return counts[groups] >= self.k, groups, counts

    def _close(self, mask: int) -> None:
        closed, groups, counts = self._closable(mask)
        final = counts >= self.k
        labels = self.classes - 1 + np.cumsum(final)
        self.sizes[labels[final]] = counts[final]
        self.classes += int(final.sum())
        rows = self.open[closed]
        self.owner[rows], self.picked[rows], self.paid[rows] = labels[groups[closed]], mask, self.costs[mask]
        self.open = self.open[~closed]

    def _borrow(self, mask: int) -> None:
        if not len(self.open):
            return
        cost = int(self.costs[mask])
        groups, counts = self._groups(mask, self.open)
        gains = np.bincount(groups, minlength=len(counts)) * (int(self.paid[self.open[0]]) - cost)
        rows, group = _lenders(
            self.words,
            self.columns[mask],
            self.k,
            cost,
            gains,
            self.paid,
            self.owner,
            self.sizes,
            self.table,
            self.slots,
            len(self.open),
        )
        order = np.lexsort((rows, -self.paid[rows], group))
        self.classes = _settle(
            rows[order], group[order], mask, cost, self.k, self.picked, self.paid, self.owner, self.sizes, self.classes
        )
        self.open = self.open[self.owner[self.open] == 0]


@njit(cache=True)
def _capacity(n):  # type: ignore[no-untyped-def]
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(cache=True)
def _key(words, columns):  # type: ignore[no-untyped-def]
    key = np.uint64(0)
    for j in columns:
        key += words[j]
    return key


@njit(cache=True)
def _slot(key, table, slots, wrap):  # type: ignore[no-untyped-def]
    """Where the key is, or the free place where it belongs."""
    slot = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(wrap))
    while slots[slot] >= 0 and table[slot] != key:
        slot = (slot + 1) & wrap
    return slot


@njit(cache=True)
def _grouped(words, columns, rows, table, slots):  # type: ignore[no-untyped-def]
    """For each row its group by the values in these columns, and the size of each group."""
    wrap = _capacity(len(rows)) - 1
    for slot in range(wrap + 1):
        slots[slot] = -1
    groups, counts, count = np.empty(len(rows), np.int64), np.zeros(len(rows), np.int64), 0
    for i in range(len(rows)):
        key = _key(words[rows[i]], columns)
        slot = _slot(key, table, slots, wrap)
        if slots[slot] < 0:
            table[slot], slots[slot] = key, count
            count += 1
        groups[i] = slots[slot]
        counts[groups[i]] += 1
    return groups, counts[:count]


@njit(cache=True)
def _lenders(words, columns, k, cost, gains, paid, owner, sizes, table, slots, open_):  # type: ignore[no-untyped-def]
    """The open records and those that their classes can spare, each with the group (of the last grouping) that it can help."""
    wrap = _capacity(open_) - 1
    rows, group, count = np.empty(len(words), np.int64), np.empty(len(words), np.int64), 0
    for row in range(len(words)):
        if sizes[owner[row]] > k:
            g = slots[_slot(_key(words[row], columns), table, slots, wrap)]
            if g >= 0 and cost - paid[row] < gains[g]:
                rows[count], group[count] = row, g
                count += 1
    return rows[:count], group[:count]


@njit(cache=True)
def _settle(rows, group, mask, cost, k, picked, paid, owner, sizes, classes):  # type: ignore[no-untyped-def]
    """Make a class of each group whose records gain more than the cheapest lenders pay; the dearest records come first."""
    begin = 0
    while begin < len(rows):
        end, taken, price = begin, 0, 0
        while end < len(rows) and group[end] == group[begin]:
            row = rows[end]
            if sizes[owner[row]] > k and (taken < k or paid[row] > cost):
                sizes[owner[row]] -= 1
                price += cost - paid[row]
                # Those who move stand at the front of their group from now on.
                rows[end], rows[begin + taken] = rows[begin + taken], row
                taken += 1
            end += 1
        good = taken >= k and price < 0
        for row in rows[begin : begin + taken]:
            if good:
                owner[row], picked[row], paid[row] = classes, mask, cost
            else:
                sizes[owner[row]] += 1
        if good:
            sizes[classes] = taken
            classes += 1
        begin = end
    return classes
