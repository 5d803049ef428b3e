"""Where a private generator starts: noisy tables that were paid for, a network of them, and weights that return to them.

Everything after the counts is post-processing, and free: rows drawn from the tables, the logits that a generator adds to, and the
raking of what it draws to the tables (Deming and Stephan 1940).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.pipeline.step import Arrays
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note, sizes_of
from hushtable.synthesize.marginal.histograms import Histograms, measured
from hushtable.synthesize.marginal.measurement import rows_of, without_missing
from hushtable.synthesize.marginal.workload import target_of
from hushtable.synthesize.network.grown import Grown
from hushtable.synthesize.network.tables import Network, without_last
from hushtable.synthesize.raking import raked
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

CLASSES = 10
"""A target with at most so many cells is counted together with every other column."""
LEAST = 1e-6
"""The smallest share of a cell, where logarithms are taken."""


def classes(schema: Schema, target: str, step: str) -> tuple[str, ...]:
    """The target, if every other column is to be counted together with it; PlanError if it is no column."""
    target = target_of(schema, target, step)
    return (target,) if target and len(schema) > 1 and sizes_of(schema)[target] <= CLASSES else ()


def margins(schema: Schema, top: tuple[str, ...]) -> Histograms:
    """One histogram of each column, with the target if there is one of few cells: a record lies in one cell of each.

    The target then has one of its own at the end: so there are as many, for the same price, whatever bins leave of a target.
    """
    return Histograms((*((*top, name) for name in schema.names if name not in top), *((name,) for name in top)))


def margin_events(schema: Schema, top: tuple[str, ...], part: Allowance) -> tuple[Event, ...]:
    """What they cost, and the number of rows where it is public."""
    return (*rows_event(part, schema), part.event(margins(schema, top), schema))


@dataclass(frozen=True, eq=False)
class Start:
    """A network of noisy tables, and the shares of each column's cells for each class."""

    network: Network
    top: tuple[str, ...]
    shares: dict[str, Floats]
    """For each column but the target, classes x cells; the target's own under its name, one row."""

    @classmethod
    def measured(cls, vault: Vault, top: tuple[str, ...], part: Allowance, rng: np.random.Generator) -> Self:
        """Count every column once, for all of ``part``; columns then depend on the target alone."""
        schema = vault.schema
        every = measured(vault, margins(schema, top).groups, part)
        tables = every[: len(every) - len(top)]
        grown = Grown.of(tables, sizes_of(schema), top, rows_of(vault, part, every), rng)
        for name in schema.names:
            if name not in top:
                grown.add(name, top, None, rng)
        nodes = tuple(without_last(grown.nodes, without_missing(schema, tables)))
        sigma = tables[0].sigma
        summary: dict[str, Any] = {"noise_of_a_cell": round(sigma, 2)}
        summary |= noise_note({table.columns[-1]: table.counts.size for table in tables}, sigma, grown.total)
        return cls.of(Network(schema, nodes, max(2, round(grown.total)), summary), top)

    @classmethod
    def of(cls, network: Network, top: tuple[str, ...]) -> Self:
        """A network whose tables were paid for; columns with more parents than the target are not raked."""
        return cls(network, top, {node.name: node.shares for node in network.nodes if node.parents in ((), top)})

    @property
    def schema(self) -> Schema:
        """Of the rows."""
        return self.network.schema

    @property
    def parents(self) -> tuple[str, ...]:
        """The columns that another one depends on: the condition of a generator, which they are handed to as drawn."""
        used = {name for node in self.network.nodes for name in node.parents}
        return tuple(name for name in self.schema.names if name in used)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each column."""
        return tuple(sizes_of(self.schema).values())

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int] | None = None) -> Integers:
        """Rows of the network, rows x columns; under a condition by likelihood weighting."""
        cells = self.network.draw(rows, rng, fixed)
        return np.stack([cells[name] for name in self.schema.names], axis=1)

    def logits(self, cells: Integers) -> Floats:
        """For each row the logarithms of the shares of every column's cells, given the parents that it has."""
        by_name = dict(zip(self.schema.names, cells.T, strict=True))
        parts = {node.name: node.shares[node.place(by_name, len(cells))] for node in self.network.nodes}
        shares = np.concatenate([parts[name] for name in self.schema.names], axis=1)
        return np.asarray(np.log(np.maximum(shares, LEAST)))

    def raked(self, cells: Integers, rows: int) -> Floats:
        """Weights under which drawn rows have the shares of the tables; no row is to be worth more than one of ``rows``."""
        names = self.schema.names
        target = cells[:, names.index(self.top[0])] if self.top else np.zeros(len(cells), np.int64)
        parts = []
        whole = self.shares[self.top[0]] if self.top else np.ones((1, 1))
        for name, shares in self.shares.items():
            at, size = cells[:, names.index(name)], shares.shape[1]
            alone = name in self.top or not self.top
            wanted = shares if alone else whole.T * shares
            parts.append((at if alone else target * size + at, wanted.ravel() / wanted.sum()))
        return raked(parts, len(cells), rows)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The network, and the target."""
        values, arrays = self.network.parts()
        return {"network": values, "top": list(self.top)}, {f"network/{name}": array for name, array in arrays.items()}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        own = {name.removeprefix("network/"): array for name, array in arrays.items() if name.startswith("network/")}
        return cls.of(Network.from_parts(values["network"], own), tuple(values["top"]))
