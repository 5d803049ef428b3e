"""The tables of the studies: those that are at hand, with declared bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from hushtable.data.datasets import load
from hushtable.errors import InputError
from hushtable.table.columns import Bounds
from hushtable.table.table import Table

_AMOUNTS = {f"{kind}{i}": ends for i in range(1, 7) for kind, ends in (("bill_amt", (-400_000, 2e6)), ("pay_amt", (0, 2e6)))}
_CHARGES = {
    f"total_{covered}charges{part}": (0, 1e7) for covered in ("", "non_cov_") for part in ("", "_accomm", "_ancil")
}  # fmt: skip
ROUND: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "credit_approval": {"A2": (0, 100), "A3": (0, 30), "A8": (0, 30), "A11": (0, 100), "A14": (0, 2000), "A15": (0, 100_000)},
    "credit_card_default": {"limit_bal": (1e4, 1e6), "age": (18, 90), **_AMOUNTS},
    "texas_inpatient": {"length_of_stay": (1, 1000), **_CHARGES},
}
"""Round bounds for columns whose schema leaves them open: what is proven needs declared ones."""


def at_hand(names: tuple[str, ...], folder: str | Path | None, rows: int | None = None) -> tuple[dict[str, Table], list[str]]:
    """The tables that are here, of at most so many rows, and why the others are not; the bundled town if none is."""
    tables, skipped = dict[str, Table](), list[str]()
    for name in names:
        try:
            table = load(name, folder)
        except InputError as error:
            skipped.append(f"{name}: {error}")
        else:
            tables[name] = declared(name, table, rows)
    if not tables:
        tables["people"] = declared("people", load("people", folder), rows)
        skipped.append("none of the published data sets is at hand: these are the people of a fictional town")
    return tables, skipped


def declared(name: str, table: Table, rows: int | None = None) -> Table:
    """The columns that may leave, with round bounds where they were open, and at most so many rows."""
    table = table.select(table.schema.released)
    for column in table.schema:
        if column.name in ROUND.get(name, {}):
            low, high = ROUND[name][column.name]
            bounded = replace(column, domain=Bounds(float(low), float(high)))
            table = table.with_column(bounded, bounded.from_floats(table.floats(column.name)))
    if rows is not None and rows < table.rows:
        table = table.take(np.sort(np.random.default_rng(0).choice(table.rows, rows, replace=False)))
    return table
