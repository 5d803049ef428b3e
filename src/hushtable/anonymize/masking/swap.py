"""Swapping: values change places between rows, so every column keeps its values exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import PlanError
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import FREE, Column, Kind
from hushtable.table.schema import Schema

_WHY = "swapping reads the rows"
_CAVEAT = "swapped values are true values of other rows: a rare one still says that somebody has it"


@dataclass(frozen=True, kw_only=True)
class RankSwap(Core):
    """Each value of a number, date or ordinal changes places with one of nearby rank.

    Promises nothing. Every column keeps exactly the values it had; how columns hang together suffers, the more so the
    larger ``p``. Each value is swapped at most once, with a partner drawn evenly among those still free in the next p
    percent of the ranks; equal values are ranked at random. Missing values stay where they are. Moore 1996.
    """

    p: float = 5.0
    """How far a value may move: percent of the values of the column."""
    columns: tuple[str, ...] = ()
    """The columns to swap, each by itself; all numeric and ordinal quasi-identifiers when empty."""

    def __post_init__(self) -> None:
        """A percentage."""
        check_knobs(self, p=(0 < self.p <= 100, "must lie in (0, 100]"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without an order."""
        columns = self._columns(schema)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, moves=columns, caveats=(_CAVEAT,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Swap one column after the other."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = self._columns(table.schema)
        swapped = []
        for number, name in enumerate(columns, 1):
            array = table[name].copy()
            present = np.flatnonzero(~table.missing(name))
            ranked = present[np.lexsort((rng.random(len(present)), array[present]))]
            window = max(1, int(self.p / 100 * len(present)))
            array[ranked] = array[ranked[partners(rng.random(len(present)), window)]]
            swapped.append((table.schema[name], array))
            vault.report(number / len(columns))
        return Anonymized(table.with_columns(*swapped), {"p": self.p, "columns": list(columns)})

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        ordered = tuple(name for name in schema.quasi if _has_order(schema[name]))
        return chosen(schema, self.columns, ordered, "rank-swap", "a number, a date or an ordinal", _has_order)


def _has_order(column: Column) -> bool:
    return column.numeric or (column.kind is Kind.ORDINAL and not column.generalized)


@njit(cache=True)
def partners(shares: Floats, window: int) -> Integers:
    """For each rank the rank it changes places with, at most ``window`` away; itself where nobody was left.

    Rank after rank, whoever is still free takes the one at this share of those that are free in the window after it.
    A tree of counts finds that one in O(log n) (Fenwick 1994).
    """
    n = len(shares)
    partner = np.arange(n)
    free = np.ones(n, np.bool_)
    tree = np.zeros(n + 1, np.int64)
    for place in range(1, n + 1):
        tree[place] = place & -place
    top = 1
    while top * 2 <= n:
        top *= 2
    for i in range(n):
        if not free[i]:
            continue
        # How many are free up to i, and up to the end of its window.
        upto, place = 0, i + 1
        while place > 0:
            upto += tree[place]
            place &= place - 1
        reach, place = 0, min(i + window, n - 1) + 1
        while place > 0:
            reach += tree[place]
            place &= place - 1
        if reach == upto:
            continue
        wanted = upto + 1 + int(shares[i] * (reach - upto))
        # The rank at which the count of free ones first reaches the wanted one.
        j, size = 0, top
        while size > 0:
            if j + size <= n and tree[j + size] < wanted:
                j += size
                wanted -= tree[j]
            size //= 2
        partner[i], partner[j] = j, i
        for gone in (i, j):
            free[gone] = False
            place = gone + 1
            while place <= n:
                tree[place] -= 1
                place += place & -place
    return partner


@dataclass(frozen=True, kw_only=True)
class Swap(Core):
    """A share of the rows, in random pairs, exchange the values of some columns.

    Promises nothing. The swapped columns keep their values exactly, and so do their tables with the columns in ``by``,
    inside whose groups the pairs are formed; swapped ``together`` also their tables with one another. Missing is a value
    like any other. Dalenius and Reiss 1982.
    """

    rate: float = 0.1
    """The expected share of rows that are given a partner; one row of an odd group can have none."""
    by: tuple[str, ...] = ()
    """Rows exchange values only where these columns are equal."""
    together: bool = True
    """Whether all columns change places with the same partner; if not, each column forms its own pairs."""
    columns: tuple[str, ...] = ()
    """The columns to swap; all categories among the quasi-identifiers that are not in ``by`` when empty."""

    def __post_init__(self) -> None:
        """A rate in (0, 1]."""
        check_knobs(self, rate=(0 < self.rate <= 1, "must lie in (0, 1]"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses groups that do not exist, and columns that would be swapped inside groups of themselves."""
        columns = self._columns(schema)
        caveats = [_CAVEAT]
        if self.by:
            caveats.append(f"a row that is alone on {', '.join(self.by)} was not swapped")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, moves=columns, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Pair rows at random and exchange their values."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = self._columns(table.schema)
        groups, _ = table.groups(self.by)
        one = self._partners(groups, rng)
        swapped = []
        for number, name in enumerate(columns):
            partner = one if self.together or not number else self._partners(groups, rng)
            swapped.append((table.schema[name], table[name][partner]))
        result = {"rate": self.rate, "by": list(self.by), "columns": list(columns)}
        return Anonymized(table.with_columns(*swapped), result)

    def _partners(self, groups: Integers, rng: np.random.Generator) -> Integers:
        """For each row the row it changes places with, or itself."""
        sizes = np.bincount(groups)
        # Rounded at random: small groups would otherwise never be swapped.
        pairs = np.minimum(np.floor(self.rate * sizes / 2 + rng.random(len(sizes))), sizes // 2).astype(np.int64)
        order = np.lexsort((rng.random(len(groups)), groups))
        place = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        picked = order[place < 2 * pairs[groups[order]]]
        partner = np.arange(len(groups))
        partner[picked[0::2]], partner[picked[1::2]] = picked[1::2], picked[0::2]
        return partner

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        chosen(schema, self.by, schema.names, "swap", "a column")
        both = [name for name in self.columns if name in self.by]
        if both:
            raise PlanError(f"swap: {', '.join(both)} cannot be swapped inside groups of equal {', '.join(both)}")
        default = tuple(n for n in schema.quasi if schema[n].kind is Kind.CATEGORY and n not in self.by)
        what = "a category (or any column, if it is named)"
        return chosen(schema, self.columns, default, "swap", what, lambda column: column.kind not in FREE)
