"""Mondrian: multidimensional local recoding, which cuts the records at medians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.anonymize.anonymized import Anonymized, AnonymizedRows, anonymized
from hushtable.anonymize.people import require_people
from hushtable.anonymize.recoding.mondrian_cells import Axis, Recoded, Written, grid, has_cells
from hushtable.anonymize.recoding.mondrian_cuts import cut
from hushtable.anonymize.recoding.mondrian_rule import Rule
from hushtable.anonymize.secrets import L_RULE, Diversity, fits, moves, promises, protected
from hushtable.anonymize.tuplewise import different, rewritten
from hushtable.errors import InputError
from hushtable.pipeline.publish import private_domain
from hushtable.pipeline.step import Core, Plan, Reads, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.spread import ranks
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers
from hushtable.table.cell import ANYTHING
from hushtable.table.rows import Rows, Tuples
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "mondrian reads the rows"


@dataclass(frozen=True, kw_only=True)
class Mondrian(Core):
    """Multidimensional k-anonymity: the records are cut at medians, and each class is written as one box.

    Promises that every combination of the recoded columns is shared by at least k rows and, where asked for, that the rows of
    each class keep l-diversity and t-closeness in every secret; all of it is re-measured on the table. Where people hold several
    rows, k, l and t count persons. One row can move every cut, so there is no differential privacy. All other columns leave as they
    are.
    LeFevre, DeWitt and Ramakrishnan 2006; Machanavajjhala et al. 2007; Li, Li and Venkatasubramanian 2007.
    """

    k: int = 5
    """The least number of records in a class; of persons, where people hold several records."""
    columns: tuple[str, ...] = ()
    """The columns to recode; all quasi-identifiers when empty."""
    strict: bool = True
    """Records with the same value stay on one side of a cut, so that classes are disjoint boxes. Otherwise, where that allows no
    more cut, records at the median go to either side to balance them: smaller classes, which then overlap."""
    cells: Written = Written.ANCESTOR
    """What is written for a class: the ranges of its values, the sets of its levels (ranges of numbers), or their lowest common
    ancestor in the hierarchy of the column; for ancestors the cuts fall between nodes of the hierarchy."""
    l: float = 0.0  # noqa: E741
    """The least diversity of each secret in a class; 0 for none."""
    diversity: Diversity = Diversity.DISTINCT
    """How l counts: distinct values, exp of the entropy, or recursive with c."""
    c: float = 2.0
    """For recursive diversity: the most frequent secret is rarer than c times all but the l - 1 most frequent."""
    t: float = 1.0
    """The greatest distance of a secret in a class from the whole table: earth mover's, ordered for numbers, dates and ordinals; 1
    for any."""
    secrets: tuple[str, ...] = ()
    """The columns that l and t protect; all secrets of the schema when empty."""

    def __post_init__(self) -> None:
        """K is at least 2, l more than 1, t less than 1, or they promise nothing."""
        check_knobs(
            self,
            k=(self.k >= 2, "must be at least 2"),
            l=(fits(self.l, self.diversity), L_RULE),
            c=(self.c > 0, "must be positive"),
            t=(0 <= self.t <= 1, "must lie between 0 and 1 (1 for none)"),
            secrets=(not self.secrets or self.l > 0 or self.t < 1, "are for l and t only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no cells (text, keys, cells already) and secrets that would be recoded."""
        columns, secrets = self._columns(schema), self._secrets(schema)
        rest = [name for name in schema.names if name not in columns]
        caveats = [
            "the classes were fitted to the rows: whoever knows the method can at times undo a part of it "
            "(minimality and downcoding attacks)"
        ]
        if self.cells is not Written.ANCESTOR:
            caveats.append("the ends of a range and the members of a set are values of the rows in the class")
        if not secrets:
            caveats.append("k-anonymity says nothing about what the rows of a class have in common: look at l and t")
        if rest:
            caveats.append(f"left as they were by the cuts: {', '.join(rest)}")
        # Which cells there will be depends on the rows; they are on the release's own schema.
        planned = schema.with_columns(*(schema[name].generalize((ANYTHING,)) for name in columns))
        return Plan(
            schema=planned,
            events=(Raw(_WHY),),
            effect=Effect.EDIT_ROWS,
            promises=(
                Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns),
                *promises(schema, secrets, columns, l=self.l, diversity=self.diversity, c=self.c, t=self.t),
            ),
            caveats=tuple(caveats),
            reads=Reads.BATCHES if self.strict else Reads.MEMORY,
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized | AnonymizedRows:
        """Cut the rows and write the classes; ``rng`` is not needed."""
        rows = vault.open_rows(Raw(_WHY), _WHY)
        require_people(rows, self.k, "mondrian.k")
        columns = self._columns(rows.schema)
        tuples = self._records(rows, columns)
        records, weights = tuples.table, tuples.counts
        rule = self._rule(records, weights)
        axes = [Axis.of(records, name) for name in columns]
        order, starts = cut(grid(axes, weights, self.cells), self.k, rule, strict=self.strict)
        vault.report(0.5)
        sizes = np.add.reduceat(weights[order], starts[:-1])
        recoded = [axis.write(order, starts, sizes, self.cells) for axis in axes]
        places = np.empty(records.rows, np.int64)
        places[order] = np.repeat(np.arange(len(sizes)), np.diff(starts))
        written = [(r.column, r.codes[places]) for r in recoded]
        if records is rows:
            released: Rows = records.with_columns(*written)
        else:
            released = rewritten(rows, tuples, written, np.zeros(records.rows, bool))
        return anonymized(released, {"k": self.k, "cells": str(self.cells), **_result(recoded, sizes)})

    def _records(self, rows: Rows, columns: tuple[str, ...]) -> Tuples:
        """What is cut: rows that are alike as one, unless persons hold several or equal ones may go to different sides."""
        if self.strict and not (isinstance(rows, Table) and rows.persons is not None):
            return different(rows, [*columns, *self._secrets(rows.schema)])
        table = rows.whole("mondrian by persons, or with cuts that are not strict,")
        return Tuples(table, np.ones(table.rows, np.int64))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can be cut (no text, key or generalized one, no whole numbers beyond 2^53)"
        return chosen(schema, self.columns, schema.quasi, "mondrian", what, lambda c: has_cells(c) and not c.generalized)

    def _secrets(self, schema: Schema) -> tuple[str, ...]:
        return protected("mondrian", schema, self.secrets, self._columns(schema), asked=self.l > 0 or self.t < 1)

    def _rule(self, table: Table, weights: Integers) -> Rule:
        names = self._secrets(table.schema)
        ranked = [ranks(table, name) for name in names]
        secrets = np.array([own for own, _, _ in ranked], np.int64).reshape(len(ranked), table.rows)
        ordered = np.array([moves(table.schema[name]) for name in names], np.bool_)
        absent = np.array([gone for _, _, gone in ranked], np.int64)
        persons = None if table.persons is None else np.unique(table.persons, return_inverse=True)[1]
        for line, gone, name in zip(secrets, absent, names, strict=True):
            if not Rule(
                line[None], ordered[:1], gone[None], self.diversity, self.l, self.c, persons=persons, weights=weights
            ).holds():
                reason = f"is not even in the whole table so diverse ({self.diversity}, l = {self.l:g}): no grouping can be"
                raise InputError(reason, where=f"mondrian.l, column {name}")
        return Rule(secrets, ordered, absent, self.diversity, self.l, self.c, self.t, persons, weights)


def _result(recoded: list[Recoded], sizes: Integers) -> dict[str, Any]:
    """Classes as they are written (two boxes may be written alike), and how much was lost."""
    _, alike = np.unique(np.stack([r.codes for r in recoded]), axis=1, return_inverse=True)
    written = np.bincount(alike.ravel(), sizes).astype(np.int64)
    columns = [r.column for r in recoded]
    losses = {column.name: None if private_domain(column) else r.loss for column, r in zip(columns, recoded, strict=True)}
    result: dict[str, Any] = {
        "columns": list(losses),
        "classes": len(written),
        "smallest_class": int(written.min()),
        "largest_class": int(written.max()),
        "discernibility": int((written**2).sum()),
    }
    if not any(map(private_domain, columns)):
        result["loss"] = float(np.exp(np.mean(np.log1p([r.loss for r in recoded]))) - 1)
    return {**result, "loss_by_column": losses}
