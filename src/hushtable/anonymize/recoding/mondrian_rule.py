"""The constraints on Mondrian's classes, compiled: l-diversity and t-closeness of the secrets, by records and by persons.

The same counts as where a release is measured (``privacy.spread``), on the few records of a box that may be cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit

from hushtable.anonymize.secrets import Diversity
from hushtable.privacy.spread import heads, weighted
from hushtable.table.arrays import Integers, Mask

SLACK = 1e-10
"""Rounding that a test of l or t forgives; ten times less than the measurement of the release does."""


@dataclass(frozen=True, eq=False)
class Rule:
    """The l and t that both sides of a cut must have in every secret; with no secrets, nothing is asked."""

    secrets: Integers
    """One line per secret column: each record's rank among its values."""
    ordered: Mask
    """For each of them, whether t counts how far a value moves."""
    absent: Integers
    """For each of them, the rank of a missing value, -1 where there is none."""
    diversity: Diversity = Diversity.DISTINCT
    l: float = 0.0  # noqa: E741
    c: float = 0.0
    t: float = 1.0
    persons: Integers | None = None
    """The person who holds each record, numbered from 0; none where every row is a person of its own."""
    weights: Integers | None = None
    """How many rows each record stands for; one when absent, and where persons are known."""

    @cached_property
    def tested(self) -> tuple[tuple[Any, ...], ...]:
        """The rule as compiled code takes it: by records and, where they are known, by persons as well."""
        everybody = np.empty(0, np.int64)
        return (self._tested(everybody), self._tested(everybody if self.persons is None else self.persons))

    def _tested(self, persons: Integers) -> tuple[Any, ...]:
        """With the table's own shares of every value, padded to one length."""
        width = int(self.secrets.max(initial=0)) + 1
        counts = self.secrets.max(axis=1, initial=0).astype(np.int64) + 1
        whole = np.zeros((len(self.secrets), width))
        for shares, line in zip(whole, self.secrets, strict=True):
            held = heads(line, persons, width) if len(persons) else weighted(line, self.weights, width)
            shares += held / held.sum()
        mass = np.cumsum(whole, axis=1)
        prefix = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
        kind = list(Diversity).index(self.diversity)
        return (
            persons,
            np.ones(self.secrets.shape[1], np.int64) if self.weights is None else self.weights,
            self.secrets,
            self.ordered,
            self.absent,
            counts,
            whole,
            mass,
            prefix,
            kind,
            float(self.l),
            float(self.c),
            float(self.t),
        )

    def holds(self) -> bool:
        """Whether all records together satisfy it."""
        return bool(allowed(np.arange(self.secrets.shape[1]), self.tested))


@njit(cache=True)
def allowed(rows, tested):  # type: ignore[no-untyped-def]
    """Whether these records keep l and t in every secret, by records and by persons."""
    return _keeps(rows, tested[0]) and (not len(tested[1][0]) or _keeps(rows, tested[1]))


@njit(cache=True)
def _keeps(rows, tested):  # type: ignore[no-untyped-def]
    persons, weights, secrets, ordered, absent, counts, whole, mass, prefix, kind, least, c, t = tested
    for s in range(len(secrets)):
        line, own, n = _held(rows, secrets[s], persons, weights, absent[s], counts[s])
        values, sizes = runs(line, own)
        total = sizes.sum()
        if least > 0:
            # A missing value, which has the last rank, is no value that hides another.
            present = len(sizes) - 1 if values[-1] == absent[s] else len(sizes)
            if not _diverse(_concentrated(sizes[:present], n), n, kind, least, c):
                return False
        if t < 1:
            if ordered[s]:
                far = _moved(values, sizes, total, mass[s], prefix[s], counts[s])
            else:
                far = 1.0
                for i in range(len(values)):
                    share = whole[s, values[i]]
                    far += abs(sizes[i] / total - share) - share
                far /= 2
            if far > t + SLACK:
                return False
    return True


@njit(cache=True)
def _held(rows, ranks, persons, weights, absent, width):  # type: ignore[no-untyped-def]
    """The values of these records, how many rows have each (or once for a person who holds it), and how many have one at all."""
    line, own, n = np.empty(len(rows), np.int64), np.ones(len(rows), np.int64), 0
    if not len(persons):
        for i in range(len(rows)):
            line[i], own[i] = ranks[rows[i]], weights[rows[i]]
            n += own[i] if line[i] != absent else 0
        return line, own, n
    for i in range(len(rows)):
        line[i] = persons[rows[i]] * width + ranks[rows[i]]
    line.sort()
    distinct, last = 0, np.int64(-1)
    for i in range(len(line)):
        if i and line[i] == line[i - 1]:
            continue
        person, value = line[i] // width, line[i] % width
        if value != absent and person != last:
            n += 1
            last = person
        line[distinct] = line[i]
        distinct += 1
    return line[:distinct] % width, own[:distinct], n


@njit(cache=True)
def _concentrated(sizes, n):  # type: ignore[no-untyped-def]
    """The sizes from the largest down until they add up to n: where people hold several values, each stands with one of them."""
    falling = np.sort(sizes)[::-1]
    left, last = n, 0
    while last < len(falling) and left > 0:
        falling[last] = min(falling[last], left)
        left -= falling[last]
        last += 1
    return falling[:last]


@njit(cache=True)
def _diverse(sizes, n, kind, least, c):  # type: ignore[no-untyped-def]
    """Whether these falling sizes, n together, are as diverse as asked for."""
    if len(sizes) < least - SLACK or kind == 0:
        return len(sizes) >= least
    if kind == 1:
        entropy = 0.0
        for size in sizes:
            entropy -= size / n * np.log(size / n)
        return np.exp(entropy) >= least - SLACK
    return sizes[0] < c * sizes[int(least) - 1 :].sum()


@njit(cache=True)
def _moved(values, sizes, n, mass, prefix, count):  # type: ignore[no-untyped-def]
    """The ordered distance: between two values of a class its share is level, and the table's passes it at one place."""
    if count < 2:
        return 0.0
    total, level, begin = 0.0, 0.0, 0
    for i in range(len(values) + 1):
        end = values[i] if i < len(values) else count
        split = first_at_least(mass, level, begin, end)
        total += level * (split - begin) - (prefix[split] - prefix[begin])
        total += (prefix[end] - prefix[split]) - level * (end - split)
        if i < len(values):
            level += sizes[i] / n
        begin = end
    return total / (count - 1)


@njit(cache=True)
def runs(line, weights):  # type: ignore[no-untyped-def]
    """The different values of a line, rising, and how many rows have each."""
    values, sizes = np.empty(len(line), np.int64), np.zeros(len(line), np.int64)
    last = -1
    for i in np.argsort(line):
        if last < 0 or line[i] != values[last]:
            last += 1
            values[last] = line[i]
        sizes[last] += weights[i]
    return values[: last + 1], sizes[: last + 1]


@njit(cache=True)
def first_at_least(rising, value, begin, end):  # type: ignore[no-untyped-def]
    """The first place from begin to end that holds the value or more; the end if none does."""
    while begin < end:
        middle = (begin + end) // 2
        if rising[middle] < value:
            begin = middle + 1
        else:
            end = middle
    return begin
