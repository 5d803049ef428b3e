"""Many rows like Adult's: each is a row of the table, bootstrapped, every cell with probability 0.1 that of another row.

So distinct rows grow with the number of rows, and shares and pairs stay about what they are. Where the table is not at hand a
generated survey takes its place.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.generated import survey
from hushtable.data.datasets import data_folder
from hushtable.table import io
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

PART = 1_000_000
STRANGE = 0.1
"""The probability that a cell is another row's."""

KNOWN = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
"""What others may know of somebody in Adult: the quasi-identifiers of most papers that anonymize it."""


def base() -> Table:
    """The rows that are multiplied: 15 columns, their domains declared."""
    root = data_folder()
    if root is None:
        table = survey(30_000)
        return table.select(table.schema.names[:15]).declared()
    frame = root / "adult" / "adult_train.csv.gz"
    table = io.read(frame, io.draft(frame)).declared()
    roles = {c.name: Role.QUASI if c.name in KNOWN else Role.PLAIN for c in table.schema if c.role in (Role.PLAIN, Role.QUASI)}
    return table.under(table.schema.with_columns(*(replace(table.schema[name], role=role) for name, role in roles.items())))


def write(rows: int, folder: Path, table: Table | None = None, seed: int = 0) -> tuple[Path, Schema]:
    """Parquet files of so many rows in a new folder, and their schema; what is there already stays."""
    table = table or base()
    target = folder / f"rows-{rows}"
    if target.is_dir():
        return target, table.schema
    partial = folder / f"partial-{rows}"
    partial.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, PART)):
        io.write(
            sample(table, min(PART, rows - start), np.random.default_rng([seed, number])), partial / f"part-{number:05d}.parquet"
        )
    partial.rename(target)
    return target, table.schema


def sample(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """So many rows."""
    own = rng.integers(0, table.rows, rows)
    arrays = {}
    for name in table.schema.names:
        other = np.where(rng.random(rows) < STRANGE, rng.integers(0, table.rows, rows), own)
        arrays[name] = table[name][other]
    return Table(table.schema, arrays, dict(table.texts))
