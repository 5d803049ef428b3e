"""What all private copulas do alike: noisy margins, the order of nominal levels, and what the card says of the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.query import Histogram, Query
from hushtable.privacy.rows import rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.margins import Margin, nominal, order_by, total_of
from hushtable.synthesize.copula.normal import PIECES, Pieces
from hushtable.synthesize.counted import countable, drowned, require_counted
from hushtable.table.arrays import Integers
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import histogram_sizes

SMALL = 8
"""A target with at most so many cells orders the levels of nominal columns."""
NOBODY = "-"
"""The anchor that leaves all levels in their declared order."""

CAVEATS = (
    "columns hang together as a Gaussian copula can tell it: pair by pair, and by the order of their values only",
    "a missing value stands after the last value of its column",
)


class Ties(StrEnum):
    """How correlations are read off cells, many of which are equal."""

    CORRECTED = "corrected"
    PUBLISHED = "published"


@dataclass(frozen=True, kw_only=True)
class PrivateCopula(PrivateCore):
    """Knobs that the private copulas share."""

    ratio: float = 1.0
    """What all margins together get of the budget, where the dependence gets 1 (as published: 8)."""
    ties: Ties = Ties.CORRECTED
    """corrected: the correlation that explains what was measured, given the margins; published: as if no values were equal."""
    anchor: str = ""
    """The column by whose average the levels of nominal categories are ordered, measured together with their margins; the target of
    the schema when empty (if it has at most 8 cells); "-" leaves them in their declared order."""

    def _check(self, **more: tuple[bool, str]) -> None:
        """One InputError for all knobs that are out of range, those of a subclass among them."""
        check_knobs(self, ratio=(self.ratio > 0, "must be positive"), **more)

    def _weights(self, looks: list[Histogram]) -> list[float]:
        """The parts of the budget: each margin, then the dependence if there is any."""
        return [self.ratio / len(looks)] * len(looks) + [1.0] * (len(looks) > 1)

    def _events(self, schema: Schema, budget: Allowance, looks: list[Histogram], dependence: Query) -> tuple[Event, ...]:
        """The looks that it will take; the number of rows is one of them where it is public."""
        queries: list[Query] = [*looks, *([dependence] if len(looks) > 1 else [])]
        parts = budget.split(self._weights(looks))
        rows = rows_event(budget, schema)
        return (*rows, *(part.event(query, schema) for query, part in zip(queries, parts, strict=True)))


def margin_looks(schema: Schema, anchor: str, step: str) -> list[Histogram]:
    """One histogram per column; that of a nominal one is joint with the anchor. Refuses what cannot be counted, by name."""
    require_counted(schema, step)
    held = anchor_of(schema, anchor, step)
    looks = [Histogram((c.name, held) if held and nominal(c) and c.name != held else (c.name,)) for c in schema]
    for look in looks:
        try:
            histogram_sizes(schema, look.columns)
        except InputError:
            wide = " and ".join(look.columns)
            raise PlanError(f"{step}: {wide} together have too many cells to count; take a smaller anchor, or '-'") from None
    return looks


def caveats_of(schema: Schema, anchor: str, step: str) -> tuple[str, ...]:
    """What a Gaussian copula of these columns does not tell."""
    held = anchor_of(schema, anchor, step)
    loose = [c.name for c in schema if nominal(c) and c.name != held]
    if not loose:
        return CAVEATS
    order = f"by their average of {held}" if held else "as declared, which means nothing"
    return (*CAVEATS, f"levels without an order of their own were ordered {order}: {', '.join(loose)}")


@dataclass(frozen=True)
class Measured:
    """The margins of all columns and how noisy they are."""

    margins: dict[str, Margin]
    total: float
    scales: dict[str, float]
    noise: dict[str, float]
    """The standard deviation of the noise of a cell of each margin."""

    def told(self, more: dict[str, Any], dependence: float | None, word: str) -> dict[str, Any]:
        """For the card: the noise, and a note where it drowns the data. ``dependence``: the noise of a pair of columns."""
        cells = {name: len(margin.shares) for name, margin in self.margins.items()}
        told = {"noise_scale": {name: round(scale, 3) for name, scale in self.scales.items()}} | more
        notes = list(drowned(cells, float(np.mean(list(self.noise.values()))), self.total).values())
        if dependence is not None:
            told["noise_of_a_pair"] = round(dependence, 4)
            if dependence > 0.05:
                notes.append(f"{word} is off by about {min(dependence, 1.0):.2g}: weaker dependence than that is noise")
        return told | ({"note": "; ".join(notes)} if notes else {})


def anchor_of(schema: Schema, anchor: str, step: str) -> str:
    """The column that orders nominal levels; empty if there is none."""
    if anchor == NOBODY:
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


def measured(vault: Vault, looks: list[Histogram], parts: list[Allowance], rows: int | None) -> Measured:
    """Ask for every margin once. ``rows`` is the number of rows where it is public."""
    schema = vault.schema
    noisy, scales, noise = {}, {}, {}
    for number, (look, part) in enumerate(zip(looks, parts, strict=True), 1):
        noisy[look.columns[0]] = vault.spend(look, part).reshape(histogram_sizes(schema, look.columns))
        scales[look.columns[0]] = part.scale(look, schema)
        noise[look.columns[0]] = part.deviation(look, schema)
        vault.report(0.5 * number / len(looks))
    if rows is None:
        apart = sum(1 / (c.size * noise[name] ** 2) for name, c in noisy.items()) ** -0.5
        total = countable(total_of([c.ravel() for c in noisy.values()], list(scales.values())), apart)
    else:
        total = float(rows)
    return margins_of(schema, looks, noisy, scales, noise, total)


def margins_of(
    schema: Schema,
    looks: list[Histogram],
    noisy: dict[str, Integers],
    scales: dict[str, float],
    noise: dict[str, float],
    total: float,
) -> Measured:
    """The margins that histograms tell, and the order of nominal levels where they were counted together with the anchor.

    ``scales`` and ``noise`` are the scale and the standard deviation of the noise of a cell.
    """
    margins = {look.columns[0]: Margin.of(noisy[look.columns[0]], total) for look in looks if len(look.columns) == 1}
    spread, wide = dict(scales), dict(noise)
    for look in looks:
        if len(look.columns) == 2:
            name, anchor = look.columns
            column, counts = schema[name], noisy[name]
            values = margins[anchor].cells - (not schema[anchor].required)
            order = order_by(counts[:, :values], margins[anchor].scores[:values], scales[name], column)
            margins[name] = Margin.of(counts.sum(1), total, order)
            spread[name] = scales[name] * math.sqrt(counts.shape[1])
            wide[name] = noise[name] * math.sqrt(counts.shape[1])
    return Measured({name: margins[name] for name in schema.names}, total, spread, wide)


def pieces_of(schema: Schema, margins: dict[str, Margin], most: int = PIECES) -> list[Pieces]:
    """The pieces of every margin."""
    return [Pieces.of(margins[column.name], not column.required, most) for column in schema]
