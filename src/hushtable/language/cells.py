"""Cells of label columns: texts are counted, written and drawn in each of them, and the released rows say in which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.language.corpus import TOPIC
from hushtable.pipeline.step import Given, given_arrays
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes


@dataclass(frozen=True)
class Cells:
    """The joint values of some coded columns, missing among them; one cell where there are no columns."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, schema: Schema, by: tuple[str, ...], step: str, most: int) -> Cells:
        """Of the columns named, or of the target and of topics; refuses by name what is no label, and more cells than ``most``."""
        usual = tuple(c.name for c in schema if _label(c) and (c.role is Role.TARGET or c.name.endswith(TOPIC)))
        return cls._named(schema, by or usual, step, most)

    @classmethod
    def of_labels(cls, schema: Schema, by: tuple[str, ...], step: str, most: int) -> Cells:
        """Of the columns named; else of the target, or, without one, of labels in the order of the schema while cells are few."""
        if by:
            return cls._named(schema, by, step, most)
        labels = [c for c in schema if _label(c) and len(c.levels) > 1 and not c.name.endswith(TOPIC)]
        found = cls(())
        for column in [c for c in labels if c.role is Role.TARGET] or sorted(labels, key=lambda c: c.kind is not Kind.CATEGORY):
            more = cls((*found.columns, column))
            found = more if more.number <= most else found
        return found

    @classmethod
    def _named(cls, schema: Schema, names: tuple[str, ...], step: str, most: int) -> Cells:
        if unknown := [name for name in names if name not in schema]:
            raise PlanError(f"{step}: there is no column {', '.join(map(repr, unknown))}; the table has {', '.join(schema.names)}")
        if odd := [name for name in names if not _label(schema[name])]:
            raise PlanError(f"{step}: {', '.join(odd)} is no category and no ordinal")
        found = cls(tuple(schema[name] for name in names))
        if found.number > most:
            raise PlanError(
                f"{step}: {', '.join(names)} have {found.number:,} cells together, and at most {most:,} can have texts of "
                "their own: name fewer columns in 'by'"
            )
        return found

    def require_same(self, schema: Schema, step: str) -> None:
        """PlanError where the rows behind a released table have other levels than it: cells would mean something else."""
        if other := [c.name for c in self.columns if c.name not in schema or schema[c.name].levels != c.levels]:
            raise PlanError(f"{step}: {', '.join(other)} has other values in the released table than in the rows behind it")

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return histogram_sizes(Schema(self.columns), self.names) if self.columns else ()

    @property
    def number(self) -> int:
        """How many cells there are."""
        return int(np.prod(self.sizes, dtype=np.float64))

    def rows(self, table: Table) -> Integers:
        """The cell of each row."""
        flat = np.zeros(table.rows, np.int64)
        for name, size in zip(self.names, self.sizes, strict=True):
            flat = flat * size + table.cells(name)
        return flat

    def known(self) -> Iterator[dict[str, str]]:
        """For each cell its values as they are written; a missing one is left out."""
        for place in range(self.number):
            codes = np.unravel_index(place, self.sizes) if self.columns else ()
            pairs = zip(self.columns, map(int, codes), strict=True)
            yield {column.name: str(column.levels[code]) for column, code in pairs if code < len(column.levels)}


def released_rows(table: Table, n: int | None, rng: np.random.Generator, given: Given | None) -> Integers:
    """The rows of a released table that are handed out: all, or ``n`` of them (some twice if need be), or those of a condition."""
    rows = np.arange(table.rows)
    for name, array in given_arrays(table.schema, given, 1).items():
        rows = rows[table[name][rows] == array[0]]
    if n is None:
        return rows
    if not len(rows):
        raise InputError("no row of the released table has these values", where="given")
    whole, rest = divmod(n, len(rows))
    return np.concatenate([*[rows] * whole, rng.permutation(rows)[:rest]])


def _label(column: Column) -> bool:
    return column.coded and not column.generalized
