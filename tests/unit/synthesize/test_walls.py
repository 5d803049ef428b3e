"""Declared zeros as cells without probability: a bin only where all of it is impossible."""

from __future__ import annotations

import numpy as np

from hushtable.encode.bins import Bins
from hushtable.privacy.unit import Budget
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import sizes_of
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.walls import walls
from hushtable.table.schema import Schema
from hushtable.table.values import from_mapping

SCHEMA = Schema.parse(
    """
zeros: ["age < 15 and job in {b, c}", "age < 15 and pay is not missing", "born > 2014-12-31 and job = b", "pay > age"]
columns:
  age: {kind: integer, domain: [0, 39], required: true}
  born: {kind: date, domain: [2000-01-01, 2019-12-31], required: true}
  pay: {kind: real, domain: [0, 100]}
  job: {kind: category, domain: [a, b, c]}
"""
)
ROWS = {"age": [3, 30], "born": ["2010-01-01", "2001-01-01"], "pay": [None, 3], "job": ["a", "b"]}


def test_a_bin_is_impossible_where_all_of_its_values_are():
    vault = Vault.of(from_mapping(SCHEMA, ROWS), budget=Budget(1.0, 0.0))
    schema = Bins(bins=4).fit(vault, np.random.default_rng(0)).schema
    assert schema["age"].levels == ("[0, 9]", "[10, 19]", "[20, 29]", "[30, 39]")
    masks = walls(schema, 10_000)
    assert set(masks) == {("age", "job"), ("age", "pay"), ("born", "job")}
    # Levels a, b, c and missing; of the second bin some ages are possible.
    assert masks["age", "job"].nonzero()[0].tolist() == [0, 0]
    assert masks["age", "job"].nonzero()[1].tolist() == [1, 2]
    assert masks["age", "pay"].nonzero()[1].tolist() == [0, 1, 2, 3]
    assert masks["born", "job"].tolist()[3] == [False, True, False, False]
    assert not masks["born", "job"][:3].any()


def test_a_model_gives_them_no_probability_and_the_rest_what_was_measured():
    schema = SCHEMA.select(["age", "job"])
    sizes, masks = sizes_of(schema), walls(schema, 10_000)
    assert masks["age", "job"].sum() == 30
    singles = [Measurement((name,), np.full(size, 400 / size), 1.0) for name, size in sizes.items()]
    together = estimate(sizes, singles, total=400.0, zeros=masks).project(("age", "job"))
    assert together[:15, 1:3].sum() == 0
    np.testing.assert_allclose(together.sum(axis=1), 10, atol=1.5)
    np.testing.assert_allclose(together.sum(axis=0), 100, atol=30)


def test_there_is_room_for_as_many_as_the_model_may_have_cells():
    schema = SCHEMA.select(["age", "job"])
    assert walls(schema, 100) == {}
