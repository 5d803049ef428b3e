"""utility: every measure alone and all together, each in a process of its own, against SDMetrics and SynthEval on the same files.

SynthEval takes minutes and is run only if HUSHTABLE_SYNTHEVAL is set.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable.api.utility import utilities
from hushtable.table import io
from hushtable.table.table import Table

TRAIN = 32_561
RECIPES = ("sequential", "mondrian")
OURS = """
from pathlib import Path
import hushtable as ht
from hushtable.api.utility import utilities
from hushtable.table import io
from hushtable.table.schema import Schema
folder, only = Path(sys.argv[1]), sys.argv[2:]
schema = Schema.parse(json.loads((folder / "schema.json").read_text()))
train, control = (io.read(folder / f"{name}.csv", schema) for name in ("train", "control"))
release, _ = ht.read_release(folder / "release", schema)
start, wall = clock(), time.time()
findings = ht.utility(train, release, control, only=only, seed=0).findings
whole = {f.name: f.value for f in findings if not f.scope}
report(start, wall, findings=len(findings), none=sum(f.value is None for f in findings), whole=whole)
"""
READ = """
import warnings; warnings.filterwarnings("ignore")
import pandas as pd
read = lambda name: pd.read_csv(f"{sys.argv[1]}/{name}.csv", keep_default_na=False, na_values=[""])
train, control = read("train"), read("control")
release = read("release/data")[list(train)]
secret = sys.argv[2]
"""
SDMETRICS = (
    READ
    + """
from sdmetrics.reports.single_table import QualityReport
kinds = {"columns": {c: {"sdtype": "numerical" if train[c].dtype.kind in "if" else "categorical"} for c in train}}
start, wall = clock(), time.time()
quality = QualityReport()
quality.generate(train, release, kinds, verbose=False)
report(start, wall, scores=", ".join(f"{p.Property} {p.Score:.4f}" for p in quality.get_properties().itertuples()))
"""
)
SYNTHEVAL = (
    READ
    + """
from syntheval import SynthEval
import os, tempfile
os.chdir(tempfile.mkdtemp())
start, wall = clock(), time.time()
cats = [c for c in train if train[c].dtype.kind not in "if"]
judge = SynthEval(train, holdout_dataframe=control, cat_cols=cats, verbose=False)
wanted = {"dwm": {}, "pca": {}, "cio": {}, "corr_diff": {"mixed_corr": True}, "mi_diff": {}, "ks_test": {}, "h_dist": {},
          "p_mse": {}, "auroc_diff": {"model": "log_reg"}}
result = judge.evaluate(release, analysis_target_var=secret, **wanted)
report(start, wall, scores=", ".join(f"{row['metric']} {row['val']:.3g}" for _, row in result.iterrows()))
"""
)


def main(folder: Path) -> None:
    name, people = census()
    size = min(TRAIN, people.rows * 2 // 3)
    order = np.random.default_rng(20261116).permutation(people.rows)
    train, control = people.take(order[:size]), people.take(order[size:])
    # The first run on a machine compiles; it is none of those that are timed.
    ht.utility(train.take(np.arange(300)), train.take(np.arange(300, 600)), control.take(np.arange(300)))
    for recipe in RECIPES:
        with tempfile.TemporaryDirectory() as temporary:
            _compare(name, train, control, recipe, Path(temporary), folder)


def _compare(name: str, train: Table, control: Table, recipe: str, files: Path, folder: Path) -> None:
    release = ht.release(train, recipe, seed=0)
    for file, part in (("train", train), ("control", control)):
        io.write(part, files / f"{file}.csv")
    (files / "schema.json").write_text(json.dumps(train.schema.portable().dump()), encoding="utf-8")
    ht.save(release, files / "release")
    ours = Peer(Path(sys.prefix))
    whole = ours.run(OURS, files)
    alone = {measure: ours.run(OURS, files, measure) for measure in utilities()}
    rows = [_row("all of them", whole, ""), *(_row(f"  {measure} alone", run, "") for measure, run in alone.items())]
    rows += [
        ["  " + measure, "", "", "", "", value] for measure, value in dict(whole.get("whole", {})).items() if value is not None
    ]
    if recipe == RECIPES[0]:
        peers = {"SDMetrics 0.32.0, columns and pairs": (SDMETRICS, "sdmetrics==0.32.0", ("margins", "association"))}
        if os.environ.get("HUSHTABLE_SYNTHEVAL"):
            peers["SynthEval 1.7.3, nine metrics of utility"] = (SYNTHEVAL, "syntheval==1.7.3", tuple(alone))
        for label, (script, package, like) in peers.items():
            theirs = Peer.install([package], folder / package.partition("=")[0]).run(script, files, train.schema.names[-1])
            spent = sum(float(alone[measure].get("cpu", "nan")) for measure in like)
            rows.append(_row(label, theirs, f"{ratio(theirs, spent)} of {' and '.join(like) if len(like) < 3 else 'all of them'}"))
            rows += [["  " + score, "", "", "", "", ""] for score in str(theirs.get("scores", "")).split(", ") if score]
    title = (
        f"utility: {name}, {train.rows:,} training rows, {release.table.rows:,} released by {recipe}, {control.rows:,} control rows"
    )
    show(title, ["measures", "findings", "CPU s", "wall s", "peak MB", "value, or ratio"], rows)


def _row(label: str, run: dict[str, float | str], more: str) -> list[object]:
    """Findings without a value are counted beside; a run that failed says why."""
    if "note" in run:
        return [label, "", "", "", "", run["note"]]
    counted = f"{run['findings']} ({run['none']} with a reason instead of a value)" if "findings" in run else ""
    return [label, counted, run["cpu"], run["wall"], run["mb"], more]
