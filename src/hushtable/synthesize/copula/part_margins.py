"""Noisy margins of the columns in each part of a table, and correlations of the parts. All of it but the asking is post-processing.

Where the noise is as large as what sets a part apart from the whole, the part is drawn to the whole (James and Stein 1961, the
positive part): so parts that are too small for the budget do little harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.numerics.simplex import on_simplex, present
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.margins import Margin, nominal, order_by, total_of
from hushtable.synthesize.copula.normal import PIECES, Pieces
from hushtable.synthesize.copula.private_margins import NO_ANCHOR, SMALL, anchor_of, pieces_of
from hushtable.synthesize.histogram_cells import MEAN, sizes_of, usable_total
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Column, Role
from hushtable.table.schema import Schema
from hushtable.table.table import histogram_sizes

WRONG = 0.1
"""Classes are modelled one by one where the noise puts at most this share of the rows into wrong cells, on average."""


@dataclass(frozen=True, eq=False)
class PartMargins:
    """The noisy numbers of records of the parts, and the margins of the other columns in each of them."""

    schema: Schema
    parts_by: tuple[str, ...]
    counts: Floats
    shares: dict[str, Floats]
    """For each other column: parts by cells."""
    orders: dict[str, Integers]
    """The order of its cells, one for all parts."""
    noise: float
    """The standard deviation of the noise of a cell."""

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are drawn in a part."""
        return tuple(self.shares)

    def pieces(self, part: int, most: int = PIECES) -> list[Pieces]:
        """Of the margins in one part."""
        margins = {name: Margin(shares[part], self.orders[name]) for name, shares in self.shares.items()}
        return pieces_of(self.schema.select(self.others), margins, most)


def class_column(schema: Schema, named: str, step: str) -> str:
    """The column by whose classes the others may be modelled: the one named, or the only target of few cells; empty if none is.

    There must be two other columns to model, and each must be counted together with it.
    """
    if named == NO_ANCHOR or len(schema) < 3:
        return ""
    if named and named not in schema:
        raise PlanError(f"{step}: there is no column {named!r}; the table has {', '.join(schema.names)}")
    small = [c.name for c in schema if c.role is Role.TARGET and 1 < histogram_sizes(schema, (c.name,))[0] <= SMALL]
    given = named or (small[0] if len(small) == 1 else "")
    for other in schema.names if given else ():
        try:
            histogram_sizes(schema, (given, other) if other != given else (given,))
        except InputError:
            if named:
                raise PlanError(f"{step}: {given} and {other} together have too many cells to count; take other classes") from None
            return ""
    return given


def class_counts(column: Column, noisy: Integers, noise: float, rows: int | None) -> Floats:
    """The numbers of records of the classes from their noisy histogram; ``rows`` is the number of rows where it is public."""
    total = usable_total(total_of([noisy], [noise]), noise * math.sqrt(noisy.size)) if rows is None else float(rows)
    return on_simplex(present(column, noisy, noise), max(total, 2.0))


def calm(schema: Schema, given: str, counts: Floats, noise: float, wrong: float = WRONG) -> bool:
    """Whether noise of this size in a cell is small beside the rows, where each other column is counted in each class.

    ``wrong`` is the share of the rows that it may put into wrong cells.
    """
    sizes = [size for name, size in sizes_of(schema).items() if name != given]
    return bool(MEAN / 2 * noise * float(np.mean(sizes)) * len(counts) < wrong * counts.sum())


def part_histograms(parts: tuple[str, ...], others: tuple[str, ...]) -> list[Histogram]:
    """The counts of the parts, then each other column together with them."""
    return [Histogram(parts), *(Histogram((*parts, name)) for name in others)]


def measure_parts(
    vault: Vault, parts: tuple[str, ...], allowances: Mapping[str, Allowance], counts: Floats, anchor: str
) -> PartMargins:
    """Ask for every other column once, together with the parts. ``counts`` are the noisy numbers of records of the parts.

    Levels without an order of their own are ordered by their average of the ``anchor``, if it is one of the parts' columns.
    """
    schema, noise = vault.schema, 0.0
    shares, orders = {}, {}
    for number, (name, allowance) in enumerate(allowances.items(), 1):
        query = Histogram((*parts, name))
        table, noise = vault.spend(query, allowance).reshape(len(counts), -1), allowance.deviation(query, schema)
        orders[name] = _order(schema, parts, name, table, noise, anchor)
        shares[name] = drawn_to_whole(schema[name], table, counts, noise)
        vault.report(0.5 * number / len(allowances))
    return PartMargins(schema, parts, counts, shares, orders, noise)


def _order(schema: Schema, parts: tuple[str, ...], name: str, table: Integers, noise: float, anchor: str) -> Integers:
    if not nominal(schema[name]) or anchor not in parts:
        return np.arange(table.shape[1])
    sizes, place = histogram_sizes(schema, parts), parts.index(anchor)
    joint = np.moveaxis(table.reshape(*sizes, -1), place, 0).reshape(sizes[place], -1, table.shape[1]).sum(1).T
    values = sizes[place] - (not schema[anchor].required)
    return order_by(joint[:, :values], np.arange(values, dtype=np.float64), noise, schema[name])


def order_of(schema: Schema, anchor: str, step: str, parts: tuple[str, ...]) -> str:
    """The column that orders levels without an order of their own, among those of the parts; empty if there is none."""
    named = anchor_of(schema, anchor, step)
    return named if named in parts else ""


def drawn_to_whole(column: Column, table: Integers, counts: Floats, noise: float) -> Floats:
    """The margins of a column in each part, each drawn to the overall one where its noise explains the difference.

    Where all parts together show no missing values, no part has any.
    """
    whole = present(column, table.sum(0), noise * math.sqrt(len(table)))
    overall = Margin.of(whole, float(counts.sum())).shares
    absent = whole < table.sum(0)
    rows = np.maximum(counts, 1.0)[:, None]
    apart = np.where(absent, 0.0, table / rows - overall)
    error = (table.shape[1] - 1 - absent.sum()) * (noise / rows) ** 2
    factor = np.maximum(1 - error / np.maximum((apart**2).sum(1, keepdims=True), 1e-300), 0.0)
    margins = on_simplex(np.where(absent, -1e15, overall + factor * apart))
    return np.asarray(margins / margins.sum(1, keepdims=True))


def drawn_to_average(own: Mapping[int, Floats], noises: Mapping[int, float], counts: Floats) -> Floats:
    """A correlation matrix for each part: its own, drawn to the average where its noise explains the difference; or the average.

    A mean of correlation matrices is one, so the result is too.
    """
    average = np.average(list(own.values()), axis=0, weights=[max(counts[k], 1.0) for k in own])
    matrices = np.repeat(average[None], len(counts), axis=0)
    pairs = len(average) * (len(average) - 1)
    for k, matrix in own.items():
        apart = float(((matrix - average) ** 2).sum())
        matrices[k] = average + max(0.0, 1 - pairs * noises[k] ** 2 / max(apart, 1e-300)) * (matrix - average)
    return matrices
