"""What studies share: round bounds for open columns, and names that are files."""

from __future__ import annotations

import numpy as np

from hushtable.data.datasets import schema_of
from hushtable.studies import tables as studies
from hushtable.studies.study import slug
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def test_every_open_bound_is_declared():
    for name in ("credit_approval", "credit_card_default"):
        schema = schema_of(name)
        opened = {c.name for c in schema if c.numeric and c.domain is None}
        assert opened == set(studies.ROUND[name])


def test_open_bounds_become_round_ones_and_missing_values_stay():
    kinds = {"A2": Kind.REAL, "A11": Kind.INTEGER}
    schema = Schema(tuple(Column(name=n, kind=k, domain=Bounds(0, 500, True)) for n, k in kinds.items()))
    values = {n: schema[n].from_floats(np.array([np.nan, 7.0, 500.0])) for n in kinds}
    result = studies.declared("credit_approval", Table(schema, values))
    assert not any(column.observed for column in result.schema)
    for name in kinds:
        assert np.isnan(result.floats(name)[0])
        assert result.floats(name)[1:].tolist() == [7, 100]


def test_names_become_parts_of_file_names():
    assert slug("clustmix, averages (codes)") == "clustmix__averages__codes_"
    assert slug("dp-merf") == "dp-merf"
