"""table: reading and drafting a schema, against pandas' reader alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable.table import io


def main(folder: Path) -> None:
    name, people = census()
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "data.csv"
        _, cpu_write, _ = clocked(lambda: io.write(people, path))
        _, cpu_pandas, wall_pandas = clocked(lambda: pd.read_csv(path, dtype=str, keep_default_na=False), 3)
        _, cpu_read, wall_read = clocked(lambda: io.read(path, people.schema), 3)
        _, cpu_draft, wall_draft = clocked(lambda: io.draft(path), 3)
    show(
        f"table: {name}, {people.rows:,} rows x {len(people.schema)} columns (CSV)",
        ["what", "CPU s", "wall s", "of pandas"],
        [
            ["pandas.read_csv, text only", cpu_pandas, wall_pandas, "1"],
            ["read and check under a schema", cpu_read, wall_read, f"{cpu_read / cpu_pandas:.2f} x"],
            ["draft a schema", cpu_draft, wall_draft, f"{cpu_draft / cpu_pandas:.2f} x"],
            ["write", cpu_write, "", ""],
        ],
    )
