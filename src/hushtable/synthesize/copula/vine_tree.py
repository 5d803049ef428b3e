"""A vine with one tree, as a fitted model: every column is drawn given its parent on the tree, cell by cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

RARE = 1e-9
"""The least share of a cell: any condition can be met."""


@dataclass(frozen=True, eq=False)
class Edge:
    """Two columns joined by a copula that is constant on rectangles of groups of their cells."""

    parent: int
    child: int
    above: Integers
    """The group of each cell of the parent."""
    below: Integers
    """The group of each cell of the child."""
    joint: Floats
    """Shares of the pairs of groups."""

    @property
    def given_parent(self) -> Floats:
        """Shares of the child's groups, a row for each group of the parent."""
        joint = self.joint + RARE * self.joint.sum(0)
        return np.asarray(joint / joint.sum(1, keepdims=True))


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Shares of the cells of every column (``raised``), and the edges of a tree, each after the one that leads to its parent.

    A column depends on its parent through the groups of their cells; inside a group the cells have their own shares. So the
    margins are those of the columns, and what a condition leaves is known exactly (messages along the tree, Pearl 1988).
    """

    schema: Schema
    shares: tuple[Floats, ...]
    edges: tuple[Edge, ...]
    total: int
    summary: dict[str, Any]

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return self.total

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows; ``given`` fixes columns to a value, and the others follow from their distribution given that."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        likely, _ = self._messages(fixed)
        cells: list[Integers] = [np.zeros(0, np.int64)] * len(self.shares)
        for root in self._roots:
            cells[root] = _draw(self.shares[root] * likely[root], rows, rng)
        for edge in self.edges:
            weights = self.shares[edge.child] * likely[edge.child]
            cells[edge.child] = _follow(edge, weights, self.shares[edge.child], cells[edge.parent], rng)
        # Already so, but for rounding where the condition is very rare.
        conditions = {name: np.full(rows, cell) for name, cell in fixed.items()}
        return table_of(self.schema, dict(zip(self.schema.names, cells, strict=True)) | conditions)

    @property
    def _roots(self) -> list[int]:
        return sorted(set(range(len(self.shares))) - {edge.child for edge in self.edges})

    def log_likelihood(self, fixed: dict[str, int]) -> float:
        """The logarithm of the probability of these cells."""
        likely, scale = self._messages(fixed)
        return scale + sum(math.log(max(float(self.shares[root] @ likely[root]), 1e-300)) for root in self._roots)

    def result(self) -> dict[str, Any]:
        """The tree and the noise."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The schema, the edges, and the shares."""
        edges = [[edge.parent, edge.child] for edge in self.edges]
        arrays: Arrays = {f"shares {i}": share for i, share in enumerate(self.shares)}
        for i, edge in enumerate(self.edges):
            arrays |= {f"above {i}": edge.above, f"below {i}": edge.below, f"joint {i}": edge.joint}
        return {"schema": self.schema.portable().dump(), "edges": edges, "total": self.total, "summary": self.summary}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])
        edges = tuple(
            Edge(
                parent, child, arrays[f"above {i}"].astype(np.int64), arrays[f"below {i}"].astype(np.int64),
                arrays[f"joint {i}"].astype(np.float64),
            )
            for i, (parent, child) in enumerate(values["edges"])
        )  # fmt: skip
        shares = tuple(arrays[f"shares {i}"].astype(np.float64) for i in range(len(schema)))
        return cls(schema, shares, edges, values["total"], values["summary"])

    def _messages(self, fixed: dict[str, int]) -> tuple[list[Floats], float]:
        """For each cell of each column how likely the condition on it and on the columns below it is; and the log of a factor."""
        scale = 0.0
        likely = [np.ones(len(share)) for share in self.shares]
        for name, cell in fixed.items():
            place = self.schema.names.index(name)
            likely[place] = np.arange(len(likely[place])) == cell
        for edge in reversed(self.edges) if fixed else ():
            by_group = _by_group(edge.below, self.shares[edge.child], likely[edge.child])
            message = (edge.given_parent @ by_group)[edge.above]
            # Only proportions count: along many columns the products would vanish.
            likely[edge.parent] = likely[edge.parent] * message / message.max()
            scale += math.log(message.max())
        return likely, scale


def raised(shares: Floats) -> Floats:
    """The shares with every one at least ``RARE``."""
    lifted = np.maximum(shares, RARE)
    return np.asarray(lifted / lifted.sum())


def _by_group(group: Integers, shares: Floats, likely: Floats) -> Floats:
    """The average of a likelihood over the cells of each group."""
    return np.asarray(np.bincount(group, shares * likely) / np.bincount(group, shares))


def _draw(weights: Floats, rows: int, rng: np.random.Generator) -> Integers:
    climbed = np.cumsum(weights)
    return np.asarray(np.minimum(np.searchsorted(climbed, rng.random(rows) * climbed[-1], side="right"), len(weights) - 1))


def _follow(edge: Edge, weights: Floats, shares: Floats, parents: Integers, rng: np.random.Generator) -> Integers:
    """Cells of the child, one for each cell of the parent: first the group, then the cell in it."""
    reach = np.bincount(edge.below, weights) / np.bincount(edge.below, shares)
    climbed = np.cumsum(edge.given_parent * reach, axis=1)
    rows = climbed[edge.above[parents]]
    group = (rows <= (rng.random(len(parents)) * rows[:, -1])[:, None]).sum(1)
    group = np.minimum(group, climbed.shape[1] - 1)
    order = np.argsort(edge.below, kind="stable")
    within = np.concatenate([[0.0], np.cumsum(weights[order])])
    first = np.searchsorted(edge.below[order], np.arange(climbed.shape[1] + 1))
    low, high = within[first[group]], within[first[group + 1]]
    place = np.searchsorted(within, low + rng.random(len(parents)) * (high - low), side="right") - 1
    return np.asarray(order[np.clip(place, first[group], first[group + 1] - 1)])
