"""From raw values, some rows at a time, to the cells that are stored. What a value means is said in ``table.values`` alone.

A column of few different words is read by its words, once; typed numbers are checked as numbers; everything else is read batch by
batch. Faults of all batches are merged, and come before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol

import numpy as np

from hushtable.engine.packing import Packing
from hushtable.errors import Fault
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.columns import FREE, MISSING_INTEGER, Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.values import LACKING, Raw, Reader, not_of, outside_of, text_of

SHOWN = 3
"""Examples of a fault."""
WHOLE = 2.0**63


@dataclass
class Faults:
    """What is wrong with one column, over all batches."""

    found: dict[str, Fault] = field(default_factory=dict)

    def add(self, faults: Iterable[Fault]) -> None:
        """Those of a batch, whose rows are counted over all batches already."""
        for fault in faults:
            before = self.found.get(fault.reason)
            if before is not None:
                values = tuple(dict.fromkeys((*before.values, *fault.values)))[:SHOWN]
                fault = replace(before, count=before.count + fault.count, rows=(*before.rows, *fault.rows)[:SHOWN], values=values)
            self.found[fault.reason] = fault


class Decoder(Protocol):
    """Reads the raw values of one column, batch after batch."""

    column: Column
    """With its domain filled in, where the schema left it open."""
    faults: Faults

    def read(self, values: Array, start: int) -> Array:
        """What is stored of a batch whose first row is row ``start`` of all, counted from 0."""
        ...


@dataclass(frozen=True, eq=False)
class Different:
    """The different values of a column."""

    values: Array
    """Each once, None last."""
    counts: Integers
    """How many rows hold each."""
    first: Callable[[Mask], tuple[int, ...]]
    """The numbers of the first three rows that hold one of some values, counted from 1."""


class Words:
    """Reads a column whose different values are known: each is read once."""

    def __init__(self, schema: Schema, column: Column, where: str, values: Different, *, generalized: bool = False) -> None:
        """Batches then hold the places of values.

        ``unread`` is how many rows without a value are still to come: 0 at the end, unless the rows are not what they were.
        """
        raw = Raw.of(values.values)
        reader = Reader.of(schema, column, where)
        self.column = reader.read(_Held(raw.codes, raw.words, raw.moments, raw.numbers, values), generalized=generalized)
        self.faults = Faults()
        self.faults.add(reader.faults)
        self.unread, self._last = int(values.counts[-1]), len(values.counts) - 1
        self._cells = np.empty(0) if self.faults.found else Packing(self.column).pack(reader.array)

    def read(self, values: Array, start: int) -> Array:
        """The cells of these places."""
        self.unread -= int(np.count_nonzero(values == self._last))
        return np.empty(0) if self.faults.found else np.asarray(self._cells[values])


@dataclass(frozen=True, eq=False)
class _Held(Raw):
    """The words of different values, of which it is known which rows hold them."""

    values: Different | None = None

    def rows(self, words: Mask) -> tuple[int, tuple[int, ...]]:
        """How many rows hold one of these words, and the first three."""
        assert self.values is not None
        wrong = words[self.codes]
        count = int(self.values.counts[wrong].sum())
        return count, self.values.first(wrong) if count else ()


class Each:
    """Reads a column batch by batch, each with its own words."""

    def __init__(self, schema: Schema, column: Column, where: str) -> None:
        """The domain must be known."""
        self.schema, self.column, self.where, self.faults = schema, column, where, Faults()

    def read(self, values: Array, start: int) -> Array:
        """The cells of these values."""
        raw = Raw.of(values)
        reader = Reader.of(self.schema, self.column, self.where)
        reader.read(raw, generalized=False)
        self.faults.add(replace(fault, rows=tuple(row + start for row in fault.rows)) for fault in reader.faults)
        # Free text and keys are looked at, and not stored.
        lost = reader.faults or (self.column.kind in FREE and not self.column.generalized)
        return np.empty(0) if lost else Packing(self.column).pack(reader.array)

    def bounds(self, values: Array) -> Bounds | None:
        """The least and the greatest number of a batch; None where there is none."""
        reader = Reader.of(self.schema, replace(self.column, domain=None), self.where)
        reader.read(Raw.of(values), generalized=False)
        return _bounds(self.column, reader.array)


class Numbers:
    """Reads a column of typed numbers."""

    def __init__(self, schema: Schema, column: Column, where: str) -> None:
        """The domain must be known."""
        self.column, self.where, self.faults = column, f"{where}, column {column.name}", Faults()
        self.codes = Reader.of(schema, column, where).codes

    def read(self, values: Array, start: int) -> Array:
        """The cells of these numbers; NaN and masked ones are missing."""
        if (cells := self._offsets(values)) is not None:
            return cells
        numbers, missing, bad = self._numbers(values)
        self._fault(values, bad, start, not_of(self.column))
        low, high = self.column.bounds.low, self.column.bounds.high
        good = ~missing & ~bad
        outside = good & ((numbers < low) | (numbers > high))
        self._fault(values, outside, start, outside_of(self.column, self.column.bounds))
        if self.column.required:
            self._fault(values, missing, start, LACKING, shown=False)
        if self.faults.found:
            return np.empty(0)
        gone = np.nan if self.column.kind is Kind.REAL else MISSING_INTEGER
        return Packing(self.column).pack(np.where(good, numbers, gone).astype(self.column.dtype, copy=False))

    def _offsets(self, values: Array) -> Array | None:
        """The same for whole numbers where none is a fault and none a missing code, in a third of the time; else None."""
        packing, data = Packing(self.column), np.ma.getdata(values)
        if self.column.kind is not Kind.INTEGER or packing.cells is None or data.dtype.kind not in "iu" or self.faults.found:
            return None
        low, high = int(self.column.bounds.low), int(self.column.bounds.high)
        gone = np.ma.getmaskarray(values)
        lacking = bool(gone.any())
        if any(low <= code <= high for code in self.codes) or (lacking and self.column.required):
            return None
        # As a number without a sign, what is below the least is above the greatest.
        cells = (data.astype(np.int64) - low).view(np.uint64)
        if lacking:
            cells[gone] = 0
        if (cells > high - low).any():
            return None
        if lacking:
            cells[gone] = packing.cells
        return cells.astype(packing.dtype)

    def bounds(self, values: Array) -> Bounds | None:
        """The least and the greatest number of a batch; None where there is none."""
        numbers, missing, bad = self._numbers(values)
        good = ~missing & ~bad
        return Bounds(numbers[good].min().item(), numbers[good].max().item(), observed=True) if good.any() else None

    def _numbers(self, values: Array) -> tuple[Array, Mask, Mask]:
        """The numbers, which are missing, and which are none of this kind."""
        missing = np.array(np.ma.getmaskarray(values))
        data = np.ma.getdata(values)
        if data.dtype.kind == "f":
            missing |= np.isnan(data)
        for code in self.codes:
            missing |= self._is(data, code)
        if self.column.kind is Kind.INTEGER:
            if data.dtype.kind != "f":
                return data.astype(np.int64), missing, np.zeros(len(data), np.bool_)
            floats = np.where(missing, 0.0, data.astype(np.float64))
            bad = ~(np.isfinite(floats) & (np.floor(floats) == floats) & (np.abs(floats) < WHOLE))
            return np.where(bad, 0.0, floats).astype(np.int64), missing, bad
        floats = np.where(missing, 0.0, data.astype(np.float64))
        bad = ~np.isfinite(floats)
        return _rounded(np.where(bad, 0.0, floats), self.column.decimals) + 0.0, missing, bad

    def _is(self, data: Array, code: Decimal) -> Mask:
        """Which numbers a missing code means."""
        if data.dtype.kind != "f":
            whole = code == int(code) and np.iinfo(data.dtype).min <= code <= np.iinfo(data.dtype).max
            return np.asarray(data == int(code)) if whole else np.zeros(len(data), np.bool_)
        number = data.dtype.type(code)
        return np.asarray(data == number) if Decimal(text_of(number)) == code else np.zeros(len(data), np.bool_)

    def _fault(self, values: Array, wrong: Mask, start: int, reason: str, *, shown: bool = True) -> None:
        if not wrong.any():
            return
        rows = np.flatnonzero(wrong)
        words: tuple[str, ...] = ()
        if shown and self.column.shows_values:
            words = tuple(dict.fromkeys(text_of(value) for value in np.ma.getdata(values)[rows[:1000]]))[:SHOWN]
        self.faults.add([Fault(self.where, reason, len(rows), tuple(int(row) + start + 1 for row in rows[:SHOWN]), words)])


def _rounded(floats: Floats, decimals: int | None) -> Floats:
    """Numbers with so many decimals, as Python rounds them: by the number that is written."""
    if decimals is None:
        return floats
    scaled = np.abs(floats) * 10.0**decimals
    rounded = np.round(floats, decimals)
    # numpy rounds the product, which may lie on the other side of a half.
    close = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) <= 1e-9 * np.maximum(scaled, 1.0))
    rounded[close] = [round(float(number), decimals) for number in floats[close]]
    large = np.flatnonzero(scaled >= 2.0**52)
    rounded[large] = [round(float(number), decimals) for number in floats[large]]
    return rounded


def _bounds(column: Column, array: Array) -> Bounds | None:
    present = array[~column.is_missing(array)]
    return Bounds(present.min().item(), present.max().item(), observed=True) if len(present) else None
