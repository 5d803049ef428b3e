"""Private quantiles: halving a column again and again at a privately chosen middle.

Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles" (2022). A round cuts every range of the round before
near its median. The ranges of a round are disjoint, so all its choices together cost one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hushtable.numerics.places import Below
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.choice import rational
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

CANDIDATES = 1024
"""The places, evenly spread over a range, at which it may be cut."""


@dataclass(frozen=True, eq=False)
class Middles:
    """How well each candidate halves the rows of its range: minus the difference between the rows on its two sides."""

    column: str
    edges: Integers
    """In places of the column's domain; the ranges meet at them."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def candidates(self) -> Integers:
        """Ranges by candidates: where each would cut, inside the range unless it is a single place."""
        low, wide = self.edges[:-1, None], np.diff(self.edges)[:, None]
        share = (np.arange(CANDIDATES) + 0.5) / CANDIDATES
        return np.asarray(low + np.minimum(1 + np.floor(share * (wide - 1)).astype(np.int64), wide - 1))

    def over(self, rows: Rows) -> Integers:
        """Ranges by candidates."""
        candidates = self.candidates()
        found = Below(rows, self.column)(np.concatenate([self.edges, candidates.ravel()]))
        ends, below = found[: len(self.edges)], found[len(self.edges) :].reshape(candidates.shape)
        return np.asarray(-np.abs(2 * (below - ends[:-1, None]) - np.diff(ends)[:, None]))

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory."""
        return self.over(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows on one side."""
        return 2 * rows

    def change(self, schema: Schema, relation: Relation) -> int:
        """A record more lies in one range, and moves the difference between two sides by one; a replaced one does so twice."""
        return 1 if relation is Relation.ADD_REMOVE else 2


def rounds(bins: int) -> int:
    """How often everything is halved."""
    return math.ceil(math.log2(bins))


def events(allowance: Allowance, bins: int) -> list[Event]:
    """What the rounds cost."""
    return [Exponential(float(rational(part.choice))) for part in allowance.split([1.0] * rounds(bins))]


def quantile_places(vault: Vault, name: str, points: int, allowance: Allowance, bins: int) -> Integers:
    """Edges between about as many quantiles as there are bins, in places of the column's domain."""
    edges = np.array([0, points])
    for part in allowance.split([1.0] * rounds(bins)):
        query = Middles(name, edges)
        cut = query.candidates()[np.arange(len(edges) - 1), vault.choose_each(query, part)]
        edges = np.unique(np.concatenate([edges, cut]))
    return edges
