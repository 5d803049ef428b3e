"""Networks on tables that are hard, and what a user reads who asks for what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.neural
ROWS = 240
QUICK = {
    "argn": ("epochs=1", "hidden=4", "embedding=2", "refine=1"),
    "ctgan": ("epochs=1", "width=4", "noise=4", "batch=100", "refine=0"),
    "tvae": ("epochs=1", "widths=8", "latent=4", "components=3", "refine=0"),
    "tabddpm": ("epochs=1", "widths=8", "times=4", "strides=2", "refine=0"),
    "realtabformer": ("epochs=1", "width=4", "layers=1", "heads=1", "refine=0"),
    "argn-private": ("steps=2", "hidden=4", "embedding=2"),
    "pate-gan-certified": ("rounds=1", "queries=10", "pate.steps=1"),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Path:
    """A table with a class that never differs, a constant, nothing but gaps, dates, a thousand levels and numbers with gaps."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("odd")
    columns = {
        "age": rng.integers(18, 90, ROWS),
        "sick": ["no"] * ROWS,
        "constant": [7] * ROWS,
        "gone": [""] * ROWS,
        "born": [
            f"{year}-03-{day:02d}" for year, day in zip(rng.integers(1930, 2010, ROWS), rng.integers(1, 29, ROWS), strict=True)
        ],
        "code": [f"c{level}" for level in rng.integers(0, 1000, ROWS)],
        "weight": [round(w, 1) if rng.random() > 0.3 else "" for w in rng.normal(75, 10, ROWS)],
    }
    lines = [",".join(columns), *(",".join(str(values[i]) for values in columns.values()) for i in range(ROWS))]
    (folder / "odd.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    levels = [f"c{level}" for level in range(1000)]
    schema = f"""missing: ['']
columns:
  age: {{kind: integer, domain: [18, 90]}}
  sick: {{kind: category, domain: ['no', 'yes'], role: target}}
  constant: {{kind: integer, domain: [0, 10]}}
  gone: {{kind: category, domain: [a, b], missing: true}}
  born: {{kind: date, domain: [1930-01-01, 2010-12-31]}}
  code: {{kind: category, domain: {levels}}}
  weight: {{kind: real, domain: [0, 200], missing: true}}
"""
    (folder / "schema.yaml").write_text(schema, encoding="utf-8")
    return folder


def command(folder: Path, recipe: str, out: Path, *settings: str, epsilon: float | None = None) -> list[object]:
    budget = [] if epsilon is None else ["--epsilon", epsilon]
    knobs = [word for setting in settings for word in ("--set", setting)]
    return ["release", folder / "odd.csv", "--schema", folder / "schema.yaml", "--recipe", recipe, "--out", out, *budget, *knobs]


@pytest.mark.parametrize("recipe", QUICK)
def test_every_odd_column_is_learnt(hush, odd, tmp_path, recipe):
    private = recipe.endswith(("private", "certified"))
    code, out, err = hush(*command(odd, recipe, tmp_path / "out", *QUICK[recipe], epsilon=8.0 if private else None), "--json")
    assert code == 0, err
    card = json.loads(out)
    assert card["columns"] == ["age", "sick", "constant", "gone", "born", "code", "weight"]
    rows = [line.split(",") for line in (tmp_path / "out" / "data.csv").read_text().splitlines()[1:]]
    assert all(1930 <= int(row[4][:4]) <= 2010 for row in rows)
    if not private:
        # A level that is declared may be drawn, though nobody holds it.
        for at, value in ((1, "no"), (2, "7"), (3, "")):
            assert sum(row[at] == value for row in rows) > 0.9 * len(rows)


def test_one_row_is_no_table(hush, odd, tmp_path):
    (tmp_path / "odd.csv").write_text("\n".join((odd / "odd.csv").read_text().splitlines()[:2]) + "\n")
    (tmp_path / "schema.yaml").write_text((odd / "schema.yaml").read_text())
    code, _, err = hush(*command(tmp_path, "argn", tmp_path / "out", *QUICK["argn"]))
    assert code == 2
    assert "at least two" in " ".join(err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("constraint", "words"), [("agee >= 18", "there is no column 'agee'"), ("age >= 500", "no value of age"), ("age", "age")]
)
def test_a_constraint_that_cannot_be_kept_is_refused_by_name(hush, odd, tmp_path, constraint, words):
    code, _, err = hush(*command(odd, "pcgan", tmp_path / "out", f"constraints={constraint}"))
    assert code == 2
    assert words in " ".join(err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("recipe", ["argn-private", "pate-gan-certified"])
def test_too_small_a_budget_is_warned_of(hush, odd, tmp_path, recipe):
    code, out, _ = hush(*command(odd, recipe, tmp_path / "out", *QUICK[recipe], epsilon=0.01))
    assert code == 0
    assert "Caution" in out
    assert "larger epsilon" in " ".join(out.split())
