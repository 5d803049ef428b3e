"""``hush hybrid``: the folder, the words, input that cannot be used, and a grid that is killed and goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hushtable.api.compare.experiment import Experiment
from hushtable.table import io
from tests.unit.api.hybrid.planted import observed, table

CELLS = 1 + 1 + 3 + 2 * 2 * 2
"""The original, the generator, the anonymized tables, and hybrids: 2 shares, 2 transitions, 2 orders."""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A small table with its schema."""
    folder = tmp_path_factory.mktemp("files")
    some = table(200)
    io.write(some, folder / "all.csv")
    (folder / "schema.yaml").write_text(some.schema.dump(), encoding="utf-8")
    return folder


@pytest.fixture
def seen(monkeypatch) -> list[str]:
    """The cells that were run; none of them takes time."""
    names = list[str]()

    def observe(self, trial, run):
        names.append(trial.id)
        return observed(trial)

    monkeypatch.setattr(Experiment, "observe", observe)
    return names


def words(files: Path, out: Path, *more: object) -> list[object]:
    small = ("--k", 5, "--beta", "0.5,1", "--sampling", "stratified", "--transition", "uniform,conditional")
    rest = ("--generators", "sequential", "--workers", 1, "--out", out)
    return ["hybrid", files / "all.csv", "--schema", files / "schema.yaml", *small, *rest, *more]


def test_a_grid_is_shown_and_written(hush, files, tmp_path, seen):
    code, out, err = hush(*words(files, tmp_path / "grid"))
    assert code == 0
    assert len(seen) == CELLS == len(set(seen))
    said = " ".join(out.split())
    assert "8 hybrids: means over all that share a value" in said
    assert "undecided: the conditional transition leaks most." in said
    assert "Take hybrid-pre-sequential k=5 beta=0.5 sampling=stratified transition=uniform." in said
    assert f"hush release {files / 'all.csv'}" in said
    assert "hybrid.html. It was computed from raw rows: do not publish it." in said
    assert err.count("score") == CELLS
    page = (tmp_path / "grid" / "hybrid.html").read_text(encoding="utf-8")
    assert "INTERNAL: computed from the raw rows, do not publish" in page
    code, out, _ = hush(*words(files, tmp_path / "grid", "--constraint", "max_gain<0.001", "--json"))
    plain = json.loads(out)
    assert code == 3, "nothing keeps it"
    assert len(seen) == CELLS, "other constraints cost no new release"
    assert plain == {"folder": str(tmp_path / "grid")} | json.loads((tmp_path / "grid" / "hybrid.json").read_text(encoding="utf-8"))
    code, out, _ = hush("report", tmp_path / "grid")
    assert code == 0
    assert out == (tmp_path / "grid" / "hybrid.md").read_text(encoding="utf-8")


def test_a_grid_that_was_stopped_repeats_no_cell(hush, files, tmp_path, seen, monkeypatch):
    quick = Experiment.observe

    def stopped(self, trial, run):
        if len(seen) == 6:
            raise KeyboardInterrupt
        return quick(self, trial, run)

    monkeypatch.setattr(Experiment, "observe", stopped)
    code, _, err = hush(*words(files, tmp_path / "grid"))
    assert code == 130
    assert "the same command goes on from there" in " ".join(err.split())
    done = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "grid" / "cells").iterdir()}
    assert len(done) == 6
    monkeypatch.setattr(Experiment, "observe", quick)
    assert hush(*words(files, tmp_path / "grid"))[0] == 0
    assert len(seen) == CELLS == len(set(seen))
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "grid" / "cells").iterdir()}
    assert done.items() <= after.items()
    # Another value on an axis costs its own cells alone.
    assert hush(*words(files, tmp_path / "grid", "--k", "5,8"))[0] == 0
    assert len(seen) == len(set(seen)) == 2 * CELLS - 2


def test_the_order_of_cells_and_workers_change_nothing(hush, files, tmp_path, seen):
    assert hush(*words(files, tmp_path / "a"))[0] == 0
    assert hush(*words(files, tmp_path / "b", "--order", "post,pre", "--transition", "conditional,uniform"))[0] == 0
    one, two = (json.loads((tmp_path / name / "hybrid.json").read_text(encoding="utf-8"))["cells"] for name in "ab")
    assert sorted(one, key=lambda cell: cell["id"]) == sorted(two, key=lambda cell: cell["id"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--generators", "agn,mdav"), ["'agn' is no generator", "did you mean 'argn'", "'mdav' is no generator"]),
        (("--anonymizer", "mdav"), ["mdav leaves no generalized values, so there is nothing to bring back"]),
        (("--k", "5,900"), ["there are 150 training rows, got 900"]),
        (("--beta", "0,0.5"), ["beta: must lie in (0, 1], got 0"]),
        (
            ("--beta", "0", "--k", "1", "--order", "mid"),
            ["beta: must lie", "k: must be at least 2", "order: must be one of pre, post"],
        ),
        (("--k", "5.5"), ["--k: expected whole numbers"]),
        (("--anonymizer", "safe-k"), ["safe-k spends a privacy budget"]),
        (("--constraint", "max_gian<0.1"), ["max_gian"]),
        (("--target", "wealth"), ["there is no column 'wealth'"]),
    ],
)
def test_bad_input_is_refused_before_any_work_and_all_of_it_at_once(hush, files, tmp_path, seen, more, said):
    code, _, err = hush(*words(files, tmp_path / "grid", *more))
    assert code == 2
    assert not [text for text in said if text not in " ".join(err.split())]
    assert seen == []
    assert not (tmp_path / "grid").exists()


def test_a_hybrid_is_released_by_its_name(hush, files, tmp_path):
    base = ("release", files / "all.csv", "--schema", files / "schema.yaml", "--allow-copies", "nobody in it exists", "--seed", 1)
    knobs = ("--set", "k=10", "--set", "beta=0.5")
    code, out, _ = hush(*base, "--recipe", "hybrid-post-sequential", *knobs, "--out", tmp_path / "post", "--json")
    promises = json.loads(out)["guarantee"]["promises"]
    assert code == 0
    assert [(one["kind"], one["value"], one["form"]) for one in promises] == [("k_anonymity", 5, "derived")]
    assert hush("verify", tmp_path / "post")[0] in (0, 4)
    code, _, err = hush(*base, "--recipe", "hybrid-post-agn", "--out", tmp_path / "x")
    assert code == 2
    assert "'agn' is no generator" in err
    code, _, err = hush(*base, "--recipe", "hybrid-pre-sequential", "--set", "beta=0", "--out", tmp_path / "x")
    assert code == 2
    assert "must lie in (0, 1]" in err
    code, _, err = hush(*base, "--recipe", "hybrid-pre-sequential", "--set", "k=900", "--out", tmp_path / "x")
    assert code == 2
    assert "900" in err
