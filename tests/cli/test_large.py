"""Tables larger than memory on the command line: folders of files, releases in parts, runs that are killed and go on."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hushtable.data.people import people
from hushtable.pipeline.release import file_hash
from hushtable.table import io
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS = 2_200_000
"""Of the release: three parts."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Parquet files of a small table, and its schema."""
    home = tmp_path_factory.mktemp("large")
    (home / "rows").mkdir()
    table = people(3000, seed=3)
    names = [c.name for c in table.schema if c.coded][:3]
    table = table.select(names).declared()
    for number in range(3):
        io.write(table.take(slice(1000 * number, 1000 * number + 1000)), home / "rows" / f"part-{number}.parquet")
    (home / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return home


def words(folder: Path, out: Path, *more: object) -> list[str]:
    made = ("release", folder / "rows", "--schema", folder / "schema.yaml", "--recipe", "mst", "--epsilon", 1, "--delta", 1e-6)
    return [str(word) for word in (*made, "--engine", "duckdb", "--out", out, *more)]


def totals(out: Path) -> int:
    return sum(len(io.read(part, Schema.load(out / "schema.yaml"))) for part in sorted((out / "data").iterdir()))


def test_many_rows_are_released_in_parts_each_with_its_hash(folder, tmp_path, hush):
    code, said, _ = hush(*words(folder, tmp_path / "out", "--rows", ROWS))
    assert code == 0
    assert f"{ROWS:,} rows in" in said
    names = [f"data/part-{number:05d}.parquet" for number in range(3)]
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out" / "data").iterdir()) == names
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["rows"] == ROWS
    assert {name: card["hashes"][name] for name in names} == {name: file_hash(tmp_path / "out" / name) for name in names}
    assert totals(tmp_path / "out") == ROWS


def test_the_rows_that_were_set_aside_lie_where_the_audit_is_told_to_look(folder, tmp_path, hush):
    made = words(folder, tmp_path / "out", "--hold-out", 0.2)
    made[made.index("mst")] = "independent"
    code, said, _ = hush(*made)
    assert code == 0
    told = dict(word.split("=", 1) for word in shlex.split(said.split("hush audit ")[1].replace("\n", "")) if "=" in word)
    sides = [io.read(next(Path(told[side]).iterdir()), Schema.load(folder / "schema.yaml")) for side in ("--train", "--control")]
    assert sum(map(len, sides)) == 3000
    assert 450 < len(sides[1]) < 750


def test_recipes_for_tables_of_any_size_are_listed(hush):
    listed = {line["name"] for line in json.loads(hush("methods", "--any-size", "--json")[1])["recipes"]}
    assert {"mst", "aim", "k-anonymity"} <= listed
    assert listed.isdisjoint({"mdav", "sequential", "rank-swap"})
    assert "mondrian" in hush("methods", "--any-size")[1]


def test_the_same_seed_draws_the_same_rows_with_more_workers_and_less_memory(folder, tmp_path, hush):
    made = [word for word in words(folder, Path("x")) if word not in ("--epsilon", "--delta", "1", "1e-06")]
    made[made.index("mst")] = "sequential"
    made[made.index("--out") + 1] = str(tmp_path / "one")
    assert hush(*made, "--seed", 1, "--workers", 1)[0] == 0
    made[made.index("--out") + 1] = str(tmp_path / "two")
    assert hush(*made, "--seed", 1, "--workers", 4, "--memory", "300MB")[0] == 0
    assert file_hash(tmp_path / "one" / "data.csv") == file_hash(tmp_path / "two" / "data.csv")


def killed(made: list[str], after: float) -> bool:
    """Run a command and kill it after so many seconds; whether it was still running."""
    with subprocess.Popen(
        [sys.executable, "-m", "hushtable.cli", *made], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        try:
            running.wait(after)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
            return True
        return False


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.nightly)])
def test_a_run_that_is_killed_goes_on_and_pays_for_nothing_twice(folder, tmp_path, hush, times):
    made = words(folder, tmp_path / "out", "--rows", ROWS, "--resume", tmp_path / "work")
    start = time.time()
    assert hush(*words(folder, tmp_path / "whole", "--rows", ROWS, "--resume", tmp_path / "other"))[0] == 0
    long = time.time() - start
    answers: dict[str, bytes] = {}
    moments = random.Random(times)
    for _ in range(times):
        assert killed(made, moments.uniform(0.2, 0.9) * long + 1) in (True, False)
        now = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*.npz")}
        # What was answered once stays what it was.
        assert answers.items() <= now.items()
        answers = now
        if (tmp_path / "out").exists():
            break
    else:
        assert hush(*made)[0] == 0
    final = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*.npz")}
    assert answers.items() <= final.items()
    cards = [json.loads((tmp_path / name / "card.json").read_text()) for name in ("out", "whole")]
    assert cards[0]["guarantee"]["ledger"] == cards[1]["guarantee"]["ledger"]
    assert totals(tmp_path / "out") == ROWS
    for name, digest in cards[0]["hashes"].items():
        assert file_hash(tmp_path / "out" / name) == digest


def ended(made: list[str], work: Path, end: signal.Signals) -> int:
    """Run a command, send it a signal as soon as rows are on disk, and wait; its exit code."""
    with subprocess.Popen(
        [sys.executable, "-m", "hushtable.cli", *made], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        for _ in range(600):
            if list(work.glob("*/*.cells")) or running.poll() is not None:
                break
            time.sleep(0.05)
        running.send_signal(end)
        return running.wait()


@pytest.mark.slow
def test_a_run_that_is_told_to_end_leaves_no_row_behind(folder, tmp_path):
    made = words(folder, tmp_path / "out", "--rows", 10 * ROWS, "--work", tmp_path / "work")
    assert ended(made, tmp_path / "work", signal.SIGTERM) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_removed_by_the_next(folder, tmp_path, hush):
    made = words(folder, tmp_path / "out", "--rows", 10 * ROWS, "--work", tmp_path / "work")
    assert ended(made, tmp_path / "work", signal.SIGKILL) == -signal.SIGKILL
    (left,) = (tmp_path / "work").iterdir()
    assert left.stat().st_mode & 0o077 == 0
    assert hush(*words(folder, tmp_path / "out", "--work", tmp_path / "work"))[0] == 0
    assert not left.exists()


def test_a_recipe_that_needs_all_rows_at_once_is_refused_where_they_do_not_fit(folder, tmp_path, hush, monkeypatch):
    monkeypatch.setattr("hushtable.engine.spool.HELD", 10**9)
    made = words(folder, tmp_path / "out")
    made[made.index("mst")] = "mdav"
    code, _, err = hush(*made, "--unproven")
    assert code != 0
    assert "in memory" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--engine", "hadoop"), "no engine 'hadoop'"),
        (("--memory", "4"), "expected a size such as 4GB"),
        (("--memory", "4MB"), "at least 256 MB"),
        (("--workers", 0), "at least one worker"),
    ],
)
def test_what_is_no_engine_no_size_or_no_worker_is_refused(folder, tmp_path, hush, more, said):
    code, _, err = hush(*words(folder, tmp_path / "out"), *more)
    assert code == 2
    assert said in " ".join(err.split())


@pytest.mark.spark
@pytest.mark.nightly
def test_rows_on_spark_are_released_verified_and_resumed(folder, tmp_path, hush):
    pytest.importorskip("py4j", reason="Spark on this machine needs the extra 'spark-local'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java")
    made = words(folder, tmp_path / "out", "--resume", tmp_path / "work", "--rows", 3000)
    made[made.index("duckdb")] = "local[2]"
    assert hush(*made)[0] == 0
    assert hush("verify", tmp_path / "out")[0] == 0
    given = ("--train", folder / "rows", "--release", tmp_path / "out", "--schema", folder / "schema.yaml", "--engine", "local[2]")
    assert hush("utility", *given, "--only", "margins", "--out", tmp_path / "measured")[0] == 0
    assert json.loads((tmp_path / "measured" / "audit.json").read_text())["rows"]["release"] == 3000
    answers = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*.npz")}
    assert answers
    made[made.index("--out") + 1] = str(tmp_path / "again")
    assert hush(*made)[0] == 0
    # Paid for once: what the first run was told is what the second goes on with.
    assert {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*.npz")} == answers
    cards = [json.loads((tmp_path / name / "card.json").read_text()) for name in ("out", "again")]
    assert cards[0]["guarantee"] == cards[1]["guarantee"]
    made[made.index("--out") + 1] = str(tmp_path / "none")
    made[made.index("--engine") + 1] = "sc://127.0.0.1:1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hushtable.engine.spark.find_spec", lambda name: None)
        code, _, err = hush(*made)
    assert code == 2
    assert "pip install 'hushtable[spark]'" in " ".join(err.split())


def test_rows_that_fit_are_released_from_a_folder_as_from_one_file(folder, tmp_path, hush):
    schema = Schema.load(folder / "schema.yaml")
    io.write(Table.concat([io.read(path, schema) for path in sorted((folder / "rows").iterdir())]), tmp_path / "rows.parquet")
    for name, data in (("folder", folder / "rows"), ("file", tmp_path / "rows.parquet")):
        made = (
            "release",
            data,
            "--schema",
            folder / "schema.yaml",
            "--recipe",
            "sequential",
            "--seed",
            1,
            "--out",
            tmp_path / name,
        )
        assert hush(*made)[0] == 0
    assert file_hash(tmp_path / "folder" / "data.csv") == file_hash(tmp_path / "file" / "data.csv")
