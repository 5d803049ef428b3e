"""The same on a cluster of two workers and over Spark Connect, and where a worker is killed in the midst of a pass."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from hushtable.table import io
from hushtable.table.columns import Kind
from tests.conftest import ROOT
from tests.persons import held
from tests.unit.engine.test_spark import in_files, needs_java

pytestmark = [pytest.mark.nightly, needs_java]
HOME = Path(
    next(iter((find_spec("pyspark") or pytest.skip("no Spark", allow_module_level=True)).submodule_search_locations or [""]))
)
ENVIRONMENT = os.environ | {
    "SPARK_HOME": str(HOME),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
    "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
}
LOOPBACK = (
    "--conf",
    "spark.driver.host=127.0.0.1",
    "--conf",
    "spark.driver.bindAddress=127.0.0.1",
    "--conf",
    "spark.ui.enabled=false",
)
ASKED = """
import sys
from hushtable.engine.compute import Compute
from hushtable.engine.draft import draft
from hushtable.engine.open import open_rows
from hushtable.privacy.noise import Entropy
from hushtable.table import io
from hushtable.table.schema import Schema
from tests.unit.engine.test_spark import assert_equal, assert_same_answers
from hushtable.table.table import Table
engine, folder, file, schema = sys.argv[1:]
schema = Schema.load(schema)
table = io.read(file, schema)
rows = open_rows(folder, schema, compute=Compute(engine=engine))
names = [name for name in schema.names if name != "pid"]
assert_same_answers(table.select(names), rows.select(names))
own, found = (part.bounded("pid", 2, Entropy.seeded(1).words, None) for part in (table, rows))
assert_equal(own, Table.concat([*found.batches(100)]))
one, two = (draft(folder, Compute(engine=name)) for name in ("duckdb", engine))
assert (one.schema.dump(), one.lines) == (two.schema.dump(), two.lines)
print("equal")
"""
SLOW = """
import sys, time
import numpy as np
from hushtable.engine.compute import Compute
from hushtable.engine.open import open_rows
from hushtable.table.schema import Schema
class Ages:
    additive, reads = True, ("age",)
    def answer(self, table):
        if table.rows:
            time.sleep(2)
        return np.bincount(table["age"][table["age"] >= 0], minlength=100)
rows = open_rows(sys.argv[2], Schema.load(sys.argv[3]), compute=Compute(engine=sys.argv[1]))
for _ in range(2):
    print("pass", flush=True)
    start = time.time()
    print(rows.fold(Ages()).tolist(), flush=True)
    print(time.time() - start, flush=True)
"""


def free_port() -> int:
    """A port of this machine that nobody listens to."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


@contextmanager
def running(*words: object) -> Iterator[subprocess.Popen]:
    """A process of Spark with all that it starts, until the block ends."""
    with subprocess.Popen(
        [str(HOME / "bin" / "spark-class"), *map(str, words)],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill(process)


def kill(process: subprocess.Popen) -> None:
    """It, and what it started."""
    for own in (*descendants(process.pid), process.pid):
        try:
            os.kill(own, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def descendants(pid: int) -> list[int]:
    """The processes that one started, and they."""
    found = list[int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [*descendants(int(stat.parent.name)), int(stat.parent.name)]
    return found


def await_port(port: int) -> None:
    """Until somebody listens."""
    for _ in range(240):
        with socket.socket() as own:
            if own.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    pytest.fail("Spark did not start")


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A master and two workers on the loopback."""
    port = free_port()
    with ExitStack() as stack:
        master = "org.apache.spark.deploy.master.Master"
        stack.enter_context(running(master, "--host", "127.0.0.1", "--port", port, "--webui-port", free_port()))
        await_port(port)
        workers = list[subprocess.Popen]()
        for number in range(2):
            own = free_port()
            where = ("--host", "127.0.0.1", "--port", own, "--webui-port", free_port(), "--work-dir", folder / f"worker-{number}")
            worker = "org.apache.spark.deploy.worker.Worker"
            workers.append(
                stack.enter_context(running(worker, "--cores", 1, "--memory", "1g", *where, f"spark://127.0.0.1:{port}"))
            )
            await_port(own)
        yield f"spark://127.0.0.1:{port}", workers


def asked(script: str, *words: object) -> subprocess.Popen:
    """A process of ours."""
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def visits(tmp_path_factory) -> tuple[Path, Path, Path]:
    """The rows in files and in one, and their schema."""
    home = tmp_path_factory.mktemp("visits")
    table = held([3] * 200, alike=False, unknown=20)
    io.write(table, home / "all.parquet")
    (home / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    assert table.schema["pid"].kind is Kind.KEY
    return in_files(table, home / "rows", files=7), home / "all.parquet", home / "schema.yaml"


def assert_answers(engine: str, visits: tuple[Path, Path, Path]) -> None:
    said, wrong = asked(ASKED, engine, *visits).communicate(timeout=540)
    assert said.strip() == "equal", wrong[-2000:]


def test_a_cluster_of_two_workers_gives_the_answers_of_memory(visits, tmp_path):
    with cluster(tmp_path) as (engine, _):
        assert_answers(engine, visits)


def test_spark_connect_gives_the_answers_of_memory(visits):
    port = free_port()
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    bound = ("--conf", "spark.connect.grpc.binding.address=127.0.0.1", "--conf", f"spark.connect.grpc.binding.port={port}")
    with running("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", *LOOPBACK, *bound, *server):
        await_port(port)
        assert_answers(f"sc://127.0.0.1:{port}", visits)


def test_a_worker_that_is_killed_in_the_midst_of_a_pass_changes_no_integer(visits, tmp_path):
    answers, times = list[str](), list[float]()
    with cluster(tmp_path) as (engine, workers), asked(SLOW, engine, visits[0], visits[2]) as process:
        assert process.stdout is not None
        for number in range(2):
            assert process.stdout.readline().strip() == "pass", process.communicate()[1][-2000:]
            if number == 1:
                time.sleep(3)
                kill(workers[0])
            answers.append(process.stdout.readline())
            times.append(float(process.stdout.readline()))
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert answers[0] == answers[1]
    assert times[1] < 3 * times[0] + 10
