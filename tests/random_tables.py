"""Hypothesis strategies for tables with rows: every kind that may be released, missing values, rare levels, generalized columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from hushtable.table.columns import CODED, NUMBERS, Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.strategies import FORMATS, cells, moments

KINDS = sorted(NUMBERS | CODED)


@st.composite
def plain_columns(draw: st.DrawFn, name: str, kinds: tuple[Kind, ...] = tuple(KINDS)) -> Column:
    """A quasi-identifier with a declared or observed domain, of numbers that floats hold exactly."""
    kind = draw(st.sampled_from(kinds))
    decimals = draw(st.none() | st.integers(0, 3)) if kind is Kind.REAL else None
    form = draw(st.sampled_from(FORMATS)) if kind is Kind.DATE else None
    observed = draw(st.booleans())
    if kind in CODED:
        domain = Levels(tuple(f"v{i}" for i in range(draw(st.integers(1, 6)))), observed)
    else:
        ends = {Kind.INTEGER: st.integers(-50, 50), Kind.DATE: moments(form)}.get(kind, st.floats(-1e3, 1e3))
        low, high = sorted(draw(st.tuples(ends, ends)))
        if decimals is not None:
            low, high = round(low, decimals) + 0.0, round(high, decimals) + 0.0
        domain = Bounds(low, high, observed)
    return Column(name=name, kind=kind, role=Role.QUASI, domain=domain, decimals=decimals, format=form)


def rows_of(column: Column, count: int, rng: np.random.Generator) -> np.ndarray:
    """Values of the domain, ends and a few repeated ones among them, some missing."""
    gone = rng.random(count) < 0.15
    if column.coded:
        return np.where(gone, -1, rng.integers(0, len(column.levels), count)).astype(np.int32)
    bounds = column.bounds
    few = np.append(rng.uniform(bounds.low, bounds.high, 4), [bounds.low, bounds.high])
    values = np.where(rng.random(count) < 0.5, rng.choice(few, count), rng.uniform(bounds.low, bounds.high, count))
    return column.from_floats(np.where(gone, np.nan, values))


@st.composite
def tables(draw: st.DrawFn, kinds: tuple[Kind, ...] = tuple(KINDS), width: int = 3, rows: int = 60) -> Table:
    """Up to ``width`` columns of these kinds and up to so many rows."""
    columns = [draw(plain_columns(f"c{i}", kinds)) for i in range(draw(st.integers(1, width)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, rows))
    return Table(Schema(tuple(columns)), {c.name: rows_of(c, count, rng) for c in columns})


@st.composite
def generalized(draw: st.DrawFn, table: Table) -> Table:
    """The same columns, some of them with any cells in any row: not what the rows were, only what could be released."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    collected = []
    for column in table.schema:
        if draw(st.booleans()):
            coarse = column.generalize(draw(cells(column)))
            codes = rng.integers(-1, len(coarse.levels), table.rows).astype(np.int32)
            collected.append((coarse, codes))
    return table.with_columns(*collected)


def undeclared(column: Column) -> Column:
    """The column with its domain as if read off the rows."""
    return replace(column, domain=replace(column.domain, observed=True))
