"""Suppression: cells, records or values are left out until every row is like at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.people import records, require_people
from hushtable.anonymize.recoding import suppress_cells, suppress_values
from hushtable.anonymize.recoding.mondrian_cells import has_cells, lettered
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.spread import heads
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.cell import ANYTHING
from hushtable.table.columns import Cells, Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "suppression reads the rows"
_STAR = -1


class What(StrEnum):
    """What is suppressed."""

    CELLS = "cells"
    RECORDS = "records"
    VALUES = "values"


@dataclass(frozen=True, kw_only=True)
class Suppress(Core):
    """k-anonymity by suppression: cells become ``*``, or records are dropped.

    Promises that every combination of the columns is shared by at least k rows as they are written, a ``*`` being like no other
    cell than a ``*``, and re-measures it on the table. (Where a ``*`` is read as any value, fewer cells seem to be enough, but
    rows that differ in a ``*`` can still be distinguished.) Rows with nothing but ``*`` say who they are not: they stay if they are
    at least k, and are dropped otherwise. One row can change what all others lose, so there is no differential privacy.
    Sweeney 2002; Meyerson and Williams 2004.
    """

    k: int = 5
    """The least number of rows that are alike; of persons who hold them, where people hold several."""
    columns: tuple[str, ...] = ()
    """The columns in which rows must be alike; all quasi-identifiers when empty."""
    what: What = What.CELLS
    """cells: single cells (local suppression); records: whole rows; values: a value wherever it occurs (global suppression)."""
    importance: tuple[str, ...] = ()
    """Columns to spare, the most important first: a cell of the last one counts as two of the columns not named, of the one before
    as three, and so on."""

    def __post_init__(self) -> None:
        """K is at least 2; records have no important columns."""
        check_knobs(
            self,
            k=(self.k >= 2, "must be at least 2"),
            importance=(not self.importance or self.what is not What.RECORDS, "is for cells and values only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot hold a ``*`` (text, keys) and important columns that are not among them."""
        columns = self._columns(schema)
        self._weights(columns)
        rest = [name for name in schema.names if name not in columns]
        caveats = [
            "what was left out was chosen by the rows: whoever knows the method can at times undo a part of it "
            "(minimality and downcoding attacks)",
            "k-anonymity says nothing about what the rows of a class have in common: look at l and t",
        ]
        if rest:
            caveats.append(f"left as they were by the suppression: {', '.join(rest)}")
        planned, effect = schema, Effect.EDIT_ROWS
        if self.what is not What.RECORDS:
            planned = schema.with_columns(*(schema[name].generalize((ANYTHING,)) for name in columns))
        elif set(schema.quasi) == set(columns):
            effect = Effect.SUPPRESS_CLASSES
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns)
        return Plan(schema=planned, events=(Raw(_WHY),), effect=effect, promises=(promise,), caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Choose what to leave out; ``rng`` is not needed."""
        table = vault.open(Raw(_WHY), _WHY)
        require_people(table, self.k, "suppress.k")
        columns = self._columns(table.schema)
        first, place = records(table, columns)
        codes = np.stack([np.unique(table[name], return_inverse=True)[1] for name in columns], axis=1).astype(np.int32)
        stars, result = self._stars(codes[first], self._weights(columns), None if table.persons is None else table.persons[first])
        vault.report(0.8)
        written = np.where(stars[place], _STAR, codes)
        if self.what is not What.RECORDS:
            # The search distinguishes records by 64 random bits, and may take two of one person for two people: whoever is alike
            # with fewer than it believes loses every cell.
            written[_alike(written, table.persons) < self.k] = _STAR
        stays = _alike(written, table.persons) >= self.k
        if not stays.any():
            whom = "rows are alike with" if table.persons is None else "person has rows alike with those of"
            reason = f"no {whom} {self.k - 1} others in {', '.join(columns)}: nothing would be left"
            raise InputError(reason, where="suppress.k")
        released, written = table.take(np.flatnonzero(stays)), written[stays]
        if self.what is not What.RECORDS:
            lost = written == _STAR
            released = released.with_columns(*(_starred(released, name, lost[:, j]) for j, name in enumerate(columns)))
            result |= {"cells": {name: int(lost[:, j].sum()) for j, name in enumerate(columns)}}
            result |= {"rows_suppressed": int(lost.all(axis=1).sum())}
        result |= {"rows_dropped": int((~stays).sum()), "classes": round(float((1 / _alike(written)).sum()))}
        return Anonymized(released, {"k": self.k, "what": str(self.what), "columns": list(columns), **result})

    def _stars(self, codes: NDArray[np.int32], weights: Integers, persons: Integers | None) -> tuple[Mask, dict[str, Any]]:
        """Records x columns: which cells are suppressed; and what is known of the choice."""
        if self.what is What.CELLS:
            choice = suppress_cells.suppress(codes, weights, self.k)
            # A dropped row counts with all its cells.
            known = choice.bound and (weights == 1).all() and persons is None
            return choice.cells, {"cells_at_least": choice.bound} if known else {}
        if self.what is What.VALUES:
            values = suppress_values.suppress(codes, weights, self.k, persons)
            return values[np.arange(len(weights)), codes], {"values": int(values.sum())}
        return np.zeros(codes.shape, bool), {}

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can hold a * (no text, no key, no whole numbers beyond 2^53)"
        return chosen(schema, self.columns, schema.quasi, "suppress", what, has_cells)

    def _weights(self, columns: tuple[str, ...]) -> Integers:
        strange = [name for name in self.importance if name not in columns]
        if strange:
            raise PlanError(f"suppress: importance names {', '.join(strange)}, which is not among {', '.join(columns)}")
        rank = {name: place for place, name in enumerate(reversed(self.importance), 2)}
        return np.array([rank.get(name, 1) for name in columns])


def _alike(written: NDArray[np.int32], persons: Integers | None = None) -> Integers:
    """For each row how many are written like it; how many persons hold them, where people hold several."""
    groups = np.zeros(len(written), np.int64)
    for line in written.T:
        _, groups = np.unique(groups * (int(line.max(initial=0)) + 2) + line + 1, return_inverse=True)
    return heads(groups, persons)[groups]


def _starred(table: Table, name: str, stars: Mask) -> tuple[Column, Array]:
    """The column with a ``*`` in these rows, every other value in a cell of its own."""
    column, array = table.schema[name], table[name]
    if isinstance(column.domain, Cells):
        cells = column.domain.cells if any(cell.anything for cell in column.domain.cells) else (*column.domain.cells, ANYTHING)
        star = next(code for code, cell in enumerate(cells) if cell.anything)
        return column.generalize(cells), np.where(stars, star, array).astype(np.int32)
    values, codes = np.unique(array, return_inverse=True)
    missing = column.is_missing(values)
    choices = [(None if gone else column.value_cell(value), 0.0) for value, gone in zip(values, missing, strict=True)]
    codes = np.where(stars, len(choices), codes)
    letters, _, cells = lettered([*choices, (ANYTHING, 1.0)], np.unique(codes))
    return column.generalize(cells), letters[codes]
