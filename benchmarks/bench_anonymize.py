"""anonymize: MDAV against the textbook algorithm in numpy (sdcMicro's C++ was measured elsewhere at 2.1 CPU s for 30,000 rows)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable.anonymize.microaggregate import mdav, univariate, vmdav
from hushtable.anonymize.microaggregate.microaggregate import GAMMAS
from hushtable.anonymize.microaggregate.space import Space


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
            rest = np.ones(len(free), bool)
            rest[near] = False
            d, free = d[rest], free[rest]
            if side == 0 and both:
                centre = free[d.argmax()]
    labels[free] = label
    return labels


def share(x: np.ndarray, labels: np.ndarray) -> float:
    means = np.array([np.bincount(labels, row) / np.bincount(labels) for row in x])
    return float(((x - means[:, labels]) ** 2).sum() / ((x - x.mean(1, keepdims=True)) ** 2).sum())


def _points(x: np.ndarray) -> Space:
    return Space(x, np.zeros((0, x.shape[1]), np.int32), np.zeros(0))


def cloud(n: int, columns: int = 6) -> np.ndarray:
    """Correlated normal columns, standardized."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(columns, columns)) @ rng.normal(size=(columns, n))
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


def heaps(n: int, columns: int = 6) -> np.ndarray:
    """Heaps of 13 records on average, standardized."""
    rng = np.random.default_rng(0)
    x = 5 * rng.normal(size=(columns, n // 13))[:, rng.integers(0, n // 13, n)] + 0.05 * rng.normal(size=(columns, n))
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


def _variants(what: str, x: np.ndarray) -> None:
    """MDAV and V-MDAV with each gamma, as SSE share and CPU seconds; and each column by itself."""
    rows = []
    for name, part in ((what, x), ("30,000 in one cloud", cloud(30_000)), ("30,000 in heaps", heaps(30_000))):
        space = _points(part)
        runs = [clocked(lambda s=space: mdav.partition(s.numbers, s.codes, s.weights, 10))]
        runs += [clocked(lambda s=space, g=gamma: vmdav.partition(s, 10, g)) for gamma in GAMMAS]
        rows.append([name, *(f"{100 * share(part, labels):.3f} % in {cpu:.2f} s" for labels, cpu, _ in runs)])
    show("anonymize: V-MDAV, k = 10 (the step uses the best)", ["", "MDAV", *(f"gamma {gamma}" for gamma in GAMMAS)], rows)
    each, cpu, _ = clocked(lambda: [univariate.optimal(row, 10) for row in cloud(1_000_000)])
    show("anonymize: optimal univariate, k = 10, a million rows", ["columns", "CPU s"], [[len(each), cpu]])


def _large() -> None:
    """MDAV, exact, on one cloud: nothing in it is clustered, so boxes help least."""
    rows = []
    for n in (100_000, 300_000, 1_000_000):
        x = cloud(n)
        labels, cpu, wall = clocked(lambda x=x, n=n: mdav.partition(x, np.zeros((0, n), np.int32), np.zeros(0), 10))
        rows.append([f"{n:,}", cpu, wall, f"{100 * share(x, labels):.4f} %"])
    show("anonymize: MDAV, k = 10, six columns of one cloud", ["rows", "CPU s", "wall s", "SSE share"], rows)


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
    _variants(f"{min(people.rows, 30_000):,} rows of {name}", np.ascontiguousarray(z[:, :30_000]))
    _large()
    _, cpu, wall = clocked(lambda: ht.release(people, "mdav", settings={"k": "10", "columns": ",".join(columns)}, seed=1), 3)
    mixed = [c.name for c in people.schema][:10]
    _, cpu_mixed, wall_mixed = clocked(
        lambda: ht.release(people, "mdav", settings={"k": "10", "columns": ",".join(mixed)}, seed=1), 2
    )
    show(
        "anonymize: the whole release, k-anonymity re-measured",
        ["columns", "CPU s", "wall s"],
        [[f"{len(columns)} numeric", cpu, wall], ["10 mixed", cpu_mixed, wall_mixed]],
    )
