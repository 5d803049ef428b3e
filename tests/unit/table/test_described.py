"""A data dictionary held against a schema: what agrees is declared, what contradicts it stays and is said without a value."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.table.columns import Bounds, Facet, Levels, Role

ROWS = 120


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [str(i % 90) for i in range(ROWS)],
            "sex": [str(i % 2 + 1) for i in range(ROWS)],
            "town": ["Bern", "Graz", "Köln"] * (ROWS // 3),
            "pay": [f"{i * 7 % 100}.5" for i in range(ROWS)],
        },
        dtype=object,
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    ht.draft(tmp_path / "t.csv").save(tmp_path / "s.yaml")
    return tmp_path


def written(files, entries):
    (files / "d.json").write_text(json.dumps(entries))
    return ht.match_dictionary(files / "s.yaml", files / "d.json", "census law, section 9")


def test_what_agrees_is_declared_with_a_reason(files):
    before = ht.Schema.load(files / "s.yaml")
    found = written(
        files,
        {
            "AGE": {"type": "integer", "min": 0, "max": 120, "label": "Age in years", "role": "quasi"},
            "town": {"type": "category", "values": {"Bern": "", "Graz": "", "Köln": "", "Wien": ""}},
            "shoe": {"type": "integer"},
        },
    )
    assert not found.faults
    assert found.schema["age"].domain == Bounds(0, 120)
    assert found.schema["age"].role is Role.QUASI
    assert found.schema["town"].domain == Levels(("Bern", "Graz", "Köln", "Wien"))
    assert found.schema["sex"] == before["sex"]
    assert {Facet.DOMAIN, Facet.KIND, Facet.ROLE} <= set(found.declared["age"])
    assert Facet.ROLE not in found.declared["town"]
    assert found.schema.undeclared["town"] >= {Facet.ROLE}
    assert (found.bare, found.more) == (("sex", "pay"), ("shoe",))
    assert found.labels == {"age": "Age in years"}
    assert found.schema.declared_by == "data dictionary d.json (census law, section 9)"
    table = ht.read(files / "t.csv", found.schema)
    assert table.rows == ROWS
    assert list(table.strings("town")[:3]) == ["Bern", "Graz", "Köln"]
    again = ht.match_dictionary(replace(found.schema, declared_by="Ann"), files / "d.json")
    assert not again.declared
    assert again.schema.declared_by == "Ann"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"town": {"type": "category", "values": {"Bern": "", "Graz": ""}}}, "1 levels that it does not list"),
        ({"age": {"type": "integer", "min": 10, "max": 80}}, "below and above"),
        ({"town": {"type": "integer", "min": 0, "max": 3}}, "draft the schema again"),
        ({"town": {"type": "number", "min": 0, "max": 3}}, "draft the schema again"),
        ({"pay": {"type": "number", "min": 90, "max": 3}}, "low 90 is above high 3"),
    ],
)
def test_what_contradicts_the_schema_stays_and_no_value_is_quoted(files, entry, reason):
    before = ht.Schema.load(files / "s.yaml")
    found = written(files, entry)
    (fault,) = found.faults
    assert reason in str(fault)
    assert "Köln" not in str(fault)
    assert not found.declared
    assert found.schema == before


def test_a_dictionary_of_other_columns_is_refused(files):
    with pytest.raises(InputError, match="describes none of the columns"):
        written(files, {"shoe": {"type": "integer"}})


def test_the_release_says_who_declared_it(files):
    found = written(files, {name: {"type": "category", "values": values} for name, values in {"sex": {"1": "m", "2": "f"}}.items()})
    table = ht.read(files / "t.csv", found.schema.declared(found.schema.declared_by))
    released = ht.release(table.select(["sex", "town"]), "independent", epsilon=1.0)
    assert "data dictionary d.json (census law, section 9)" in json.dumps(released.card())
