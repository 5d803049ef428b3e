"""Noisy joint histograms of groups of columns, and rows drawn group by group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.histograms import measured_one
from hushtable.synthesize.marginal.measurement import Measurement, rows_of, without_missing
from hushtable.synthesize.marginal.workload import target_of
from hushtable.synthesize.network.tables import Network, Node, clipped, without_last
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

CLASSES = 10
"""A target with at most so many cells is in every group."""
LARGEST = 1 << 22
"""The most cells of a group's histogram: every one of them gets noise."""


@dataclass(frozen=True, kw_only=True)
class FieldGroups(PrivateCore):
    """One noisy joint histogram for each group of columns; small counts are dropped, and rows are drawn group by group.

    Adding or removing a record changes one cell of each group's histogram by one (replacing it, two cells); integer noise pays
    for that, and the costs of the groups add up. Which columns form a group is public: named, or packed in the order of the
    schema, a target of few cells being in every group. A group that shares columns with earlier ones is drawn given them, all
    others independently. Noisy counts below the threshold become zero, which keeps the noise of empty cells from filling a
    sparse histogram. All of that, and the drawing, is post-processing. After the field-group synthesizers of the NIST
    differential privacy synthetic data challenge 2018, with groups that must not be read off the private rows.
    """

    groups: str = ""
    """The groups, as public knowledge: "age,sex;income,hours". A column not named is a group. Empty: packed in schema order."""
    cells: int = 500
    """Where the groups are not named: the next column joins the group while its histogram has at most so many cells."""
    target: str = ""
    """Where the groups are not named: a column that joins every group, if it has at most 10 cells; empty: the role target's."""
    threshold: float = 1.0
    """Noisy counts below so many standard deviations of the noise become zero."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            cells=(1 <= self.cells <= LARGEST, "must lie between 1 and 2^22"),
            threshold=(0 <= self.threshold < math.inf, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, groups that name no column, and groups of too many cells."""
        require_counted(schema, "field-groups")
        groups = self._groups(schema)
        events: tuple[Event, ...] = ()
        if budget is not None:
            events = rows_event(budget, schema)
            events += tuple(part.event(Histogram(g), schema) for g, part in zip(groups, _parts(budget, groups), strict=True))
        caveats = []
        if len(groups) > 1:
            listed = "; ".join(", ".join(group) for group in groups)
            caveats.append(f"groups that share no column are drawn independently of one another: {listed}")
        target = "" if self.groups.strip() else target_of(schema, self.target, "field-groups")
        if target and sizes_of(schema)[target] > CLASSES:
            caveats.append(
                f"the target {target} has more than {CLASSES} cells, so it is not in every group but packed like the others"
            )
        public = ("which columns form a group",)
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=tuple(caveats), public=public)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Network:
        """Measure every group once; ``rng`` is not needed."""
        schema, allowance = vault.schema, vault.paid()
        groups, sizes = self._groups(schema), sizes_of(schema)
        measured = []
        for number, (group, part) in enumerate(zip(groups, _parts(allowance, groups), strict=True), 1):
            measured.append(measured_one(vault, group, part))
            vault.report(number / len(groups))
        total = rows_of(vault, allowance, measured)
        nodes: list[Node] = []
        for table in measured:
            nodes += _chain(table, _thresholded(table, self.threshold, total), [node.name for node in nodes], sizes)
        nodes = without_last(nodes, without_missing(schema, measured))
        return Network(schema, tuple(nodes), max(2, round(total)), self._summary(measured, total))

    def _groups(self, schema: Schema) -> tuple[Columns, ...]:
        sizes = sizes_of(schema)
        groups = self._named(schema) if self.groups.strip() else _packed(sizes, self.cells, self._top(schema, sizes))
        for group in groups:
            size = math.prod(float(sizes[name]) for name in group)
            if size > LARGEST:
                raise PlanError(
                    f"field-groups: a histogram of {', '.join(group)} has {size:.3g} cells, more than {LARGEST}; "
                    "make the group smaller, or put a 'bins' step with fewer bins before it"
                )
        return groups

    def _top(self, schema: Schema, sizes: Mapping[str, int]) -> Columns:
        target = target_of(schema, self.target, "field-groups")
        return (target,) if target and len(schema) > 1 and sizes[target] <= CLASSES else ()

    def _named(self, schema: Schema) -> tuple[Columns, ...]:
        groups = [tuple(name.strip() for name in text.split(",") if name.strip()) for text in self.groups.split(";")]
        groups = [group for group in groups if group]
        unknown = sorted({name for group in groups for name in group if name not in schema})
        if unknown:
            raise PlanError(
                f"field-groups: there is no column {', '.join(map(repr, unknown))}; the table has {', '.join(schema.names)}"
            )
        twice = sorted({name for group in groups for name in group if group.count(name) > 1})
        if twice:
            raise PlanError(f"field-groups: {', '.join(map(repr, twice))} is named twice in one group")
        rest: list[Columns] = [(name,) for name in schema.names if not any(name in group for group in groups)]
        return tuple(groups + rest)

    def _summary(self, measured: list[Measurement], total: float) -> dict[str, Any]:
        sigma = measured[0].sigma
        summary: dict[str, Any] = {"groups": [", ".join(m.columns) for m in measured], "noise_of_a_cell": round(sigma, 2)}
        return summary | noise_note({", ".join(m.columns): m.counts.size for m in measured}, sigma, total)


def _packed(sizes: Mapping[str, int], cells: int, top: Columns) -> tuple[Columns, ...]:
    """Columns in order, the next one in the same group while its histogram stays small enough; ``top`` is in every group."""
    groups: list[Columns] = []
    joint = math.inf
    for name, size in sizes.items():
        if name in top:
            continue
        if joint * size <= cells:
            groups[-1] = (*groups[-1], name)
            joint *= size
        else:
            groups.append((*top, name))
            joint = size * math.prod(sizes[other] for other in top)
    return tuple(groups)


def _parts(allowance: Allowance, groups: tuple[Columns, ...]) -> list[Allowance]:
    return allowance.split([1.0] * len(groups))


def _thresholded(table: Measurement, threshold: float, total: float) -> Floats:
    """Counts above the threshold, projected onto the total; all of them where none is."""
    high = table.counts >= threshold * table.sigma
    if not high.any():
        return on_simplex(table.counts.ravel(), total).reshape(table.counts.shape)
    counts = np.zeros(table.counts.shape)
    counts[high] = on_simplex(table.counts[high], total)
    return counts


def _chain(table: Measurement, counts: Floats, known: list[str], sizes: Mapping[str, int]) -> list[Node]:
    """A group's histogram as a chain: each new column given the columns of the group that are there already."""
    nodes = []
    given = [name for name in table.columns if name in known]
    for name in table.columns:
        if name in known:
            continue
        gone = tuple(i for i, other in enumerate(table.columns) if other not in (*given, name))
        margin = counts.sum(axis=gone)
        left = [other for other in table.columns if other in (*given, name)]
        ordered = margin.transpose([left.index(other) for other in (*given, name)])
        shape = tuple(sizes[other] for other in given)
        nodes.append(Node(name, tuple(given), shape, clipped(ordered.reshape(-1, sizes[name]))))
        given.append(name)
    return nodes
