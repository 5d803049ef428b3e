"""Kendall's tau in each part of a table: concordances among a part's first records, and what one record can change of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.numerics.concordance import concordance_of_cells, concordance_present, dense_ranks
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.rows import require_replaced, require_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.normal import Pieces, Ties, expected_tau, latent_correlations
from hushtable.synthesize.copula.part_margins import PartMargins, drawn_to_average
from hushtable.synthesize.copula.parts import part_numbers
from hushtable.table.arrays import Floats, Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

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

    def over(self, rows: Rows) -> Integers:
        """Part by part (those with a cap), in the order of ``itertools.combinations``; out of memory from tables of pairs."""
        if isinstance(rows, Table):
            return self.answer(rows)
        require_rows("concordance of parts", rows, self.rows)
        ranked = self.ranks or ((),) * self.joined
        joined, parts = self.columns[: self.joined], self.columns[self.joined :]
        numbers = np.concatenate([part_numbers(batch, parts).astype(np.int32) for batch in rows.batches(columns=parts)])
        first = np.zeros(self.rows, bool)
        for held in self._first(numbers).values():
            first[held] = True
        pairs = list(combinations(range(self.joined), 2))
        counts = rows.take(first).histograms([(*parts, joined[i], joined[j]) for i, j in pairs])
        columns = [rows.schema[name] for name in joined]
        of_pairs = [own.reshape(len(self.caps), *own.shape[-2:]) for own in counts]
        sums = [
            weight * concordance_of_cells(own[part], (columns[i], columns[j]), (ranked[i], ranked[j]))
            for part, (cap, weight) in enumerate(zip(self.caps, self.weights, strict=True))
            if cap
            for own, (i, j) in zip(of_pairs, pairs, strict=True)
        ]
        return np.array(sums, np.int64)

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory, however fine their columns are."""
        require_rows("concordance of parts", table, self.rows)
        ranked = self.ranks or ((),) * self.joined
        columns = [dense_ranks(table, name, given) for name, given in zip(self.columns[: self.joined], ranked, strict=True)]
        first = self._first(part_numbers(table, self.columns[self.joined :]))
        return np.array(
            [
                self.weights[part] * concordance_present(a[held], b[held])
                for part, held in first.items()
                for a, b in combinations(columns, 2)
            ],
            np.int64,
        )

    def _first(self, numbers: Integers | NDArray[np.int32]) -> dict[int, Integers]:
        """For each part with a cap the places of its first records, by the part of each row."""
        order = np.random.default_rng(self.key).permutation(self.rows)
        ordered = numbers[order]
        return {part: order[ordered == part][:cap] for part, cap in enumerate(self.caps) if cap}

    def largest(self, schema: Schema, rows: int) -> int:
        """All pairs of a part's records in one order."""
        return max((w * c * c for c, w in zip(self.caps, self.weights, strict=True)), default=0)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        require_replaced("concordance of parts", relation)
        changes = sorted((2.0 * w * max(c - 1, 0) for c, w in zip(self.caps, self.weights, strict=True)), reverse=True)[:2]
        pairs = self.joined * (self.joined - 1) // 2
        return pairs * sum(changes), math.sqrt(pairs * sum(a**2 for a in changes)), 0


def correlation_of(pieces: list[Pieces], tau: Floats, noise: float, ties: Ties) -> Floats:
    """The correlation matrix that explains the taus of all pairs."""
    if ties is Ties.PUBLISHED:
        return from_pairs(np.sin(np.pi / 2 * np.clip(tau, -1.0, 1.0)), len(pieces))
    values, errors = latent_correlations(pieces, tau, expected_tau, noise)
    return from_pairs(values, len(pieces), errors)


def part_correlations(
    vault: Vault, allowance: Allowance, margins: PartMargins, sizes: tuple[int, int, float], ties: Ties, key: int
) -> tuple[Floats, dict[str, Any]]:
    """The correlations of each part from its noisy tau, drawn to their average where that is noise; and entries for the card.

    ``sizes``: the number of rows, the least noisy count of a part with a tau of its own, and the noise of a count.
    """
    rows, least, noise = sizes
    counts = margins.counts
    sure = [int(c - 2 * noise) if c >= least else 0 for c in counts]
    large = max(sure) >= 2
    # The query is planned and paid for; with no part large enough it asks about two records, and is not used.
    caps = tuple(cap if cap >= 2 else 0 for cap in sure) if large else (2, *(0,) * (len(counts) - 1))
    taus, spreads = _taus(vault, allowance, _query(margins, rows, caps, key))
    summary: dict[str, Any] = {"own_correlations": [cap >= 2 for cap in sure]}
    if not large:
        note = f"no part has a noisy count of {least} or more: the columns were drawn independently in each part"
        return np.repeat(np.eye(len(margins.others))[None], len(counts), axis=0), summary | {"note": note}
    own = {k: correlation_of(margins.pieces(k), tau, spreads[k], ties) for k, tau in taus.items()}
    summary["noise_of_tau"] = [round(s, 4) for s in spreads.values()]
    if max(spreads.values()) > BLURRED:
        summary["note"] = (
            f"Kendall's tau in the smallest part is off by about {min(max(spreads.values()), 1.0):.2g}: "
            "do not rely on the dependence between columns there"
        )
    return drawn_to_average(own, spreads, counts), summary


def _query(margins: PartMargins, rows: int, caps: tuple[int, ...], key: int) -> PartConcordance:
    schema, orders = margins.schema, margins.orders
    # So weighted a record changes every part by about the same, and the noise of a part's tau goes with 1/cap.
    weights = tuple(max(1, round(16 * max(caps) / cap)) if cap else 1 for cap in caps)
    ranks = tuple(tuple(np.argsort(orders[n])[: len(schema[n].levels)].tolist()) if schema[n].coded else () for n in margins.others)
    return PartConcordance((*margins.others, *margins.parts_by), len(margins.others), rows, caps, weights, ranks, key)


def _taus(vault: Vault, allowance: Allowance, query: PartConcordance) -> tuple[dict[int, Floats], dict[int, float]]:
    """Tau-a in every part that has a cap, and its noise."""
    asked = [k for k, cap in enumerate(query.caps) if cap]
    noisy = vault.spend(query, allowance).reshape(len(asked), -1)
    pairs = {k: query.weights[k] * query.caps[k] * (query.caps[k] - 1) / 2 for k in asked}
    spread = allowance.deviation(query, vault.schema)
    return {k: noisy[i] / pairs[k] for i, k in enumerate(asked)}, {k: spread / pairs[k] for k in asked}
