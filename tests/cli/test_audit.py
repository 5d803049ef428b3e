"""``hush audit`` and ``hush certify``: gates, knobs, planted leaks, what is hidden, and input that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hushtable.audits import planted
from hushtable.data.people import people
from hushtable.table import io

N = 300


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> Path:
    """Training, control and fresh rows, a release that leaks half of the training rows, and the schema."""
    folder = tmp_path_factory.mktemp("parts")
    table = people(3 * N, seed=4)
    names = table.schema.released
    train, control, fresh = (table.take(np.arange(i * N, (i + 1) * N)).select(names) for i in range(3))
    leaky = planted.leaky(train, fresh, 0.5, np.random.default_rng(0))
    for name, part in {"train": train, "control": control, "fresh": fresh, "leaky": leaky}.items():
        io.write(part, folder / f"{name}.csv")
    (folder / "schema.yaml").write_text(table.schema.select(names).dump(), encoding="utf-8")
    return folder


def words(parts: Path, out: Path, made: str, *more: object, **other: object) -> list[object]:
    files = {"train": parts / "train.csv", "control": parts / "control.csv", "release": parts / f"{made}.csv"} | other
    return [
        "audit", "--schema", parts / "schema.yaml", "--out", out, *(w for k, v in files.items() for w in (f"--{k}", v)), *more
    ]  # fmt: skip


ONLY = ("--only", "near-matches", "--only", "linkability")


def test_a_leak_alarms_and_the_gate_refuses(hush, parts, tmp_path):
    code, told, _ = hush(*words(parts, tmp_path / "a", "leaky", *ONLY, "--gate", "max_risk<0.2", "--gate", "alarms<=99"))
    assert code == 3
    assert "tests raise an alarm" in told
    assert "Condition fails: max_risk<0.2: the largest upper bound" in told
    assert "Condition holds: alarms<=99" in told
    assert (tmp_path / "a" / "audit.html").is_file()
    assert ((tmp_path / "a").stat().st_mode & 0o077) == 0


def test_fresh_rows_pass_and_the_smallest_leak_is_told(hush, parts, tmp_path):
    code, told, _ = hush(*words(parts, tmp_path / "a", "fresh", *ONLY, "--power", "--gate", "alarms<1"))
    assert code == 0, told
    assert "None of" in told
    assert "smallest planted leak of whole rows that it notices: " in told
    saved = json.loads((tmp_path / "a" / "audit.json").read_text())
    assert saved["power"]["audit"] in (0.02, 0.05, 0.1)
    assert any(f["detectable"] for f in saved["findings"])


def test_values_of_people_are_hidden_unless_asked_for(hush, parts, tmp_path):
    """Free numbers of the training rows: none stands in a saved file; asked for, the attacker's description does."""
    base = words(parts, tmp_path / "hidden", "leaky", "--only", "singling-out")
    assert hush(*base)[0] == 0
    shown = words(parts, tmp_path / "shown", "leaky", "--only", "singling-out", "--show-values")
    assert hush(*shown)[0] == 0
    records = {n: json.loads((tmp_path / n / "audit.json").read_text())["records"] for n in ("hidden", "shown")}
    told = {n: [hit["told"] for record in found for hit in record["attacks"]] for n, found in records.items()}
    assert told["hidden"]
    assert not any("=" in text for text in told["hidden"])
    assert all("=" in text or "missing" in text for text in told["shown"])
    # Fewer are kept with their values: the same, from the first on.
    rows = {n: [record["row"] for record in found] for n, found in records.items()}
    assert rows["hidden"][: len(rows["shown"])] == rows["shown"]


def test_a_knob_of_an_audit_is_set(hush, parts, tmp_path):
    more = ("--only", "linkability", "--set", "neighbours=2", "--set", "linkability.random=0", "--json")
    code, told, _ = hush(*words(parts, tmp_path / "a", "fresh", *more))
    assert code == 0
    assert {f["scope"].split(", ")[1] for f in json.loads(told)["findings"]} == {"k=2"}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--set", "neighbours=x"), "neighbours"),
        (("--set", "nothing=1"), "no audit has this knob"),
        (("--gate", "max_risk=0.1"), "max_risk=0.1: expected <, <=, > or >="),
        (("--gate", "nonsense<0.1"), "there are max_gain"),
        (("--only", "nonsense"), "there is no audit"),
        (("--recipe", "nonsense"), "nonsense"),
    ],
)
def test_what_cannot_be_understood_is_named_and_nothing_is_written(hush, parts, tmp_path, more, why):
    code, _, told = hush(*words(parts, tmp_path / "a", "fresh", "--only", "linkability", *more))
    assert code == 2
    assert why in told
    assert not (tmp_path / "a").exists()


def test_columns_of_other_kinds_are_all_named(hush, parts, tmp_path):
    """A release folder brings its own schema: where that means something else, every such column is listed."""
    import hushtable as ht

    table = io.read(parts / "fresh.csv", parts / "schema.yaml").select(["sex", "household_size", "weekly_hours", "smoker"])
    frame = table.frame().astype({"household_size": str, "weekly_hours": str})
    frame["household_size"] = "x" + frame["household_size"]
    frame["weekly_hours"] = "y" + frame["weekly_hours"]
    made = ht.release(io.read(frame), "sample", seed=0, allow_copies="nobody exists")
    ht.save(made, tmp_path / "release")
    code, _, told = hush(*words(parts, tmp_path / "a", "fresh", release=tmp_path / "release"))
    assert code == 2
    assert "column household_size" in told
    assert "column weekly_hours" in told
    assert "Traceback" not in told


def test_an_empty_control_and_a_release_of_other_columns_are_refused(hush, parts, tmp_path):
    head = (parts / "control.csv").read_text().splitlines()[0]
    (tmp_path / "empty.csv").write_text(head + "\n")
    code, _, told = hush(*words(parts, tmp_path / "a", "fresh", control=tmp_path / "empty.csv"))
    assert code == 2
    assert "empty.csv: has no rows" in told
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    code, _, told = hush(*words(parts, tmp_path / "a", "fresh", release=tmp_path / "other.csv"))
    assert code == 2
    assert "none of the columns" in told


def test_a_release_with_fewer_columns_is_attacked_on_those_and_says_so(hush, parts, tmp_path):
    table = io.read(parts / "leaky.csv", parts / "schema.yaml").select(["sex", "birth_date", "income"])
    io.write(table, tmp_path / "few.csv")
    more = ("--only", "coverage", "--only", "identical-matches", "--only", "singling-out")
    code, told, _ = hush(*words(parts, tmp_path / "a", "fresh", *more, release=tmp_path / "few.csv"))
    assert code == 0
    assert "not in the release: " in told


def test_canaries_need_the_recipe_and_use_it(hush, parts, tmp_path):
    more = ("--only", "canaries", "--set", "trainings=1", "--set", "canaries=20")
    code, told, _ = hush(*words(parts, tmp_path / "a", "fresh", *more))
    assert code == 0
    assert "give the recipe (--recipe)" in told
    code, told, _ = hush(*words(parts, tmp_path / "b", "fresh", *more, "--recipe", "sample"))
    assert code == 0
    assert "drawn at random" in told


def test_certify_goes_on_where_it_stopped_and_refuses_another_study(hush, parts, tmp_path):
    base = [
        "certify",
        parts / "fresh.csv",
        "--schema",
        parts / "schema.yaml",
        "--only",
        "near-matches",
        "--models",
        "leaky",
        "--quick",
    ]
    out = ["--out", tmp_path / "c"]
    code, told, _ = hush(*base, *out)
    assert code == 0
    assert "near matches" in told
    before = (tmp_path / "c" / "certificate.json").read_bytes()
    cells = {p: p.stat().st_mtime_ns for p in (tmp_path / "c").rglob("leak-*.json")}
    assert cells
    assert hush(*base, *out)[0] == 0
    assert (tmp_path / "c" / "certificate.json").read_bytes() == before
    assert cells == {p: p.stat().st_mtime_ns for p in cells}
    code, _, told = hush(*base, *out, "--seed", "1")
    assert code == 2
    assert "another" in told
    code, _, told = hush(*base, "--out", tmp_path / "d", "--models", "nonsense")
    assert code == 2
    assert "there is no risk model nonsense" in told


@pytest.fixture(scope="module")
def visits(tmp_path_factory) -> Path:
    """Three rows of each of 120 people, under a key that tells them apart, and the schema."""
    folder = tmp_path_factory.mktemp("visits")
    table = people(120, seed=4).select(["person_id", "sex", "height_cm", "weight_kg", "smoker", "income"])
    io.write(table.take(np.repeat(np.arange(120), 3)), folder / "rows.csv")
    (folder / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return folder


def test_a_release_by_person_is_audited_by_person_unasked(hush, visits, tmp_path):
    made, key = tmp_path / "out", ("--person", "person_id", "--rows-per-person", 3)
    words = ("--schema", visits / "schema.yaml", "--out", made, "--recipe", "mdav", "--hold-out", 0.4, "--seed", 1)
    code, told, _ = hush("release", visits / "rows.csv", *words, *key, "--allow-copies", "nobody in it exists")
    assert code == 0, told
    assert "--person=person_id" in told
    private = tmp_path / "out.private"
    files = {"train": private / "train.csv", "control": private / "control.csv", "release": made}
    audit = ["audit", "--schema", visits / "schema.yaml", *(w for k, v in files.items() for w in (f"--{k}", v)), *ONLY]
    code, told, _ = hush(*audit, "--out", tmp_path / "a")
    saved = json.loads((tmp_path / "a" / "audit.json").read_text())
    assert saved["people"] == {"train": 72, "control": 48}
    assert saved["rows"]["train"] == 216
    assert "Caution" not in told
    assert next(f for f in saved["findings"] if f["name"] == "near matches")["n"] == 72


def test_without_a_key_the_audit_says_which_column_repeats(hush, visits, tmp_path):
    table = io.read(visits / "rows.csv", visits / "schema.yaml")
    for name, part in {"train": slice(0, 150), "control": slice(150, 270), "fresh": slice(270, 360)}.items():
        io.write(table.take(np.arange(360)[part]), tmp_path / f"{name}.csv")
    files = {name: tmp_path / f"{name}.csv" for name in ("train", "control")} | {"release": tmp_path / "fresh.csv"}
    audit = ["audit", "--schema", visits / "schema.yaml", *(w for k, v in files.items() for w in (f"--{k}", v)), *ONLY]
    code, told, _ = hush(*audit, "--out", tmp_path / "a")
    assert "give --person person_id" in " ".join(told.split())
    code, told, _ = hush(*audit, "--out", tmp_path / "b", "--person", "person_id")
    assert code == 0, told
    assert "Caution" not in told
    assert json.loads((tmp_path / "b" / "audit.json").read_text())["people"] == {"train": 50, "control": 40}


def test_a_person_on_both_sides_is_refused_without_being_named(hush, visits, tmp_path):
    rows = visits / "rows.csv"
    table = io.read(rows, visits / "schema.yaml")
    io.write(table.take(np.arange(200)), tmp_path / "train.csv")
    io.write(table.take(np.arange(199, 360)), tmp_path / "control.csv")
    files = {name: tmp_path / f"{name}.csv" for name in ("train", "control")} | {"release": rows}
    audit = ["audit", "--schema", visits / "schema.yaml", *(w for k, v in files.items() for w in (f"--{k}", v)), *ONLY]
    code, told, wrong = hush(*audit, "--out", tmp_path / "a", "--person", "person_id")
    assert code == 2
    assert "holds persons of the training table (person_id)" in " ".join((told + wrong).split())
