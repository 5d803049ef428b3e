"""Stored rows as a code writes them that changes each cell by itself: cells are looked up as they are read.

Only columns of more cells than can be listed, such as reals, are written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numba import njit

from hushtable.engine.packing import Packing
from hushtable.engine.store import Store, StoredRows, Texts, private_folder, stored
from hushtable.table.arrays import Array, Mask
from hushtable.table.coins import Words
from hushtable.table.rows import BATCH, Cellwise
from hushtable.table.schema import Schema
from hushtable.table.table import Table

WIDEST = 1 << 22
"""Of a column with more cells than this the rows themselves are encoded: a look into a longer list costs more than that."""


@dataclass(frozen=True, eq=False)
class Mapped:
    """The rows of a store, some of whose columns have other cells."""

    schema: Schema
    store: StoredRows
    become: Mapping[str, Array]
    """Of changed columns what becomes of each cell, missing last."""
    written: Store | None = None
    """The other changed columns."""
    packings: Mapping[str, Packing] = field(init=False)

    def __post_init__(self) -> None:
        """How the cells of each column lie."""
        object.__setattr__(self, "packings", {name: Packing(self.schema[name]) for name in stored(self.schema)})

    @property
    def rows(self) -> int:
        """As many as before."""
        return self.store.rows

    @property
    def texts(self) -> Texts | None:
        """Free text and keys are never changed."""
        return self.store.texts

    def cells(self, name: str, start: int, stop: int) -> Array:
        """The cells of one column, from one row to another."""
        if self.written is not None and name in self.written.packings:
            return self.written.cells(name, start, stop)
        found = self.store.cells(name, start, stop)
        return np.asarray(_become_of(found, self.become[name])) if name in self.become else found

    def array(self, name: str, start: int, stop: int) -> Array:
        """The values of one column, from one row to another."""
        return self.packings[name].unpack(self.cells(name, start, stop))

    def people(self, name: str, start: int, stop: int) -> tuple[Words, Mask]:
        """Who holds each row by a column of keys, from one row to another, and whether that is known."""
        return self.store.people(name, start, stop)


def mapped(store: StoredRows, before: Schema, code: Cellwise, work: Path | None) -> Mapped:
    """The rows as this code writes them; a folder of ``work`` holds what cannot be listed."""
    packings = [Packing(before[name]) for name in code.cellwise]
    listed = [own for own in packings if own.cells is not None and own.cells <= WIDEST]
    others = [own.column.name for own in packings if own not in listed]
    changed = code.apply(Table.empty(before.select(code.cellwise))).schema
    become = {own.column.name: _listed(own, code) for own in listed}
    written = (
        Store.of(_encoded(store, before.select(others), code), changed.select(others), private_folder(work)) if others else None
    )
    return Mapped(before.with_columns(*changed), store, become, written)


def _listed(packing: Packing, code: Cellwise) -> Array:
    """What becomes of each cell, the missing one last; a required column has none."""
    column, cells = packing.column, packing.cells or 0
    every = np.arange(cells + (not column.required)).astype(packing.dtype)
    after = code.apply(Table(Schema((column,)), {column.name: packing.unpack(every)}))
    other = Packing(after.schema[column.name])
    become = other.pack(after[column.name])
    return np.append(become, np.array([other.cells or 0], become.dtype)) if column.required else become


@njit(cache=True, nogil=True)
def _become_of(cells, become):  # type: ignore[no-untyped-def]
    """What becomes of these cells; numpy would make longer numbers of them first."""
    found = np.empty(len(cells), become.dtype)
    for i in range(len(cells)):
        found[i] = become[cells[i]]
    return found


def _encoded(store: StoredRows, schema: Schema, code: Cellwise) -> Iterator[Table]:
    for start in range(0, store.rows, BATCH):
        stop = min(start + BATCH, store.rows)
        yield code.apply(Table(schema, {name: store.array(name, start, stop) for name in schema.names}))
