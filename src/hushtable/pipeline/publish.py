"""The last step before a table leaves: no order, and no domain, that only the raw rows could have given."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Array
from hushtable.table.cell import Cell, Interval
from hushtable.table.code_list import Dependency
from hushtable.table.columns import MISSING_CODE, Bounds, Cells, Column, Facet, Kind, Levels
from hushtable.table.hierarchy import FileTree
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.trees import is_number

DIGITS = 6
"""So many digits of the range of a real column are written where no decimals are declared: 0.12345 of a share, euros of 250,000."""


def shuffled(table: Table, rng: np.random.Generator) -> Table:
    """The rows in an order that says nothing about the original one.

    Sorting by content first makes the result a function of the set of rows alone: knowing the seed of the shuffle
    does not bring the original order back.
    """
    order = np.lexsort([table[name] for name in reversed(table.schema.names)])
    return table.take(order[rng.permutation(table.rows)])


def own_domains(table: Table) -> Table:
    """The table with every observed domain cut down to what the table itself holds, and without observed code lists.

    A domain that was read off the raw rows shows their extremes and their rare levels; published in a schema it
    would give away what the release hides, and so would a drafter's notes. Declared domains are public and stay.
    """
    table = table.under(_unlisted(table.schema))
    return table.with_columns(*(_own(column, table[column.name]) for column in _observed(table.schema)))


def own_domains_of(rows: Rows) -> Rows:
    """``own_domains`` of rows wherever they are."""
    rows = rows.under(_unlisted(rows.schema))
    changed = {column.name: _Cut.of(column, _held(rows, column)) for column in _observed(rows.schema)}
    return rows.encoded(_Own(rows.schema.with_columns(*(cut.column for cut in changed.values())), changed)) if changed else rows


@dataclass(frozen=True, eq=False)
class _Cut:
    """A column under a smaller domain, and the new code of each old one, that of a missing value last; none where they stay."""

    column: Column
    place: NDArray[np.int32] | None

    @classmethod
    def of(cls, column: Column, held: Array) -> _Cut:
        """From the values that the rows hold."""
        own, codes = _own(column, held)
        if isinstance(column.domain, Bounds):
            return cls(own, None)
        place = np.full(len(column.levels) + 1, MISSING_CODE, np.int32)
        place[held] = codes
        return cls(own, place)


@dataclass(frozen=True, eq=False)
class _Own:
    """Rows under domains that are cut down."""

    schema: Schema
    changed: Mapping[str, _Cut]

    def apply(self, table: Table) -> Table:
        """Some of the rows."""
        cuts = self.changed.items()
        return table.with_columns(
            *((cut.column, table[name] if cut.place is None else cut.place[table[name]]) for name, cut in cuts)
        )


def _held(rows: Rows, column: Column) -> Array:
    """The values of a column that there are; of a column between bounds the least and the greatest."""
    if not isinstance(column.domain, Bounds):
        return rows.distinct((column.name,), len(column.levels) + 1).table[column.name]
    ends = rows.quantiles(column.name, (0.0, 1.0))
    return ends[~np.isnan(ends)].astype(column.dtype)


def _unlisted(schema: Schema) -> Schema:
    """The schema without observed code lists, and without a drafter's notes."""
    columns = (
        replace(c, determined_by=Dependency(c.determined_by.source)) if c.determined_by and Facet.DETERMINED in c.drafted else c
        for c in schema
    )
    return replace(schema, columns=tuple(columns), notes=())


def _observed(schema: Schema) -> list[Column]:
    return [column for column in schema if column.observed and column.domain is not None]


def rounded(table: Table, but: Collection[str] = ()) -> Table:
    """The table with reals for which no decimals are declared written with about ``DIGITS`` digits of their range.

    A number that was drawn has as many digits as a machine writes, and means none of the last ones. The grid follows from the
    declared bounds, or else from what the table itself holds, so no other row is read. Equal values stay equal.
    """
    columns = [c for c in table.schema if c.kind is Kind.REAL and c.decimals is None and c.numeric and c.name not in but]
    # What a code list says is written as it says.
    columns = [c for c in columns if c.determined_by is None]
    return table.with_columns(*((column, _short(column, table[column.name])) for column in columns)) if columns else table


def _short(column: Column, array: Array) -> Array:
    bounds = _bounds(column, array) if column.observed else column.bounds
    width = float(bounds.high) - float(bounds.low)
    if not 0 < width < math.inf:
        return array
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(width)))
    # Not to bounds that were read off the rows: their last digits are somebody's.
    return np.clip(np.round(array, decimals), bounds.low, bounds.high)


def private_domain(column: Column) -> bool:
    """Whether its domain was read off the rows, and no hierarchy file makes it public.

    A share of such a domain must not be published: whoever knows how wide a released cell is then knows how wide the domain is,
    and with it the extremes, which may be those of suppressed rows.
    """
    return column.observed and not isinstance(column.hierarchy, FileTree)


def _own(column: Column, array: Array) -> tuple[Column, Array]:
    if isinstance(column.domain, Bounds):
        return replace(column, domain=_bounds(column, array)), array
    return _recoded(column, array)


def _bounds(column: Column, array: Array) -> Bounds:
    present = array[~column.is_missing(array)]
    if not len(present):
        return Bounds(0, 0, observed=True)
    return Bounds(present.min().item(), present.max().item(), observed=True)


def _recoded(column: Column, array: Array) -> tuple[Column, Array]:
    used = np.unique(array[array >= 0]).astype(np.int64)
    place = np.full(len(column.levels) + 1, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    if isinstance(column.domain, Levels):
        # A domain is never empty: a column that is all missing keeps one level that no row has.
        levels = tuple(column.levels[code] for code in used) or ("missing",)
        return _replaced(column, Levels(levels, observed=True)), place[array.astype(np.int64)]
    assert isinstance(column.domain, Cells)
    cells = tuple(_public(column, column.domain.cells[code]) for code in used)
    return _replaced(column, Cells(cells, _base(column, cells))), place[array.astype(np.int64)]


def _replaced(column: Column, domain: Levels | Cells) -> Column:
    """The column with another domain, and without a hierarchy file that has no line for it."""
    base = domain.base if isinstance(domain, Cells) else domain
    tree = column.hierarchy
    lacking = isinstance(base, Levels) and isinstance(tree, FileTree) and not set(base.levels) <= {row[0] for row in tree.rows}
    return replace(column, domain=domain, hierarchy=None if lacking else tree)


def _public(column: Column, cell: Cell) -> Cell:
    """A cell as it may be published: what lies under a label is read off its hierarchy file, never off the rows.

    A set that its own text spells out stays, and so does an interval, whose ends stand in its text. Any other label (a
    prefix) stands for itself alone: which codes of the rows begin with it would give away those of suppressed rows.
    """
    tree = column.hierarchy
    if isinstance(tree, FileTree) and cell.text in tree.widest:
        leaves = tree.widest[cell.text]
        if not isinstance(cell.span, Interval):
            return Cell(cell.text, frozenset(leaves))
        numbers = [column.number(leaf) for leaf in leaves if is_number(column, leaf)]
        return Cell(cell.text, Interval(min(numbers), max(numbers)))
    if isinstance(cell.span, frozenset) and cell.text != column.set_cell(cell.span).text:
        return Cell(cell.text, frozenset([cell.text]))
    return cell


def _base(column: Column, cells: tuple[Cell, ...]) -> Levels | Bounds | None:
    spans = [cell.span for cell in cells]
    if isinstance(column.base, Bounds):
        ends = [end for s in spans if isinstance(s, Interval) for end in (s.low, s.high) if np.isfinite(end)]
        return Bounds(min(ends, default=0), max(ends, default=0), observed=True)
    if isinstance(column.base, Levels):
        covered = frozenset[str]().union(*(s for s in spans if isinstance(s, frozenset)))
        tree = column.hierarchy
        order = [row[0] for row in tree.rows] if isinstance(tree, FileTree) else list(column.base.levels)
        known = [level for level in order if level in covered]
        return Levels((*known, *sorted(covered.difference(known))) or ("missing",), observed=True)
    return None
