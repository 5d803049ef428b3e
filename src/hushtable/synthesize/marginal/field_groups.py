"""Noisy joint histograms of groups of columns, and rows drawn group by group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.numerics.simplex import on_simplex
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import MEAN, noise_note, require_counted, sizes_of
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.histograms import Histograms, measured_each, measured_one
from hushtable.synthesize.marginal.measurement import Measurement, rows_of, without_missing
from hushtable.synthesize.marginal.model import CountModel
from hushtable.synthesize.marginal.score import MarginalScores
from hushtable.synthesize.marginal.walls import require_possible, walls
from hushtable.synthesize.marginal.workload import target_of
from hushtable.synthesize.network.tables import Network, Node, clipped, without_last
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

Columns = tuple[str, ...]

CLASSES = 10
"""A target with at most so many cells is in every group."""
LARGEST = 1 << 22
"""The most cells of a group's histogram: every one of them gets noise."""
FIRST, CHOICES, TABLES = 0.3, 0.05, 0.65
"""Where the groups are chosen: the shares of the budget for the single columns, the choices and the groups."""
TOLERATED = 0.7
"""The L1 error, as a share of the rows, that noise may leave in the histogram of a chosen group."""


@dataclass(frozen=True, kw_only=True)
class FieldGroups(PrivateCore):
    """One noisy joint histogram for each group of columns; small counts are dropped, and rows are drawn group by group.

    Adding or removing a record changes one cell of each group's histogram by one (replacing it, two cells); integer noise pays
    for that, and the costs of the groups add up. Which columns form a group is public where they are named, or packed in the order
    of the schema. Else it is paid for: every column is measured, and the exponential mechanism adds one column after the
    other to the one before it on which it depends most, by the L1 distance of their counts from those of independent columns
    (one record changes it by at most 1, replaced by at most 2). It joins a group of that column while the noise leaves the
    histogram more signal than noise, by the noisy number of rows: so groups grow with the budget. Otherwise the two begin a group
    of their own, or it stays alone; a graphical model is fitted to all of them. A target of few cells is in every group. A group
    that shares columns with earlier ones is drawn given them, all others independently. In groups that are given, noisy counts
    below the threshold become zero, which keeps the noise of empty cells from filling a sparse histogram. All of that, and the
    drawing, is post-processing. After the field-group synthesizers of the NIST differential privacy synthetic data challenge 2018,
    with groups that are never read off the rows unpaid.
    """

    groups: str = ""
    """The groups, as public knowledge: "age,sex;income,hours". A column not named is a group. Empty: packed, or chosen."""
    cells: int = 0
    """Where the groups are not named: packed in schema order, up to so many cells each. 0: chosen, as large as the noise allows."""
    target: str = ""
    """Where the groups are not named: a column that joins every group, if it has at most 10 cells; empty: the role target's."""
    threshold: float = 1.0
    """In groups that are given: noisy counts below so many standard deviations of the noise become zero."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            cells=(0 <= self.cells <= LARGEST, "must lie between 1 and 2^22, or be 0 for groups that are chosen"),
            threshold=(0 <= self.threshold < math.inf, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, groups that name no column, and groups of too many cells."""
        require_counted(schema, "field-groups")
        chosen = self._chosen(schema)
        if chosen:
            require_possible(schema, LARGEST, "field-groups")
        groups = self._groups(schema)
        events: tuple[Event, ...] = ()
        if budget is not None and chosen:
            first, choosing, tables = _shares(budget, len(groups))
            # Noisy answers decide how many groups there are; what they cost together is known.
            one = Histogram(schema.names[:1])
            events = (*rows_event(budget, schema), *(part.event(one, schema) for part in (*first, tables)))
            events += tuple(Exponential(part.choice) for part in choosing)
        elif budget is not None:
            events = rows_event(budget, schema)
            events += tuple(part.event(Histogram(g), schema) for g, part in zip(groups, _parts(budget, groups), strict=True))
        caveats = []
        if chosen:
            caveats.append("groups that share no column are drawn independently of one another; the summary names them")
        elif len(groups) > 1:
            listed = "; ".join(", ".join(group) for group in groups)
            caveats.append(f"groups that share no column are drawn independently of one another: {listed}")
        target = "" if self.groups.strip() else target_of(schema, self.target, "field-groups")
        if target and sizes_of(schema)[target] > CLASSES:
            caveats.append(
                f"the target {target} has more than {CLASSES} cells, so it is not in every group but treated like the others"
            )
        public = () if chosen else ("which columns form a group",)
        return Plan(
            schema=schema,
            events=events,
            effect=Effect.GENERATE,
            reads=Reads.COUNTS,
            caveats=tuple(caveats),
            public=public,
            adaptive=chosen,
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Network | CountModel:
        """Measure every group once, after choosing them where they are not given; ``rng`` is not needed."""
        if self._chosen(vault.schema):
            return self._fit_chosen(vault)
        schema, allowance = vault.schema, vault.paid()
        groups, sizes = self._groups(schema), sizes_of(schema)
        tables = []
        for number, (group, part) in enumerate(zip(groups, _parts(allowance, groups), strict=True), 1):
            tables.append(measured_one(vault, group, part))
            vault.report(number / len(groups))
        total = rows_of(vault, allowance, tables)
        nodes: list[Node] = []
        for table in tables:
            nodes += _chain(table, _thresholded(table, self.threshold, total), [node.name for node in nodes], sizes)
        nodes = without_last(nodes, without_missing(schema, tables))
        return Network(schema, tuple(nodes), max(2, round(total)), self._summary(tables, total))

    def _fit_chosen(self, vault: Vault) -> CountModel:
        """Measure the columns, choose groups, measure them, and fit a model in which all of them agree."""
        schema, allowance = vault.schema, vault.paid()
        sizes, alone = sizes_of(schema), self._groups(schema)
        first, choosing, part = _shares(allowance, len(alone))
        pairs = (pair for pair in combinations(schema.names, 2) if sizes[pair[0]] * sizes[pair[1]] <= LARGEST)
        vault.foresee([*alone, *pairs])
        singles = [measured_one(vault, group, each) for group, each in zip(alone, first, strict=True)]
        total = rows_of(vault, allowance, singles)
        vault.report(0.3)
        groups = self._joined(vault, singles, choosing, part, total)
        vault.report(0.6)
        tables = measured_each(vault, groups, part)
        zeros = walls(schema, LARGEST, groups, without_missing(schema, singles))
        model = estimate(sizes, [*singles, *tables], total=total, zeros=zeros)
        return CountModel(schema, model, self._summary(tables, total))

    def _chosen(self, schema: Schema) -> bool:
        """Whether the groups are chosen: they are not given, and there are at least two columns to join."""
        return not self.groups.strip() and not self.cells and len(schema) - len(self._top(schema, sizes_of(schema))) > 1

    def _joined(
        self, vault: Vault, singles: Sequence[Measurement], choosing: Sequence[Allowance], part: Allowance, total: float
    ) -> tuple[Columns, ...]:
        """Groups, grown column by column: each new one joins that on which it depends most, as far as the noise allows."""
        schema, sizes = vault.schema, sizes_of(vault.schema)
        top = self._top(schema, sizes)
        # About as many groups as half of the columns.
        sigma = part.deviation(Histograms(((schema.names[0],),) * max(1, len(singles) // 2)), schema)
        limit = min(TOLERATED * total / (MEAN * sigma), LARGEST)
        alone = estimate(sizes, singles, total=total)
        pairs = [(a, b) for a, b in combinations([n for n in schema.names if n not in top], 2) if sizes[a] * sizes[b] <= LARGEST]
        groups: list[Columns] = []
        inside: set[str] = set()
        scores = _pair_scores(alone, pairs, sigma) if pairs else None
        for choice in choosing:
            near = [i for i, (a, b) in enumerate(pairs) if not inside or (a in inside) != (b in inside)]
            if scores is None or not near:
                # What is left is too large to be joined to anything.
                break
            a, b = pairs[near[vault.choose(scores.among(near), choice)]]
            old, new = (b, a) if b in inside else (a, b)
            if not inside:
                groups.append((*top, old))
            inside |= {a, b}
            _join(groups, (*top, old, new), sizes, limit)
        rest = [(*top, name) for name in schema.names if name not in (*top, *inside)]
        return tuple(groups + rest)

    def _groups(self, schema: Schema) -> tuple[Columns, ...]:
        sizes = sizes_of(schema)
        groups = self._named(schema) if self.groups.strip() else _packed(sizes, self.cells or 1, self._top(schema, sizes))
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

    def _summary(self, tables: list[Measurement], total: float) -> dict[str, Any]:
        sigma = tables[0].sigma
        summary: dict[str, Any] = {"groups": [", ".join(m.columns) for m in tables], "noise_of_a_cell": round(sigma, 2)}
        return summary | noise_note({", ".join(m.columns): m.counts.size for m in tables}, sigma, total)


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


def _shares(allowance: Allowance, columns: int) -> tuple[list[Allowance], list[Allowance], Allowance]:
    """What each first table, each choice and the groups together may spend."""
    first, choosing, tables = allowance.split([FIRST, CHOICES, TABLES])
    return first.split([1.0] * columns), choosing.split([1.0] * (columns - 1)), tables


def _pair_scores(alone: Graphical, pairs: Sequence[Columns], sigma: float) -> MarginalScores:
    """How far the counts of each pair are from those of columns that depend on the target alone, less chance and noise."""
    expected = alone.project_all(pairs)
    bias = [MEAN * float(np.sqrt(table + sigma**2).sum()) for table in expected]
    return MarginalScores(tuple(pairs), expected, bias=bias)


def _join(groups: list[Columns], three: Columns, sizes: Mapping[str, int], limit: float) -> None:
    """Put a column (the last) into the smallest group of another (the last but one) if it fits; else they begin one, or it does."""
    *top, old, new = three

    def cells(group: Columns) -> float:
        return math.prod(float(sizes[name]) for name in group)

    place = min((i for i, group in enumerate(groups) if old in group), key=lambda i: cells(groups[i]))
    if cells((*groups[place], new)) <= limit:
        groups[place] = (*groups[place], new)
    elif cells(three) <= limit:
        groups.append(three)
    else:
        groups.append((*top, new))


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
