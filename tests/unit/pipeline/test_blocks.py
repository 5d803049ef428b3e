"""Rows drawn block by block, and written in parts: the same rows however they are drawn, and none made twice after a stop."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest

import hushtable as ht
from hushtable.pipeline import blocks, parts
from hushtable.pipeline.blocks import Drawn, drawn
from hushtable.pipeline.parts import STATE, write_parts
from hushtable.pipeline.release import file_hash
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m"))),
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99)),
    )
)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    table = Table(SCHEMA, {"sex": rng.integers(0, 2, 500).astype(np.int32), "age": rng.integers(20, 60, 500)})
    return ht.release(table, "mst", epsilon=5, seed=0).require_fitted()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 40)
    monkeypatch.setattr(parts, "BLOCKS", 3)


def codes(tables) -> np.ndarray:
    return np.concatenate([np.stack([table["sex"], table["age"]]) for table in tables], axis=1)


def test_blocks_are_the_same_from_wherever_they_are_drawn(fitted):
    whole = Drawn(fitted, 250, 7)
    every = list(whole.blocks())
    assert [block.rows for block in every] == [40] * 6 + [10]
    for first in range(7):
        np.testing.assert_array_equal(codes(every[first:]), codes(whole.blocks(first)))
    np.testing.assert_array_equal(codes(every), codes([whole.table()[0]]))
    assert (codes(every) != codes(Drawn(fitted, 250, 8).blocks())).any()


def test_no_block_repeats_another(fitted):
    first, second = islice(Drawn(fitted, 80, 7).blocks(), 2)
    assert (codes([first]) != codes([second])).any()


def test_few_rows_are_one_table(fitted):
    rng = np.random.default_rng(0)
    assert drawn(fitted, 40, rng) is None
    assert drawn(fitted, 41, rng) is not None


def test_parts_hold_the_rows_in_order_and_their_hashes(fitted, tmp_path):
    drawing = Drawn(fitted, 250, 7)
    seen = []
    written = write_parts(drawing.blocks, tmp_path / "data", report=seen.append)
    assert written.rows == (120, 120, 10)
    assert seen == [120, 240, 250]
    names = [f"part-{number:05d}.parquet" for number in range(3)]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == names
    assert dict(written.hashes) == {f"data/{name}": file_hash(tmp_path / "data" / name) for name in names}
    read = [io.read(tmp_path / "data" / name, drawing.schema) for name in names]
    np.testing.assert_array_equal(codes(read), codes(drawing.blocks()))


class Stopped(Exception):
    pass


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5, 6])
def test_a_run_that_was_stopped_makes_no_part_twice(fitted, tmp_path, after):
    drawing = Drawn(fitted, 250, 7)
    made = []

    def counted(first):
        for number, block in enumerate(drawing.blocks(first), first):
            made.append(number)
            yield block

    def stopping(first):
        yield from islice(counted(first), after)
        raise Stopped

    with pytest.raises(Stopped):
        write_parts(stopping, tmp_path / "data", mark="these rows")
    made.clear()
    written = write_parts(counted, tmp_path / "data", mark="these rows")
    assert made == list(range(3 * (after // 3), 7))
    whole = write_parts(drawing.blocks, tmp_path / "other" / "data")
    assert written.rows == whole.rows
    # The files hold the same rows; a Parquet file of the same rows has the same bytes.
    assert dict(written.hashes) == dict(whole.hashes)


def test_parts_of_other_rows_and_damaged_ones_are_made_again(fitted, tmp_path):
    drawing = Drawn(fitted, 250, 7)
    first = write_parts(drawing.blocks, tmp_path / "data", mark="these rows")
    other = write_parts(Drawn(fitted, 250, 8).blocks, tmp_path / "data", mark="other rows")
    assert dict(other.hashes) != dict(first.hashes)
    again = write_parts(drawing.blocks, tmp_path / "data", mark="these rows")
    assert dict(again.hashes) == dict(first.hashes)
    (tmp_path / "data" / "part-00001.parquet").write_bytes(b"cut short")
    made = []

    def counted(start):
        made.append(start)
        return drawing.blocks(start)

    assert dict(write_parts(counted, tmp_path / "data", mark="these rows").hashes) == dict(first.hashes)
    assert made == [3]
    (tmp_path / STATE).write_text("no JSON")
    assert dict(write_parts(drawing.blocks, tmp_path / "data", mark="these rows").hashes) == dict(first.hashes)


def test_what_is_noted_of_parts_is_private(fitted, tmp_path):
    write_parts(Drawn(fitted, 50, 7).blocks, tmp_path / "data", mark="these rows")
    note = tmp_path / STATE
    assert json.loads(note.read_text())["mark"] == "these rows"
    assert note.stat().st_mode & 0o077 == 0
