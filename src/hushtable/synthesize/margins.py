"""Independent noisy margins: the simplest differentially private synthesizer whose proof is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushtable.encode.simplex import on_simplex
from hushtable.pipeline.step import Arrays, Core, Given, Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.synthesize.counted import given_cells, require_counted, table_of
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Margins(Core):
    """One noisy histogram per column, and columns drawn independently of one another.

    Adding or removing a row changes one cell of each histogram by one; integer Gaussian noise (Laplace when delta is
    zero) makes each rho-zCDP, and the costs of the columns add up. Empty cells are noised like the others. Everything
    after the noise is post-processing. Keeps no dependence between columns: it is the floor that better methods
    have to beat.
    """

    share: float = 1.0
    """Its part of the budget relative to the other steps'."""

    @property
    def spends(self) -> bool:
        """All of its allowance."""
        return True

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name."""
        require_counted(schema, "margins")
        events = ()
        if budget is not None:
            parts = budget.split([1.0] * len(schema))
            events = tuple(part.event(Histogram((c.name,)), schema) for c, part in zip(schema, parts, strict=True))
        caveat = "columns were drawn independently of one another: the release says nothing about how they hang together"
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Independent:
        """Measure every column once."""
        parts = vault.paid().split([1.0] * len(vault.schema))
        noisy, scales = {}, {}
        for number, (column, part) in enumerate(zip(vault.schema, parts, strict=True), 1):
            query = Histogram((column.name,))
            noisy[column.name] = vault.spend(query, part)
            scales[column.name] = part.scale(query, vault.schema)
            vault.report(number / len(vault.schema))
        return Independent.of(vault.schema, noisy, scales)


@dataclass(frozen=True, eq=False)
class Independent:
    """Shares of the cells of every column, and the number of rows as the noisy counts tell it."""

    schema: Schema
    shares: dict[str, Floats]
    total: int
    scales: dict[str, float]

    @classmethod
    def of(cls, schema: Schema, noisy: dict[str, NDArray[np.int64]], scales: dict[str, float]) -> Self:
        """From noisy counts: one total (each column's sum, weighted by its precision), then each column projected onto it."""
        precision = {name: 1 / (len(counts) * scales[name] ** 2) for name, counts in noisy.items()}
        total = sum(precision[n] * float(c.sum()) for n, c in noisy.items()) / sum(precision.values())
        total = max(total, 2.0)
        shares = {name: on_simplex(counts.astype(np.float64), total) / total for name, counts in noisy.items()}
        return cls(schema, shares, round(total), scales)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the noisy number of rows; ``given`` fixes columns to a level."""
        rows = self.total if n is None else n
        fixed = given_cells(self.schema, given)
        cells = {n: np.full(rows, fixed[n]) if n in fixed else _spread(s, rows, rng) for n, s in self.shares.items()}
        return table_of(self.schema, cells)

    def result(self) -> dict[str, Any]:
        """The noise each column got; a function of the plan, not of the rows."""
        return {"noise_scale": {name: round(scale, 3) for name, scale in self.scales.items()}}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, total and shares."""
        return {"schema": self.schema.portable().dump(), "total": self.total, "scales": self.scales}, dict(self.shares)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        shares = {name: array.astype(np.float64) for name, array in arrays.items()}
        return cls(Schema.parse(values["schema"]), shares, values["total"], values["scales"])


def _spread(shares: Floats, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Cells in these shares, as evenly as whole rows allow, in random order."""
    exact = shares / shares.sum() * rows
    counts = np.floor(exact).astype(np.int64)
    rest = exact - counts
    left = rows - int(counts.sum())
    if left:
        counts += np.bincount(rng.choice(len(shares), left, p=rest / rest.sum()), minlength=len(shares))
    cells = np.repeat(np.arange(len(shares)), counts)
    return rng.permutation(cells)
