"""Releases that a measure of columns or pairs must see through, or survive."""

from __future__ import annotations

import numpy as np

from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding
from hushtable.table.columns import Kind
from hushtable.table.table import Table


def plain() -> Case:
    """Three independent tables of every kind."""
    return Case(example(400, 1), example(400, 2), example(300, 3))


def shuffled(table: Table, seed: int = 0) -> Table:
    """Every column in an order of its own: the same margins, no pair left."""
    rng = np.random.default_rng(seed)
    return table.with_columns(*((column, table[column.name][rng.permutation(table.rows)]) for column in table.schema))


def constant(table: Table, name: str) -> Table:
    """The column with one value in all rows, the first that is present."""
    first = table[name][np.flatnonzero(~table.missing(name))[0]]
    return table.with_column(table.schema[name], np.full(table.rows, first, table[name].dtype))


def missing(table: Table, name: str) -> Table:
    """The column without a value."""
    column, dtype = table.schema[name], table[name].dtype
    gone = np.nan if column.kind is Kind.REAL else -1 if column.coded else np.iinfo(np.int64).min
    return table.with_column(column, np.full(table.rows, gone).astype(dtype))


def findings_of(audit: Audit, case: Case) -> dict[tuple[str, str], Finding]:
    """By name and scope."""
    return {(f.name, f.scope): f for f in audit.run(case, np.random.default_rng(0))}


def sound(findings: dict[tuple[str, str], Finding]) -> None:
    """Every value lies in its range, and where there is none the note says why."""
    for finding in findings.values():
        low, high = finding.span
        for value in (finding.value, finding.baseline):
            assert value is None or ((low is None or value >= low) and (high is None or value <= high)), finding
        assert finding.value is not None or len(finding.note) > 15
