"""refine: sequential trees by leaf size, with and without pruning and refinement: accuracy against alarms, on the same rows."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable.data import datasets
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures.discriminator import Discriminator
from hushtable.measures.downstream import TrainOnRelease
from hushtable.table.arrays import Integers
from hushtable.table.table import Table

ALONE = {"prune": "0", "shrink": "0", "refine": "0"}
WAYS = {
    "leaves of one row in 150": {"min_leaf": "0", **ALONE},
    "leaves of 50": {"min_leaf": "50", **ALONE},
    "leaves of 5 (CART as in synthpop)": {"min_leaf": "5", **ALONE},
    "pruned and shrunk": {"refine": "0"},
    "pruned, shrunk and refined (default)": {},
}
ROWS = 10_000
TRIPLES = 100
"""Three-way margins, drawn from all of them."""


def tables() -> list[tuple[str, Table]]:
    """A census, what else is at hand, and generated people."""
    found = [census()]
    for name in ("credit_card_default", "sd2011"):
        try:
            found.append((name, datasets.load(name)))
        except InputError:
            print(f"refine: {name} is not at hand")
    return [*found, ("people", datasets.load("people"))]


def grid(table: Table, train: Table) -> list[Integers]:
    """Each column in cells: its levels, or a number's twentieths among the training rows."""
    cells = []
    for column in train.schema:
        if column.numeric:
            known, asked = train.floats(column.name), table.floats(column.name)
            edges = np.unique(np.quantile(known[~np.isnan(known)], np.linspace(0.05, 0.95, 19)))
            cells.append(np.where(np.isnan(asked), 0, 1 + np.searchsorted(edges, asked, side="right")))
        else:
            cells.append(table[column.name].astype(np.int64) + 1)
    return cells


def margins(train: Table, released: Table, k: int) -> float:
    """The mean total variation over margins of k columns."""
    one, other = grid(train, train), grid(released, train)
    groups = list(combinations(range(len(one)), k))
    picked = np.random.default_rng(0).permutation(len(groups))[: TRIPLES if k > 2 else None]
    total = 0.0
    for group in (groups[at] for at in picked):
        both = [np.concatenate([one[at], other[at]]) for at in group]
        _, place = np.unique(np.ravel_multi_index(tuple(both), [int(b.max()) + 1 for b in both]), return_inverse=True)
        counts = [np.bincount(part, minlength=place.max() + 1) / len(part) for part in (place[: train.rows], place[train.rows :])]
        total += float(np.abs(counts[0] - counts[1]).sum()) / 2
    return total / len(picked)


def judge(train: Table, released: Table, control: Table) -> list[object]:
    """AUC, margins of one, two and three columns, the discriminator against people not trained on, and alarms of the audit."""
    rng = np.random.default_rng(0)
    auc = TrainOnRelease(bootstrap=2).run(Case(train, released, control), rng)[0]
    half = np.arange(control.rows // 2)
    against = Discriminator().run(Case(control.take(half), released, control.take(half + len(half))), rng)[0]
    shown = f"{auc.value:.4f} (real {auc.baseline:.4f})" if auc.value is not None and auc.baseline is not None else "-"
    alarms = len(ht.audit(train, released, control, seed=0).alarms)
    distances = [f"{margins(train, released, k):.4f}" for k in (1, 2, 3)]
    return [shown, *distances, f"{against.value:.3f}" if against.value is not None else "-", alarms]


def main(folder: Path) -> None:
    for name, people in tables():
        people = people.select(people.schema.released)
        size = min(ROWS, people.rows // 3)
        order = np.random.default_rng(20261115).permutation(people.rows)
        train, control, fresh = (people.take(order[i * size : (i + 1) * size]) for i in range(3))
        rows: list[list[object]] = [["fresh rows", "", *judge(train, fresh, control)]]
        for way, knobs in WAYS.items():
            release, cpu, _ = clocked(lambda t=train, k=knobs: ht.release(t, "sequential", settings=k, seed=0))
            rows.append([way, cpu, *judge(train, release.table, control)])
        show(
            f"refine: {name}, {size:,} training rows",
            ["sequential", "CPU s", "AUC", "TVD", "pairs", "triples", "discriminator", "alarms"],
            rows,
        )
