"""The page and the text of a grid of hybrids: the choice first, then what the parts do, every cell drawn once in each place."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hushtable.api.hybrid.result import HybridGrid
from hushtable.report.words import number
from tests.unit.api.hybrid.planted import planted
from tests.unit.report.documents import Reader

OPTIONS = {"k": [5, 20, 50], "beta": [0.5, 1], "generators": ["argn", "sequential"]}
CELLS = 3 * 3 * 3 * 2 * 2


@pytest.fixture(scope="module")
def grid() -> HybridGrid:
    return planted(**OPTIONS)


@pytest.fixture(scope="module")
def reader(grid) -> Reader:
    return Reader(grid.page())


def section(reader: Reader, anchor: str) -> str:
    (found,) = [e for e in reader.all("section") if e.attributes["id"] == anchor]
    return " ".join(found.text.split())


def inside(reader: Reader, anchor: str, name: str, class_: str = "") -> list:
    return [e for e in reader.all(name, class_) if any(p.attributes.get("id") == anchor for p in e.parents)]


def test_the_choice_comes_first_and_then_what_the_parts_do(reader, grid):
    ids = [e.attributes["id"] for e in reader.all("section")]
    assert ids == ["choice", "findings", "stages", "axes", "plane", "maps", "promises", "means", "cells", "reading"]
    assert f"Take {grid.comparison.best.id}." in section(reader, "choice")
    said = section(reader, "findings")
    for one in grid.hypotheses:
        assert f"{one.verdict}" in said
        assert one.words in said
    assert "✓ confirmed" in said


def test_every_axis_and_every_stage_is_drawn_for_every_metric(reader, grid):
    labels = [e.attributes["aria-label"] for e in reader.all("svg")]
    for axis in grid.values:
        assert len([label for label in labels if f" by {axis}: " in label]) == 5
    stages = [label for label in labels if " by stage: " in label]
    assert len(stages) == 8
    assert all(word in stages[0] for word in ("original", "anonymized", "hybrid", "generator alone"))


def test_every_hybrid_is_drawn_once_in_each_plane_and_each_map_and_leads_to_its_line(reader):
    lines = {e.attributes.get("id") for e in inside(reader, "cells", "tr")}
    planes = Counter(e.attributes["href"] for e in inside(reader, "plane", "a", "mark"))
    maps = Counter(e.attributes["href"] for e in inside(reader, "maps", "a", "mark"))
    assert len(maps) == CELLS
    assert set(maps.values()) == {4}
    assert len(planes) == CELLS + 2, "the generators alone are crosses"
    assert all(href[1:] in lines for href in (*planes, *maps))
    titles = [e.text for e in inside(reader, "plane", "title")]
    assert sum("conditional transition" in title and "promised: nothing" in title for title in titles) == 2 * CELLS / 3


def test_what_survives_is_said_of_all_of_them(reader):
    rows = [e.text for e in inside(reader, "promises", "tr")]
    assert any("nothing" in row and "transition conditional" in row and f"{CELLS // 3}" in row for row in rows)
    assert any("k-anonymity with k = 5 over" in row and "k 5; transition single, uniform" in row for row in rows)
    assert section(reader, "cells").count("◆ verified") == CELLS * 2 // 3 + 3 * 3


def test_numbers_are_of_100_people_and_changes_have_a_sign(reader, grid):
    cell = grid.select(transition="single", order="pre")[0]
    (line,) = [
        e for e in inside(reader, "cells", "tr") if e.attributes.get("id") == f"release-{grid.comparison.cell(cell.id).rank}"
    ]
    assert number(100 * cell.value("singling-out"), 2) in line.text
    assert re.search(r"\+\d+ %", line.text)


def test_the_text_says_the_same(grid):
    text = grid.markdown()
    for one in grid.hypotheses:
        assert str(one.verdict) in text
        assert one.words.split("(")[0] in text
    assert text.count("\n| hybrid-") == CELLS
    assert "INTERNAL" in text
