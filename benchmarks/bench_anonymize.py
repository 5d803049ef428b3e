"""anonymize: MDAV against the textbook algorithm in numpy (sdcMicro's C++ was measured elsewhere at 2.1 CPU s for 30,000 rows)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable import api
from hushtable.anonymize import mdav


def textbook(x: np.ndarray, k: int) -> np.ndarray:
    """MDAV with full numpy passes over the free records."""
    free, labels, label = np.arange(x.shape[1]), np.empty(x.shape[1], np.int64), 0
    while len(free) >= 2 * k:
        d = ((x[:, free] - x[:, free].mean(1, keepdims=True)) ** 2).sum(0)
        centre, both = free[d.argmax()], len(free) >= 3 * k
        for side in range(2 if both else 1):
            d = ((x[:, free] - x[:, [centre]]) ** 2).sum(0)
            near = np.argpartition(d, k - 1)[:k]
            labels[free[near]] = label
            label += 1
            kept = np.ones(len(free), bool)
            kept[near] = False
            d, free = d[kept], free[kept]
            if side == 0 and both:
                centre = free[d.argmax()]
    labels[free] = label
    return labels


def share(x: np.ndarray, labels: np.ndarray) -> float:
    means = np.array([np.bincount(labels, row) / np.bincount(labels) for row in x])
    return float(((x - means[:, labels]) ** 2).sum() / ((x - x.mean(1, keepdims=True)) ** 2).sum())


def main(folder: Path) -> None:
    name, people = census()
    columns = [c.name for c in people.schema if c.numeric and not people.missing(c.name).any()][:6]
    none = np.zeros((0, people.rows), np.int32), np.zeros(0)
    z = np.array([(v - v.mean()) / v.std() for v in (people.floats(c) for c in columns)])
    mdav.partition(z[:, :500], none[0][:, :500], none[1], 10)
    rows = []
    for n in (10_000, 30_000, people.rows):
        if n > people.rows:
            continue
        part = np.ascontiguousarray(z[:, :n])
        ours, cpu, wall = clocked(lambda p=part, n=n: mdav.partition(p, none[0][:, :n], none[1], 10), 3)
        slow, cpu_slow, _ = clocked(lambda p=part: textbook(p, 10))
        rows.append(
            [
                f"{n:,}",
                cpu,
                wall,
                cpu_slow,
                f"{cpu_slow / cpu:.0f} x",
                f"{100 * share(part, ours):.4f} %",
                f"{100 * share(part, slow):.4f} %",
            ]
        )
    head = ["rows", "CPU s", "wall s", "textbook CPU s", "ratio", "SSE share", "textbook SSE share"]
    show(f"anonymize: MDAV, k = 10, {len(columns)} numeric columns of {name}", head, rows)
    _, cpu, wall = clocked(lambda: api.release(people, "mdav", settings={"k": "10", "columns": ",".join(columns)}, seed=1), 3)
    mixed = [c.name for c in people.schema][:10]
    _, cpu_mixed, wall_mixed = clocked(
        lambda: api.release(people, "mdav", settings={"k": "10", "columns": ",".join(mixed)}, seed=1), 2
    )
    show(
        "anonymize: the whole release, k-anonymity re-measured",
        ["columns", "CPU s", "wall s"],
        [[f"{len(columns)} numeric", cpu, wall], ["10 mixed", cpu_mixed, wall_mixed]],
    )
