"""The hybrid DPCopula in a form that is proven: a copula for each part of the table, every query with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics.concordance import concordance_present, dense_ranks
from hushtable.numerics.simplex import on_simplex, present
from hushtable.pipeline.step import Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query, Total
from hushtable.privacy.rows import public_rows, require_fixed_rows, require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.kendall import correlation_of
from hushtable.synthesize.copula.margins import Margin, nominal, order_by
from hushtable.synthesize.copula.normal import Pieces
from hushtable.synthesize.copula.parts import PartedCopula, part_columns, part_numbers
from hushtable.synthesize.copula.private_copula import PrivateCopula
from hushtable.synthesize.copula.private_margins import CAVEATS, anchor_of, order_caveat, pieces_of
from hushtable.synthesize.marginal.measurement import Measurement, without_missing
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

NAME = "hybrid-copula"
COUNTS = 0.5
"""The budget of the counts of the parts, relative to that of the dependence."""
BLURRED = 0.1
"""From this noise of Kendall's tau in a part on, the card carries a note."""


@dataclass(frozen=True)
class PartConcordance:
    """For each part and pair of columns, concordant less discordant pairs among the part's first records, times a weight.

    The order of the places does not depend on any record; a part's first records are the first ``caps`` of its own in that
    order. Parts, caps and weights are known before.

    *What one record can change.* The record at one place is replaced, so one part may lose it and another win one; all others keep
    their records. A part that loses one of its first c records loses its c - 1 pairs and wins at most c - 1 with the
    record that moves up: for each pair of columns the sum changes by 2 (c - 1) at most, since a pair counts -1, 0 or 1. A part that
    wins a record may push the last one out: the same. A part that exchanges a record in its place has c - 1 pairs that change by
    2 at most: the same. So at most two parts change, each by a = 2 w (c - 1); with the two largest a and b, and p pairs of columns,
    L1 = p (a + b) and L2 = sqrt(p (a^2 + b^2)).
    """

    columns: tuple[str, ...]
    """The columns that are joined, then those that part the table."""
    joined: int
    """How many of them are joined."""
    rows: int
    """The number of rows, which is public."""
    caps: tuple[int, ...]
    """For each part how many records; 0: none of it is read."""
    weights: tuple[int, ...]
    ranks: tuple[tuple[int, ...], ...]
    key: int
    """Of the pseudo-random order of places; it is drawn without access to the rows."""

    def answer(self, table: Table) -> Integers:
        """Part by part (those with a cap), in the order of ``itertools.combinations``."""
        require_rows("concordance of parts", table, self.rows)
        ranked = self.ranks or ((),) * self.joined
        columns = [dense_ranks(table, name, given) for name, given in zip(self.columns[: self.joined], ranked, strict=True)]
        numbers = part_numbers(table, self.columns[self.joined :])
        order = np.random.default_rng(self.key).permutation(self.rows)
        sums = []
        for part, (cap, weight) in enumerate(zip(self.caps, self.weights, strict=True)):
            if cap:
                first = order[numbers[order] == part][:cap]
                sums += [weight * concordance_present(a[first], b[first]) for a, b in combinations(columns, 2)]
        return np.array(sums, np.int64)

    def largest(self, schema: Schema, rows: int) -> int:
        """All pairs of a part's records in one order."""
        return max((w * c * c for c, w in zip(self.caps, self.weights, strict=True)), default=0)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("concordance of parts", relation)
        changes = sorted((2.0 * w * max(c - 1, 0) for c, w in zip(self.caps, self.weights, strict=True)), reverse=True)[:2]
        pairs = self.joined * (self.joined - 1) // 2
        return pairs * sum(changes), math.sqrt(pairs * sum(a**2 for a in changes)), 0


@dataclass(frozen=True, kw_only=True)
class HybridCopula(PrivateCopula):
    """A Gaussian copula for each combination of some small columns, from noisy counts, margins and concordances.

    Replacing a record changes the counts of the parts, and the joint histogram of parts and a column, by sqrt(2) in L2 each; the
    concordances within parts as ``PartConcordance`` says. It reads a part's first records only, about as many as the part has
    for sure by its noisy count, because how many there are is not public. Parts whose noisy count is too small for that take the
    average correlations of the others. Rows are ordered by a key drawn beforehand. Integer Gaussian noise (Laplace when delta is
    zero).
    For one record replaced by another: the number of rows is public.
    After the hybrid of Li, Xiong and Jiang 2014, whose noise is scaled with the true size of each part.
    """

    parts: tuple[str, ...] = ()
    """The columns whose combinations are the parts; when empty, the target and others with fewer than 10 cells."""
    most: int = 16
    """The most parts."""
    least: int = 200
    """The least noisy count of a part with correlations of its own."""

    def __post_init__(self) -> None:
        """In range."""
        self._check(most=(self.most >= 2, "must be at least 2"), least=(self.least >= 2, "must be at least 2"))

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, too many parts, and any other relation than one record replaced by another."""
        parts, others = self._columns(schema)
        anchor = anchor_of(schema, self.anchor, NAME)
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows(NAME, budget)
            queries: list[Query] = [*_histograms(parts, others)]
            if len(others) > 1:
                # The price does not depend on caps and weights, which a plan does not know: the noise grows with the change.
                queries.append(PartConcordance((*others, *parts), len(others), 2, (2, 2), (1, 1), (), 0))
            shares = budget.split(self._shares(others))
            events = (budget.event(Total(), schema), *(p.event(q, schema) for q, p in zip(queries, shares, strict=True)))
        ordered = order_caveat([name for name in others if nominal(schema[name])], anchor if anchor in parts else "")
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=CAVEATS + ordered)

    def fit(self, vault: Vault, rng: np.random.Generator) -> PartedCopula:
        """Count the parts, measure the margins in them, then the concordances."""
        schema, allowance = vault.schema, vault.paid()
        require_fixed_rows(NAME, allowance)
        parts, others = self._columns(schema)
        rows = public_rows(vault, allowance)
        if rows < 2:
            raise InputError("a correlation needs at least two rows", where=NAME)
        queries, shares = _histograms(parts, others), allowance.split(self._shares(others))
        noise = [part.deviation(query, schema) for query, part in zip(queries, shares, strict=False)]
        counted = vault.spend(queries[0], shares[0]).astype(np.float64).reshape(histogram_sizes(schema, parts))
        for (name,) in without_missing(schema, [Measurement(parts, counted.copy(), noise[0])]):
            np.moveaxis(counted, parts.index(name), -1)[..., -1] = -1e15
        counts = on_simplex(counted.ravel(), float(rows))
        tables = {}
        for number, (name, query, part) in enumerate(zip(others, queries[1:], shares[1:], strict=False), 1):
            tables[name] = vault.spend(query, part).reshape(len(counts), -1)
            vault.report(0.5 * number / len(others))
        orders = {name: self._order(schema, parts, name, tables[name], noise[1]) for name in others}
        margins = {name: _shrunk(schema[name], table, counts, noise[1]) for name, table in tables.items()}
        correlations = np.broadcast_to(np.eye(len(others)), (len(counts), len(others), len(others))).copy()
        summary: dict[str, Any] = {"parts_by": list(parts), "noisy_sizes": [round(float(c)) for c in counts]}
        summary |= {"noise_of_a_size": round(noise[0], 2), "noise_of_a_cell": round(noise[1], 2)}
        if len(others) > 1:
            sure = [int(c - 2 * noise[0]) if c >= self.least else 0 for c in counts]
            large = max(sure) >= 2
            if large:
                caps = [cap if cap >= 2 else 0 for cap in sure]
            else:
                # The query is planned and paid for; with no part large enough it asks about two records, and is not used.
                caps = [2] + [0] * (len(counts) - 1)
            asked = _concordance(schema, rows, (others, parts), tuple(caps), orders, int(vault.coins(1, rng)[0]))
            taus, spread = _taus(vault, shares[-1], asked)
            summary["own_correlations"] = [cap >= 2 for cap in sure]
            if large:
                inner = {k: {name: Margin(margins[name][k], orders[name]) for name in others} for k in taus}
                pieces = {k: pieces_of(schema.select(others), own) for k, own in inner.items()}
                correlations = self._correlations(pieces, taus, spread, counts)
                summary["noise_of_tau"] = [round(s, 4) for s in spread]
            if not large:
                summary["note"] = (
                    f"no part has a noisy count of {self.least} or more: the columns were drawn independently in each part"
                )
            elif max(spread) > BLURRED:
                summary["note"] = (
                    f"Kendall's tau in the smallest part is off by about {min(max(spread), 1.0):.2g}: "
                    "do not rely on the dependence between columns there"
                )
        vault.report(1.0)
        return PartedCopula(schema, parts, rows, counts / counts.sum(), margins, orders, correlations, summary)

    def _columns(self, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
        parts = part_columns(schema, self.parts, self.most, NAME)
        return parts, tuple(name for name in schema.names if name not in parts)

    def _shares(self, others: tuple[str, ...]) -> list[float]:
        shares = [COUNTS] + [self.ratio / len(others)] * len(others)
        return [*shares, 1.0] if len(others) > 1 else shares

    def _order(self, schema: Schema, parts: tuple[str, ...], name: str, table: Integers, noise: float) -> Integers:
        """The order of a column's cells, one for all parts: by the average of the anchor if it is one of the parts' columns."""
        anchor = anchor_of(schema, self.anchor, NAME)
        if not nominal(schema[name]) or anchor not in parts:
            return np.arange(table.shape[1])
        sizes = histogram_sizes(schema, parts)
        place = parts.index(anchor)
        joint = np.moveaxis(table.reshape(*sizes, -1), place, 0).reshape(sizes[place], -1, table.shape[1]).sum(1).T
        values = sizes[place] - (not schema[anchor].required)
        return order_by(joint[:, :values], np.arange(values, dtype=np.float64), noise, schema[name])

    def _correlations(
        self, pieces: dict[int, list[Pieces]], taus: dict[int, Floats], spreads: list[float], counts: Floats
    ) -> Floats:
        """A matrix for each part: its own, or the average of those that have one."""
        parts = zip(taus.items(), spreads, strict=True)
        own = {k: correlation_of(pieces[k], tau, spread, self.ties) for (k, tau), spread in parts}
        average = np.average(list(own.values()), axis=0, weights=[max(counts[k], 1.0) for k in own])
        return np.stack([own.get(k, average) for k in range(len(counts))])


def _histograms(parts: tuple[str, ...], others: tuple[str, ...]) -> list[Histogram]:
    """The counts of the parts, then each other column together with them."""
    return [Histogram(parts), *(Histogram((*parts, name)) for name in others)]


def _concordance(
    schema: Schema,
    rows: int,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    caps: tuple[int, ...],
    orders: dict[str, Integers],
    key: int,
) -> PartConcordance:
    """The query; ``columns`` are those that are joined, and those that part the table."""
    others, parts = columns
    # So weighted a record changes every part by about the same, and the noise of a part's tau goes with 1/cap.
    weights = tuple(max(1, round(16 * max(caps) / cap)) if cap else 1 for cap in caps)
    ranks = tuple(tuple(np.argsort(orders[n])[: len(schema[n].levels)].tolist()) if schema[n].coded else () for n in others)
    return PartConcordance((*others, *parts), len(others), rows, caps, weights, ranks, key)


def _taus(vault: Vault, part: Allowance, query: PartConcordance) -> tuple[dict[int, Floats], list[float]]:
    """Tau-a in every part that has a cap, and its noise."""
    asked = [k for k, cap in enumerate(query.caps) if cap]
    noisy = vault.spend(query, part).reshape(len(asked), -1)
    pairs = {k: query.weights[k] * query.caps[k] * (query.caps[k] - 1) / 2 for k in asked}
    spread = part.deviation(query, vault.schema)
    return {k: noisy[i] / pairs[k] for i, k in enumerate(asked)}, [spread / pairs[k] for k in asked]


def _shrunk(column: Column, table: Integers, counts: Floats, noise: float) -> Floats:
    """The margins of a column in each part, drawn to the overall one where the noise is large beside a part's count."""
    whole = present(column, table.sum(0), noise * math.sqrt(len(table)))
    overall = Margin.of(whole, float(counts.sum())).shares
    table = np.where(whole < table.sum(0), -1e15, table)
    doubt = noise * math.sqrt(table.shape[1])
    margins = []
    for row, count in zip(table, counts, strict=True):
        own = Margin.of(row, max(float(count), 1.0)).shares
        trust = count / (count + doubt) if count > 0 else 0.0
        mixed = trust * own + (1 - trust) * overall
        margins.append(mixed / mixed.sum())
    return np.stack(margins)
