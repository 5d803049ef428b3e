"""headline: what an audit says first, by epsilon and by the share of training rows that leak, beside the residual risk.

The headline must rise with a leak and never fall by more than noise; with epsilon it rises as far as there is anything to measure.
The largest upper bound of the residual risk, which stood first in earlier versions, is shown beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable.api.audit import pick_audits
from hushtable.audits import planted
from hushtable.data.people import people
from hushtable.evidence.finding import Subject
from hushtable.evidence.verdict import Headline
from hushtable.table.table import Table

EPSILONS = (0.1, 0.5, 1.0, 4.0, 100.0)
LEAKS = (0.0, 0.01, 0.05, 0.2)
RECIPES = ("mst", "independent", "aim")
HEAD = ["table", "release", "alarms", "surely", "at most", "least shown", "risk, upper", "proof allows", "wall s"]


def main(folder: Path) -> None:
    tables = [(f"people {rows:,}", people(rows, 0)) for rows in (1_000, 5_000, 20_000)]
    tables += [(f"{name} {table.rows:,}", table) for name, table in (census(5_000), census())]
    lines = [line for label, table in tables for line in by_leak(label, table)]
    show("headline by planted leak, of 100 people (surely / at most), control as large as the training rows", HEAD, lines)
    lines = [line for label, table in tables for recipe in RECIPES for line in by_epsilon(label, table, recipe)]
    show("headline by epsilon, of 100 people (surely / at most), a fifth held out", HEAD, lines)


def by_leak(label: str, table: Table) -> Iterator[list[object]]:
    """Fresh rows of which ever more are training rows verbatim."""
    rows = table.select(table.schema.released).take(np.random.default_rng(0).permutation(table.rows))
    size = rows.rows // 3
    train, control, fresh = (rows.take(np.arange(i * size, (i + 1) * size)) for i in range(3))
    for share in LEAKS:
        release = planted.leaky(train, fresh, share, np.random.default_rng(1))
        yield line(label, f"{100 * share:g} % copied", train, release, control)


def by_epsilon(label: str, table: Table, recipe: str) -> Iterator[list[object]]:
    """Private releases of the same rows."""
    train, control = ht.hold_out(table, 0.2, seed=0)
    for epsilon in EPSILONS:
        yield line(label, f"{recipe}, epsilon {epsilon:g}", train, ht.release(train, recipe, epsilon=epsilon, seed=0), control)


def line(label: str, what: str, train: Table, release: Table | ht.Release, control: Table) -> list[object]:
    attacks = list(pick_audits((), None, Subject.PRIVACY))
    report, _, wall = clocked(lambda: ht.audit(train, release, control, only=attacks, seed=0))
    head: Headline = report.evidence.headline
    risk = max(f.high for f in report.findings if f.risk is not None and f.high is not None)
    allowed = report.evidence.allowed
    return [
        label, what, len(report.alarms), f"{100 * head.low:.2f}", f"{100 * head.high:.2f}", f"{100 * head.resolution:.2f}",
        f"{100 * risk:.1f} %", "" if allowed is None else f"{100 * allowed:.1f}", wall,
    ]  # fmt: skip
