"""detection: how often a known leak is detected, and how often an alarm is false, over many splits of one table."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import table as show
from hushtable.api.audit import pick_audits
from hushtable.audits import planted
from hushtable.evidence.finding import Subject
from hushtable.table.table import Table

SEEDS = int(os.environ.get("HUSHTABLE_SEEDS", "50"))
ROWS = 10_000
VERBATIM, DISTURBED = planted.Noise(), planted.NOISES[-1]
CASES = (
    ("no leak", 0.0, VERBATIM),
    ("0.5 % verbatim", 0.005, VERBATIM),
    ("2 % verbatim", 0.02, VERBATIM),
    (f"10 % with noise {DISTURBED.sigma:g}", 0.1, DISTURBED),
)


def main(folder: Path) -> None:
    name, people = census()
    size = min(ROWS, people.rows // 3)
    audits = list(pick_audits((), None, Subject.PRIVACY))
    rows = []
    for label, share, noise in CASES:
        runs, cpu, _ = clocked(lambda s=share, n=noise: [_alarms(people, size, seed, s, n, audits) for seed in range(SEEDS)])
        alarmed = [report for report in runs if report]
        worst = max((min(report.values()) for report in alarmed), default=float("nan"))
        always = set.intersection(*(set(report) for report in alarmed)) if len(alarmed) == SEEDS else set()
        rows.append([label, f"{len(alarmed)} of {SEEDS}", worst, len(always), cpu / SEEDS])
    show(
        f"detection: {name}, {size:,} rows each of train, control and release; stated level 5 % for the whole audit",
        ["release", "runs with an alarm", "largest of the least adjusted p", "tests that alarm in every run", "CPU s a run"],
        rows,
    )


def _alarms(people: Table, size: int, seed: int, share: float, noise: planted.Noise, audits: list[str]) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(people.rows)
    train, control, fresh = (people.take(order[i * size : (i + 1) * size]) for i in range(3))
    report = ht.audit(train, planted.noisy(train, fresh, share, rng, noise), control, only=audits, seed=seed)
    return {f"{f.name}, {f.scope}": f.p_adjusted or 0.0 for f in report.alarms}
