"""A table with free text from the file to the report, by the command line and with tiny models."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tests.language_models import sentence

pytestmark = pytest.mark.neural
QUICK = ("topics.topics=3", "steps=2", "length=8", "twin=12", "rate=0.5")


@pytest.fixture
def desk(tmp_path):
    """Labels, dates, numbers, two texts, missing texts, and several rows a person."""
    rng = np.random.default_rng(5)
    with (tmp_path / "desk.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["customer_id", "opened", "mood", "minutes", "complaint", "answer"])
        for row in range(240):
            good = rng.random() < 0.6
            answer = sentence(rng) if rng.random() < 0.6 else ""
            day = f"2024-{1 + row % 12:02d}-{1 + row % 28:02d}"
            rows.writerow(
                [f"c{row // 2:04d}", day, "good" if good else "bad", int(rng.integers(1, 90)), sentence(rng, good), answer]
            )
    return tmp_path / "desk.csv"


def test_the_way_of_a_table_with_text(hush, desk, tmp_path, installed_models, monkeypatch):
    assert hush("schema", desk, "--out", tmp_path / "desk.yaml")[0] == 0
    drafted = (tmp_path / "desk.yaml").read_text(encoding="utf-8")
    assert "leaves only by a recipe that writes text" in drafted
    code, _, err = hush("schema", tmp_path / "desk.yaml", "--declare", "--by", "a test")
    assert code == 0, err
    made = [
        *("release", desk, "--schema", tmp_path / "desk.yaml", "--recipe", "dp-text", "--set", "model=smollm2"),
        *("--epsilon", 30, "--delta", 1e-5, "--hold-out", 0.3, "--person", "customer_id", "--rows-per-person", 2),
        *(word for knob in QUICK for word in ("--set", knob)),
    ]
    code, out, err = hush(*made, "--out", tmp_path / "out", "--resume", tmp_path / "work")
    assert code == 0, err
    assert "(30, 1e-05)-differential privacy" in " ".join(out.split())
    with (tmp_path / "out" / "data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["opened", "mood", "minutes", "complaint", "answer"]
    assert any(row["complaint"] for row in rows)
    assert any(not row["answer"] for row in rows)
    audit = [
        *("audit", "--train", tmp_path / "out.private" / "train.csv", "--control", tmp_path / "out.private" / "control.csv"),
        *("--release", tmp_path / "out", "--schema", tmp_path / "desk.yaml", "--person", "customer_id"),
        *("--only", "text-verbatim", "--only", "text-patterns", "--only", "text-nearest", "--only", "text-membership"),
    ]
    code, out, err = hush(*audit, "--out", tmp_path / "audit")
    assert code in (0, 1), err
    page = next((tmp_path / "audit").glob("*.html")).read_text(encoding="utf-8")
    assert "complaint" in page
    assert hush("verify", tmp_path / "out")[0] == 0
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path / "none"))
    code, out, err = hush("verify", tmp_path / "out")
    # What the recipe would cost is not known without the model; everything else is checked.
    assert code == 4, err
    assert "not checkable: recipe" in " ".join((out + err).split())


def test_what_is_missing_is_said_before_a_row_is_read(hush, desk, tmp_path, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path / "none"))
    assert hush("schema", desk, "--out", tmp_path / "desk.yaml")[0] == 0
    asked = ["release", desk, "--schema", tmp_path / "desk.yaml", "--recipe", "dp-text", "--epsilon", 8, "--out", tmp_path / "out"]
    code, _, err = hush(*asked)
    assert code in (2, 3)
    assert "hush model add" in " ".join(err.split()) or "read off the rows" in " ".join(err.split())
    assert not (tmp_path / "out").exists()
