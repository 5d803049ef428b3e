"""evidence: exact nearest neighbours of mixed tables, against scikit-learn on one-hot data and SDMetrics' closest records."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import census, clocked
from benchmarks.peers import Peer
from benchmarks.peers import table as show
from hushtable.data import datasets
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence.neighbours.search import Encoding, search, search_without
from hushtable.table import io
from hushtable.table.table import Table

SDMETRICS = """
import pandas as pd
from sdmetrics.single_table import DCROverfittingProtection
train, control, release = (pd.read_csv(f"{sys.argv[1]}/{n}.csv", na_values=["?"]) for n in ("train", "control", "release"))
columns = {c: {"sdtype": "numerical" if train[c].dtype.kind in "if" else "categorical"} for c in train}
start, wall = clock(), time.time()
DCROverfittingProtection.compute_breakdown(train, release, control, {"tables": {"people": {"columns": columns}}}, "people")
report(start, wall)
"""
HEAD = ["what", "rows", "columns", "CPU s", "wall s", "ns a pair"]


def main(folder: Path) -> None:
    size = 10_000
    name, rows = census(3 * size)
    size = rows.rows // 3
    train, control, release = (rows.take(np.arange(i * size, (i + 1) * size)) for i in range(3))
    half = train.schema.names[::2]
    # Compiled, or read from the cache, before it is measured.
    ours(train.take(np.arange(100)), release.take(np.arange(100)))
    lines = [
        line("ours, exact, k = 1", train, release),
        line("ours, exact, k = 5", train, release, k=5),
        line("ours, exact, alternate columns", train, release, columns=half),
        line("ours, each column unknown in turn", train, release, k=0),
        onehot("scikit-learn brute force, one-hot L1", train, release, "brute", 1_000),
        onehot("scikit-learn ball tree, one-hot L1", train, release, "ball_tree", 1_000),
        sdmetrics(folder, train, control, release, 1_000),
    ]
    show(f"evidence: {name}, neighbours in a release; blocks and encoding included", HEAD, lines)
    show("evidence: larger tables, k = 1", HEAD, [line(label, a, b) for label, a, b in larger()])


def larger() -> list[tuple[str, Table, Table]]:
    """Queries and targets of different people, as many as there are."""
    pairs = []
    for label, table, queries, targets in (
        ("Adult", "adult", 16_281, 32_561),
        ("Texas inpatients", "texas_inpatient", 20_000, 20_000),
        ("people", "people", 100_000, 100_000),
    ):
        try:
            rows = people(queries + targets, 0) if table == "people" else datasets.load(table)
        except InputError:
            continue
        rows = rows.select(rows.schema.released).take(np.random.default_rng(0).permutation(rows.rows)[: queries + targets])
        pairs.append((label, rows.take(np.arange(queries)), rows.take(np.arange(queries, queries + targets))))
    return pairs


def ours(queries: Table, targets: Table, k: int = 1, columns: tuple[str, ...] | None = None) -> object:
    """All of the work: encode, arrange, search; with k = 0 each column unknown in turn."""
    encoding = Encoding.of([queries, targets], columns)
    a, b = encoding.points(queries), encoding.points(targets)
    return search(a, b, encoding, k) if k else search_without(a, b, encoding)


def line(label: str, queries: Table, targets: Table, k: int = 1, columns: tuple[str, ...] | None = None) -> list[object]:
    _, cpu, wall = clocked(lambda: ours(queries, targets, k, columns), 3 if queries.rows < 20_000 else 1)
    return measured(label, queries.rows, targets.rows, len(columns or targets.schema.names), cpu, wall)


def measured(label: str, queries: int, targets: int, columns: int, cpu: float, wall: float) -> list[object]:
    return [label, f"{queries:,} x {targets:,}", columns, cpu, wall, 1e9 * cpu / queries / targets]


def onehot(label: str, train: Table, release: Table, algorithm: str, part: int) -> list[object]:
    """The same distance where nothing is missing or generalized: levels one-hot at one half, numbers over their range."""
    from sklearn.neighbors import NearestNeighbors

    encoding = Encoding.of([train, release])
    queries, targets = (_dense(encoding, table) for table in (train.take(np.arange(part)), release))

    def work() -> object:
        return NearestNeighbors(n_neighbors=1, algorithm=algorithm, metric="manhattan").fit(targets).kneighbors(queries)

    _, cpu, wall = clocked(work)
    return measured(label, part, len(targets), len(encoding.names), cpu, wall)


def _dense(encoding: Encoding, table: Table) -> np.ndarray:
    cells = encoding.points(table).cells
    levels = [np.eye(len(encoding.levels[n]) + 1)[cells.codes[:, c]] / 2 for c, n in enumerate(encoding.coded)]
    return np.hstack([*levels, np.nan_to_num(cells.low * encoding.inverse)])


def sdmetrics(folder: Path, train: Table, control: Table, release: Table, part: int) -> list[object]:
    with tempfile.TemporaryDirectory() as temporary:
        for label, t in (("train", train), ("control", control), ("release", release)):
            io.write(t.take(np.arange(part)), Path(temporary) / f"{label}.csv")
        theirs = Peer.install(["sdmetrics==0.32.0"], folder / "sdmetrics").run(SDMETRICS, temporary)
    if "cpu" not in theirs:
        return ["SDMetrics DCR", f"2 x {part:,}^2", len(train.schema.names), theirs.get("note", ""), "", ""]
    return measured(
        "SDMetrics DCR, two tables", 2 * part, part, len(train.schema.names), float(theirs["cpu"]), float(theirs["wall"])
    )
