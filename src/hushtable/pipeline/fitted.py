"""A fitted model as a source of further tables: the model, and the codes that lead from its columns back to the released ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.possible import only_possible
from hushtable.pipeline.publish import own_domains, rounded, shuffled
from hushtable.pipeline.step import Code, Given, Model, given_arrays
from hushtable.table.determined import determined
from hushtable.table.hierarchy import FileTree
from hushtable.table.rules import Comparison, Sign, Zero
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """The last model of a recipe and the codes that are undone after it.

    A table drawn from it is a function of the model and fresh randomness: no row is read again, so drawing costs no budget.
    """

    model: Model
    codes: tuple[Code, ...]
    """In the order in which they were applied before the model was fitted."""
    schema: Schema
    """Of the columns that the codes lead back to: what values can be fixed is said in these."""
    origin: Schema
    """The schema at the start of the segment: what was read off the rows there is marked so in every table drawn."""
    hierarchies: Mapping[str, FileTree] = field(default_factory=dict)
    """Hierarchies of released columns that the model, read from a file, does not hold itself."""

    def draw(self, rows: int | None, seed: int | None, given: Given | None = None) -> Table:
        """So many rows (as many as the model itself says without a number), with the columns in ``given`` fixed to these values."""
        rng = np.random.default_rng(seed)
        table, redrawn = self.possible(self._decoded(rows, rng, given), rng, given)
        if redrawn and not table.rows:
            raise InputError(redrawn.get("note", "no row is possible"), where="zeros")
        trees = [replace(table.schema[name], hierarchy=tree) for name, tree in self.hierarchies.items() if name in table.schema]
        # A model that was read from a file does not know what else the schema declares.
        declared = replace(table.schema.with_columns(*trees), zeros=self.schema.zeros).select(table.schema.names)
        return own_domains(shuffled(table.under(declared.described(**self.schema.about)), rng))

    def possible(self, table: Table, rng: np.random.Generator, given: Given | None = None) -> tuple[Table, dict[str, Any]]:
        """A table that was drawn, with rows that the schema declares impossible drawn again; and how many there were."""
        zeros = [*self.schema.zeros, *(zero for name in self._determined(given) for zero in _other(name, (given or {})[name]))]
        return only_possible(table, zeros, lambda rows: self._decoded(rows, rng, given))

    def _determined(self, given: Given | None) -> list[str]:
        """The columns among those to fix whose values follow from others."""
        return [name for name in determined(self.schema) if name in (given or {})]

    def undone(self, rows: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """Rows of the model, led back by its codes; what was read off the rows is marked so."""
        table = self.model.sample(rows, rng, self._encoded(given) if given else None)
        for code in reversed(self.codes):
            table = code.undo(table, rng)
        return table.under(table.schema.derived_from(self.origin))

    def _decoded(self, rows: int | None, rng: np.random.Generator, given: Given | None) -> Table:
        table = rounded(self.undone(rows, rng, given))
        # A number was fixed to its bin, and lies anywhere inside it: its place in the bin depends on nothing else.
        free = {name: value for name, value in (given or {}).items() if name not in self._determined(given)}
        exact = given_arrays(self.schema, free, table.rows)
        return table.with_columns(*((table.schema[name], array) for name, array in exact.items()))

    def _encoded(self, given: Given) -> Given:
        """The values to fix, written as the model writes them; InputError names what is no value, and what cannot be fixed."""
        # Free text has no values to choose from, so that none of it can be fixed.
        schema = self.schema.without_text()
        values = {c.name: np.full(1, c.bounds.low if c.numeric else 0, c.dtype) for c in schema}
        row = Table(schema, values | given_arrays(schema, given, 1))
        for code in self.codes:
            row = code.apply(row)
        lost = [name for name in given if name not in row.schema or name not in self.model.schema]
        if lost:
            free = ", ".join(name for name in self.schema.names if name in row.schema and name in self.model.schema)
            sources = dict.fromkeys(by.source for name, by in determined(self.schema).items() if name in lost)
            instead = f". It follows from {', '.join(sources)}: fix that" if sources else ""
            raise InputError(
                f"the model has no column {', '.join(lost)} of its own to fix; it has {free or 'none'}{instead}", where="given"
            )
        # A coder that writes a value in several columns, all of which it fixes, says which (``further``).
        further = [other for code in self.codes for name in given for other in getattr(code, "further", {}).get(name, ())]
        there = [name for name in (*given, *further) if name in row.schema and name in self.model.schema]
        return {name: str(row.strings(name)[0]) for name in there}


def _other(name: str, value: str) -> tuple[Zero, Zero]:
    """That a column has another value than this one, or none."""
    return Zero((Comparison(name, Sign.UNEQUAL, (value,)),)), Zero((Comparison(name, Sign.MISSING),))
