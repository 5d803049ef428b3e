"""A comparison as typed values: what is written is read back, and what version 0.1.0 wrote too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hushtable.api.compare.cell import GAP, Cell, Miss, MissKind
from hushtable.api.compare.comparison import Comparison
from hushtable.errors import InputError
from hushtable.privacy.guarantee import Assurance
from tests.unit.api.compare.cells import cell
from tests.unit.report.comparisons import ordinary

SAVED = Path(__file__).resolve().parents[3] / "saved" / "comparison" / "comparison.json"


def test_a_cell_is_written_and_read_back():
    misses = (Miss("max_risk", "too much", MissKind.BLIND), Miss("valid audit", "swapped", MissKind.VOID))
    one = cell("beta-k-eps k=5", kind="claimed", notes=("fine",), gaps=("a query is not paid for",), fits=False, misses=misses)
    saved = json.loads(json.dumps(one.to_json()))
    assert saved["notes"] == ["fine", f"{GAP}a query is not paid for"]
    assert saved["misses"] == ["max_risk: too much", "valid audit: swapped"]
    assert Cell.from_json(saved) == one


def test_what_version_0_1_0_saved_is_read_with_every_value_that_was_in_it():
    saved = json.loads(SAVED.read_text())
    comparison = Comparison.from_json(saved)
    again = comparison.to_json()
    assert {key: again[key] for key in saved if key != "cells"} == {key: saved[key] for key in saved if key != "cells"}
    for old, new in zip(saved["cells"], again["cells"], strict=True):
        assert {key: new[key] for key in old} == old
    assert comparison.best is not None
    assert comparison.best.assurance is Assurance.PROVEN
    assert comparison.unpaid(comparison.best)
    assert [constraint.condition.name for constraint in comparison.constraints] == ["alarms"]
    assert comparison.page()
    with pytest.raises(InputError, match=r"not part of comparison\.json"):
        _ = comparison.recipe


def test_the_order_of_a_file_is_that_of_its_ranks():
    given = ordinary()
    names = [c["id"] for c in given["cells"]]
    assert [c.id for c in Comparison.from_json(given | {"cells": given["cells"][::-1]}).cells if not c.failed] == names[:17]


def test_what_else_would_be_chosen_is_a_rule_and_no_wording():
    comparison = Comparison.from_json(ordinary())
    rivals = comparison.rivals
    assert rivals.barred.id == "sequential"
    assert [c.id for c in rivals.near] == ["mondrian k=10", "aim epsilon=4"]
    assert rivals.firmer is None, "the recommendation names one itself"
    assert rivals.safer.id == "aim epsilon=4"
