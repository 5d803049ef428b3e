"""What the schema says that a column determines holds in every row that any generator, or its saved model, draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.methods import everything
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import load
from hushtable.pipeline.verify import verify
from hushtable.privacy.unit import Budget, Unit
from hushtable.table.broken import breaks_any
from hushtable.table.determined import departs
from hushtable.table.schema import Schema

LEVELS = [f"c{i:02d}" for i in range(12)]
GROUPS = {code: f"g{i // 4}" for i, code in enumerate(LEVELS)}
RATES = {"g0": 0.123456789, "g1": 2.5, "g2": ""}
AREAS = {"north": "12", "south": "340", "": "5"}
HALVES = {str(day): "early" if day < 5 else "late" for day in range(10)}
SCHEMA = Schema.parse(
    f"""
zeros: ["first > last", "code = c00 and last > 8"]
columns:
  rate:    {{kind: real, domain: [0, 9], determined_by: group, codes: {{g0: 0.123456789, g1: 2.5, g2: ""}}}}
  group:   {{kind: category, domain: [g0, g1, g2], determined_by: code, codes: {GROUPS}}}
  code:    {{kind: category, role: quasi, domain: {LEVELS}}}
  area:    {{kind: category, role: quasi, domain: [north, south]}}
  density: {{kind: integer, domain: [0, 500], required: true, determined_by: area, codes: {{north: 12, south: 340, "": 5}}}}
  first:   {{kind: integer, role: quasi, domain: [0, 9], required: true}}
  last:    {{kind: integer, role: quasi, domain: [0, 9], required: true}}
  half:    {{kind: ordinal, domain: [early, late], required: true, determined_by: first, codes: {HALVES}}}
  ill:     {{kind: category, role: target, domain: ["no", "yes"], required: true}}
"""
)
# Recipes that read text need some, and a public model: tests/unit/language runs them.
NAMES = [line["name"] for line in everything()["recipes"] if not load(line["name"]).reads_text]


def people(rows: int = 400) -> ht.Table:
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(rows) < 0.1, "", np.array(LEVELS)[rng.integers(1, 12, rows)])
    areas = np.where(rng.random(rows) < 0.1, "", np.array(["north", "south"])[rng.integers(0, 2, rows)])
    days = np.sort(rng.integers(0, 10, (rows, 2)), axis=1)
    frame = {
        "rate": [str(RATES.get(GROUPS.get(code, ""), "")) for code in codes],
        "group": [GROUPS.get(code, "") for code in codes],
        "code": codes,
        "area": areas,
        "density": [AREAS[area] for area in areas],
        "first": days[:, 0].astype(str),
        "last": days[:, 1].astype(str),
        "half": [HALVES[str(day)] for day in days[:, 0]],
        "ill": np.array(["no", "yes"])[rng.integers(0, 2, rows)],
    }
    return ht.read(pd.DataFrame(frame), SCHEMA)


def broken(table: ht.Table) -> dict[str, int]:
    counts = {name: int(mask.sum()) for name, mask in departs(table).items()}
    return counts | {"zeros": int(breaks_any(table, table.schema.zeros).sum())}


def test_the_rows_themselves_break_nothing_and_a_generator_that_knows_nothing_does():
    table = people()
    assert not any(broken(table).values())
    plain = table.under(replace(SCHEMA, columns=tuple(replace(column, determined_by=None) for column in SCHEMA)))
    drawn = ht.release(plain, "independent", epsilon=1.0).table
    assert all(count for name, count in broken(drawn.under(SCHEMA.select(drawn.schema.names))).items() if name != "zeros")


@pytest.mark.parametrize("name", NAMES)
def test_every_generator_keeps_what_is_determined_and_ordered(name, tmp_path):
    recipe = load(name).quick()
    epsilon = 1.0 if any(step.spends for step in recipe.steps) else None
    unit = Unit(relation=recipe.relation)
    if not plan(recipe, SCHEMA, budget=None if epsilon is None else Budget(epsilon, 1e-6), unit=unit).draws:
        return
    # A seed: an untrained network may draw impossible rows only.
    release = ht.release(
        people(), recipe, epsilon=epsilon, unit=unit, allow_copies="nobody in it exists", seed=None if epsilon else 0
    )
    assert release.table.rows
    assert not any(broken(release.table).values())
    ht.save(release, tmp_path / "out")
    assert not verify(tmp_path / "out").faults
    assert "determined" in release.card()["steps"]
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 60, seed=1)
    assert not any(broken(drawn.table).values())
    assert set(drawn.table.schema.names) == set(release.table.schema.names)
