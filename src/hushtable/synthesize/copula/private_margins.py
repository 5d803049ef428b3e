"""Noisy margins for the private Gaussian copulas: which histograms to ask for, the order of nominal levels, notes on the noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.numerics.simplex import present
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.margins import Margin, nominal, order_by, total_of
from hushtable.synthesize.copula.normal import PIECES, Pieces
from hushtable.synthesize.histogram_cells import noise_note, require_counted, usable_total
from hushtable.table.arrays import Integers
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import histogram_sizes

SMALL = 8
"""A target with at most so many cells orders the levels of nominal columns."""
NO_ANCHOR = "-"
"""The anchor that leaves all levels in their declared order."""
BLURRED = 0.05
"""From this noise of a pair's correlation on, the card carries a note."""

CAVEATS = (
    "columns depend on one another as a Gaussian copula can express it: pair by pair, and by the order of their values only",
    "a missing value is placed after the last value of its column",
)


def margin_queries(schema: Schema, anchor: str, step: str) -> list[Histogram]:
    """One histogram per column; that of a nominal one is joint with the anchor. Refuses what cannot be counted, by name."""
    require_counted(schema, step)
    orders = anchor_of(schema, anchor, step)
    queries = [Histogram((c.name, orders) if orders and nominal(c) and c.name != orders else (c.name,)) for c in schema]
    for query in queries:
        try:
            histogram_sizes(schema, query.columns)
        except InputError:
            wide = " and ".join(query.columns)
            raise PlanError(f"{step}: {wide} together have too many cells to count; take a smaller anchor, or '-'") from None
    return queries


def anchor_of(schema: Schema, anchor: str, step: str) -> str:
    """The column that orders nominal levels; empty if there is none."""
    if anchor == NO_ANCHOR:
        return ""
    if anchor:
        if anchor not in schema:
            raise PlanError(f"{step}: there is no column {anchor!r}; the table has {', '.join(schema.names)}")
        if nominal(schema[anchor]):
            raise PlanError(
                f"{step}: {anchor} cannot order the levels of others, it has no order itself; take another anchor or '-'"
            )
        return anchor
    targets = [
        c.name for c in schema if c.role is Role.TARGET and not nominal(c) and histogram_sizes(schema, (c.name,))[0] <= SMALL
    ]
    return targets[0] if len(targets) == 1 else ""


def caveats_of(schema: Schema, anchor: str, step: str) -> tuple[str, ...]:
    """What a Gaussian copula of these columns cannot express."""
    orders = anchor_of(schema, anchor, step)
    return CAVEATS + order_caveat([c.name for c in schema if nominal(c) and c.name != orders], orders)


def order_caveat(unordered: list[str], anchor: str) -> tuple[str, ...]:
    """How the levels of columns without an order of their own were ordered; nothing where there is no such column."""
    if not unordered:
        return ()
    order = f"by their average of {anchor}" if anchor else "as declared, which means nothing"
    return (f"levels without an order of their own were ordered {order}: {', '.join(unordered)}",)


@dataclass(frozen=True)
class NoisyMargins:
    """The margins of all columns and how noisy they are."""

    margins: dict[str, Margin]
    total: float
    scales: dict[str, float]
    noise: dict[str, float]
    """The standard deviation of the noise of a cell of each margin."""

    def summary(self, more: Mapping[str, Any], dependence: float | None, what: str) -> dict[str, Any]:
        """For the card: the noise, and a note where it is large beside the data.

        ``dependence`` is the noise of ``what`` was measured of a pair of columns.
        """
        cells = {name: len(margin.shares) for name, margin in self.margins.items()}
        summary: dict[str, Any] = {"noise_scale": {name: round(scale, 3) for name, scale in self.scales.items()}, **more}
        notes = list(noise_note(cells, float(np.mean(list(self.noise.values()))), self.total).values())
        if dependence is not None:
            summary["noise_of_a_pair"] = round(dependence, 4)
            if dependence > BLURRED:
                notes.append(f"{what} is off by about {min(dependence, 1.0):.2g}: weaker dependence than that is noise")
        if notes:
            summary["note"] = "; ".join(notes)
        return summary


def measure_margins(vault: Vault, queries: list[Histogram], parts: list[Allowance], rows: int | None) -> NoisyMargins:
    """Ask for every margin once. ``rows`` is the number of rows where it is public."""
    schema = vault.schema
    noisy, scales, noise = {}, {}, {}
    for number, (query, part) in enumerate(zip(queries, parts, strict=True), 1):
        name = query.columns[0]
        noisy[name] = vault.spend(query, part).reshape(histogram_sizes(schema, query.columns))
        scales[name] = part.scale(query, schema)
        noise[name] = part.deviation(query, schema)
        vault.report(0.5 * number / len(queries))
    if rows is None:
        apart = sum(1 / (c.size * noise[name] ** 2) for name, c in noisy.items()) ** -0.5
        total = usable_total(total_of([c.ravel() for c in noisy.values()], list(scales.values())), apart)
    else:
        total = float(rows)
    return margins_of(schema, queries, noisy, scales, noise, total)


def margins_of(
    schema: Schema,
    queries: list[Histogram],
    noisy: dict[str, Integers],
    scales: dict[str, float],
    noise: dict[str, float],
    total: float,
) -> NoisyMargins:
    """The margins of these histograms, and the order of nominal levels where they were counted together with the anchor.

    ``scales`` and ``noise`` are the scale and the standard deviation of the noise of a cell.
    """
    single = [query.columns[0] for query in queries if len(query.columns) == 1]
    margins = {name: Margin.of(present(schema[name], noisy[name], noise[name]), total) for name in single}
    summed_scales, summed_noise = dict(scales), dict(noise)
    for query in queries:
        if len(query.columns) == 2:
            name, anchor = query.columns
            column, counts = schema[name], noisy[name]
            values = margins[anchor].cells - (not schema[anchor].required)
            order = order_by(counts[:, :values], margins[anchor].scores[:values], scales[name], column)
            summed_scales[name] = scales[name] * math.sqrt(counts.shape[1])
            summed_noise[name] = noise[name] * math.sqrt(counts.shape[1])
            margins[name] = Margin.of(present(column, counts.sum(1), summed_noise[name]), total, order)
    return NoisyMargins({name: margins[name] for name in schema.names}, total, summed_scales, summed_noise)


def pieces_of(schema: Schema, margins: Mapping[str, Margin], most: int = PIECES) -> list[Pieces]:
    """The pieces of every margin."""
    return [Pieces.of(margins[column.name], not column.required, most) for column in schema]
