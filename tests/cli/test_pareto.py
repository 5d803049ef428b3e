"""The command pareto where people hold several rows."""

from __future__ import annotations

import json

import pytest

import hushtable as ht
from hushtable.table import io
from tests.persons import UNEQUAL, held


@pytest.fixture
def visits(tmp_path):
    table = held(UNEQUAL, alike=False)
    io.write(table, tmp_path / "visits.csv")
    table.schema.save(tmp_path / "schema.yaml")
    return tmp_path


def test_persons_are_counted_and_the_page_says_so(hush, visits):
    data = ("pareto", visits / "visits.csv", "--schema", visits / "schema.yaml", "--k", "3", "--limit", "0.1")
    code, told, _ = hush(*data, "--person", "pid", "--out", visits / "sheet")
    assert code == 0
    said = f"{UNEQUAL.sum()} rows of {len(UNEQUAL)} persons; k, l and t count persons."
    assert said in " ".join(told.split())
    assert said in (visits / "sheet" / "pareto.html").read_text()
    assert json.loads((visits / "sheet" / "pareto.json").read_text())["persons"] == len(UNEQUAL)
    code, told, _ = hush(*data)
    assert code == 0
    assert f"{UNEQUAL.sum()} rows." in told
    assert "persons" not in told


def test_the_options_are_those_of_python_in_memory_and_on_disk(hush, visits):
    table = ht.read(visits / "visits.csv", visits / "schema.yaml")
    sheet = ht.pareto(table, ks=(2, 3), limits=(0.1, 1.0), person="pid", rows_per_person=2, seed=5)
    data = (visits / "visits.csv", "--schema", visits / "schema.yaml")
    persons = ("--person", "pid", "--rows-per-person", 2, "--seed", 5)
    for engine in ("memory", "duckdb"):
        code, told, _ = hush("pareto", *data, *persons, "--k", "2,3", "--limit", "0.1,1", "--engine", engine, "--json")
        assert code == 0
        assert json.loads(told) == sheet.to_json() | {"folder": None}
        levels = [word for name, level in sheet.lines[0].levels.items() for word in ("--level", f"{name}={level}")]
        code, told, _ = hush("evaluate", *data, *persons, *levels, "--k", 2, "--limit", 0.1, "--engine", engine, "--json")
        assert code == 0
        assert json.loads(told)["choice"]["loss"] == pytest.approx(sheet.lines[0].value, rel=1e-12)


def test_rows_of_a_person_without_a_person_are_refused(hush, visits):
    code, _, told = hush("pareto", visits / "visits.csv", "--schema", visits / "schema.yaml", "--rows-per-person", 2)
    assert code == 2
    assert "name the key column that identifies persons" in " ".join(told.split())
