"""The tables of the studies: those that are at hand, with declared bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from hushtable.data.datasets import load
from hushtable.errors import InputError
from hushtable.studies.labelled import LABELLED, labelled
from hushtable.table.columns import Bounds, Levels
from hushtable.table.table import Table

_AMOUNTS = {f"{kind}{i}": ends for i in range(1, 7) for kind, ends in (("bill_amt", (-400_000, 2e6)), ("pay_amt", (0, 2e6)))}
_CHARGES = {
    f"total_{covered}charges{part}": (0, 1e7) for covered in ("", "non_cov_") for part in ("", "_accomm", "_ancil")
}  # fmt: skip
ROUND: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "credit_approval": {"A2": (0, 100), "A3": (0, 30), "A8": (0, 30), "A11": (0, 100), "A14": (0, 2000), "A15": (0, 100_000)},
    "credit_card_default": {"limit_bal": (1e4, 1e6), "age": (18, 90), **_AMOUNTS},
    "texas_inpatient": {"length_of_stay": (1, 1000), **_CHARGES},
    "german_credit": {
        "duration_months": (1, 100), "credit_amount": (100, 20_000), "installment_rate": (1, 4), "residence_since": (1, 4),
        "age": (18, 100), "existing_credits": (1, 10), "num_dependents": (1, 10),
    },
    "sd2011": {
        "age": (16, 110), "unempdur": (0, 60), "income": (0, 20_000), "mmarr": (1, 12), "ymarr": (1920, 2011), "msepdiv": (1, 12),
        "ysepdiv": (1920, 2011), "depress": (0, 21), "nofriend": (0, 100), "nociga": (0, 100), "wkabdur": (0, 100),
        "height": (100, 220), "weight": (30, 200), "bmi": (10, 500),
    },
}  # fmt: skip
"""Round bounds for columns whose schema leaves them open: what is proven needs declared ones."""
QUESTIONNAIRES = ("sd2011",)
"""Their answers to choose from are public: levels that a schema leaves open count as declared."""


def found(
    names: Iterable[str], folder: str | Path | None, read: Callable[[str, Path | None], Table] | None = None
) -> tuple[dict[str, Table], list[str]]:
    """The tables that are here, as ``read`` has them (``table_of``), and why the others are not."""
    tables, skipped = dict[str, Table](), list[str]()
    for name in names:
        try:
            tables[name] = (read or table_of)(name, None if folder is None else Path(folder))
        except InputError as error:
            skipped.append(f"{name}: {error}")
    return tables, skipped


def table_of(name: str, folder: Path | None) -> Table:
    """A table by name, with declared bounds; also one of those that have no schema."""
    return labelled(name, folder) if name in LABELLED else declared(name, load(name, folder))


def at_hand(names: tuple[str, ...], folder: str | Path | None, rows: int | None = None) -> tuple[dict[str, Table], list[str]]:
    """The tables that are here, of at most so many rows, and why the others are not; the bundled town if none is."""
    tables, skipped = found(names, folder, lambda name, _: declared(name, load(name, folder), rows))
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
        elif name in QUESTIONNAIRES and isinstance(column.domain, Levels) and column.domain.observed:
            table = table.with_column(replace(column, domain=replace(column.domain, observed=False)), table[column.name])
    if rows is not None and rows < table.rows:
        table = table.take(np.sort(np.random.default_rng(0).choice(table.rows, rows, replace=False)))
    return table
