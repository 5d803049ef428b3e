"""evidence: all-pairs nearest neighbours of mixed tables, against SDMetrics' distances to the closest record."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import census, clocked
from benchmarks.peers import Peer
from benchmarks.peers import table as show
from hushtable.evidence.neighbours import Encoding, search
from hushtable.table import io

SDMETRICS = """
import pandas as pd
from sdmetrics.single_table import DCROverfittingProtection
train, control, release = (pd.read_csv(f"{sys.argv[1]}/{n}.csv", na_values=["?"]) for n in ("train", "control", "release"))
columns = {c: {"sdtype": "numerical" if train[c].dtype.kind in "if" else "categorical"} for c in train}
start, wall = clock(), time.time()
DCROverfittingProtection.compute_breakdown(train, release, control, {"tables": {"people": {"columns": columns}}}, "people")
report(start, wall)
"""


def main(folder: Path) -> None:
    size, part = 10_000, 1_000
    name, people = census(3 * size)
    size = people.rows // 3
    names = [n for n in people.schema.names if n != "education"]
    train, control, release = (people.select(names).take(np.arange(i * size, (i + 1) * size)) for i in range(3))
    encoding = Encoding.of([train, control, release])
    points = [encoding.points(t) for t in (train, control, release)]
    search(points[0], points[2], encoding, 1)
    _, cpu, wall = clocked(lambda: [search(p, points[2], encoding, 1) for p in points[:2]], 3)
    with tempfile.TemporaryDirectory() as temporary:
        for label, t in (("train", train), ("control", control), ("release", release)):
            io.write(t.take(np.arange(part)), Path(temporary) / f"{label}.csv")
        theirs = Peer.install(["sdmetrics==0.32.0"], folder / "sdmetrics").run(SDMETRICS, temporary)
    ours_pair = cpu / (2 * size * size)
    their_pair = float(theirs["cpu"]) / (2 * part * part) if "cpu" in theirs else None
    show(
        f"evidence: {name}, train and control against a release, {len(names)} mixed columns",
        ["what", "rows", "CPU s", "wall s", "ns a pair", "ratio"],
        [
            ["ours, exact, all pairs", f"2 x {size:,}^2", cpu, wall, 1e9 * ours_pair, "1"],
            [
                "SDMetrics DCR", f"2 x {part:,}^2", theirs.get("cpu", theirs.get("note", "")), theirs.get("wall", ""),
                1e9 * their_pair if their_pair else "", f"{their_pair / ours_pair:.0f} x" if their_pair else "",
            ],
        ],
    )  # fmt: skip
