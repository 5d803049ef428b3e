"""The joint cells of a table whose noisy count reaches a threshold: for narrow tables, without a model in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, Reads, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Occupied, Total
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import given_cells, require_counted, sizes_of, spread, table_of, usable_total
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_PARTS = (9.0, 1.0)
"""The cells, and the number of rows."""


@dataclass(frozen=True, kw_only=True)
class Thresholded(PrivateCore):
    """Rows of the joint cells whose noisy count reaches a threshold, as many of each as the count says.

    Only cells that hold a row get noise, so the domain may be as large as it likes. A record changes the count of one cell by
    one (of two, where it is replaced), and a cell that it alone is in reaches the threshold with a probability of at most the
    delta paid for it (Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016). All dependence between
    columns is kept, and everything rare is lost: few columns, few bins, many rows.
    """

    columns: tuple[str, ...] = ()
    """The columns to release; all when empty."""

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name, and a budget without a delta."""
        released = schema.select(self._columns(schema))
        require_counted(released, "thresholded")
        events: tuple[Event, ...] = ()
        if budget is not None:
            if budget.rho is None:
                raise PlanError("thresholded: a threshold fails with a small probability: give a delta above 0")
            (cells, total), delta = _parts(budget)
            events = (cells.discovery(Occupied(released.names), released, delta), total.event(Total(), released))
        caveat = "rows in rare cells were left out: frequent combinations appear more frequent than they are"
        return Plan(schema=released, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> CellTable:
        """Ask which cells there are, and how many rows."""
        schema = vault.schema.select(self._columns(vault.schema))
        allowance = vault.paid()
        (cells, total), delta = _parts(allowance)
        query = Occupied(schema.names)
        common, counts = vault.discover(query, cells, delta)
        # Where the number of rows is public, this is free and exact.
        rows, public = int(vault.spend(Total(), total)[0]), allowance.unit.fixes_rows
        if not public:
            rows = round(usable_total(rows, total.deviation(Total(), schema)))
        least = cells.discovery(query, schema, delta).threshold
        missing = np.array([size - 1 for size in sizes_of(schema).values()])
        return CellTable(schema, np.where(common < 0, missing, common), counts, max(rows, 2), least, public)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return chosen(schema, self.columns, schema.names, "thresholded", "a column")


@dataclass(frozen=True, eq=False)
class CellTable:
    """Cells (one line each, missing last on each axis), their noisy counts, and the noisy number of rows."""

    schema: Schema
    cells: Integers
    counts: Integers
    rows: int
    threshold: int
    public: bool = False
    """Whether the number of rows is public: then so many are drawn."""

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """The table itself (with as many rows as the true one, where that is public), or ``n`` rows drawn from it.

        ``given`` keeps the cells that meet it. Where no cell does, the condition is written over rows of any cell; where there is
        no cell at all, rows are drawn evenly from the domain.
        """
        fixed = {self.schema.names.index(name): cell for name, cell in given_cells(self.schema, given).items()}
        meets = np.ones(len(self.cells), bool)
        for place, cell in fixed.items():
            meets &= self.cells[:, place] == cell
        cells, counts = (self.cells[meets], self.counts[meets]) if meets.any() else (self.cells, self.counts)
        if not len(cells):
            drawn = [rng.integers(0, size, self.rows if n is None else n) for size in sizes_of(self.schema).values()]
        elif n is None and self.public and not fixed:
            drawn = list(cells[spread(counts.astype(np.float64), self.rows, rng)].T)
        elif n is None:
            picked = np.repeat(np.arange(len(cells)), counts)
            picked = rng.permutation(picked if len(picked) > 1 else np.zeros(2, np.int64))
            drawn = list(cells[picked].T)
        else:
            drawn = list(cells[rng.choice(len(cells), n, p=counts / counts.sum())].T)
        for place, cell in fixed.items():
            drawn[place] = np.full(len(drawn[place]), cell)
        return table_of(self.schema, dict(zip(self.schema.names, drawn, strict=True)))

    def result(self) -> dict[str, Any]:
        """How much of the table is released."""
        released = int(self.counts.sum())
        summary: dict[str, Any] = {"cells": len(self.cells), "threshold": self.threshold}
        # The keys of the card, which scripts read.
        summary |= {"rows_told": released, "rows_about": self.rows}
        if not len(self.cells):
            summary["note"] = (
                f"no cell reached the threshold of {self.threshold} rows, and the table has about {self.rows}: the rows are drawn "
                "evenly from the domain and carry no information. Take fewer columns or bins, or a larger epsilon"
            )
        elif released < 0.8 * self.rows:
            summary["note"] = (
                f"the {len(self.cells)} cells of at least {self.threshold} rows hold about {released} of {self.rows} rows: "
                f"{1 - released / self.rows:.0%} are left out. Fewer columns or bins keep more"
            )
        return summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Cells and counts."""
        values = {"schema": self.schema.portable().dump(), "rows": self.rows, "threshold": self.threshold, "public": self.public}
        return values, {"cells": self.cells, "counts": self.counts}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        cells, counts = (arrays[name].astype(np.int64) for name in ("cells", "counts"))
        return cls(Schema.parse(values["schema"]), cells, counts, values["rows"], values["threshold"], values.get("public", False))


def _parts(budget: Allowance) -> tuple[list[Allowance], float]:
    left, delta = budget.outright()
    return left.split(_PARTS), delta
