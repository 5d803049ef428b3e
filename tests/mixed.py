"""Random tables of quasi-identifiers of all kinds, for the methods that recode them, and what a recoded cell must cover."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hushtable.table.cell import Interval
from hushtable.table.columns import DAY, Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree, PrefixTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.strategies import values

KINDS = (Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.REAL, Kind.DATE)


@st.composite
def mixed(draw: st.DrawFn, rows: int = 40, most: int = 4) -> Table:
    """A table of one to four quasi-identifiers with missing values and ties, and a secret."""
    n = draw(st.integers(2, rows))
    columns = [draw(quasi(f"q{i}")) for i in range(draw(st.integers(1, most)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    secret = Column(name="secret", kind=Kind.INTEGER, role=Role.SECRET, domain=Bounds(0, 9))
    arrays = {column.name: entries(column, n, rng) for column in columns} | {"secret": rng.integers(0, rng.integers(1, 10), n)}
    return Table(Schema((*columns, secret)), arrays)


@st.composite
def quasi(draw: st.DrawFn, name: str) -> Column:
    """A quasi-identifier of any kind, with a small domain and perhaps a hierarchy."""
    kind = draw(st.sampled_from(KINDS))
    observed = draw(st.booleans())
    if kind in (Kind.CATEGORY, Kind.ORDINAL):
        levels = tuple(draw(st.lists(values, min_size=1, max_size=6, unique=True)))
        tree = draw(st.sampled_from([None, PrefixTree((2, 1)), file_tree(levels), file_tree(levels[::-1])]))
        return Column(name=name, kind=kind, role=Role.QUASI, domain=Levels(levels, observed), hierarchy=tree)
    if kind is Kind.DATE:
        tree = draw(st.sampled_from([None, DateTree(("week",)), DateTree(("quarter", "year"))]))
        form = draw(st.sampled_from([None, "%d.%m.%Y", "%Y-%m"]))
        column = Column(name=name, kind=kind, role=Role.QUASI, hierarchy=tree, format=form)
        low, high = (
            column.number(column.write(day * DAY)) for day in sorted((draw(st.integers(0, 900)), draw(st.integers(0, 900))))
        )
        return Column(name=name, kind=kind, role=Role.QUASI, hierarchy=tree, format=form, domain=Bounds(low, high, observed))
    low, high = sorted(draw(st.tuples(st.integers(-50, 50), st.integers(-50, 50))))
    tree = draw(st.sampled_from([None, IntervalTree((5.0, 10.0, 40.0)), IntervalTree((1.0,))]))
    decimals = draw(st.sampled_from([None, 0, 2])) if kind is Kind.REAL else None
    return Column(name=name, kind=kind, role=Role.QUASI, domain=Bounds(low, high, observed), decimals=decimals, hierarchy=tree)


def file_tree(levels: tuple[str, ...]) -> FileTree:
    """Pairs of levels, named like their first one, under a top: a label that is also a value."""
    return FileTree("tree.csv", tuple((level, levels[i // 2 * 2], "*") for i, level in enumerate(levels)))


def entries(column: Column, n: int, rng: np.random.Generator) -> np.ndarray:
    """So many values of the domain, from a pool that makes ties, some missing."""
    missing = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0], p=[0.5, 0.3, 0.15, 0.05])
    if isinstance(column.domain, Levels):
        return np.where(missing, -1, rng.integers(0, len(column.domain.levels), n)).astype(np.int32)
    pool = rng.uniform(column.bounds.low, column.bounds.high, int(rng.integers(1, n + 1)))
    drawn = column.from_floats(np.where(missing, np.nan, rng.choice(pool, n)))
    inside = drawn if column.kind is Kind.REAL else np.where(missing, drawn, np.clip(drawn, column.bounds.low, column.bounds.high))
    return inside.astype(column.dtype)


def uncovered(released: Table, raw: Table, name: str) -> int:
    """How many rows have a cell that does not cover their value."""
    wrong = 0
    cells = released.schema[name].domain.cells
    missing = raw.missing(name)
    for code, value, gone in zip(released[name], raw[name], missing, strict=True):
        span = cells[code].span if code >= 0 else ()
        if code < 0:
            wrong += not gone
        elif isinstance(span, Interval):
            wrong += gone or float(value) not in span
        elif span is not None:
            wrong += gone or raw.schema[name].levels[value] not in span
    return wrong
