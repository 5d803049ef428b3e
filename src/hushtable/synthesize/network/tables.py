"""The Bayesian network as a fitted model: a table of conditional shares for each column, and rows drawn from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BATCH = 1 << 18
"""Rows drawn at once."""
TRIES = 20
"""Rows drawn for each row that must meet a condition."""


@dataclass(frozen=True, eq=False)
class Node:
    """A column, its parents, and for each joint cell of the parents (row-major) the shares of the column's cells."""

    name: str
    parents: tuple[str, ...]
    sizes: tuple[int, ...]
    """The number of cells of each parent."""
    shares: Floats

    def place(self, cells: Mapping[str, Integers], rows: int) -> Integers:
        """For each row the joint cell of the parents."""
        at = np.zeros(rows, np.int64)
        for name, size in zip(self.parents, self.sizes, strict=True):
            at = at * size + cells[name]
        return at

    def draw(self, cells: Mapping[str, Integers], rows: int, rng: np.random.Generator) -> Integers:
        """A cell for each row, given the cells of its parents, as evenly as whole rows allow.

        Rows with the same parents' cells get the shares with one common offset (systematic sampling): each row has the stated
        conditional shares, and how often a cell comes up differs from its expectation by less than one for each joint cell.
        """
        at = self.place(cells, rows)
        order = rng.permutation(rows)
        order = order[np.argsort(at[order], kind="stable")]
        placed = at[order]
        starts = np.flatnonzero(np.diff(placed, prepend=-1))
        lengths = np.diff(np.append(starts, rows))
        rank = np.arange(rows) - np.repeat(starts, lengths)
        points = (rank + np.repeat(rng.random(len(starts)), lengths)) / np.repeat(lengths, lengths)
        steps = np.cumsum(self.shares, axis=1)
        steps /= steps[:, -1:]
        steps[:, -1] = 1.0
        # One sorted list for all parents' cells: the joint cell's number plus the cumulative share.
        ladder = (steps + np.arange(len(steps))[:, None]).ravel()
        places = np.searchsorted(ladder, np.minimum(points, 1 - 2.0**-30) + placed, side="right")
        drawn = np.empty(rows, np.int64)
        drawn[order] = np.minimum(places - placed * steps.shape[1], steps.shape[1] - 1)
        return drawn

    def likelihood(self, cells: Mapping[str, Integers], rows: int) -> Floats:
        """The share of each row's own cell, given its parents."""
        return np.asarray(self.shares[self.place(cells, rows), cells[self.name]], dtype=np.float64)


def without_last(nodes: Iterable[Node], columns: Collection[tuple[str, ...]]) -> list[Node]:
    """The nodes; those of these columns never draw their last cell, which stands for missing values. Others are drawn instead."""
    changed = []
    for node in nodes:
        if (node.name,) in columns:
            shares = np.column_stack([node.shares[:, :-1], np.zeros(len(node.shares))])
            shares[:, :-1] += shares.sum(1, keepdims=True) == 0
            node = replace(node, shares=shares / shares.sum(1, keepdims=True))
        changed.append(node)
    return changed


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes, parents before children; how many rows it stands for, and a summary of how it was fitted."""

    schema: Schema
    nodes: tuple[Node, ...]
    total: int
    summary: dict[str, Any]

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return max(self.total, 2)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, column by column; ``given`` fixes columns.

        Conditions are met exactly, and the other columns are drawn from their distribution under the condition by likelihood
        weighting: many rows are drawn with the fixed columns held, and kept with the probability of what was fixed.
        """
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        size = BATCH // TRIES if fixed else BATCH
        batches = [self.draw(min(size, rows - start), rng, fixed) for start in range(0, max(rows, 1), size)]
        return table_of(self.schema, {name: np.concatenate([b[name] for b in batches]) for name in self.schema.names})

    def draw(self, rows: int, rng: np.random.Generator, fixed: Mapping[str, int] | None = None) -> dict[str, Integers]:
        """Cells of so many rows."""
        if not fixed:
            return _drawn(self.nodes, rows, rng, {})[0]
        cells, weights = _drawn(self.nodes, TRIES * max(rows, 50), rng, fixed)
        if weights.sum() <= 0:
            weights = np.ones_like(weights)
        picked = rng.choice(len(weights), rows, p=weights / weights.sum())
        return {name: column[picked] for name, column in cells.items()}

    def result(self) -> dict[str, Any]:
        """The network and the noise: functions of what was released."""
        return self.summary | {"parents": {node.name: list(node.parents) for node in self.nodes}}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, structure and shares."""
        nodes = [{"name": node.name, "parents": list(node.parents), "sizes": list(node.sizes)} for node in self.nodes]
        values = {"schema": self.schema.portable().dump(), "nodes": nodes, "total": self.total, "summary": self.summary}
        return values, {node.name: node.shares for node in self.nodes}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        nodes = tuple(
            Node(n["name"], tuple(n["parents"]), tuple(n["sizes"]), arrays[n["name"]].astype(np.float64)) for n in values["nodes"]
        )
        return cls(Schema.parse(values["schema"]), nodes, values["total"], values["summary"])


def _drawn(
    nodes: Sequence[Node], rows: int, rng: np.random.Generator, fixed: Mapping[str, int]
) -> tuple[dict[str, Integers], Floats]:
    """Cells of every column, and how likely the fixed ones are given the others."""
    cells: dict[str, Integers] = {}
    weights = np.ones(rows)
    for node in nodes:
        if node.name in fixed:
            cells[node.name] = np.full(rows, fixed[node.name])
            weights *= node.likelihood(cells, rows)
        else:
            cells[node.name] = node.draw(cells, rows, rng)
    return cells, weights


def clipped(counts: Floats) -> Floats:
    """Shares of the child for each parents' cell as published: negative counts are zero, each row is divided by its sum.

    ``counts`` has a row for each joint cell of the parents. A row without any count gets the shares of all rows together.
    """
    positive = np.maximum(counts, 0.0)
    whole = positive.sum(0)
    whole = whole / whole.sum() if whole.sum() > 0 else np.full(counts.shape[1], 1 / counts.shape[1])
    sums = positive.sum(1, keepdims=True)
    return np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), whole)


def shrunk(counts: Floats, sigma: float, expected: Floats, prior: Floats) -> Floats:
    """Shares of the child for each parents' cell, drawn towards ``prior`` where the noise is large beside the difference to it.

    ``expected`` is how many rows each parents' cell is thought to have, ``prior`` the shares of the child there. The excess
    over the prior's counts is kept in the part 1 - m sigma^2 / |excess|^2 (James and Stein 1961, never below zero), and the
    result is projected onto the simplex: all of it functions of released numbers.
    """
    guess = expected[:, None] * prior
    excess = counts - guess
    energy = np.square(excess).sum(1, keepdims=True)
    factor = np.maximum(1 - counts.shape[1] * sigma**2 / np.where(energy > 0, energy, 1.0), 0.0)
    size = np.maximum(expected, 1e-9)[:, None]
    return on_simplex((guess + factor * excess) / size)


def raked(shares: Floats, parent_rows: Floats, margin: Floats, rounds: int = 20) -> Floats:
    """Shares for each parents' cell that agree, on average over the cells, with the child's shares for each target's cell.

    ``parent_rows`` is how many rows each parents' cell has and ``margin`` the child's shares for each cell of the first parent
    (one row if there is no such parent). Both are fitted in turn (Deming and Stephan 1940); where they cannot be, the last wins.
    """
    counts = (parent_rows[:, None] * shares).reshape(len(margin), -1, shares.shape[1])
    rows = parent_rows.reshape(len(margin), -1)
    wanted = rows.sum(1)[:, None] * margin
    for _ in range(rounds):
        have = counts.sum(1)
        counts = counts * np.where(have > 0, wanted / np.where(have > 0, have, 1.0), 1.0)[:, None, :]
        have = counts.sum(2)
        counts = counts * np.where(have > 0, rows / np.where(have > 0, have, 1.0), 1.0)[:, :, None]
    flat = counts.reshape(shares.shape)
    sums = flat.sum(1, keepdims=True)
    return np.where(sums > 0, flat / np.where(sums > 0, sums, 1.0), shares)
