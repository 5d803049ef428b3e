"""The graphical model: what it is given, what it refuses, what it is rebuilt from."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.synthesize.marginal.estimate import Stopping, estimate, loss_of
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.junction import cells, triangulated
from hushtable.synthesize.marginal.measurement import Measurement, combined, noisy_total
from hushtable.synthesize.marginal.model import CountModel
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema

SIZES = {"a": 3, "b": 2, "c": 4}


def measured(seed: int = 0) -> list[Measurement]:
    rng = np.random.default_rng(seed)
    groups = [("a",), ("b", "a"), ("c", "b")]
    return [Measurement(g, rng.uniform(0, 200, [SIZES[n] for n in g]), 10.0) for g in groups]


def test_the_total_weighs_each_sum_by_its_precision():
    two = [Measurement(("a",), np.array([10.0, 20.0, 30.0]), 1.0), Measurement(("b",), np.array([50.0, 20.0]), 2.0)]
    assert noisy_total(two) == pytest.approx((60 / 3 + 70 / 8) / (1 / 3 + 1 / 8))
    assert noisy_total([Measurement(("b",), np.array([-50.0, 20.0]), 2.0)]) == 1.0
    assert noisy_total([]) == 1.0


def test_repeated_measurements_are_averaged_by_precision_whatever_the_order_of_their_columns():
    one, two = np.arange(6.0).reshape(3, 2), np.ones((2, 3))
    (result,) = combined([Measurement(("a", "b"), one, 1.0), Measurement(("b", "a"), two, 2.0)], {"a": 0, "b": 1})
    np.testing.assert_allclose(result.counts, (one + two.T / 4) / 1.25)
    assert result.sigma == pytest.approx(1.25**-0.5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="one axis per column"):
        Measurement(("a", "b"), np.zeros(3), 1.0)
    with pytest.raises(InputError, match="positive noise"):
        Measurement(("a",), np.zeros(3), 0.0)
    with pytest.raises(InputError, match="finite"):
        Measurement(("a",), np.array([np.nan]), 1.0)
    with pytest.raises(InputError, match="shape"):
        estimate(SIZES, [Measurement(("a",), np.zeros(2), 1.0)])
    with pytest.raises(InputError, match="no column 'z'"):
        triangulated(SIZES, [("a", "z")])
    with pytest.raises(InputError, match="no marginal of a, z"):
        Graphical(SIZES, {}, 1.0).project(("a", "z"))
    with pytest.raises(InputError, match="too large a clique"):
        Graphical(
            {f"c{i}": 1000 for i in range(3)}, {}, 1.0, tree=triangulated({f"c{i}": 1000 for i in range(3)}, [("c0", "c1", "c2")])
        )
    wide = Graphical({f"c{i}": 1000 for i in range(3)}, {}, 1.0)
    with pytest.raises(InputError, match="1,000,000,000 cells: ask for fewer columns"):
        wide.project(("c0", "c1", "c2"))


def test_nothing_measured_is_uniform():
    model = estimate(SIZES, [], total=24.0)
    np.testing.assert_allclose(model.project(("a", "b", "c")), 1.0)
    assert {name: len(cells_) for name, cells_ in model.draw(7, np.random.default_rng(0)).items()} == dict.fromkeys(SIZES, 7)
    assert len(model.draw(0, np.random.default_rng(0))["a"]) == 0


def test_an_earlier_estimate_is_gone_on_from():
    first = estimate(SIZES, measured()[:2], total=600.0, stopping=Stopping(noise=0.0))
    again = estimate(SIZES, measured(), total=600.0, start=first, stopping=Stopping(steps=0))
    np.testing.assert_allclose(again.project(("a", "b")), first.project(("a", "b")))
    assert loss_of(estimate(SIZES, measured(), total=600.0, start=first, stopping=Stopping(steps=5)), measured()) < loss_of(
        estimate(SIZES, measured(), total=600.0, stopping=Stopping(steps=5)), measured()
    )


def test_the_fit_gets_no_worse_with_more_steps_and_stops_at_the_noise():
    losses = [loss_of(estimate(SIZES, measured(), stopping=Stopping(n, 0.0, 0.0)), measured()) for n in (0, 5, 20, 100, 400)]
    assert losses == sorted(losses, reverse=True)
    exact = [Measurement(m.columns, estimate(SIZES, measured()).project(m.columns), 1000.0) for m in measured()]
    model = estimate(SIZES, exact)
    np.testing.assert_allclose(model.project(("a", "b", "c")), model.total / 24)


def test_it_is_rebuilt_from_its_parts():
    zeros = {("a", "c"): np.eye(3, 4, dtype=bool)}
    model = estimate(SIZES, measured(), zeros=zeros)
    again = Graphical.from_parts(*model.parts())
    for columns in (("a", "b", "c"), ("c", "a")):
        np.testing.assert_allclose(again.project(columns), model.project(columns), rtol=1e-12)
    one, two = (m.draw(500, np.random.default_rng(5)) for m in (model, again))
    assert all((one[n] == two[n]).all() for n in SIZES)


def test_large_tables_are_drawn_in_batches(monkeypatch):
    monkeypatch.setattr("hushtable.synthesize.marginal.graphical.BATCH", 100)
    rows = estimate(SIZES, measured()).draw(250, np.random.default_rng(0))
    assert all(len(column) == 250 for column in rows.values())


def test_conditions_that_cannot_be_are_refused_by_name():
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("u", "v")), required=True) for n in "ab"))
    graphical = estimate({"a": 2, "b": 2}, [], total=10.0, zeros={("a", "b"): np.eye(2, dtype=bool)})
    model = CountModel(schema, graphical, {})
    assert model.sample(None, np.random.default_rng(0)).rows == 10
    assert (model.sample(50, np.random.default_rng(0), {"a": "u"})["b"] == 1).all()
    with pytest.raises(InputError, match="values of a, b together"):
        model.sample(5, np.random.default_rng(0), {"a": "u", "b": "u"})
    with pytest.raises(InputError, match="no value of a"):
        model.sample(5, np.random.default_rng(0), {"a": "w"})


def test_the_size_of_a_model_is_known_without_building_it():
    sizes = {f"c{i}": 10 for i in range(60)}
    chain = [(f"c{i}", f"c{i + 1}") for i in range(59)]
    assert cells(sizes, chain) == 59 * 100
    assert cells(sizes, [*chain, ("c59", "c0")]) == 58 * 1000
    assert cells(sizes, [tuple(sizes)]) == pytest.approx(1e60)


def test_precise_columns_do_not_hold_up_rough_pairs():
    """Noise levels four orders of magnitude apart: both are fitted to their noise in a few hundred steps."""
    rng = np.random.default_rng(0)
    sizes = {"a": 12, "b": 10, "c": 8}
    truth = 1e5 * rng.dirichlet(np.full(960, 0.05)).reshape(12, 10, 8)
    asked = [(("a",), 0.01), (("b",), 0.01), (("a", "b"), 100.0), (("b", "c"), 100.0)]
    axes = {("a",): (1, 2), ("b",): (0, 2), ("a", "b"): 2, ("b", "c"): 0}
    noisy = [Measurement(g, truth.sum(axis=axes[g]) + rng.normal(0, s, [sizes[n] for n in g]), s) for g, s in asked]
    model = estimate(sizes, noisy, stopping=Stopping(200))
    for m in noisy[2:]:
        assert loss_of(model, [m]) < 1.5 * m.counts.size / 2
    for m in noisy[:2]:
        assert np.abs(model.project(m.columns) - m.counts).max() < 1.0
