"""audits and utility: the whole audit of a release; margins and associations against SDMetrics' quality report."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import census, clocked
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable import api
from hushtable.table import io

QUALITY = """
import pandas as pd
from sdmetrics.reports.single_table import QualityReport
train, release = (pd.read_csv(f"{sys.argv[1]}/{n}.csv", na_values=["?"]) for n in ("train", "release"))
columns = {c: {"sdtype": "numerical" if train[c].dtype.kind in "if" else "categorical"} for c in train}
start, wall = clock(), time.time()
QualityReport().generate(train, release, {"columns": columns}, verbose=False)
report(start, wall)
"""


def main(folder: Path) -> None:
    name, people = census()
    fresh, train = people.take(np.arange(people.rows // 4)), people.take(np.arange(people.rows // 4, people.rows))
    made = api.release(train, "sequential", seed=0)
    api.audit(train, made, fresh, seed=0)
    rows, cost = [], {}
    for audit in ("identical-matches", "closest-record", "margins", "association", "downstream"):
        _, cost[audit], wall = clocked(lambda a=audit: api.audit(train, made, fresh, only=[a], seed=0))
        rows.append([audit, cost[audit], wall, ""])
    with tempfile.TemporaryDirectory() as temporary:
        io.write(train, Path(temporary) / "train.csv")
        io.write(made.table, Path(temporary) / "release.csv")
        theirs = Peer.install(["sdmetrics==0.32.0"], folder / "quality").run(QUALITY, temporary)
    ours = cost["margins"] + cost["association"]
    rows.append(
        ["SDMetrics quality report", theirs.get("cpu", ""), theirs.get("wall", ""), f"{ratio(theirs, ours)} margins + association"]
    )
    show(
        f"audits: {name}, {train.rows:,} training and released rows, {fresh.rows:,} fresh rows, {len(people.schema)} columns",
        ["audit", "CPU s", "wall s", "ratio"],
        rows,
    )
