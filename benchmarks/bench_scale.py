"""scale: tables larger than memory, beside DuckDB's own GROUPING SETS: time a row, memory, and how both grow with the rows.

Each line is a process of its own, whose CPU time and largest memory the system counts. ``python benchmarks/run.py scale --help``
lists options; by default two sizes, one five times the other, which takes about ten minutes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from shutil import rmtree, which

import duckdb

from benchmarks import large
from hushtable.table.columns import Kind

EPSILON, DELTA = 1.0, 1e-9
LINES, ON_SPARK = ("pairs", "sets", "mst", "aim", "k-anonymity", "verify"), ("spark", "spark-groups")
PAIRS = """
import sys, numpy as np
from itertools import combinations
from hushtable.encode.bins import Bins
from hushtable.engine.compute import Compute
from hushtable.engine.open import open_rows
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema
rows = open_rows(sys.argv[1], Schema.load(sys.argv[2]), compute=Compute(engine=sys.argv[3], memory=1 << 30))
rows = rows.encoded(Bins(edges="uniform").fit(Vault.of(rows), np.random.default_rng(0)))
counts = rows.histograms(list(combinations(rows.schema.names, 2)))
print(len(counts), sum(own.size for own in counts))
from benchmarks.processes import used
print(*used())
"""
SETS = """
import sys, duckdb
connection = duckdb.connect(config={"memory_limit": "4GB"})
connection.execute(sys.argv[1]).fetchnumpy()
"""
SPARK = "local[2]"
GROUPS = """
import os, sys, warnings
os.environ["PYSPARK_PYTHON"], os.environ["SPARK_LOCAL_IP"] = sys.executable, "127.0.0.1"
from itertools import combinations
from pyspark.sql import SparkSession
from benchmarks.processes import used
builder = SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.bindAddress", "127.0.0.1")
spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
rows = spark.read.parquet(sys.argv[2]).selectExpr(*sys.argv[4:])
rows = rows.toDF(*(f"c{number}" for number in range(len(rows.columns))))
rows.limit(10).collect()
start, _ = used()
for one, two in combinations(rows.columns, 2):
    rows.groupBy(one, two).count().collect()
end, gigabytes = used()
print(start + (end - start) * float(sys.argv[3]), gigabytes)
"""
FEW = 20_000
"""Rows of which the time is that of starting: what grows with the rows is what a run takes beyond it."""
LEAST = 1_000_000
"""Rows of which Spark groups every pair by itself; larger tables are reckoned from them."""


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    cpu: float
    wall: float
    gigabytes: float


def cost(words: Sequence[str | Path], work: Path) -> Cost:
    """Run a command to its end, its output kept away; RuntimeError with its last lines where it fails."""
    start, log = time.time(), work / "log.txt"
    with log.open("wb") as output:
        running = subprocess.Popen([str(word) for word in words], stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise RuntimeError(log.read_text(encoding="utf-8", errors="replace")[-2000:])
    return Cost(used.ru_utime + used.ru_stime, time.time() - start, used.ru_maxrss / 2**20)


def on_spark(words: Sequence[str | Path], work: Path) -> Cost:
    """The same of a command that ends with what it and all that it started took: Spark's own processes."""
    took = cost(words, work)
    *_, last = (work / "log.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    cpu, gigabytes = map(float, last.split())
    return Cost(cpu, took.wall, gigabytes)


def binned(schema: large.Schema, quote: str = '"') -> list[str]:
    """The columns, numbers cut into as many bins."""
    picks = []
    for column in schema:
        name = f"{quote}{column.name}{quote}"
        if column.kind is Kind.INTEGER:
            low, high = float(column.bounds.low), float(column.bounds.high)
            picks.append(f"least(floor(({name} - {low}) / {max(high - low, 1) / 32}), 31) AS {name}")
        else:
            picks.append(name)
    return picks


def grouping_sets(data: Path, schema: large.Schema) -> str:
    """The same pairs as one query."""
    sets = ", ".join(f'("{one}", "{two}")' for one, two in combinations(schema.names, 2))
    names = ", ".join(f'"{name}"' for name in schema.names)
    rows = f"SELECT {', '.join(binned(schema))} FROM '{data}/*.parquet'"
    return f"SELECT {names}, count(*) FROM ({rows}) GROUP BY GROUPING SETS ({sets})"


def main(folder: Path, words: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="run.py scale", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000], help="sizes of the table")
    parser.add_argument("--only", nargs="+", default=[*LINES, *(ON_SPARK if spark_is_there() else ())], help="which lines")
    parser.add_argument("--data", type=Path, default=folder, help="a folder where generated tables are kept for the next run")
    parser.add_argument("--memory", default="2GB")
    options = parser.parse_args(list(words))
    table = large.base()
    schema_file = folder / "schema.yaml"
    schema_file.write_text(table.schema.dump(), encoding="utf-8")
    pairs = len(list(combinations(table.schema.names, 2)))
    print(f"{len(table.schema)} columns, {pairs} pairs; DuckDB {duckdb.__version__}; {os.cpu_count()} cores\n")
    print(f"{'what':32}{'rows':>13}{'CPU s':>9}{'wall s':>9}{'GB':>7}{'µs a row':>10}   ratio")
    before: dict[str, tuple[int, Cost]] = {}
    starting: dict[str, float] = {}
    for rows in [*([FEW] if len(options.rows) > 1 else []), *options.rows]:
        data, now = large.write(rows, options.data, table)[0], dict[str, Cost]()
        for name in options.only:
            few = min(rows, LEAST) if name == "spark-groups" else rows
            own = data if few == rows else large.write(few, options.data, table)[0]
            command = _command(name, own, schema_file, folder / "out", options.memory, rows)
            # What is verified is the release of the line before.
            if name != "verify":
                rmtree(folder / "out", ignore_errors=True)
            used = (on_spark if name in ON_SPARK else cost)(command, folder)
            now[name] = used
            ratios = [_growth(used, rows, *before[name], start=starting[name])] if name in before else []
            for peer, own in (("sets", "pairs"), ("spark-groups", "spark")):
                if name == peer and own in now:
                    ratios.append(f"{used.cpu / now[own].cpu:.1f} times the CPU of {_title(own)}")
            if few < rows:
                ratios.append(f"CPU reckoned from {few:,} rows")
            if rows == FEW:
                starting[name] = used.cpu
            else:
                before[name] = (rows, used)
            line = (
                f"{_title(name):32}{rows:>13,}{used.cpu:>9.1f}{used.wall:>9.1f}{used.gigabytes:>7.2f}{1e6 * used.cpu / rows:>10.2f}"
            )
            print(f"{line}   {'; '.join(ratios)}", flush=True)


def _growth(used: Cost, rows: int, fewer: int, less: Cost, start: float) -> str:
    """How much more CPU more rows take, with all that a run takes to start and without it."""
    beyond = (used.cpu - start) / max(less.cpu - start, 0.01)
    return f"CPU {used.cpu / less.cpu:.1f} ({beyond:.1f} beyond starting) of {rows / fewer:.1f} times the rows"


def _title(name: str) -> str:
    titles = {
        "pairs": "all pairs, read and counted",
        "sets": "DuckDB GROUPING SETS, pairs",
        "verify": "hush verify",
        "spark": f"{SPARK}, pairs",
        "spark-groups": f"{SPARK}, a GROUP BY a pair",
    }
    return titles.get(name, f"hush release, {name}")


def spark_is_there() -> bool:
    """Whether Spark can be started on this machine."""
    return find_spec("py4j") is not None and bool(which("java") or os.environ.get("JAVA_HOME"))


def _command(name: str, data: Path, schema_file: Path, out: Path, memory: str, rows: int) -> list[str | Path]:
    if name in ("pairs", "spark"):
        return [sys.executable, "-c", PAIRS, data, schema_file, "duckdb" if name == "pairs" else SPARK]
    if name == "spark-groups":
        picks = binned(large.Schema.load(schema_file), "`")
        return [sys.executable, "-c", GROUPS, SPARK, data, str(max(rows / LEAST, 1)), *picks]
    if name == "sets":
        return [sys.executable, "-c", SETS, grouping_sets(data, large.Schema.load(schema_file))]
    if name == "verify":
        return [sys.executable, "-m", "hushtable.cli", "verify", out, "--engine", "duckdb", "--memory", memory]
    made = [sys.executable, "-m", "hushtable.cli", "release", data, "--schema", schema_file, "--recipe", name, "--out", out]
    private = [] if name in ("k-anonymity", "mdav", "mondrian") else ["--epsilon", str(EPSILON), "--delta", str(DELTA)]
    knobs = ["--set", "k=10"] if not private else []
    return [*made, *private, *knobs, "--engine", "duckdb", "--memory", memory]


if __name__ == "__main__":
    main(Path("build"), sys.argv[1:])
