"""Spark: a session for the name of an engine, and whether its workers can work for us.

Nothing of Spark is imported before an engine on Spark is named. Only the data frame interface is used, which is all that Spark
Connect has. Messages of Spark may quote values; ours name the kind of what happened, and nothing else.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hushtable import __version__
from hushtable.engine.compute import Compute
from hushtable.engine.store import private_folder
from hushtable.errors import InputError, MissingExtra, PlanError

Session = Any
"""Of classic Spark or of Spark Connect; PySpark's own types differ by what is installed."""
Versions = tuple[str, str]
PROBES = 16
"""Tasks that ask workers what they are; every later task asks again."""
CHANGED = "was changed while it was read; nothing was released"
JAVA = "openjdk-17-jre-headless"
LEAN = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Java of this machine has little to do beside its Python: it spends more on compiling itself than it saves."""
WRITERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""By these names PySpark writes what Spark says of a failure."""
_OPEN: dict[str, Session] = {}
UNUSED = deque[Any]()
"""Frames that a cluster keeps and nobody needs any more."""


def session(compute: Compute) -> Session:
    """The session of an engine, opened and its workers asked when it is first named; one for each engine and process."""
    engine = compute.engine
    if engine not in _OPEN:
        _require_libraries(engine)
        with translated(engine):
            opened = _connected(engine) if engine.startswith("sc://") else _started(compute)
        try:
            _require_alike(opened, engine)
        except BaseException:
            opened.stop()
            raise
        _OPEN[engine] = opened
        atexit.register(_stop, engine)
    unpersist_unused()
    return _OPEN[engine]


def unpersist_unused() -> None:
    """Let go what a cluster keeps and nobody needs any more."""
    while UNUSED:
        with suppress(InputError), translated("rows"):
            UNUSED.popleft().unpersist()


def functions(frame: Any) -> Any:
    """The functions of columns, of the kind of Spark that a frame is of."""
    return import_module("pyspark.sql.connect.functions" if ".connect." in type(frame).__module__ else "pyspark.sql.functions")


def versions() -> Versions:
    """Of Python and of this package, which workers must share."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}", __version__


def unlike(python: str, package: str) -> str:
    """That a worker is of another version."""
    mine = versions()
    return f"a worker has Python {python} and hushtable {package}; here are Python {mine[0]} and hushtable {mine[1]}"


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Failures of Spark in our words: its own may quote values, and go no further."""
    from pyspark.errors import PySparkException

    failures: tuple[type[Exception], ...] = (PySparkException, ConnectionError)
    if find_spec("grpc"):
        from grpc import RpcError

        failures = (*failures, RpcError)
    if find_spec("py4j"):
        from py4j.protocol import Py4JError

        failures = (*failures, Py4JError)
    try:
        with _unwritten(), warnings.catch_warnings():
            # It says so whenever a function on batches is named, of which none is handed a pandas frame.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except failures as error:
        raise InputError(_reason(type(error).__name__, str(error)), where=where) from None


@contextmanager
def _unwritten() -> Iterator[None]:
    """PySpark writes messages of failures to the console too."""
    from pyspark.logger import PySparkLogger

    writers = [PySparkLogger.getLogger(name) for name in WRITERS]
    before = [writer.disabled for writer in writers]
    for writer in writers:
        writer.disabled = True
    try:
        yield
    finally:
        for writer, disabled in zip(writers, before, strict=True):
            writer.disabled = disabled


def _reason(kind: str, message: str) -> str:
    """What happened, by the names that Spark and Python have for it."""
    if other := re.search(r"\[PYTHON_VERSION_MISMATCH\]", message):
        return f"its workers have another minor version of Python than {versions()[0]}, which runs here"
    if "JAVA_GATEWAY_EXITED" in message:
        return f"Java did not start: Spark 4 needs Java 17 or newer (on Debian or Ubuntu: apt-get install {JAVA})"
    if other := re.search(r"ModuleNotFoundError: No module named '(\w+)", message):
        return f"its workers do not have the package {other[1]}: install hushtable and pyarrow beside the Python of each worker"
    if "hushtable.engine.spark_feed.Changed: " in message:
        return CHANGED
    if other := re.search(r"hushtable\.engine\.spark_jobs\.OtherVersion: .*?python ([\d.]+), hushtable ([\w.+-]+)", message):
        return unlike(other[1], other[2])
    raised = re.findall(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Killed|Interrupt))\b", message, re.MULTILINE)
    return f"Spark stopped the work ({raised[-1] if raised else kind}); what it says of it may quote values, and is not shown"


def _require_libraries(engine: str) -> None:
    """MissingExtra, or InputError without Java."""
    full = find_spec("py4j") is not None
    if find_spec("pyspark") is None or find_spec("pyarrow") is None or (engine.startswith("sc://") and find_spec("grpc") is None):
        extra = "spark" if engine.startswith("sc://") and not full else "spark-local"
        raise MissingExtra("pyspark", extra, f"--engine {engine}")
    if engine.startswith("sc://"):
        return
    if not full:
        raise MissingExtra("the full pyspark in the place of pyspark-client", "spark-local", f"--engine {engine}")
    home = os.environ.get("JAVA_HOME")
    if not (home and os.access(os.path.join(home, "bin", "java"), os.X_OK)) and shutil.which("java") is None:
        reason = f"needs Java 17 or newer: on Debian or Ubuntu apt-get install {JAVA}, else name one in JAVA_HOME"
        raise InputError(reason, where=f"--engine {engine}")


def _connected(engine: str) -> Session:
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(engine).create()


def _started(compute: Compute) -> Session:
    """A session of classic Spark, whose driver is this process."""
    from pyspark.sql import SparkSession

    engine = compute.engine
    if (active := SparkSession.getActiveSession()) is not None:
        if active.sparkContext.master == engine:
            return active
        own = next((name for name, opened in _OPEN.items() if opened is active), None)
        if own is None:
            raise PlanError(f"a Spark session on {active.sparkContext.master} is open in this process; stop it, or name its engine")
        _stop(own)
    builder = SparkSession.builder.master(engine).appName("hushtable").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.execution.arrow.maxBytesPerBatch", str(16 << 20))
    if alone := engine.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # What does not fit is as private as the rows.
        folder = private_folder(compute.work)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        quiet = folder / "log4j2.properties"
        quiet.write_text("status = off\nrootLogger.level = off\n", encoding="utf-8")
        builder = builder.config("spark.local.dir", str(folder)).config("spark.sql.shuffle.partitions", "4")
        builder = builder.config("spark.driver.memory", f"{max(compute.limit // 4 >> 20, 512)}m")
        builder = builder.config("spark.driver.extraJavaOptions", f"{LEAN} -Dlog4j2.configurationFile={quiet.as_uri()}").config(
            "spark.sql.codegen.wholeStage", "false"
        )
    if alone or re.match(r"spark://(localhost|127\.)", engine):
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    return builder.getOrCreate()


def _require_alike(opened: Session, engine: str) -> None:
    """InputError where a worker has another Python, or another version of this package or none."""
    with translated(engine):
        found = opened.range(0, PROBES, 1, PROBES).mapInArrow(_probe(), "python string, package string").distinct().collect()
    mine = versions()
    if others := sorted({(row.python, row.package) for row in found} - {mine}):
        theirs = "; ".join(
            f"Python {python} and {f'hushtable {package}' if package else 'no hushtable'}" for python, package in others
        )
        raise InputError(f"its workers have {theirs}; here are Python {mine[0]} and hushtable {mine[1]}", where=engine)


def _probe() -> Any:
    """Says what a worker is: a function of its own, which reaches it as code, so that one without this package can run it."""

    def probe(batches: Iterator[Any]) -> Iterator[Any]:
        import sys
        from importlib.util import find_spec

        import pyarrow

        for _ in batches:
            pass
        package = ""
        if find_spec("hushtable"):
            # A worker may lack it: that is what is asked.
            import hushtable

            package = hushtable.__version__
        own = [f"{sys.version_info[0]}.{sys.version_info[1]}"], [package]
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(part) for part in own], names=["python", "package"])

    return probe


def _stop(engine: str) -> None:
    if (opened := _OPEN.pop(engine, None)) is not None:
        with suppress(InputError), translated(engine):
            opened.stop()
