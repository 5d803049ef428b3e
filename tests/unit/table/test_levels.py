"""Long lists of levels in files beside a schema, and words that other YAML readers would take for something else."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import yaml

import hushtable as ht
from hushtable.errors import InputError
from hushtable.pipeline.release import load_table
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.levels import INLINE, file_names
from hushtable.table.schema import Schema

MANY = tuple(f"level {i}, of {INLINE + 5}" for i in range(INLINE + 5))


def schema_of(levels=MANY, name="work place"):
    return Schema((Column(name=name, kind=Kind.CATEGORY, domain=Levels(levels)), Column(name="b", kind=Kind.INTEGER)))


def test_many_levels_stand_in_a_file_beside_the_schema(tmp_path):
    schema_of().save(tmp_path / "s.yaml")
    assert "domain: s.levels/work_place.csv" in (tmp_path / "s.yaml").read_text()
    assert Schema.load(tmp_path / "s.yaml") == schema_of()
    assert schema_of().dump() == Schema.load(tmp_path / "s.yaml").dump()
    assert not list(tmp_path.glob("**/.*"))


def test_few_levels_stand_in_their_line(tmp_path):
    schema_of(MANY[:INLINE]).save(tmp_path / "s.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["s.yaml"]


def test_levels_may_have_labels_and_need_no_heading(tmp_path):
    (tmp_path / "l.csv").write_text('1,Male\n2,"Female, or ""f"""\n')
    schema = Schema.parse("columns: {sex: {kind: category, domain: l.csv}}", folder=tmp_path)
    assert schema["sex"].levels == ("1", "2")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("level\n", "holds no levels"),
        ("a\n,b\n", "expected a level in every line"),
        (None, "does not exist"),
        ("a\na\n", "more than once"),
    ],
)
def test_a_file_of_levels_that_is_none_is_a_fault(tmp_path, content, reason):
    if content is not None:
        (tmp_path / "l.csv").write_text(content)
    with pytest.raises(InputError, match=reason):
        Schema.parse("columns: {sex: {kind: category, domain: l.csv}}", folder=tmp_path)


def test_names_of_files_differ():
    assert file_names(["a b", "a/b", "A_B", "ä"]) == {"a b": "a_b.csv", "a/b": "a_b_2.csv", "A_B": "A_B_3.csv", "ä": "ä.csv"}


def test_marks_are_taken_out_of_a_schema_with_files_of_levels(tmp_path):
    words = [f"w{i % 60}" for i in range(240)]
    io.draft(pd.DataFrame({"x": words, "n": [str(i % 7) for i in range(240)]})).save(tmp_path / "s.yaml")
    ht.declare(tmp_path / "s.yaml", "me", ["kind"])
    assert len(Schema.load(tmp_path / "s.yaml")["x"].levels) == 60
    _, after = ht.declare(tmp_path / "s.yaml", "me")
    assert Schema.load(tmp_path / "s.yaml") == after
    assert not after.undeclared


def test_a_release_holds_its_levels_and_they_are_verified(tmp_path):
    table = ht.people(300)
    folder = ht.save(ht.release(table, "mdav", k=10, seed=0), tmp_path / "out")
    (path,) = (folder / "levels").iterdir()
    name = f"levels/{path.name}"
    long = [c.name for c in table.schema if isinstance(c.domain, Levels) and len(c.levels) > INLINE]
    assert long == ["postcode"]
    assert name in json.loads((folder / "card.json").read_text())["hashes"]
    assert not ht.verify(folder).faults
    assert load_table(folder).schema["postcode"].levels == table.schema["postcode"].levels
    path.write_text("level\n10115\n")
    assert any(fault.where == name for fault in ht.verify(folder).faults)
    card = json.loads((folder / "card.json").read_text())
    card["hashes"]["levels/99.csv"] = card["hashes"].pop(name)
    (folder / "card.json").write_text(json.dumps(card))
    assert {fault.where for fault in ht.verify(folder).faults} >= {name, "levels/99.csv"}


WORDS = ("No", "yes", "ON", "off", "null", "~", "y", "N", "true", "01", "0x1F", ".nan", "1_000", "plain", "12", "-3")


def test_every_yaml_reader_sees_words_as_words():
    schema = Schema((Column(name="no", kind=Kind.CATEGORY, domain=Levels(WORDS), missing=("null",), required=True),), ("N",))
    text = schema.dump()
    assert Schema.parse(text) == schema
    read = yaml.safe_load(text)
    entry = read["columns"]["no"]
    assert [str(level) for level in entry["domain"]] == list(WORDS)
    assert entry["missing"] == ["null"]
    assert entry["required"] is True
    assert read["missing"] == ["N"]


@pytest.mark.parametrize("entry", ["domain", "hierarchy"])
@pytest.mark.parametrize("way", ["absolute", "above", "link"])
def test_the_schema_of_a_release_names_no_file_outside_of_it(tmp_path, entry, way):
    """A release may come from anybody: reading it must not read a file of whoever reads it."""
    (tmp_path / "own.csv").write_text("ann,*\nbob,*\n")
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "card.json").write_text("{}")
    path = {"absolute": str(tmp_path / "own.csv"), "above": "../own.csv", "link": "near.csv"}[way]
    (folder / "near.csv").symlink_to(tmp_path / "own.csv")
    (folder / "schema.yaml").write_text(f"columns: {{a: {{kind: category, {entry}: '{path}'}}}}")
    with pytest.raises(InputError, match="lies outside of the release") as refused:
        Schema.load(folder / "schema.yaml")
    assert "ann" not in str(refused.value)
    # A schema of one's own may lie anywhere.
    (folder / "card.json").unlink()
    assert Schema.load(folder / "schema.yaml")
