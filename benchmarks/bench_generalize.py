"""generalize: proven optima against anjana's greedy, checked by pyCANON; ARX (Java) was measured elsewhere and stands beside."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

import hushtable as ht
from benchmarks.adult import COLUMNS, complete, loss
from benchmarks.data import clocked
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable.api.pareto import pareto
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.table import Table

ANJANA = """
import pandas as pd
from anjana.anonymity import k_anonymity
data, out, folder, limit, k = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
frame = pd.read_csv(data, dtype=str, keep_default_na=False)
names = list(frame.columns)
levels = {}
for name in names:
    lines = pd.read_csv(f"{folder}/{name}.csv", dtype=str, keep_default_na=False)
    levels[name] = {i: lines.iloc[:, i].values for i in range(lines.shape[1])}
start, wall = clock(), time.time()
released = k_anonymity(frame, [], names, k, limit, levels)
report(start, wall, rows=len(released))
released.to_csv(out, index=False)
"""
PYCANON = """
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
start, wall = clock(), time.time()
k = anonymity.k_anonymity(frame, list(frame.columns))
report(start, wall, k=int(k))
"""
COLD = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from benchmarks.adult import complete
import hushtable as ht
ht.release(complete()[1], "k-anonymity", settings={"k": "5", "limit": sys.argv[2]}, seed=1)
use = resource.getrusage(resource.RUSAGE_SELF)
print(use.ru_utime + use.ru_stime)
"""
ARX = {1.0: (13.0, "0.2204", 2553, 4749), 0.02: (8.2, "0.3137", 506, 1245)}
"""CPU s of the whole cold process, loss, rows suppressed, nodes checked."""


def main(folder: Path) -> None:
    try:
        hierarchies, table = complete()
    except (FileNotFoundError, InputError):
        print("\ngeneralize: needs the Adult table and its hierarchies (set HUSHTABLE_DATA)")
        return
    anjana, pycanon = (Peer.install([name], folder / name) for name in ("anjana", "pycanon"))
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        raw = Path(temporary) / "adult.csv"
        io.write(table, raw)
        ht.release(table.take(range(200)), "k-anonymity", settings={"limit": "1"}, seed=1)
        for limit in (1.0, 0.05, 0.02, 0.0):
            knobs = {"limit": str(limit)}
            release, cpu, _ = clocked(lambda s=knobs: ht.release(table, "k-anonymity", settings=s, seed=1), 2)
            result = release.result["generalize"]
            ours = Path(temporary) / f"ours{limit}.csv"
            io.write(release.table, ours)
            k = pycanon.run(PYCANON, ours).get("k", "")
            out = Path(temporary) / f"theirs{limit}.csv"
            theirs = anjana.run(ANJANA, raw, out, hierarchies, 100 * limit, 5)
            beaten = ["", ""]
            if out.exists():
                frame = pd.read_csv(out, dtype=str, keep_default_na=False)
                beaten = [f"{loss(hierarchies, frame, table.rows):.4f}", f"{table.rows - len(frame):,}"]
            rows.append(
                [
                    f"{100 * limit:g} %", cpu, f"{result['search']['value']:.9f}", f"{result['suppressed_rows']:,}",
                    f"{result['search']['checked']:,}", "proven" if result["search"]["optimal"] else "gap", k,
                    theirs.get("cpu", theirs.get("note", "")), ratio(theirs, cpu), *beaten,
                    *ARX.get(limit, ("", "", "", "")),
                ]
            )  # fmt: skip
    head = ["limit", "CPU s", "loss", "suppressed", "nodes", "optimum", "k by pyCANON"]
    head += [f"anjana: {word}" for word in ("CPU s", "ratio", "loss", "suppressed")]
    head += [f"ARX (elsewhere): {word}" for word in ("CPU s, cold", "loss", "suppressed", "nodes")]
    show(f"generalize: k = 5, {table.rows:,} rows, {len(COLUMNS)} quasi-identifiers of Adult, 12,960 nodes", head, rows)
    root = str(Path(__file__).resolve().parent.parent)
    cold = [[f"{100 * limit:g} %", float(_cold(root, limit))] for limit in (1.0, 0.02)]
    show("generalize: a cold process, from start to released table", ["limit", "CPU s"], cold)
    _, cpu, _ = clocked(lambda: pareto(table))
    show("generalize: the sheet of 5 k x 6 limits in one search", ["CPU s"], [[cpu]])
    local, cpu, _ = clocked(lambda: ht.release(table, "k-anonymity", settings={"local": "true"}, seed=1))
    result = local.result["generalize"]
    line = [cpu, f"{result['losses']['geometric']:.4f}", result["suppressed_rows"], f"{result['classes']:,}", "0.1705"]
    show("generalize: local recoding", ["CPU s", "loss", "suppressed", "classes", "ARX's loss (elsewhere)"], [line])
    _demanding()
    _other_ways(hierarchies, table)


def _other_ways(hierarchies: Path, table: Table) -> None:
    rows = []
    for recipe, knobs in (("mondrian", {"cells": "ancestor"}), ("mondrian", {"cells": "ranges"}), ("local-suppression", {})):
        release, cpu, _ = clocked(lambda r=recipe, s=knobs: ht.release(table, r, settings={"k": "5", **s}, seed=1), 2)
        result = next(iter(release.result.values()))
        frame = release.table.frame().astype(str)
        exact = f"{loss(hierarchies, frame, table.rows):.4f}" if "ranges" not in knobs.values() else ""
        cells = sum(result["cells"].values()) if isinstance(result.get("cells"), dict) else ""
        rows.append([recipe, ", ".join(knobs.values()), cpu, exact, result["classes"], cells, release.guarantee.criteria["k"]])
    head = ["recipe", "cells", "CPU s", "loss", "classes", "cells suppressed", "k measured"]
    show(
        "generalize: the same rows by local recoding and suppression, k = 5 (sdcMicro's local suppression did not finish in 560 s)",
        head,
        rows,
    )


def _demanding() -> None:
    rows = []
    for secret, knobs in (("occupation", {"l": "3"}), ("income", {"t": "0.2", "suppressed": "star"}), ("income", {"t": "0.2"})):
        _, table = complete(secret=secret)
        release, cpu, _ = clocked(lambda t=table, s=knobs: ht.release(t, "k-anonymity", settings={"limit": "1", **s}, seed=1))
        result, search = release.result["generalize"], release.result["generalize"]["search"]
        asked = ", ".join(f"{k} = {v}" for k, v in knobs.items())
        rows.append([f"{secret}: {asked}", cpu, f"{search['value']:.6f}", result["suppressed_rows"], search["checked"]])
    show("generalize: k = 5 with l or t, no monotonicity assumed", ["demand", "CPU s", "loss", "suppressed", "nodes"], rows)


def _cold(root: str, limit: float) -> str:
    return subprocess.run([sys.executable, "-c", COLD, root, str(limit)], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
