"""The command records: whom the attacks of a saved audit found, and by which released row."""

from __future__ import annotations

import json


def test_records_are_listed_without_values_and_shown_one_by_one(hush, town, tmp_path):
    lines = (town / "people.csv").read_text().splitlines(keepends=True)
    head, rows = lines[0], lines[1:]
    for name, own in {"train": rows[:300], "control": rows[300:], "release": rows[:300]}.items():
        (tmp_path / f"{name}.csv").write_text(head + "".join(own))
    sides = ("--train", tmp_path / "train.csv", "--release", tmp_path / "release.csv", "--schema", town / "schema.yaml")
    words = ("audit", *sides, "--control", tmp_path / "control.csv", "--only", "linkability", "--out", tmp_path / "audit")
    assert hush(*words)[0] == 0
    code, told, _ = hush("records", tmp_path / "audit", *sides, "--json")
    assert code == 0, told
    found = json.loads(told)
    assert found[0]["pairs"][0]["released"] == found[0]["row"]
    assert found[0]["pairs"][0]["sides"][0]["ours"] is None
    code, told, _ = hush("records", tmp_path / "audit", *sides, "--row", found[0]["row"], "--show-values")
    assert code == 0
    assert "for you alone" in told
    values = dict(zip(head.strip().split(","), rows[found[0]["row"] - 1].strip().split(","), strict=False))
    assert values["birth_date"] in told
    code, told, _ = hush("records", tmp_path / "audit", *sides, "--group", "sex=female", "--json")
    assert 0 < len(json.loads(told)) < len(found)
    assert hush("records", tmp_path / "audit", *sides, "--show-values")[0] == 2
    assert hush("records", tmp_path / "audit", *sides, "--group", "sex=neither")[0] == 2
