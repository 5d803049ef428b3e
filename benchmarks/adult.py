"""Adult as the field measures generalization on it: complete rows, nine quasi-identifiers, the hierarchies that ARX ships."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd

from hushtable.data.datasets import data_folder
from hushtable.table import io
from hushtable.table.schema import Schema
from hushtable.table.table import Table

COLUMNS = ("sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income")


def complete(folder: Path | None = None, secret: str = "") -> tuple[Path, Table]:
    """The folder of the hierarchies and the table; a secret column is no quasi-identifier then. FileNotFoundError if absent."""
    root = folder or data_folder()
    if root is None:
        raise FileNotFoundError("there is no folder with the Adult table")
    adult = root / "adult"
    hierarchies = adult / "hierarchies_arx"
    frame = pd.read_csv(adult / "adult_train.csv.gz", dtype=str, keep_default_na=False)
    frame = frame[(frame != "?").all(axis=1)][list(COLUMNS)]
    lines = ["columns:"]
    for name in COLUMNS:
        kind, role = "integer" if name == "age" else "category", "secret" if name == secret else "quasi"
        lines.append(f"  {name}: {{kind: {kind}, role: {role}, hierarchy: {name}.csv}}")
    return hierarchies, io.read(frame, Schema.parse("\n".join(lines), folder=hierarchies))


def shares(hierarchies: Path, name: str) -> dict[str, float]:
    """For each label of a hierarchy, at the lowest level it stands on, the share of the leaves under it."""
    rows = list(csv.reader((hierarchies / f"{name}.csv").read_text(encoding="utf-8").splitlines()))[1:]
    leaves: dict[str, float] = {}
    for level in range(len(rows[0])):
        for label in dict.fromkeys(row[level] for row in rows):
            leaves.setdefault(label, sum(row[level] == label for row in rows) / len(rows))
    return leaves


def loss(hierarchies: Path, released: pd.DataFrame, rows: int) -> float:
    """The loss of a released frame of text, rows that are missing counted as suppressed: (prod (1 + x))^(1/m) - 1."""
    product = 1.0
    for name in COLUMNS:
        by = shares(hierarchies, name)
        leaf = min(by.values())
        total = sum(by[label] * count for label, count in released[name].value_counts().items()) + rows - len(released)
        product *= 1 + (total - rows * leaf) / (rows - rows * leaf)
    return product ** (1 / len(COLUMNS)) - 1
