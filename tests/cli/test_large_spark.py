"""The commands that take a table on a Spark cluster say what they say on one machine."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hushtable.data.people import people
from hushtable.pipeline.release import load_table
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.persons import FIVE, held
from tests.unit.engine.test_spark import ENGINE, in_files, needs_java

pytestmark = [pytest.mark.spark, needs_java]
ENGINES = ("memory", "duckdb", ENGINE)


PERSONS = ("--person", "pid", "--rows-per-person", 5)


def halves(table: Table, home: Path) -> Path:
    """Rows in files, other ones in files, and the schema of both."""
    half = table.rows // 2
    in_files(table.take(slice(0, half)), home / "old")
    in_files(table.take(slice(half, table.rows)), home / "new")
    (home / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return home


def content(release: Path) -> Counter[tuple[str, ...]]:
    """The released rows, whose order is random."""
    table = load_table(release)
    return Counter(zip(*(table.strings(name).tolist() for name in table.schema.names), strict=True))


def test_a_schema_is_drafted_and_declared(tmp_path, hush):
    home, said = halves(held(FIVE), tmp_path), []
    for engine in ENGINES[1:]:
        target = tmp_path / f"{engine}.yaml"
        code, out, _ = hush("schema", home / "old", "--engine", engine, "--out", target, "--json")
        assert code == 0
        said.append((json.loads(out) | {"file": ""}, target.read_text()))
    assert said[0] == said[1]
    assert hush("schema", tmp_path / f"{ENGINE}.yaml", "--declare", "--by", "the data office")[0] == 0
    assert not Schema.load(tmp_path / f"{ENGINE}.yaml").undeclared


@pytest.mark.nightly
@pytest.mark.parametrize("by_person", [True, False])
def test_a_release_is_applied_to_new_rows(tmp_path, hush, by_person):
    town = people(1200, seed=5).select(["birth_date", "sex", "postcode", "diagnosis"])
    home = halves(held(FIVE) if by_person else town, tmp_path)
    made = ("release", home / "old", "--schema", home / "schema.yaml", "--recipe", "k-anonymity", "--seed", 1)
    assert hush(*made, *(PERSONS if by_person else ()), "--engine", ENGINE, "--out", home / "released")[0] == 0
    said = []
    for engine in ENGINES:
        out = home / engine
        apply = ("apply", home / "released", home / "new", "--engine", engine, "--seed", 2)
        assert hush(*apply, "--limit", 1, "--out", out)[0] == 0
        card = {
            name: entry for name, entry in json.loads((out / "card.json").read_text()).items() if name not in ("hashes", "date")
        }
        verified = hush("verify", out, "--engine", engine)
        code, _, reason = hush(*apply, "--limit", 0, "--out", home / f"none-{engine}")
        said.append((card, content(out), (out / "mapping.csv").read_text(), verified[0], code, reason.partition("refused")[2]))
    assert said[0] == said[1] == said[2]
    card, *_, code, reason = said[0]
    assert card["guarantee"]["promises"]
    assert by_person or (code, reason.count("would be suppressed")) == (3, 1)


@pytest.mark.nightly
def test_a_choice_of_levels_is_judged_and_searched(tmp_path, hush):
    home, said = halves(held(FIVE), tmp_path), []
    for engine in ENGINES:
        given = (home / "old", "--schema", home / "schema.yaml", "--engine", engine)
        code, judged, _ = hush("evaluate", *given, "--level", "age=1", "--level", "town=0", "--k", 3, "--json")
        assert code == 0
        code, searched, _ = hush("pareto", *given, "--k", "2,5", "--limit", 1, "--json")
        assert code == 0
        said.append((json.loads(judged), json.loads(searched)["lines"]))
    assert said[0] == said[1] == said[2]
