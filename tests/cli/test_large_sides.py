"""``hush schema``, ``hush audit`` and ``hush utility`` on rows that are not in memory: folders and patterns of files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hushtable.audits import planted
from hushtable.data.people import people
from hushtable.table import io
from hushtable.table.table import Table

N = 400
DISK = ("--engine", "duckdb")


def in_parts(table: Table, folder: Path, count: int = 3) -> None:
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(table.rows), count)):
        io.write(table.take(rows), folder / f"part-{i:05d}.parquet")


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> Path:
    """Training, control and released rows in several files each, and the schema; half of the training rows leak."""
    folder = tmp_path_factory.mktemp("parts")
    table = people(3 * N, seed=4)
    names = table.schema.released
    train, control, fresh = (table.take(np.arange(i * N, (i + 1) * N)).select(names) for i in range(3))
    leaky = planted.leaky(train, fresh, 0.5, np.random.default_rng(0))
    for name, part in {"train": train, "control": control, "leaky": leaky}.items():
        in_parts(part, folder / name)
    (folder / "schema.yaml").write_text(table.schema.select(names).dump(), encoding="utf-8")
    return folder


def words(verb: str, parts: Path, out: Path, *more: object) -> list[object]:
    sides = ("--train", parts / "train", "--control", parts / "control" / "*.parquet", "--release", parts / "leaky")
    return [verb, *sides, "--schema", parts / "schema.yaml", "--out", out, *more]


def test_a_folder_of_parts_is_audited_on_disk_as_in_memory(hush, parts, tmp_path):
    only = ("--only", "identical-matches", "--only", "near-matches")
    code, said, _ = hush(*words("audit", parts, tmp_path / "a", *DISK, *only, "--people", 300, "--work", tmp_path / "work"))
    assert code == 0
    assert "300 people, picked at random" in said.replace("\n", " ")
    disk, page = json.loads((tmp_path / "a" / "audit.json").read_text()), (tmp_path / "a" / "audit.html").read_text()
    assert disk["rows"] == {"train": N, "release": N, "control": N}
    assert disk["asked"] == {"train": 300, "control": 300}
    assert "picked at random" in page
    assert disk["alarms"]
    assert not list((tmp_path / "work").iterdir())
    code, _, _ = hush(*words("audit", parts, tmp_path / "b", *only))
    memory = json.loads((tmp_path / "b" / "audit.json").read_text())
    assert code == 0
    assert not memory["asked"]
    share = [next(f for f in report["findings"] if f["name"] == "identical match share") for report in (disk, memory)]
    assert [f["value"] for f in share] == [0.5, 0.5]
    assert [f["n"] for f in share] == [N, N]


def test_what_needs_all_released_rows_in_memory_is_left_out_and_said(hush, parts, tmp_path):
    code, _, _ = hush(*words("audit", parts, tmp_path / "a", *DISK, "--only", "singling-out", "--only", "coverage"))
    assert code == 0
    left = [f for f in json.loads((tmp_path / "a" / "audit.json").read_text())["findings"] if f["value"] is None]
    assert [f["audit"] for f in left] == ["singling-out"]
    assert "left out" in left[0]["note"]


def test_the_same_rows_are_no_control(hush, parts, tmp_path):
    given = ("--train", parts / "train", "--control", parts / "train" / "*.parquet", "--release", parts / "leaky")
    code, _, said = hush("audit", *given, "--schema", parts / "schema.yaml", "--out", tmp_path / "a", *DISK)
    assert code == 2
    assert "--control" in said


def test_a_schema_is_drafted_for_a_folder_as_for_one_file(hush, parts, tmp_path):
    whole = Table.concat(io.read(file, parts / "schema.yaml") for file in sorted((parts / "train").iterdir()))
    io.write(whole, tmp_path / "all.parquet")
    drafts = [hush("schema", *given) for given in ([tmp_path / "all.parquet"], [parts / "train", *DISK], [parts / "train"])]
    assert [code for code, _, _ in drafts] == [0, 0, 0]
    assert len({said for _, said, _ in drafts}) == 1


@pytest.mark.parametrize("control", [True, False])
def test_utility_is_measured_on_rows_picked_at_random(hush, parts, tmp_path, monkeypatch, control):
    monkeypatch.setattr("hushtable.api.utility.SAMPLE", 200)
    command = words("utility", parts, tmp_path / "a", *DISK, "--only", "margins", "--work", tmp_path / "work")
    if not control:
        del command[command.index("--control") : command.index("--control") + 2]
    code, said, _ = hush(*command)
    assert code == 0
    asked = 200 if control else 100
    assert f"measured on {asked} of {N} training rows, 200 of {N} released rows" in " ".join(said.split())
    report = json.loads((tmp_path / "a" / "audit.json").read_text())
    assert report["rows"] == {"train": N, "release": N, "control": N}
    assert report["asked"] == {"train": asked, "release": 200, "control": asked}
    assert report["findings"]
    assert not list((tmp_path / "work").iterdir())


def test_utility_of_few_rows_on_disk_is_that_of_memory(hush, parts, tmp_path):
    found = []
    for name, more in (("a", DISK), ("b", ())):
        assert hush(*words("utility", parts, tmp_path / name, *more, "--only", "margins"))[0] == 0
        report = json.loads((tmp_path / name / "audit.json").read_text())
        found.append([{**finding, "seconds": 0} for finding in report["findings"]])
    assert found[0] == found[1]
