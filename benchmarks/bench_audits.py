"""audits: every attack on every row against Anonymeter, SDMetrics and SynthEval on the same three files; then the whole audit."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import hushtable as ht
from benchmarks.data import census, clocked
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable.api.audit import pick_audits
from hushtable.audits import planted
from hushtable.evidence.finding import Finding, Subject
from hushtable.table import io
from hushtable.table.table import Table

LEAKS = (0.0, 0.02, 0.5)
READ = """
import warnings; warnings.filterwarnings("ignore")
import pandas as pd
read = lambda name: pd.read_csv(f"{sys.argv[1]}/{name}.csv", keep_default_na=False, na_values=[""])
train, control, release = map(read, ("train", "control", "release"))
secret = sys.argv[2]
"""
ANONYMETER = (
    READ
    + """
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
import numpy as np
np.random.seed(0)
text = lambda t: t.astype({c: str for c in t if t[c].dtype.kind not in "if"})
train, control, release = map(text, (train, control, release))
columns = list(train)
risks, start, wall = {}, clock(), time.time()
def note(name, evaluator, began):
    risk = evaluator.risk()
    risks[name] = [risk.value, risk.ci[0], risk.ci[1], clock() - began]
def single(name, mode, n):
    began = clock()
    evaluator = SinglingOutEvaluator(ori=train, syn=release, control=control, n_attacks=500, n_cols=n)
    evaluator.evaluate(mode=mode)
    note(name, evaluator, began)
single("univariate", "univariate", 1)
for n in (3, 4, 5, 6):
    single(f"{n} columns", "multivariate", n)
began = clock()
tables = dict(ori=train, syn=release, control=control)
evaluator = LinkabilityEvaluator(**tables, n_attacks=1000, aux_cols=(columns[::2], columns[1::2]), n_neighbors=1)
evaluator.evaluate(n_jobs=1)
note("linkability", evaluator, began)
began = clock()
rest = [c for c in columns if c != secret]
evaluator = InferenceEvaluator(**tables, aux_cols=rest, secret=secret, n_attacks=1000)
evaluator.evaluate(n_jobs=1)
note("inference", evaluator, began)
report(start, wall, risks=risks)
"""
)
SDMETRICS = (
    READ
    + """
from sdmetrics.single_table import DCROverfittingProtection, NewRowSynthesis
kinds = {"columns": {c: {"sdtype": "numerical" if train[c].dtype.kind in "if" else "categorical"} for c in train}}
risks, start, wall = {}, clock(), time.time()
for name, work in {
    "new rows": lambda: NewRowSynthesis.compute(train, release, kinds, synthetic_sample_size=1000),
    "DCR, 2,000 rows": lambda: DCROverfittingProtection.compute(train, release, control, kinds, None, 2000),
}.items():
    began = clock()
    risks[name] = [float(work()), None, None, clock() - began]
report(start, wall, risks=risks)
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
result = judge.evaluate(release, analysis_target_var=secret, presets_file="privacy")
value = lambda x: float(x) if x == x else None
risks = {str(row["metric"]): [value(row["val"]), None, None, None] for _, row in result.iterrows()}
report(start, wall, risks=risks)
"""
)
SCRIPTS = {"Anonymeter": (ANONYMETER, LEAKS), "SDMetrics": (SDMETRICS, (0.02, 0.5)), "SynthEval": (SYNTHEVAL, (0.5,))}
"""What each peer runs, and at which leaks: the slow ones not at all of them."""
NAMES = {
    "univariate": ("singling out by one column", ""),
    **{f"{n} columns": (f"singling out by {n} columns", "") for n in (3, 4, 5, 6)},
    "linkability": ("linkability", "alternate"),
    "inference": ("inference", "income"),
}
"""Anonymeter's runs, and the beginning of the name and of the scope of ours."""


def main(folder: Path) -> None:
    name, people = census()
    parts = _thirds(people)
    secret = people.schema.names[-1]
    peers = {
        "Anonymeter": Peer.install(["anonymeter==1.1.0"], folder / "anonymeter"),
        "SDMetrics": Peer.install(["sdmetrics==0.32.0"], folder / "sdmetrics"),
        "SynthEval": Peer.install(["syntheval==1.7.3"], folder / "syntheval"),
    }
    for leak in LEAKS:
        _compare(name, parts, leak, secret, peers)
    _whole(name, people)


def _thirds(people: Table) -> list[Table]:
    size = min(10_000, people.rows // 3)
    return [people.take(np.arange(i * size, (i + 1) * size)) for i in range(3)]


def _compare(name: str, parts: list[Table], leak: float, secret: str, peers: dict[str, Peer]) -> None:
    train, control, fresh = parts
    release = planted.leaky(train, fresh, leak, np.random.default_rng(0))
    quick = list(pick_audits((), None, Subject.PRIVACY))
    ht.audit(train, release, control, only=quick)
    report, cpu, wall = clocked(lambda: ht.audit(train, release, control, only=quick))
    seconds = {n: clocked(lambda n=n: ht.audit(train, release, control, only=[n]))[1] for n in quick}
    rows: list[list[Any]] = [[f"ours: all of them, {len(report.findings)} findings", f"{len(report.alarms)} alarms", cpu, wall, ""]]
    rows += [[f"  {n} alone", "", spent, "", ""] for n, spent in seconds.items()]
    with tempfile.TemporaryDirectory() as temporary:
        for file, part in (("train", train), ("control", control), ("release", release)):
            io.write(part, Path(temporary) / f"{file}.csv")
        for peer, (script, leaks) in SCRIPTS.items():
            if leak not in leaks:
                continue
            theirs = peers[peer].run(script, temporary, secret)
            rows.append([f"{peer}: its runs together", "", theirs.get("cpu", ""), theirs.get("wall", ""), ratio(theirs, cpu)])
            for run, (value, low, high, spent) in dict(theirs.get("risks", {})).items():
                interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
                shown = "none" if value is None else f"{value:.3f}{interval}"
                rows.append([f"  {run}", shown, "" if spent is None else spent, "", _ours(report.findings, run)])
    title = f"audits: {name}, {train.rows:,} rows each of train, control and release, {len(train.schema)} columns, leak {leak:.0%}"
    show(title, ["audit", "result", "CPU s", "wall s", "ratio, or ours beside it"], rows)


def _ours(findings: list[Finding], run: str) -> str:
    if run not in NAMES:
        return ""
    name, scope = NAMES[run]
    matches = [f for f in findings if f.name.startswith(name) and f.scope.startswith(scope) and f.value is not None]
    if not matches:
        return ""
    f = matches[0]
    return f"{f.value:.3f} [{f.low:.3f}, {f.high:.3f}] p {f.p_adjusted:.2g}"


def _whole(name: str, people: Table) -> None:
    """A third as control, the rest released and attacked with everything that runs by default."""
    fresh, train = people.take(np.arange(people.rows // 3)), people.take(np.arange(people.rows // 3, people.rows))
    release = ht.release(train, "sequential", seed=0)
    report, cpu, wall = clocked(lambda: ht.audit(train, release, fresh, seed=0))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    slow = sorted(report.findings, key=lambda f: -f.seconds)[:1]
    show(
        f"audits: the whole audit with utility, {name}, {train.rows:,} training and released rows, {fresh.rows:,} control rows",
        ["findings", "alarms", "CPU s", "wall s", "peak MB", "slowest"],
        [[len(report.findings), len(report.alarms), cpu, wall, peak, f"{slow[0].name} {slow[0].seconds:.1f} s a finding"]],
    )
