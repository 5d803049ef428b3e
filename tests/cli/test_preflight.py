"""The commands profile and preflight, --allow-copies, and --person with a column that is no key."""

from __future__ import annotations

import json

import pytest

import hushtable as ht
from tests.survey import survey


@pytest.fixture
def files(tmp_path):
    frame = survey(800)
    frame.to_csv(tmp_path / "survey.csv", index=False)
    drafted = ht.draft(frame).dump()
    (tmp_path / "good.yaml").write_text(drafted)
    lines = [line if " SEX:" in line else line.replace("role: quasi", "role: plain") for line in drafted.splitlines()]
    (tmp_path / "poor.yaml").write_text("\n".join(lines))
    return tmp_path


def test_a_profile_is_shown_for_the_holder_alone(hush, files):
    code, told, _ = hush("profile", files / "survey.csv", "-o", files / "profile.html")
    assert code == 0
    assert "AGEP, INDP" in told
    assert "for you alone" in told
    assert ((files / "profile.html").stat().st_mode & 0o077) == 0
    code, told, _ = hush("profile", files / "survey.csv", "--schema", files / "poor.yaml", "--json")
    assert code == 0
    assert [one["share"] for one in json.loads(told)["singling"]] == [0.01, 0.05, 0.2, 0.5]


def test_the_literal_path_is_refused_and_says_why(hush, files):
    words = ["--schema", files / "poor.yaml", "--recipe", "k-anonymity", "--set", "k=10"]
    code, told, _ = hush("preflight", files / "survey.csv", *words)
    assert code == 3
    assert "It would be refused" in told
    code, _, told = hush("release", files / "survey.csv", *words, "--out", files / "out")
    assert code == 3
    assert "--allow-copies" in told
    assert not (files / "out").exists()
    code, told, _ = hush("release", files / "survey.csv", *words, "--out", files / "out", "--allow-copies", "nobody exists")
    assert code == 0
    assert "leave unchanged" in told
    code, told, _ = hush("verify", files / "out")
    assert code == 0
    assert "but k = 10 holds for SEX alone" in told
    assert "The reason given: nobody exists" in told
    code, told, _ = hush("verify", files / "out", "--json")
    assert len(json.loads(told)["exposed"]) == 2


def test_a_preflight_that_passes_and_one_of_a_private_recipe(hush, files):
    code, told, _ = hush("preflight", files / "survey.csv", "--schema", files / "good.yaml", "--recipe", "mondrian", "--json")
    assert code == 0
    assert not json.loads(told)["refused"]
    assert hush("schema", files / "good.yaml", "--declare", "--by", "us")[0] == 0
    code, told, _ = hush(
        "preflight", files / "survey.csv", "--schema", files / "good.yaml", "--recipe", "independent", "--epsilon", 1
    )
    assert code == 0
    assert "no row was read" in told


@pytest.mark.parametrize(("column", "rows"), [("SEX", 1), ("HISP", 3), ("PUMA", 1)])
def test_a_person_column_that_is_no_key_is_refused_with_counts_alone(hush, files, column, rows):
    code, _, told = hush(
        "release", files / "survey.csv", "--schema", files / "good.yaml", "--recipe", "mondrian", "--person", column,
        "--rows-per-person", rows, "--out", files / "out",
    )  # fmt: skip
    assert code == 2
    assert "of the 800 rows would be dropped" in told
    assert "--rows-per-person" in told
    assert "25-00" not in told
    assert not (files / "out").exists()


def test_a_profile_says_whom_other_quasi_identifiers_would_single_out(hush, files):
    words = ("profile", files / "survey.csv", "--schema", files / "good.yaml")
    code, told, _ = hush(*words, "--quasi", "AGEP,SEX", "--json")
    assert code == 0
    plain = json.loads(told)
    few = plain["headline"]["alone"]
    assert plain["headline"]["quasi"] == ["AGEP", "SEX"]
    assert {risk["name"] for risk in plain["risks"]} == {column["name"] for column in plain["columns"]}
    code, told, _ = hush(*words, "--json")
    assert json.loads(told)["headline"]["alone"] >= few
    code, told, _ = hush(*words, "--quasi", "AGEP,SEX")
    assert code == 0
    assert "unique by AGEP and SEX" in " ".join(told.split())
    code, _, told = hush(*words, "--quasi", "AGE")
    assert code == 2
    assert "AGEP" in told
