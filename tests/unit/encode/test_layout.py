"""Tables as networks take them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.encode.layout import Layout
from hushtable.errors import PlanError


def test_a_table_comes_back_from_its_layout(small):
    for layout in (Layout.of(small), Layout.declared(small.schema)):
        rows = layout.encode(small)
        assert rows.values.shape[1] == len(layout.numbers)
        assert np.abs(rows.values).max() <= 1
        back = Layout.from_parts(layout.parts()).decode(rows)
        for column in small.schema:
            assert np.array_equal(back.missing(column.name), small.missing(column.name))
            close = np.isclose(back.floats(column.name), small.floats(column.name), rtol=1e-5, atol=1e-5, equal_nan=True)
            assert close.all(), column.name
    assert layout.width == sum(span.width for span in layout.spans)


def test_only_declared_bounds_are_public(small):
    number = next(column for column in small.schema if column.numeric)
    with pytest.raises(PlanError, match=number.name):
        Layout.declared(small.schema.with_columns(replace(number, domain=None)))
