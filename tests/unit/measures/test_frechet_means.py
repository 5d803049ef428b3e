"""Frechet means as a finding about a release: what stays is told apart from what was destroyed."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import check, example
from hushtable.evidence.case import Case
from hushtable.measures.frechet_means import FrechetMeans, nmi
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def findings_of(release: Table) -> dict[str, object]:
    case = Case(example(300, 1), release, example(300, 2))
    return {f.name: f for f in FrechetMeans(clusters=3).run(case, np.random.default_rng(0))}


def test_the_contract():
    assert all(verdict.passed for verdict in check(FrechetMeans))


def test_another_sample_is_as_good_as_the_control_and_a_shifted_one_is_not():
    fresh, rng = findings_of(example(300, 3)), np.random.default_rng(0)
    table = example(300, 3)
    old = table.schema["age"]
    shifted = findings_of(table.with_column(old, old.from_floats(np.clip(table.floats("age") + 40, 0, 99))))
    near, far = fresh["Frechet mean distance"], shifted["Frechet mean distance"]
    assert near.value < 2 * near.baseline
    assert far.value > 3 * far.baseline
    shuffled = table.with_columns(*((c, rng.permutation(table[c.name])) for c in table.schema))
    assert findings_of(shuffled)["clusters"].value < 1


def test_the_training_rows_themselves_keep_everything():
    same = findings_of(example(300, 1))
    assert same["Frechet mean distance"].value == pytest.approx(0, abs=1e-8)
    assert same["clusters"].value > 0.9


def test_without_a_column_for_the_ball_it_says_so():
    schema = Schema((Column(name="number", kind=Kind.INTEGER, domain=Bounds(0, 2**60)),))
    tables = [Table(schema, {"number": np.arange(i, i + 4)}) for i in (0, 1, 3)]
    findings = FrechetMeans().run(Case(*tables), np.random.default_rng(0))
    assert all(f.value is None and "ball" in f.note for f in findings)


def test_agreement_does_not_ask_for_names():
    labels = np.array([0, 0, 1, 1, 2])
    assert nmi(labels, (labels + 1) % 3) == pytest.approx(1)
    assert nmi(np.zeros(4, int), np.zeros(4, int)) == 1
