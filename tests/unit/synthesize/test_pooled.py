"""Models of more marginals than a junction tree has room for: what they draw, what they refuse, and what is saved of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.synthesize.marginal import pooled
from hushtable.synthesize.marginal.estimate import estimate
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.synthesize.marginal.pooled import Fit, PooledModel
from hushtable.table.schema import Schema
from tests.unit.synthesize.chains import category

SIZES = {"a": 3, "b": 3, "c": 3, "d": 2}
SCHEMA = Schema(tuple(category(name, size) for name, size in SIZES.items()))
PAIRS = list(combinations(SIZES, 2))


def truth() -> np.ndarray:
    """Probabilities: ``b`` and ``c`` equal ``a`` mostly, ``d`` is on its own, and ``a0 d1`` never happens."""
    joint = np.ones((3, 3, 3, 2))
    joint *= np.where(np.eye(3), 8.0, 1.0)[:, :, None, None] * np.where(np.eye(3), 8.0, 1.0)[None, :, :, None]
    joint[0, :, :, 1] = 0.0
    return joint / joint.sum()


def measured() -> list[Measurement]:
    return [
        Measurement(pair, 2000 * truth().sum(axis=tuple(i for i, name in enumerate(SIZES) if name not in pair)), 3.0)
        for pair in PAIRS
    ]


def fit_of(held: int) -> Fit:
    """A tree of the first marginals only, and weights for all."""
    never = np.zeros((3, 2), bool)
    never[0, 1] = True
    graphical = estimate(SIZES, measured()[:held], total=2000.0, zeros={("a", "d"): never})
    return Fit.of(graphical, measured(), np.random.default_rng(0))


@pytest.fixture(scope="module")
def model() -> PooledModel:
    return fit_of(1).model(SCHEMA, PAIRS, {"note": "text", "numbers": [1, 2.5]})


def furthest(table, joint) -> float:
    """The largest total variation distance of a pair of columns."""
    shares = [joint.sum(axis=tuple(i for i, name in enumerate(SIZES) if name not in pair)) for pair in PAIRS]
    return max(np.abs(table.counts(pair) / table.rows - share).sum() / 2 for pair, share in zip(PAIRS, shares, strict=True))


def test_rows_hold_marginals_that_the_tree_does_not(model):
    # The same tree without weights knows a and b only.
    alone = PooledModel(SCHEMA, model.graphical, {}, np.empty(0), {})
    assert furthest(alone.sample(2000, np.random.default_rng(1)), truth()) > 0.2
    assert furthest(model.sample(2000, np.random.default_rng(1)), truth()) < 0.01


@pytest.mark.parametrize("rows", [0, 1, 2, 10, 2500])
def test_as_many_rows_as_asked_for_also_in_several_batches(model, rows, monkeypatch):
    monkeypatch.setattr(pooled, "CODES", 20_000)
    drawn = model.sample(rows, np.random.default_rng(2))
    assert (drawn.rows, drawn.schema.names) == (rows, tuple(SIZES))
    assert not ((drawn["a"] == 0) & (drawn["d"] == 1)).any(), "what is impossible stays so"
    given = model.sample(rows, np.random.default_rng(2), {"b": "b2"})
    assert given.rows == rows
    assert (given["b"] == 2).all()
    if rows > 2000:
        assert furthest(drawn, truth()) < 0.02


def test_without_a_number_as_many_rows_as_the_noisy_total(model):
    assert model.sample(None, np.random.default_rng(0)).rows == 2000


def test_given_values_are_kept_and_the_others_follow(model):
    given = model.sample(1500, np.random.default_rng(3), {"b": "b2", "d": "d1"})
    assert (given["b"] == 2).all()
    assert (given["d"] == 1).all()
    inside = truth()[:, 2, :, 1]
    assert np.abs(given.counts(("a", "c")) / 1500 - inside / inside.sum()).sum() / 2 < 0.03


@pytest.mark.parametrize("given", [{"a": "a0", "d": "d1"}, {"a": "nowhere"}, {"z": "a0"}])
def test_what_cannot_be_given_is_refused_in_words(model, given):
    with pytest.raises(InputError, match=r"no row can have these values of a, d together|nowhere|'z'|\bz\b"):
        model.sample(5, np.random.default_rng(0), given)


@pytest.mark.parametrize("held", [1, 6])
def test_what_is_saved_draws_the_same_rows(held):
    model = fit_of(held).model(SCHEMA, PAIRS, {"note": "text"})
    values, arrays = model.parts()
    again = PooledModel.from_parts(values, arrays)
    assert again.result() == {"note": "text"}
    for given in (None, {"b": "b1"}):
        one, two = (each.sample(300, np.random.default_rng(5), given) for each in (model, again))
        assert all((one[name] == two[name]).all() for name in SIZES)


def test_expected_counts_of_any_columns_add_up_to_the_total_also_in_several_goes(monkeypatch):
    fit = fit_of(1)
    whole = fit.project_all([*PAIRS, ("c",), ("c", "b", "a")])
    monkeypatch.setattr(pooled, "CODES", 2 * len(fit.weights))
    for one, two in zip(whole, fit.project_all([*PAIRS, ("c",), ("c", "b", "a")]), strict=True):
        assert one.sum() == pytest.approx(2000)
        np.testing.assert_allclose(one, two)
    np.testing.assert_allclose(whole[-1].sum(axis=(1, 2)), whole[-2])
