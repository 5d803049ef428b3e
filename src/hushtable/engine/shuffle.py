"""Rows out of memory in a uniformly random order, which says nothing of the one that they had.

Every row goes to a bucket that is drawn for it alone, and the rows of a bucket are permuted. That is the order by a random number
for each row, of which the bucket is the leading digit: all orders are equally likely.

With a seed the coins are known to whoever knows the seed. Then they must not fall in the order of the rows: rows go by a keyed hash
of what they hold first, are sorted by it, and coins fall in that order. So the result is a function of the seed and the set of
rows, and does not bring their order back. Rows that are alike count as one row with a number until then, however many they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.engine.buckets import Buckets, Records, mixed
from hushtable.engine.compute import Compute, compute_of
from hushtable.engine.packing import Cells, Packing
from hushtable.engine.spool import Spooled
from hushtable.engine.store import Store, private_folder
from hushtable.table.arrays import Integers
from hushtable.table.rows import BATCH, Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BUCKET = 1 << 20
"""Rows of a bucket, about: how many buckets there are follows from the number of rows alone, so that memory changes no order."""


def shuffled(
    rows: Rows, rng: np.random.Generator, *, seeded: bool, compute: Compute | None = None, bucket: int = BUCKET
) -> Spooled:
    """The rows in a uniformly random order; ``seeded``: whether the generator comes of a seed, which somebody may know."""
    compute = compute or compute_of(rows)
    layout = _Layout(rows.schema)
    count = -(-rows.rows // bucket)

    def at_random(parts: Iterator[Records]) -> Buckets:
        buckets = Buckets(layout.dtype, count, compute.work)
        for records in parts:
            buckets.add(rng.integers(0, len(buckets), len(records), dtype=np.uint16), records)
        buckets.close()
        return buckets

    parts: Iterator[Records] = (layout.records(batch) for batch in rows.batches())
    if seeded:
        parts = _by_content(parts, layout, count, int(rng.integers(2**63)), compute)
    buckets = at_random(parts)

    def permuted() -> Iterator[tuple[int, Cells]]:
        for number in range(len(buckets)):
            records = buckets.read(number)
            records = records[_order(rng, len(records))]
            yield len(records), layout.cells(records)

    store = Store.write(rows.schema, permuted(), private_folder(compute.work))
    return Spooled(rows.schema, lambda: store, compute)


def _order(rng: np.random.Generator, rows: int) -> Integers:
    return rng.permutation(rows)


class _Layout:
    """Rows as records of packed cells."""

    def __init__(self, schema: Schema) -> None:
        self.packings = {column.name: Packing(column) for column in schema}
        self.dtype: np.dtype[Any] = np.dtype([(str(i), packing.dtype) for i, packing in enumerate(self.packings.values())])

    def records(self, table: Table) -> Records:
        records = np.empty(table.rows, self.dtype)
        for i, (name, packing) in enumerate(self.packings.items()):
            records[str(i)] = packing.pack(table[name])
        return records

    def cells(self, records: Records) -> Cells:
        return {name: np.ascontiguousarray(records[str(i)]) for i, name in enumerate(self.packings)}

    def hashes(self, records: Records, key: int) -> NDArray[np.uint64]:
        """A keyed hash of what each record holds."""
        hashes = np.full(len(records), key, np.uint64)
        for i in range(len(self.packings)):
            own = records[str(i)]
            # All NaN are one value, and so are both zeros.
            words = np.where(np.isnan(own), np.nan, own + 0.0).view(np.uint64) if own.dtype.kind == "f" else own.astype(np.uint64)
            hashes = mixed(hashes ^ words)
        return hashes


def _by_content(parts: Iterator[Records], layout: _Layout, count: int, key: int, compute: Compute) -> Iterator[Records]:
    """The records in an order that follows from what they hold."""
    buckets = Buckets(layout.dtype, count, compute.work)
    for records in parts:
        buckets.add((layout.hashes(records, key) % np.uint64(len(buckets))).astype(np.uint16), records)
    buckets.close()
    for number in range(len(buckets)):
        yield from _spelt_out(*_counted(buckets, number, layout, key))


def _counted(buckets: Buckets, number: int, layout: _Layout, key: int) -> tuple[Records, Integers]:
    """The different records of a bucket in the order of their hashes, and how many there are of each."""
    held, counts = np.empty(0, layout.dtype), np.empty(0, np.int64)
    for start in range(0, int(buckets.sizes[number]), BATCH):
        fresh = buckets.read(number, start, min(BATCH, int(buckets.sizes[number]) - start))
        held = np.concatenate([held, fresh])
        first, place = _different(held, layout.hashes(held, key))
        counts = np.bincount(place, np.concatenate([counts, np.ones(len(fresh), np.int64)])).astype(np.int64)
        held = held[first]
    return held, counts


def _different(records: Records, hashes: NDArray[np.uint64]) -> tuple[Integers, Integers]:
    """Where the different records first stand, in the order of their hashes, and for each record which of them it is."""
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    bytes_ = records.view(np.uint8).reshape(len(records), -1)
    if (bytes_ == bytes_[first[place]]).all():
        return first, place
    # Two different records may have one hash.
    _, own = np.unique(records.view(f"V{records.dtype.itemsize}"), return_inverse=True)
    _, first, place = np.unique(np.stack([hashes, own.astype(np.uint64)]), axis=1, return_index=True, return_inverse=True)
    return first, place.ravel()


def _spelt_out(records: Records, counts: Integers) -> Iterator[Records]:
    """Each record so many times, some at a time."""
    ends = np.cumsum(counts)
    for start in range(0, int(counts.sum()), BATCH):
        yield records[np.searchsorted(ends, np.arange(start, min(start + BATCH, int(ends[-1]))), side="right")]
