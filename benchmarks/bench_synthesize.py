"""synthesize: sequential trees against python-synthpop, on the same training rows and the same test rows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import Peer
from benchmarks.peers import table as show
from hushtable.audits.indicators import IdenticalMatches
from hushtable.evidence.case import Case
from hushtable.measures.dependence import Association
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.margins import MarginDistances
from hushtable.table import io
from hushtable.table.table import Table

# It asks scikit-learn for an argument that version 1.4 took away.
PACKAGES = ["python-synthpop==0.1.2", "scikit-learn<1.4", "numpy<2"]
SYNTHPOP = """
import pandas as pd, logging
logging.disable(logging.CRITICAL)
from synthpop import CARTMethod
train = pd.read_csv(sys.argv[1], keep_default_na=False)
meta = {c: "numerical" if train[c].dtype.kind in "if" else "categorical" for c in train}
start, wall = clock(), time.time()
# Its own DataProcessor loses columns of many levels on the way back: codes go in instead.
levels = {c: pd.Index(train[c].unique()) for c in train if meta[c] == "categorical"}
coded = train.assign(**{c: index.get_indexer(train[c]) for c, index in levels.items()})
model = CARTMethod(meta, smoothing=False, proper=False, minibucket=5, random_state=0)
model.fit(coded)
released = model.sample(len(train))
released = released.assign(**{c: index[released[c].astype(int)] for c, index in levels.items()})
report(start, wall)
released[train.columns].to_csv(sys.argv[2], index=False)
"""


def judge(train: Table, release: Table, control: Table) -> list[object]:
    """AUC, mean TVD, association difference, and copies where the column with the most values is left out."""
    case = Case(train, release, control)
    rng = np.random.default_rng(0)
    auc = TrainOnRelease(bootstrap=2).run(case, rng)[0]
    tvd = MarginDistances().run(case, rng)[0]
    pairs = Association().run(case, rng)[0]
    rest = [n for n in case.columns if n != "fnlwgt"]
    copies = IdenticalMatches().run(Case(train.select(rest), release.select(rest), control.select(rest)), rng)[0]
    shown = f"{auc.value:.4f} (real {auc.baseline:.4f})" if auc.value is not None else auc.note
    return [shown, f"{tvd.value:.4f}", f"{pairs.value:.4f}", f"{copies.value:.4f} (fresh {copies.baseline:.4f})"]


def main(folder: Path) -> None:
    name, people = census()
    size = min(30_000, int(0.7 * people.rows))
    order = np.random.default_rng(20261115).permutation(people.rows)
    control, train = people.take(order[: people.rows // 4]), people.take(order[people.rows // 4 :][:size])
    rows = []
    aucs = []
    for seed in range(5):
        release, cpu, wall = clocked(lambda s=seed: ht.release(train, "sequential", seed=s))
        scores = judge(train, release.table, control)
        aucs.append(float(str(scores[0]).split()[0]))
        if seed == 0:
            rows.append(["ours, sequential trees", cpu, wall, *scores])
    with tempfile.TemporaryDirectory() as temporary:
        io.write(train, Path(temporary) / "train.csv")
        target = Path(temporary) / "release.csv"
        theirs = Peer.install(PACKAGES, folder / "synthpop").run(SYNTHPOP, Path(temporary) / "train.csv", target)
        if target.is_file():
            released, _ = ht.read_release(target, train.schema)
            rows.append(["python-synthpop CART", theirs["cpu"], theirs["wall"], *judge(train, released, control)])
        else:
            rows.append(["python-synthpop CART", theirs.get("note", ""), "", "", "", "", ""])
    show(
        f"synthesize: {name}, {train.rows:,} training rows, fit and sample; tested on {control.rows:,} real rows",
        ["method", "CPU s", "wall s", "AUC", "mean TVD", "association", "copies"],
        rows,
    )
    print(f"AUC of ours over 5 seeds: {np.mean(aucs):.4f}, from {min(aucs):.4f} to {max(aucs):.4f}")
    rows = []
    for epsilon in (0.1, 1.0, 10.0):
        release, cpu, _ = clocked(lambda e=epsilon: ht.release(train, "independent", epsilon=e))
        spent = f"{release.guarantee.epsilon():.3f}"
        rows.append([f"independent, epsilon {epsilon:g}", cpu, spent, *judge(train, release.table, control)[:3]])
    show("synthesize: independent noisy margins", ["method", "CPU s", "epsilon", "AUC", "mean TVD", "association"], rows)
