"""The command hierarchy: one is built, shown and written."""

from __future__ import annotations

import json

import hushtable as ht


def test_a_hierarchy_is_shown_written_and_used(hush, town, tmp_path):
    data = ("hierarchy", town / "people.csv", "--schema", town / "schema.yaml", "--column")
    code, told, _ = hush(*data, "birth_date", "--dates", "year,decade")
    assert code == 0
    assert '"dates": ["year", "decade"]' in told
    assert "for you alone" in told
    code, told, _ = hush(*data, "occupation", "--frequency", "40", "-o", tmp_path / "occupation.csv", "--json")
    assert code == 0, told
    assert (tmp_path / "occupation.csv").is_file()
    code, again, _ = hush(*data, "occupation", "--file", tmp_path / "occupation.csv", "--json")
    assert json.loads(again)["levels"] == json.loads(told)["levels"]


def test_groups_come_from_a_file_and_faults_are_said(hush, town, tmp_path):
    data = ("hierarchy", town / "people.csv", "--schema", town / "schema.yaml", "--column", "sex")
    levels = ht.Schema.load(town / "schema.yaml")["sex"].levels
    (tmp_path / "g.json").write_text(json.dumps({"all": list(levels[:1])}))
    code, told, _ = hush(*data, "--groups", tmp_path / "g.json")
    assert code == 0
    assert "no group" in told
    (tmp_path / "g.json").write_text('{"all": "x"}')
    assert hush(*data, "--groups", tmp_path / "g.json")[0] == 2
    assert hush(*data, "--groups", tmp_path / "g.json", "--frequency", "4")[0] == 2
    code, _, told = hush(*data, "--prefix", "1", "-o", tmp_path / "no.csv")
    assert code == 2
    assert "--out" in told
