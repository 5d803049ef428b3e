"""Tables of numbers with a class that have no schema of their own: gene expression, images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushtable.data.datasets import VARIABLE, data_folder
from hushtable.errors import InputError
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class Labelled:
    """Where a table lies, which column is its class, and which are left out."""

    path: str
    target: str
    dropped: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None
    """Of whole numbers, declared; else numbers are real, and their bounds those of the rows."""


LABELLED = {
    "tcga_breast": Labelled("tcga_breast/tcga_breast_rnaseq.csv.gz", "subtype", ("sample", "split")),
    "mnist": Labelled("mnist/mnist_t10k_5000.csv.gz", "label", bounds=(0, 255)),
}


def labelled(name: str, folder: Path | None) -> Table:
    """The table of this name; InputError if it is not here."""
    import pandas as pd

    source, root = LABELLED[name], data_folder(folder)
    if root is None or not (root / source.path).is_file():
        raise InputError(f"the file is not here; set {VARIABLE} to the folder of the tables", where=source.path)
    frame = pd.read_csv(root / source.path).drop(columns=list(source.dropped))
    labels = frame.pop(source.target).to_numpy()
    classes, codes = np.unique(labels, return_inverse=True)
    target = Column(
        name=source.target, kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(tuple(map(str, classes))), required=True
    )
    columns = [_column(str(one), values.to_numpy(), source.bounds) for one, values in frame.items()]
    values = {column.name: column.from_floats(frame[column.name].to_numpy(np.float64)) for column in columns}
    return Table(Schema((*columns, target)), values | {target.name: codes.astype(target.dtype)})


def _column(name: str, values: np.ndarray, bounds: tuple[int, int] | None) -> Column:
    if bounds is not None:
        return Column(name=name, kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(*bounds), required=True)
    observed = Bounds(float(values.min()), float(values.max()), observed=True)
    return Column(name=name, kind=Kind.REAL, role=Role.QUASI, domain=observed, required=True)
