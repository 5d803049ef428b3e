"""The command publish: the list, the zip and what its recipient runs."""

from __future__ import annotations

import hashlib
import json


def test_a_release_is_checked_described_and_packed(hush, town, tmp_path):
    data = (town / "people.csv", "--schema", town / "schema.yaml")
    assert hush("release", *data, "--recipe", "independent", "--epsilon", "1", "--out", tmp_path / "release")[0] == 0
    code, told, _ = hush("publish", tmp_path / "release")
    assert code == 0
    assert "there is no audit" in told
    code, _, told = hush("publish", tmp_path / "release", "--zip", tmp_path / "out.zip")
    assert code == 3
    assert "--reason" in told
    assert not (tmp_path / "out.zip").exists()
    source = ("--source", town / "people.csv", "--source-sha256", hashlib.sha256((town / "people.csv").read_bytes()).hexdigest())
    about = ("--title", "A town", "--purpose", "teaching", "--out", tmp_path / "described")
    answered = ("--by", "Ann", "--reason", "a test")
    code, told, _ = hush("publish", tmp_path / "release", *source, *about, "--zip", tmp_path / "out.zip", *answered, "--json")
    assert code == 0, told
    made = json.loads(told)
    assert made["sha256"] == hashlib.sha256((tmp_path / "out.zip").read_bytes()).hexdigest()
    assert made["reason"] == "a test"
    code, told, _ = hush("verify", tmp_path / "out.zip")
    assert code == 0
    assert "is what its card says" in told
    assert json.loads((tmp_path / "described" / "card.json").read_text())["purpose"] == "teaching"
    (tmp_path / "release" / "notes.txt").write_text("x")
    assert hush("publish", tmp_path / "release")[0] == 3
    assert hush("publish", tmp_path / "described", "--source", town / "people.csv")[0] == 2
    assert hush("publish", tmp_path / "described", "--title", "x")[0] == 2
