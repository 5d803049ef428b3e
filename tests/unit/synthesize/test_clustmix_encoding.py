"""Records as vectors in the unit cube and back, and numbers scaled by what the rows hold."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.synthesize.published.clustmix_encoding import Draw, Encoding, Layout
from hushtable.synthesize.published.clustmix_scaling import Scaler, Scaling


@pytest.mark.parametrize("draw", list(Draw))
@pytest.mark.parametrize(("layout", "dimension"), [(Layout.ONEHOT, 15), (Layout.CODES, 11)])
def test_records_come_back_from_their_vectors(layout, dimension, draw):
    table = example()
    encoding = Encoding.of(table.schema, "sick", layout)
    vectors, labels = encoding.vectors(table)
    assert vectors.shape == (120, dimension) == (120, encoding.dimension)
    assert vectors.min() == 0
    assert vectors.max() == 1
    back = encoding.table(vectors, labels, np.random.default_rng(0), draw)
    for column in table.schema:
        if column.name == "height":  # on a grid of 2^16 steps of a hundred
            assert np.allclose(back.floats("height"), table.floats("height"), atol=0.002)
        else:
            assert np.array_equal(back.strings(column.name), table.strings(column.name)), column.name


def test_without_a_class_there_is_one():
    table = example()
    encoding = Encoding.of(table.schema)  # its target is a number
    assert encoding.target == ""
    assert encoding.classes == 1
    vectors, labels = encoding.vectors(table)
    assert not labels.any()
    assert encoding.table(vectors, labels, np.random.default_rng(0)).schema == table.schema
    assert Encoding.of(table.schema, "school").classes == 4  # three levels, and missing
    assert Encoding.of(table.schema, "sick").classes == 2


def test_levels_are_drawn_by_their_shares_and_numbers_stay_in_their_domain():
    schema = example().schema
    encoding = Encoding.of(schema, "sick")
    town = encoding.spans[[a.column.name for a in encoding.axes].index("town")]
    age = encoding.spans[0]
    vectors = np.zeros((20_000, encoding.dimension))
    vectors[:, town] = [0.5, 0.3, -0.2, 0.2, 0.0]
    vectors[:, age] = [1.3, 0.25]
    drawn = encoding.table(vectors, np.zeros(20_000, int), np.random.default_rng(0))
    shares = np.bincount(drawn["town"], minlength=4) / 20_000
    assert shares == pytest.approx([0.5, 0.3, 0.0, 0.2], abs=0.02)
    assert drawn.missing("age").mean() == pytest.approx(0.25, abs=0.02)
    assert set(drawn["age"][~drawn.missing("age")]) == {99}
    likeliest = encoding.table(vectors[:3], np.zeros(3, int), np.random.default_rng(0), Draw.MODE)
    assert set(likeliest["town"]) == {0}


@pytest.mark.parametrize("scaling", list(Scaling))
def test_scaling_fills_the_interval_and_leads_back(scaling):
    table = example(300)
    encoding = Encoding.of(table.schema, "sick")
    vectors, _ = encoding.vectors(table)
    scaler = Scaler.of(encoding, vectors, scaling)
    scaled = scaler.apply(vectors)
    assert scaled.min() >= 0
    assert scaled.max() <= 1
    assert np.allclose(scaler.undo(scaled), vectors, atol=1e-6)
    height = scaled[:, encoding.spans[1].start]
    if scaling is Scaling.DECLARED:
        assert np.array_equal(scaled, vectors)
    else:
        assert (height.min(), height.max()) == (0, 1)
    if scaling is Scaling.NORMAL:
        pay = vectors[:, encoding.spans[-1].start][vectors[:, encoding.spans[-1].start + 1] == 0]
        normal = scaled[:, encoding.spans[-1].start][vectors[:, encoding.spans[-1].start + 1] == 0]
        # Pay is skewed, its normal scores are not.
        assert abs(normal.mean() - np.median(normal)) < 0.02 * np.ptp(normal)
        assert abs(pay.mean() - np.median(pay)) > 0.02 * np.ptp(pay)


def test_a_constant_column_stays_as_it_is():
    table = example().take(np.zeros(50, np.int64))
    encoding = Encoding.of(table.schema, "sick")
    vectors, _ = encoding.vectors(table)
    for scaling in Scaling:
        assert np.array_equal(Scaler.of(encoding, vectors, scaling).apply(vectors), vectors)
