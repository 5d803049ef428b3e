"""M-MDAV: microaggregation with distances along the manifold that the records lie on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.microaggregate.diverse import Demand, merge
from hushtable.anonymize.microaggregate.geodesic_groups import partition
from hushtable.anonymize.microaggregate.space import Centre, Space, representatives
from hushtable.anonymize.microaggregate.space import Scale as Comparable
from hushtable.anonymize.people import records, require_people
from hushtable.numerics.manifold.ambient import Ambient, Scale, digests, distinct
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import neighbourhood
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "microaggregation along the manifold reads the rows"
EXACT = 3_000
"""Up to so many rows the median is exact: the algorithm as printed."""


@dataclass(frozen=True, kw_only=True)
class Geodesic(Core):
    """M-MDAV: MDAV with distances along the neighbourhood graph. k-anonymity on the columns it replaces.

    Promises that every combination of the replaced columns is shared by at least k rows, by k persons where people hold several
    (groups of fewer are merged with the nearest by ordinary distance), and re-measures it on the table.
    One row can change every group, so there is no differential privacy. All other columns leave as they are. Records that
    are equal are one point of the graph; components are joined by their shortest links, so that no record is lost. Up to
    3,000 rows the groups are those of the printed algorithm (repaired: the second group is formed from what the first one
    left); beyond, the median that each round starts from is computed on ``anchors`` records.
    Garg and Torra 2023.
    """

    k: int = 10
    """The least number of records, and of persons, in a group."""
    columns: tuple[str, ...] = ()
    """The columns to replace; all quasi-identifiers when empty."""
    neighbours: int = 10
    """How many nearest records each record is linked to."""
    radius: float | None = None
    """Link all records within this distance instead; two random records are sqrt(2) apart in each standardized column."""
    centre: Centre = Centre.MEAN
    """mean or median: of each column, modes for categories; medoid: the group's central record itself, as published."""
    scale: Scale = Scale.STANDARD
    """standard: differences over the standard deviation; none: as they are, for columns that share a unit."""
    anchors: int = 250
    """Above 3,000 rows: how many records stand for all when the median of the free ones is sought."""

    def __post_init__(self) -> None:
        """K is at least 2: with 1 nothing is hidden."""
        check_knobs(
            self,
            k=(self.k >= 2, "must be at least 2"),
            neighbours=(self.neighbours >= 1, "must be at least 1"),
            radius=(self.radius is None or 0 < self.radius < np.inf, "must be positive"),
            anchors=(self.anchors >= 1, "must be at least 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no average: text, keys, cells."""
        columns = self._columns(schema)
        rest = [name for name in schema.names if name not in columns]
        caveats = ["k-anonymity says nothing about what the rows of a group have in common: look at l and t"]
        if rest:
            caveats.append(f"left as they were by the grouping: {', '.join(rest)}")
        if self.centre is Centre.MEDOID:
            caveats.append("what stands for a group is the record of one of its people, published verbatim for all of them")
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, promises=(promise,), caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Partition the rows and replace each group's values; ``rng`` picks the anchors of a large table."""
        table = vault.open(Raw(_WHY), _WHY)
        require_people(table, self.k, "geodesic.k")
        columns = self._columns(table.schema)
        points = Ambient.of(table, columns, self.scale).points(table)
        own, place = records(table, columns)
        first, point_of = distinct(digests(points))
        graph = neighbourhood(points[first], self.neighbours, self.radius)
        paths = Paths.of(graph)
        vault.report(0.1)
        anchors = len(own) if len(own) <= EXACT else min(self.anchors, len(own))
        order = rng.permutation(len(own))
        formed = partition(
            paths, point_of[own], self.k, anchors=anchors, order=order, report=lambda done: vault.report(0.1 + 0.8 * done)
        )
        space = Space.of(table, columns, Comparable.STANDARD)
        groups = merge(space, table, formed[place], (), Demand(k=self.k))
        released = self._released(table, columns, paths, point_of, groups)
        sizes = np.bincount(groups)
        result = {
            "k": self.k,
            "columns": list(columns),
            "groups": len(sizes),
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
            "links": len(graph.ends) // 2,
            "bridges": graph.bridges,
            "anchors": anchors,
            **space.loss(groups),
        }
        return Anonymized(released, result)

    def _released(self, table: Table, columns: tuple[str, ...], paths: Paths, point_of: Integers, groups: Integers) -> Table:
        if self.centre is Centre.MEDOID:
            model = paths.medoids(point_of, groups)[groups]
            return table.with_columns(*((table.schema[name], table[name][model]) for name in columns))
        protected = ((table.schema[name], table[name]) for name in columns)
        return table.with_columns(*((c, representatives(c, array, groups, self.centre)) for c, array in protected))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can be averaged (no text, key or generalized one)"
        return chosen(schema, self.columns, schema.quasi, "geodesic", what, lambda column: column.valued)
