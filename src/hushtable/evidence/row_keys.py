"""Rows as numbers of 64 bits that are equal where the rows are: how copies are found among more rows than fit into memory.

Two different rows have the same number once in 2^64 pairs: among fifty million released rows and as many training rows one false
copy is expected in 7,000 audits.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import Cells, Column
from hushtable.table.table import Table

Keys = NDArray[np.uint64]
MISSING = np.uint64(0x5BD1E995)
"""Stands for a missing value, whatever its column holds."""


def row_keys(table: Table, columns: Sequence[str], salt: int = 0) -> Keys:
    """A number for each row, equal where all these columns are equal, in whichever table: as ``Case.row_ids`` compares them."""
    keys = np.full(table.rows, salt, np.uint64)
    for name in columns:
        _mix(keys, _values(table, name))
    return keys


def _values(table: Table, name: str) -> Keys:
    column, array = table.schema[name], table[name]
    if isinstance(column.domain, Cells):
        own = [_of_cell(column, cell) for cell in column.domain.cells]
    elif column.numeric:
        return _of_numbers(column.floats(array))
    else:
        own = [_of_word(f"={word}") for word in table.words(name)]
    # Missing is the last one, and has the code -1.
    return np.array([*own, MISSING], np.uint64)[array.astype(np.int64)]


def _of_cell(column: Column, cell: Cell) -> np.uint64:
    """A cell that stands for one value is that value; any other is equal to its like alone."""
    if isinstance(cell.span, Interval) and cell.span.low == cell.span.high:
        return np.uint64(_of_numbers(np.array([cell.span.low], np.float64))[0])
    if isinstance(cell.span, frozenset) and len(cell.span) == 1:
        return _of_word(f"={next(iter(cell.span))}")
    return _of_word(f"~{cell.text}")


def _of_word(word: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"))


def _of_numbers(values: NDArray[np.float64]) -> Keys:
    # Adding zero makes one number of the two zeros.
    keys = (values + 0.0).view(np.uint64)
    return np.where(np.isnan(values), MISSING, keys)


@njit(cache=True)
def _mix(keys: Keys, values: Keys) -> None:
    """Add one column to the keys: the finalizer of splitmix64, whose every output bit depends on every input bit."""
    for row in range(len(keys)):
        z = (keys[row] ^ values[row]) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys[row] = z ^ (z >> np.uint64(31))
