"""The benchmark of records: what its generated surveys hold, and that a loss beyond noise is named and noise is not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import bench_records as records
from benchmarks import generated
from benchmarks.generated import DETERMINED, TARGET, broken, survey

KEY = ("survey24", "aim", 1.0, 8000)
LINE = {"seeds": 1, "auc": 0.85, "score": 900.0, "worst": 700.0, "tvd": 0.01}


@pytest.mark.parametrize("columns", [24, 40])
def test_a_survey_has_what_makes_surveys_hard(columns):
    table = survey(4000, columns, seed=1)
    assert len(table.schema) == columns
    other = survey(4000, columns, seed=2)
    assert broken(other, DETERMINED, table) == 0
    assert broken(other.with_column(other.schema["density"], other["density"][::-1].copy()), DETERMINED, table) > 0.5
    for name in ("capital_gain", "dividends"):
        spike = (table[name] == 0).mean()
        assert 0.6 < spike < 0.97
        # Few have any, and they are well off.
        assert table[TARGET][table[name] > 2000].mean() > 2 * table[TARGET][table[name] == 0].mean()
    assert table.missing("industry").mean() > 0.1
    assert all(not column.observed for column in table.schema)
    assert (survey(50, columns, seed=1)["area"] == survey(50, columns, seed=1)["area"]).all()


def test_a_survey_has_no_other_number_of_columns():
    with pytest.raises(ValueError, match="24 or 40"):
        survey(10, 30)


def test_a_loss_beyond_noise_is_named_and_noise_is_not():
    lost = list(records._lost({KEY: LINE | {"auc": 0.85 - 4 * records.SPREAD["auc"]}}, {KEY: LINE}))
    assert len(lost) == 1
    assert "survey24, aim, epsilon 1: auc 0.85 before" in lost[0]
    quiet = {name: LINE[name] - way * records.SPREAD[name] for name, way in records.NUMBERS.items()}
    assert list(records._lost({KEY: LINE | quiet}, {KEY: LINE})) == []
    better = {name: LINE[name] + way * 1000 for name, way in records.NUMBERS.items()}
    assert list(records._lost({KEY: LINE | better}, {KEY: LINE})) == []
    # Seeds that agree make smaller losses visible.
    still = {(str(i), *KEY[1:]): LINE | {"seeds": 3, **{f"{name} sd": 0.0001 for name in records.NUMBERS}} for i in range(3)}
    (line,) = records._lost({("0", *KEY[1:]): still["0", *KEY[1:]] | {"auc": 0.84}}, still)
    assert "auc" in line
    assert "stopped" in next(records._lost({KEY: {"note": "stopped after 9 CPU s"}}, {KEY: LINE}))


def test_a_finished_cell_is_not_run_again_and_a_stopped_one_is(tmp_path, monkeypatch):
    ran = []

    def measured(cell: records.Cell, limit: int) -> dict[str, object]:
        ran.append(cell)
        return {"note": f"stopped after {limit} CPU s", "limit": limit} if cell.recipe == "mst" else dict(LINE, cpu=1.0)

    monkeypatch.setattr(records, "_limited", measured)
    monkeypatch.setattr(records, "PREVIOUS", tmp_path / "records.json")
    options = ["--tables", "survey24", "--recipes", "aim,mst", "--epsilons", "1", "--rows", "60", "--out", str(tmp_path), "--save"]
    records.main(tmp_path, [*options, "--limit", "5"])
    assert [cell.recipe for cell in ran] == [records.REAL, "aim", "mst"]
    # What was cut off when the run was stopped is no cell.
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('\n{"sources": "')
    records.main(tmp_path, [*options, "--limit", "5"])
    assert len(ran) == 3
    records.main(tmp_path, [*options, "--limit", "9"])
    assert [cell.recipe for cell in ran[3:]] == ["mst"]
    records.main(tmp_path, [*options, "--limit", "9"])
    assert len(ran) == 4
    saved = json.loads((tmp_path / "records.json").read_text())
    assert {cell["recipe"] for cell in saved["cells"]} == {records.REAL, "aim", "mst"}


def test_a_cell_is_measured_and_stopped_when_it_takes_too_long(monkeypatch):
    cell = records.Cell("survey24", "independent", 1.0, 0, 200)
    numbers = records.measured(cell)
    assert 0 < numbers["score"] < numbers["ceiling"] < 1000
    assert numbers["broken"] == 0, "the survey declares its code lists"

    def forever(cell: records.Cell) -> dict[str, object]:
        while True:
            np.random.default_rng(0).random(1000).sum()

    monkeypatch.setattr(records, "measured", forever)
    assert records._limited(cell, 1) == {"note": "stopped after 1 CPU s", "limit": 1}
    monkeypatch.setattr(records, "measured", lambda cell: {"auc": 0.5})
    assert records._limited(cell, 30) == {"auc": 0.5}
    assert generated.BY in {column.name for column in survey(10).schema}
