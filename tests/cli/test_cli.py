"""The command line as a data steward uses it: the whole way, exit codes, and clear words for bad input."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import hushtable as ht
from hushtable.api import methods as listing
from hushtable.cli import main
from hushtable.data.people import people
from hushtable.pipeline import registry
from hushtable.table import io


def release(town: Path, out: Path, *more: object) -> list[object]:
    return ["release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", "mdav", "--out", out, *more]


def test_the_whole_way(hush, town, tmp_path):
    out = tmp_path / "out"
    code, told, _ = hush(*release(town, out, "--set", "k=5", "--seed", 1, "--hold-out", 0.25))
    assert code == 0
    assert "verified" in told
    assert "k = 5" in told
    assert {p.name for p in out.iterdir()} >= {"data.csv", "card.json", "card.html", "recipe.yaml", "schema.yaml"}
    private = tmp_path / "out.private"
    assert (private.stat().st_mode & 0o077) == 0
    code, told, _ = hush(
        "audit", "--train", private / "train.csv", "--control", private / "control.csv", "--release", out,
        "--schema", town / "schema.yaml", "--out", tmp_path / "audit",
    )  # fmt: skip
    assert code == 0
    assert "do not publish" in told
    findings = json.loads((tmp_path / "audit" / "audit.json").read_text())["findings"]
    keys = {"name", "value", "low", "high", "baseline", "better", "n", "note", "seconds"}
    assert all(keys <= set(finding) for finding in findings)
    assert (tmp_path / "audit" / "audit.html").is_file()
    assert hush("verify", out)[0] == 0
    (out / "data.csv").write_text((out / "data.csv").read_text() + "\n")
    code, _, told = hush("verify", out)
    assert code == 3
    assert "data.csv" in told


@pytest.mark.parametrize(
    "recipe", ["sequential", "independent", "mdav-sequential", "sample", "mdav-sample", "mdav-stratified", "sample-independent"]
)
def test_every_recipe_runs_from_the_command_line(hush, town, tmp_path, recipe):
    budget = ["--epsilon", 1] if "independent" in recipe else []
    budget += ["--allow-copies", "nobody in it exists"] if recipe == "sample" else []
    words = [recipe if word == "mdav" else word for word in release(town, tmp_path / "out", "--json", *budget)]
    code, told, _ = hush(*words)
    assert code == 0, told
    card = json.loads(told)
    assert card["recipe"] == recipe
    expected = {"sequential": "none", "sample": "none", "independent": "proven", "sample-independent": "proven"}
    assert card["guarantee"]["assurance"] == expected.get(recipe, "verified")


def test_a_schema_is_drafted_and_not_overwritten(hush, town, tmp_path):
    target = tmp_path / "draft.yaml"
    code, told, _ = hush("schema", town / "people.csv", "-o", target)
    assert code == 0
    assert "unique on the likely quasi-identifiers" in told
    before = target.read_text()
    code, _, told = hush("schema", town / "people.csv", "-o", target)
    assert code == 2
    assert "exists already" in told
    assert target.read_text() == before
    code, told, _ = hush("schema", town / "people.csv")
    # Printed for a pipe, all levels stand in it; in a file, long lists of them stand beside it.
    assert ht.Schema.parse(told) == ht.Schema.load(target)
    assert (tmp_path / "draft.levels" / "postcode.csv").read_text().startswith("level\n")
    assert "domain: draft.levels/postcode.csv" in before
    code, told, _ = hush("schema", town / "people.csv", "--json")
    columns = {c["name"]: c for c in json.loads(told)["columns"]}
    assert columns.keys() >= {"sex", "income"}
    assert columns["sex"].keys() >= {"kind", "role", "distinct", "missing", "reason", "role_reason"}


def test_methods_are_listed_and_explained(hush):
    code, listed, _ = hush("methods")
    assert code == 0
    code, told, _ = hush("methods", "mdav")
    assert "least number of records" in " ".join(told.split())
    everything = json.loads(hush("methods", "--json")[1])
    for recipe in everything["recipes"]:
        assert recipe["family"] in map(str.strip, listed.splitlines())
        line = next(line for line in listed.splitlines() if line.startswith(f"│ {recipe['name']} "))
        assert f" {recipe['assurance']} " in line
    for kind in ("recipes", "steps", "audits"):
        for method in everything[kind]:
            assert f" {method['name']} " in listed, "a name is never cut"
            assert listing.describe(method["name"])
        assert hush("methods", everything[kind][0]["name"], "--json")[0] == 0
    assert hush("methods", "mdva")[0] == 2
    assert hush("methods", "mdav", "--any-size")[0] == 2


@pytest.mark.parametrize(("recipe", "budget", "sensitive"), [("sequential", (), True), ("independent", ("--epsilon", "1"), False)])
def test_a_model_without_a_proof_is_called_as_sensitive_as_the_rows(hush, town, tmp_path, recipe, budget, sensitive):
    files = "--save-model", tmp_path / "model", "--out", tmp_path / "out"
    code, shown, _ = hush("release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", recipe, *budget, *files)
    assert code == 0
    assert ("as sensitive as the rows: do not share it" in " ".join(shown.split())) is sensitive


def test_check_tells_what_was_forgotten(hush, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("from hushtable.pipeline.step import Core\nclass Mine(Core):\n    pass\n")
    code, told, _ = hush("check", "mine:Mine")
    assert code == 3
    assert "dataclass(frozen=True" in told
    assert hush("check", "hushtable.anonymize.sample:Sample")[0] == 0
    assert hush("check", "mine:Yours")[0] == 2


def test_a_promise_that_cannot_be_kept_is_refused_with_code_3(hush, town, tmp_path):
    (tmp_path / "mine.yaml").write_text("recipe: mine\nsteps:\n- bins: {edges: quantile}\n- margins: {}\n")
    words = [
        "release",
        town / "people.csv",
        "--schema",
        town / "schema.yaml",
        "--recipe",
        tmp_path / "mine.yaml",
        "--out",
        tmp_path / "out",
    ]
    code, _, told = hush(*words, "--epsilon", 1)
    assert code == 3
    assert "infinite" in told
    assert "bins" in told
    assert not (tmp_path / "out").exists()
    code, told, _ = hush(*words, "--epsilon", 1, "--unproven")
    assert code == 0
    assert "epsilon is infinite" in told


def test_an_observed_domain_is_refused_with_code_3(hush, town, tmp_path):
    hush("schema", town / "people.csv", "-o", tmp_path / "draft.yaml")
    changes = {"mdav": "independent", town / "schema.yaml": tmp_path / "draft.yaml"}
    code, _, told = hush(*(changes.get(word, word) for word in release(town, tmp_path / "out", "--epsilon", 1)))
    assert code == 3
    assert "observed: true" in told
    assert "--learn-domain" in told
    assert not (tmp_path / "out").exists()
    words = [changes.get(word, word) for word in release(town, tmp_path / "out", "--epsilon", 400, "--learn-domain", "--json")]
    code, told, _ = hush(*words)
    assert code == 0, told
    card = json.loads(told)
    assert card["steps"][0] == "learn-domain"
    assert card["guarantee"]["epsilon"] <= 400
    assert "learnt" in card["result"]["learn-domain"]
    assert "observed" not in (tmp_path / "out" / "schema.yaml").read_text()


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


SCHEMA = "columns:\n  age: {kind: integer, role: quasi, domain: [0, 99]}\n  town: {kind: category, role: quasi, domain: [a, b]}\n"
DATA = "age,town\n" + "".join(f"{20 + i},{'ab'[i % 2]}\n" for i in range(12))

BAD = {
    "empty file": ({"data": ""}, "the file is empty"),
    "header only": ({"data": "age,town\n"}, "no rows"),
    "one row": ({"data": "age,town\n20,a\n"}, "only one row"),
    "duplicate column names": ({"data": "age,age\n" + "1,2\n" * 5}, "'age' stands in the header more than once"),
    "absent columns": ({"data": "age,city\n" + "1,a\n" * 5}, "column town: named by the schema"),
    "outside the domain": ({"data": DATA + "120,c\n130,a\n"}, "outside the declared domain"),
    "not numbers": ({"data": DATA + "old,a\n"}, "not whole numbers"),
    "not UTF-8": ({"data": DATA.encode() + b"33,\xe9\n"}, "not UTF-8"),
    "ragged": ({"data": DATA + "33,a,b\n"}, "expected 2 values, as in the header, found 3"),
    "no such file": ({"data": None}, "does not exist"),
    "no such schema": ({"schema": None}, "does not exist"),
    "schema is not YAML": ({"schema": "columns: ["}, "not valid YAML"),
    "hierarchy is no tree": (
        {"schema": SCHEMA.replace("[a, b]}", "[a, b], hierarchy: town.csv}"), "hierarchy": "a,x,*\na,y,*\n"},
        "'a' stands on line 1 and again on line 2",
    ),
    "k larger than n": ({"more": ["--set", "k=100"]}, "larger than the number of rows"),
    "epsilon zero": ({"more": ["--epsilon", "0"]}, "must be a positive number"),
    "epsilon negative": ({"more": ["--epsilon", "-1"]}, "must be a positive number"),
    "unknown recipe": ({"recipe": "mdva"}, "there is no recipe 'mdva'"),
    "unknown knob": ({"more": ["--set", "kk=3"]}, "no step has this knob"),
    "setting without value": ({"more": ["--set", "k"]}, "expected knob=value"),
    "unknown format": ({"more": ["--format", "xlsx"]}, "expected csv"),
    "hold-out of everything": ({"more": ["--hold-out", "1"]}, "between 0 and 1"),
    "negative seed": ({"more": ["--seed", "-1"]}, "greater than or equal to 0"),
    "one row asked for": ({"recipe": "sequential", "more": ["--rows", "1"]}, "at least two rows"),
    "unknown relation": ({"more": ["--relation", "nearby"]}, "add_remove or replace_one"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_and_nothing_is_written(hush, tmp_path, name):
    changes, expected = BAD[name]
    data, schema = tmp_path / "data.csv", tmp_path / "schema.yaml"
    for path, text in ((data, changes.get("data", DATA)), (schema, changes.get("schema", SCHEMA))):
        if text is not None:
            write(path, text)
    if "hierarchy" in changes:
        write(tmp_path / "town.csv", changes["hierarchy"])
    before = sorted(p.name for p in tmp_path.iterdir())
    out = tmp_path / "out"
    words = ["release", data, "--schema", schema, "--recipe", changes.get("recipe", "mdav"), "--out", out, *changes.get("more", [])]
    code, _, told = hush(*words)
    assert code == 2, told
    assert expected in told
    assert "Traceback" not in told
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    if name != "negative seed":  # the parser's own message
        code, told, _ = hush(*words, "--json")
        assert json.loads(told)["exit_code"] == 2


def test_every_fault_is_told_at_once(hush, tmp_path):
    write(tmp_path / "data.csv", DATA + "120,c\n")
    write(tmp_path / "schema.yaml", SCHEMA)
    _, _, told = hush(
        "release", tmp_path / "data.csv", "--schema", tmp_path / "schema.yaml", "--recipe", "mdav", "--out", tmp_path / "out"
    )
    assert "column age" in told
    assert "column town" in told
    assert "'120'" in told
    assert "row 13" in told


def test_an_output_folder_that_exists_is_left_alone(hush, town, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    code, _, told = hush(*release(town, out))
    assert code == 2
    assert "exists already" in told
    assert [p.name for p in out.iterdir()] == ["mine.txt"]


def audit_words(town: Path, tmp_path: Path, **more: object) -> list[object]:
    given = {
        "train": town / "people.csv",
        "control": town / "people.csv",
        "release": town / "people.csv",
        "out": tmp_path / "audit",
    } | more
    return ["audit", "--schema", town / "schema.yaml", *(w for key, value in given.items() for w in (f"--{key}", value))]


def test_the_same_file_as_train_and_control_is_refused(hush, town, tmp_path):
    code, _, told = hush(*audit_words(town, tmp_path))
    assert code == 2
    assert "same file as --train" in told
    shutil.copy(town / "people.csv", tmp_path / "copy.csv")
    code, _, told = hush(*audit_words(town, tmp_path, control=tmp_path / "copy.csv"))
    assert code == 2
    assert "same rows as the training table" in told
    assert not (tmp_path / "audit").exists()


def test_a_foreign_anonymized_file_is_audited(hush, town, tmp_path):
    """Intervals, sets and stars in somebody else's release are read as cells."""
    table = io.read(town / "people.csv", town / "schema.yaml")
    order = np.random.default_rng(0).permutation(table.rows)
    io.write(table.take(order[:300]), tmp_path / "train.csv")
    io.write(table.take(order[300:]), tmp_path / "control.csv")
    lines = ["household_size,sex,income,education"]
    size = table["household_size"][order[:300]]
    for i, row in enumerate(order[:300]):
        band = "*" if i % 50 == 0 else '"[1, 2]"' if size[i] <= 2 else "3+"
        lines.append(f'{band},{table.strings("sex")[row] or ""},"[0, 50000]",*')
    write(tmp_path / "theirs.csv", "\n".join(lines) + "\n")
    code, told, err = hush(
        *audit_words(
            town, tmp_path, train=tmp_path / "train.csv", control=tmp_path / "control.csv", release=tmp_path / "theirs.csv"
        )
    )
    assert code == 0, err
    findings = json.loads((tmp_path / "audit" / "audit.json").read_text())["findings"]
    assert any(f["name"] == "closest record score" and "drawn at random from them" in f["note"] for f in findings)
    assert "None of" in told


def test_an_unknown_audit_is_named(hush, town, tmp_path):
    shutil.copy(town / "people.csv", tmp_path / "copy.csv")
    code, _, told = hush(*audit_words(town, tmp_path, control=tmp_path / "copy.csv", only="mirror"))
    assert code == 2
    assert "closest-record" in told


def test_the_demo_runs_and_says_what_was_promised(hush, tmp_path, monkeypatch):
    few = ("near-matches", "singling-out", "linkability", "inference", "downstream")
    monkeypatch.setattr(registry, "AUDITS", {name: registry.AUDITS[name] for name in few})
    code, told, _ = hush("demo", "--out", tmp_path / "demo", "--rows", 200, "--json")
    assert code == 0
    releases = {line["recipe"]: line for line in json.loads(told)["releases"]}
    assert releases["aim"]["promised"].startswith("proven")
    assert releases["mdav"]["promised"].startswith("verified")
    assert releases["sequential"]["promised"] == "nothing is promised"
    for line in releases.values():
        assert Path(line["card"]).is_file()
        assert Path(line["audit"]).is_file()
        # Of so few people noise may leave the private release one class, on which no model can be tried.
        assert "real" in line["auc"] or line["recipe"] == "aim"
        assert 0 <= float(line["linkability"]) <= 1
        assert line["linkability gain"].endswith(" of 100")
    assert hush("demo", "--out", tmp_path / "demo")[0] == 2


def test_version_and_help(hush):
    assert hush("--version")[0] == 0
    code, told, _ = hush("release", "--help")
    assert code == 0
    assert "--epsilon" in told
    assert hush("release")[0] == 2


def test_a_crash_never_prints_local_variables(monkeypatch, town, tmp_path, capsys):
    """A traceback with locals would show rows."""

    def explode(*args: object, **more: object) -> None:
        secret = "SECRET-ROW"
        raise RuntimeError(f"boom {len(secret)}")

    monkeypatch.setattr("hushtable.api.release.release", explode)
    monkeypatch.setattr(sys, "argv", ["hush", *map(str, release(town, tmp_path / "out"))])
    with pytest.raises(RuntimeError, match="boom"):
        main()
    told = capsys.readouterr()
    assert "SECRET-ROW" not in told.out + told.err


def test_an_output_folder_needs_a_name(hush, town):
    code, _, told = hush(*release(town, ""))
    assert code == 2
    assert "no name for an output folder" in told


def test_numbers_too_long_for_arithmetic_are_refused_not_emptied(hush, tmp_path):
    data = write(tmp_path / "d.csv", "n,town\n" + "".join(f"{2**62 + i},{'ab'[i % 2]}\n" for i in range(12)))
    schema = write(
        tmp_path / "s.yaml", f"columns:\n  n: {{kind: integer, role: quasi, domain: [0, {2**63 - 1}]}}\n  town: category\n"
    )
    code, _, told = hush("release", data, "--schema", schema, "--recipe", "mdav", "--out", tmp_path / "out")
    assert code == 2
    assert "column n: holds whole numbers beyond 2^53" in told


def test_a_private_hold_out_is_never_drawn_from_the_seed(hush, town, tmp_path):
    words = {"mdav": "independent"}
    rows = []
    for name in ("one", "two"):
        more = ("--epsilon", 1, "--hold-out", 0.3, "--seed", 7)
        code, _, told = hush(*(words.get(w, w) for w in release(town, tmp_path / name, *more)))
        assert code == 0, told
        rows.append((tmp_path / f"{name}.private" / "train.csv").read_text())
    assert rows[0] != rows[1]


def test_rows_of_a_person_that_are_not_used_are_told(hush, town, tmp_path):
    code, told, _ = hush(*release(town, tmp_path / "out", "--person", "occupation", "--rows-per-person", 60))
    assert code == 0
    assert "training rows were not used: at most 60 of each occupation" in told
    code, _, told = hush(*release(town, tmp_path / "two", "--person", "sex", "--rows-per-person", 250))
    assert code == 2
    assert "larger than the number of persons" in told


def test_a_drafted_domain_does_not_bind_a_control(hush, town, tmp_path):
    io.write(io.read(town / "people.csv").take(np.arange(200)), tmp_path / "train.csv")
    io.write(io.read(town / "people.csv").take(np.arange(200, 600)), tmp_path / "control.csv")
    assert hush("schema", tmp_path / "train.csv", "-o", tmp_path / "schema.yaml")[0] == 0
    code, _, told = hush(
        "release", tmp_path / "train.csv", "--schema", tmp_path / "schema.yaml", "--recipe", "mdav", "--out", tmp_path / "out"
    )
    assert code == 0, told
    code, _, told = hush(
        "audit", "--train", tmp_path / "train.csv", "--control", tmp_path / "control.csv", "--release", tmp_path / "out",
        "--schema", tmp_path / "schema.yaml", "--out", tmp_path / "audit",
        "--only", "closest-record", "--only", "linkability", "--only", "margins", "--only", "association", "--only", "queries",
    )  # fmt: skip
    assert code == 0, told


def test_the_hint_to_attack_a_release_can_be_pasted(hush, town, tmp_path):
    folder = tmp_path / "two words [red]"
    code, told, _ = hush(*release(town, folder, "--hold-out", 0.3, "--seed", 1))
    assert code == 0
    hint = next(line for line in told.splitlines() if line.strip().startswith("hush audit"))
    assert hush(*shlex.split(hint)[1:], "--only", "closest-record")[0] == 0


def test_a_sheet_for_programs_and_its_faults(hush, town, tmp_path):
    words = ["pareto", town / "people.csv", "--schema", town / "schema.yaml"]
    code, told, _ = hush(*words, "--k", "2,5", "--limit", "0.1,1", "--json")
    assert code == 0
    lines = json.loads(told)["lines"]
    assert [(line["k"], line["limit"]) for line in lines] == [(2, 0.1), (2, 1.0), (5, 0.1), (5, 1.0)]
    assert all(line["optimal"] for line in lines)
    code, _, told = hush(*words, "--k", "two")
    assert code == 2
    assert "--k" in told
    for odd in ("nan", "inf", "2.5", "2,"):
        code, _, told = hush(*words, "--k", odd)
        assert code == 2, odd
        assert "--k" in told
        assert "numbers with commas" in told
    code, _, told = hush(*words, "--set", "loss=nothing")
    assert code == 2
    assert "loss" in told


def test_what_is_private_is_refused_inside_a_release_before_anything_is_computed(hush, town, tmp_path):
    assert hush(*release(town, tmp_path / "public", "--seed", 1))[0] == 0
    before = sorted(p.name for p in (tmp_path / "public").iterdir())
    data, schema, inside = town / "people.csv", ("--schema", town / "schema.yaml"), ("--out", tmp_path / "public" / "more")
    commands = (
        ("compare", data, *schema, "--recipes", "mdav"),
        ("pareto", data, *schema),
        ("utility", "--train", data, "--release", data, *schema),
        ("audit", "--train", data, "--release", data, "--control", data, *schema),
        ("certify", data, *schema),
        ("release", data, *schema, "--recipe", "mdav", "--hold-out", 0.3),
    )
    for words in commands:
        code, _, told = hush(*words, *inside)
        assert code == 2, words
        assert "inside a release" in " ".join(told.split()), told
    assert sorted(p.name for p in (tmp_path / "public").iterdir()) == before


def test_utility_does_not_clear_a_release_that_it_does_not_attack(hush, town, tmp_path):
    words = ("utility", "--real", town / "people.csv", "--release", town / "people.csv", "--schema", town / "schema.yaml")
    code, _, told = hush(*words, "--only", "linkability", "--only", "margins", "--only", "nothing", "--out", tmp_path / "u")
    assert code == 2
    assert "linkability: is about privacy" in " ".join(told.split())
    assert "there is no audit 'nothing'" in " ".join(told.split())
    assert not (tmp_path / "u").exists()


def test_a_mapping_on_new_rows_and_on_rows_outside_its_domains(hush, town, tmp_path):
    words = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", "k-anonymity", "--out", tmp_path / "one"]
    assert hush(*words, "--seed", 1)[0] == 0
    code, told, _ = hush("apply", tmp_path / "one", town / "people.csv", "--out", tmp_path / "two", "--seed", 1)
    assert code == 0
    assert "%) were suppressed" in told
    assert (tmp_path / "two" / "data.csv").read_text() == (tmp_path / "one" / "data.csv").read_text()
    assert hush("verify", tmp_path / "two")[0] == 0
    name = next(iter(people(5, seed=1).schema.quasi))
    strange = (town / "people.csv").read_text().splitlines()
    place = strange[0].split(",").index(name)
    cells = strange[1].split(",")
    cells[place] = "nobody"
    (tmp_path / "strange.csv").write_text("\n".join([strange[0], ",".join(cells), *strange[2:]]) + "\n")
    code, _, told = hush("apply", tmp_path / "one", tmp_path / "strange.csv", "--out", tmp_path / "three")
    assert code == 2
    assert name in told
    assert not (tmp_path / "three").exists()


def test_an_audit_under_the_schema_of_a_release_is_refused(hush, town, tmp_path):
    words = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", "k-anonymity", "--out", tmp_path / "out"]
    code, told, _ = hush(*words, "--seed", 1, "--hold-out", 0.3)
    assert code == 0
    assert "rows were suppressed" in told
    assert "mapping.csv" in told
    code, _, told = hush(
        "audit", "--train", tmp_path / "out.private" / "train.csv", "--control", tmp_path / "out.private" / "control.csv",
        "--release", tmp_path / "out", "--schema", tmp_path / "out" / "schema.yaml", "--out", tmp_path / "audit",
    )  # fmt: skip
    assert code == 2
    assert "schema of a release" in told


def test_what_does_not_verify_is_told_to_programs(hush, town, tmp_path):
    assert hush(*release(town, tmp_path / "out", "--seed", 1))[0] == 0
    (tmp_path / "out" / "stray.csv").write_text("a\n1\n")
    code, told, _ = hush("verify", tmp_path / "out", "--json")
    assert code == 3
    assert [fault["where"] for fault in json.loads(told)["faults"]] == ["stray.csv"]


def test_a_budget_that_promises_nothing_is_warned_of_before_the_run_and_refused_beyond_a_thousand(hush, town, tmp_path):
    words = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", "independent", "--json"]
    code, _, complaint = hush(*words, "--epsilon", 50, "--out", tmp_path / "much")
    assert code == 0
    assert "epsilon 50 is above 10" in complaint
    assert "above" not in hush(*words, "--epsilon", 1, "--out", tmp_path / "little")[2]
    code, told, _ = hush(*words, "--epsilon", 1e9, "--out", tmp_path / "none")
    assert code == 2
    assert "1e+09 promises nothing" in json.loads(told)["message"]
