"""Independent noisy margins: the simplest differentially private synthesizer whose proof is complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from hushtable.numerics.simplex import on_simplex, present
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, Reads
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import public_rows, rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import (
    given_cells,
    noise_note,
    require_counted,
    sizes_of,
    spread,
    table_of,
    usable_total,
    with_notes,
)
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Margins(PrivateCore):
    """One noisy histogram per column, and columns drawn independently of one another.

    Adding or removing a row changes one cell of each histogram by one; integer Gaussian noise (Laplace when delta is
    zero) makes each rho-zCDP, and the costs of the columns add up. Empty cells are noised like the others. Everything
    after the noise is post-processing. Keeps no dependence between columns: a baseline for better methods.
    """

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name."""
        require_counted(schema, "margins")
        events: tuple[Event, ...] = ()
        if budget is not None:
            parts = budget.split([1.0] * len(schema))
            known = rows_event(budget, schema)
            events = (*known, *(part.event(Histogram((c.name,)), schema) for c, part in zip(schema, parts, strict=True)))
        caveat = "columns were drawn independently of one another: the release shows no dependence between them"
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Independent:
        """Measure every column once."""
        allowance = vault.paid()
        parts = allowance.split([1.0] * len(vault.schema))
        rows = public_rows(vault, allowance) if allowance.unit.fixes_rows else None
        noisy, scales, noise = {}, {}, {}
        for number, (column, part) in enumerate(zip(vault.schema, parts, strict=True), 1):
            query = Histogram((column.name,))
            noisy[column.name] = vault.spend(query, part)
            scales[column.name] = part.scale(query, vault.schema)
            noise[column.name] = part.deviation(query, vault.schema)
            vault.report(number / len(vault.schema))
        settled = {name: present(vault.schema[name], counts, noise[name]) for name, counts in noisy.items()}
        model = Independent.of(vault.schema, noisy, scales, rows, settled)
        if rows is None:
            rows = round(usable_total(model.total, sum(1 / (len(c) * noise[n] ** 2) for n, c in noisy.items()) ** -0.5))
            model = model if rows == model.total else Independent.of(vault.schema, noisy, scales, rows, settled)
        note = noise_note(sizes_of(vault.schema), max(noise.values()), model.total).get("note", "")
        return replace(model, note=note)


@dataclass(frozen=True, eq=False)
class Independent:
    """Shares of the cells of every column, and the number of rows as estimated from the noisy counts."""

    schema: Schema
    shares: dict[str, Floats]
    total: int
    scales: dict[str, float]
    note: str = ""
    """What to expect where the noise is large beside the counts."""

    @classmethod
    def of(
        cls,
        schema: Schema,
        noisy: dict[str, Integers],
        scales: dict[str, float],
        rows: int | None = None,
        settled: Mapping[str, Floats] = MappingProxyType({}),
    ) -> Self:
        """From noisy counts: one total, then each column (as ``settled``, if it is) projected onto it.

        The total is the number of rows where it is public, else each column's sum, weighted by its precision.
        """
        precision = {name: 1 / (len(counts) * scales[name] ** 2) for name, counts in noisy.items()}
        total = sum(precision[n] * float(c.sum()) for n, c in noisy.items()) / sum(precision.values())
        total = max(total if rows is None else float(rows), 2.0)
        shares = {name: on_simplex(settled.get(name, counts.astype(np.float64)), total) / total for name, counts in noisy.items()}
        return cls(schema, shares, round(total), scales)

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return self.total

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the noisy number of rows; ``given`` fixes columns to a level."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        cells = {n: np.full(rows, fixed[n]) if n in fixed else spread(s, rows, rng) for n, s in self.shares.items()}
        return table_of(self.schema, cells)

    def result(self) -> dict[str, Any]:
        """The noise each column got, and what to expect where it is large."""
        return with_notes({"noise_scale": {name: round(scale, 3) for name, scale in self.scales.items()}}, self.note)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, total and shares."""
        values = {"schema": self.schema.portable().dump(), "total": self.total, "scales": self.scales, "note": self.note}
        return values, dict(self.shares)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        shares = {name: array.astype(np.float64) for name, array in arrays.items()}
        return cls(Schema.parse(values["schema"]), shares, values["total"], values["scales"], values.get("note", ""))
