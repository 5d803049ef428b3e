"""Clouds of points and tables for the measures of all columns together."""

from __future__ import annotations

import numpy as np

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.measures.features import Points
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def points(matrix: np.ndarray) -> Points:
    """A matrix of numbers as a table in the space of features."""
    return Points(matrix.astype(np.float32), np.zeros((len(matrix), 0), np.int16), np.zeros(matrix.shape[1], bool), ())


def numbers(matrix: np.ndarray) -> Table:
    """A matrix as a table of reals."""
    columns = tuple(Column(name=f"x{i}", kind=Kind.REAL, domain=Bounds(-1e9, 1e9)) for i in range(matrix.shape[1]))
    return Table(Schema(columns), {f"x{i}": matrix[:, i].astype(np.float64) for i in range(matrix.shape[1])})


def levels(name: str, codes: list[int], words: tuple[str, ...]) -> Table:
    """One column of levels."""
    schema = Schema((Column(name=name, kind=Kind.CATEGORY, domain=Levels(words)),))
    return Table(schema, {name: np.array(codes, np.int32)})


def ordinary(release: Table, rows: int = 300) -> Case:
    """A release of the example table beside training and control rows."""
    return Case(example(rows, 1), release, example(rows, 2))


def shuffled(table: Table, seed: int = 0) -> Table:
    """Every column by itself as it was, and nothing left of how they hang together."""
    rng = np.random.default_rng(seed)
    return table.with_columns(*((column, rng.permutation(table[column.name])) for column in table.schema))


def bound(table: Table) -> Table:
    """Pay follows age: something to hang together."""
    pay = table.schema["pay"]
    return table.with_column(pay, pay.from_floats(100 * table.floats("age")))


def findings_of(audit, case: Case, seed: int = 0) -> dict[str, object]:
    """Findings by name."""
    return {finding.name: finding for finding in audit.run(case, np.random.default_rng(seed))}


def odd_cases() -> dict[str, Case]:
    """Legal and unpleasant: constant and missing columns on any side, few rows, other levels."""
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(60, 2))
    flat = np.column_stack([cloud[:, 0], np.full(60, 0.1)])
    gone = np.column_stack([cloud[:, 0], np.full(60, np.nan)])
    fresh = rng.normal(size=(60, 2))
    return {
        "a constant column of the release": Case(numbers(cloud), numbers(flat), numbers(fresh)),
        "a constant column of the training rows": Case(numbers(flat), numbers(cloud), numbers(fresh)),
        "a column missing in the release": Case(numbers(cloud), numbers(gone), numbers(fresh)),
        "a column missing in the training rows": Case(numbers(gone), numbers(cloud), numbers(fresh)),
        "a column missing in the control": Case(numbers(cloud), numbers(fresh), numbers(gone)),
        "two rows each": Case(numbers(cloud[:2]), numbers(fresh[:2]), numbers(cloud[2:4])),
        "two rows of control": Case(numbers(cloud), numbers(fresh), numbers(cloud[:2] + 1)),
        "values far out": Case(numbers(cloud), numbers(1e8 * fresh), numbers(fresh)),
        "one column, other levels": Case(
            levels("a", [0, 1, 0, 1] * 10, ("x", "y")),
            levels("a", [0, 1, 2, -1] * 10, ("z", "x", "w")),
            levels("a", [0, 1, 1, 1] * 10, ("x", "y")),
        ),
    }
