"""``hush compare``, ``hush utility`` and ``hush release --best-of``: folders, exit codes, words, and input that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hushtable.api.compare import experiment
from hushtable.checks import example
from hushtable.pipeline.recipe import load
from hushtable.pipeline.verify import verify
from hushtable.table import io


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A small table with its schema, the two halves of it, and a release of the first half."""
    folder = tmp_path_factory.mktemp("files")
    table = example(160, seed=5)
    for name, part in {"all": table, "real": table.take(slice(0, 100)), "control": table.take(slice(100, 160))}.items():
        io.write(part, folder / f"{name}.csv")
    (folder / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    monkeypatch.setattr(experiment, "MEASURES", {"margins": {}, "downstream": {"models": "linear", "seeds": "0"}})


def words(files: Path, *more: object) -> list[object]:
    return ["compare", files / "all.csv", "--schema", files / "schema.yaml", "--workers", 1, "--only", "near-matches", *more]


def test_a_comparison_recommends_and_another_constraint_costs_no_further_release(hush, files, tmp_path):
    base = words(files, "--recipes", "mdav,independent", "--grid", "mdav.k=3,20", "--epsilon", 2, "--target", "school",
                 "--out", tmp_path / "c")  # fmt: skip
    code, out, err = hush(*base, "--constraint", "k>=10", "--constraint", "alarms<=99")
    assert code == 0
    assert "Take mdav k=20." in out
    assert "does not void it" in out
    assert f"hush release {files / 'all.csv'}" in out
    assert "do not publish it" in out
    assert err.count("score") == 3
    recipe = load(tmp_path / "c" / "recipes" / "mdav-k-20.yaml")
    assert (recipe.recipe, recipe.tuned, recipe.steps[0].k) == ("mdav", "private", 20)
    code, out, err = hush(*base, "--constraint", "promise=proven", "--constraint", "alarms<=99")
    assert code == 0
    assert "Take independent epsilon=2." in out
    assert "would be proven only if it had been chosen before looking at these rows" in " ".join(out.split())
    assert "name it beforehand" in " ".join(out.split())
    assert "--best-of independent" not in out
    assert "score" not in err
    code, out, _ = hush(*base, "--constraint", "epsilon<=1", "--json")
    plain = json.loads(out)
    assert code == 3
    assert plain["recommendation"]["id"] is None
    assert plain == {"folder": str(tmp_path / "c")} | json.loads((tmp_path / "c" / "comparison.json").read_text())


def test_a_target_that_follows_from_another_column_is_said_before_anything_is_run(hush, files, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment.Experiment, "observe", lambda *_: experiment.Observation(seconds=0.0, failed="no release"))
    lines = (files / "all.csv").read_text().splitlines()
    place = lines[0].split(",").index("school")
    twice = [f"{line},{line.split(',')[place]}" for line in lines[1:]]
    (tmp_path / "twice.csv").write_text("\n".join([f"{lines[0]},again", *twice]) + "\n")
    assert hush("schema", tmp_path / "twice.csv", "--out", tmp_path / "twice.yaml")[0] == 0
    code, _, err = hush("compare", tmp_path / "twice.csv", "--schema", tmp_path / "twice.yaml", "--recipes", "mdav", "--target",
                        "school", "--workers", 1, "--only", "near-matches", "--out", tmp_path / "c")  # fmt: skip
    assert code == 3
    told = " ".join(err.split())
    assert told.index("school follows from again") < told.index("mdav k=5: no release")


def test_a_recipe_tuned_on_private_rows_proves_nothing_at_release(hush, files, tmp_path):
    (tmp_path / "mine.yaml").write_text("recipe: mine\ntuned: private\nsteps:\n- bins: {}\n- margins: {}\n")
    release = ("release", files / "all.csv", "--schema", files / "schema.yaml", "--recipe", tmp_path / "mine.yaml", "--epsilon", 2)
    code, _, err = hush(*release, "--out", tmp_path / "r")
    assert code == 3
    assert "tuned on the private rows" in err


def test_what_cannot_be_compared_is_refused_before_anything_is_made(hush, files, tmp_path):
    out = ("--out", tmp_path / "c")
    for more, match in (
        (("--recipes", "mdav,nothing,nowhere"), ("'nothing'", "'nowhere'")),
        (("--grid", "mdav.k"), ("expected recipe.knob=value",)),
        (("--recipes", "mdav", "--grid", "mdav.q=1"), ("microaggregate.k",)),
        (("--target", "nowhere"), ("no column 'nowhere'",)),
        (("--person", "nobody"), ("no column 'nobody'",)),
        (("--constraint", "happiness<1", "--constraint", "k<=3"), ("'happiness'", "k is bounded by")),
        (("--epsilon", "much"), ("--epsilon",)),
        (("--rows", 20), ("at least 40",)),
    ):
        code, _, err = hush(*words(files, *more, *out))
        assert code == 2, more
        assert all(part in err for part in match), err
    assert not (tmp_path / "c").exists()
    code, _, err = hush(*words(files, "--out", files))
    assert code == 2
    assert "holds no study" in err


def test_the_use_of_a_release_is_measured_without_attacking_it(hush, files, tmp_path):
    base = ("utility", "--real", files / "real.csv", "--release", files / "control.csv", "--schema", files / "schema.yaml",
            "--only", "margins", "--only", "downstream", "--set", "models=linear", "--target", "school")  # fmt: skip
    code, out, _ = hush(*base, "--out", tmp_path / "u")
    assert code == 0
    assert "mean TVD" in out
    assert "AUC, school" in out
    assert "the real rows were halved" in out
    assert ((tmp_path / "u").stat().st_mode & 0o077) == 0
    assert (tmp_path / "u" / "audit.html").is_file()
    code, out, _ = hush(*base, "--control", files / "all.csv", "--json", "--out", tmp_path / "v")
    plain = json.loads(out)
    assert code == 0
    assert {f["subject"] for f in plain["findings"]} == {"utility"}
    assert not plain["made"]["halved"]
    for more, match in ((("--control", files / "real.csv"), "same file"), (("--target", "nowhere"), "no column 'nowhere'")):
        code, _, err = hush(*base, *more, "--out", tmp_path / "w")
        assert code == 2
        assert match in err


def test_the_best_of_several_is_one_release_for_one_budget(hush, files, tmp_path):
    base = ("release", files / "all.csv", "--schema", files / "schema.yaml", "--out", tmp_path / "r")
    code, out, _ = hush(*base, "--best-of", "independent,mst", "--epsilon", 3, "--json")
    plain = json.loads(out)
    assert code == 0
    assert plain["guarantee"]["assurance"] == "proven"
    assert 2.9 < plain["guarantee"]["epsilon"] <= 3
    (entry,) = plain["guarantee"]["ledger"]
    assert entry["step"] == "best-of"
    assert plain["result"]["best-of"]["recipes"] == ["independent", "mst"]
    assert not verify(tmp_path / "r").faults


def test_the_best_of_needs_a_budget_and_stands_alone(hush, files, tmp_path):
    base = ("release", files / "all.csv", "--schema", files / "schema.yaml", "--out", tmp_path / "r")
    for more, code, match in (
        ((), 2, "name a recipe, or several"),
        (("--recipe", "mdav", "--best-of", "mst"), 2, "not both"),
        (("--best-of", "mst,aim"), 2, "needs --epsilon"),
        (("--best-of", "mst", "--epsilon", 1, "--set", "k=3"), 2, "takes no --set"),
        (("--best-of", "nothing,nowhere", "--epsilon", 1), 2, "'nowhere'"),
        (("--best-of", "mst,mdav", "--epsilon", 1), 2, "mdav has no price"),
    ):
        message, _, err = hush(*base, *more)
        assert message == code, (more, err)
        assert match in err
    assert not (tmp_path / "r").exists()
