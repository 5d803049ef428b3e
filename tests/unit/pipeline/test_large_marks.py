"""What tells the parts of one large release from those of another, so that no run goes on with another's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hushtable.data.people import people
from hushtable.engine.spool import Spooled
from hushtable.pipeline import handed, run
from hushtable.pipeline.large import LargeRelease
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release_rows


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(run, "PART", 100)
    monkeypatch.setattr(handed, "BLOCK", 50)
    table = people(400, seed=2)
    release = release_rows(Spooled.of(table), load("k-anonymity").set({"k": 5}), seed=1)
    assert isinstance(release, LargeRelease)
    return release


def test_the_same_rows_have_the_same_mark(made):
    assert made.mark == made.mark
    assert made.handed.rows == sum(block.rows for block in made.blocks(0)) > 100


def test_rows_that_differ_behind_the_first_block_have_another_mark(made):
    assert replace(made, handed=made.handed.take(slice(0, made.handed.rows - 1))).mark != made.mark
