"""Diffusion of tables."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from hushtable.encode.layout import Layout
from hushtable.errors import InputError, PlanError
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.denoising import Choices, Stride, kept
from hushtable.synthesize.neural.diffusion import Columns, Diffused, Diffusion
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.neural

from hushtable.synthesize.neural import diffusion_net  # noqa: E402

SMALL = {"widths": (64, 64), "epochs": 60, "times": 50, "strides": 25, "refine": 0, "rate": 5e-3}


def fitted(table, seed=0, **knobs):
    vault = Vault.of(table, entropy=Entropy.seeded(seed), seed=seed)
    return Diffusion(**(SMALL | knobs)).fit(vault, np.random.default_rng(seed))


def number(name, low=-10.0, high=10.0, required=True, role=Role.PLAIN):
    return Column(name=name, kind=Kind.REAL, domain=Bounds(low, high), required=required, role=role)


def mixed(rows=600, seed=0, target=Role.PLAIN):
    """Two categories that agree nine times in ten, a number that follows the first, and one that is missing with its level 0."""
    rng = np.random.default_rng(seed)
    one = rng.choice(3, rows, p=[0.3, 0.5, 0.2])
    two = np.where(rng.random(rows) < 0.9, one, rng.integers(0, 3, rows))
    height = 4.0 * one - 4 + rng.normal(0, 0.3, rows)
    age = np.where(one == 0, np.nan, rng.normal(2, 1, rows))
    columns = (category("one", 3, role=target), category("two", 3), number("height"), number("age", required=False))
    return Table(Schema(columns), {"one": one.astype(np.int32), "two": two.astype(np.int32), "height": height, "age": age})


@pytest.fixture(scope="module")
def trained():
    return fitted(mixed())


@pytest.fixture(scope="module")
def told():
    """The first category is the target, which the network is told."""
    return fitted(mixed(target=Role.TARGET), epochs=40)


def unlike(table, drawn):
    """How far drawn rows are from the table's: shares, agreement, heights and gaps by level, all in parts of what they may be."""
    found = []
    for one in (table, drawn):
        held = [one["one"] == level for level in range(3)]
        heights = [one["height"][own].mean() / 20 if own.any() else 0.0 for own in held]
        spreads = [one["height"][own].std() / 20 if own.any() else 0.0 for own in held]
        gaps = [one.missing("age")[own].mean() if own.any() else 0.0 for own in held]
        shares = [own.mean() for own in held]
        found.append(np.array([*shares, (one["one"] == one["two"]).mean(), *heights, *spreads, *gaps, np.nanmean(one["age"]) / 20]))
    return float(np.abs(found[0] - found[1]).max())


def test_the_divergence_is_that_of_the_two_posteriors():
    """Against a sum over all levels, for one time and for the first, where nothing is noisy before."""
    generator, choices, rows = torch.Generator().manual_seed(0), Choices([3, 1, 5]), 40
    logits = torch.randn(rows, 9, generator=generator)
    clean, noisy = (
        torch.stack([torch.randint(0, size, (rows,), generator=generator) for size in (3, 1, 5)], dim=1) for _ in range(2)
    )
    left = kept(20)
    for time in (1, 7, 20):
        stride = Stride(left[time], left[time - 1])
        step, before = (torch.full((rows, 1), value, dtype=torch.float32) for value in (stride.step, stride.earlier))
        found = diffusion_net.Divergence(choices)(logits, clean, noisy, step, before)
        for column, (start, size) in enumerate(zip(choices.starts, choices.sizes, strict=True)):
            shares = logits[:, start : start + size].softmax(1).numpy().astype(np.float64)
            codes, same = noisy[:, column].numpy(), np.arange(size) == noisy[:, column].numpy()[:, None]
            truth = np.eye(size)[clean[:, column].numpy()]
            p, q = (stride.chances(s, np.take_along_axis(s, codes[:, None], 1), same, np.array(size)) for s in (truth, shares))
            expected = np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0).sum(axis=1)
            assert np.allclose(found[:, column].numpy(), expected, atol=2e-5)


def test_numpy_and_torch_compute_the_same():
    choices, rng = Choices([3, 50, 2, 40]), np.random.default_rng(0)
    torch.manual_seed(0)
    net = diffusion_net.Denoiser(choices, 2, 4, (16, 8), 10, 0.0).eval()
    with torch.no_grad():
        net.out.weight.normal_()
    from hushtable.synthesize.neural.denoising import Denoiser, State

    own = Denoiser((3, 50, 2, 40), 10, net.arrays())
    codes = (rng.random((30, 4)) * choices.sizes).astype(np.int64)
    state = State(codes, rng.normal(size=(30, 2)).astype(np.float32), rng.integers(0, 4, 30))
    shares, clean = own.clean(state, 6)
    with torch.no_grad():
        logits, turned = net(*(torch.from_numpy(part) for part in state[:2]), torch.full((30,), 6), torch.from_numpy(state.classes))
    assert np.allclose(shares, choices.shares(logits.numpy()), atol=1e-5)
    left = kept(10)[6]
    assert np.allclose(clean, np.sqrt(left) * state.values - np.sqrt(1 - left) * turned.numpy(), atol=1e-5)


def test_rows_come_out_as_they_went_in(trained):
    table = mixed()
    drawn = trained.sample(4000, np.random.default_rng(1))
    assert unlike(table, drawn) < 0.1
    assert not drawn.missing("height").any()
    curve = trained.result()["training"]
    assert len(curve["loss"]) == len(curve["held"]) <= 60
    assert min(curve["held"]) < curve["held"][0]


def test_a_network_that_learnt_nothing_is_found_out():
    """The twin of the test above: it fails without training, and with a schedule that is not the one that was trained with."""
    table, rng = mixed(), np.random.default_rng(1)
    untrained = fitted(table, epochs=1, rate=1e-9).sample(4000, rng)
    assert unlike(table, untrained) > 0.1
    model = fitted(table, epochs=20)
    model.denoiser.__dict__["kept"] = np.append(1.0, np.random.default_rng(0).permutation(kept(50)[1:]))
    assert unlike(table, model.sample(4000, rng)) > 0.1


def test_the_target_is_drawn_by_its_counts_and_the_rest_given_it(told):
    table, rng = mixed(target=Role.TARGET), np.random.default_rng(1)
    drawn = told.sample(4000, rng)
    assert unlike(table, drawn) < 0.1
    assert np.abs(np.bincount(drawn["one"]) - np.bincount(table["one"]) * 4000 / 600).max() < 130
    drawn = told.sample(500, rng, {"one": "one2"})
    assert (drawn["one"] == 2).all()
    assert (drawn["two"] == 2).mean() > 0.8
    assert drawn["height"].mean() == pytest.approx(4, abs=0.7)


def test_what_is_given_is_met_and_the_rest_follows(trained, told):
    for model in (trained, told):
        rng = np.random.default_rng(1)
        drawn = model.sample(500, rng, {"two": "two2"})
        assert (drawn["two"] == 2).all()
        truth = mixed(20_000, 5).take(np.flatnonzero(mixed(20_000, 5)["two"] == 2))
        assert (drawn["one"] == 2).mean() == pytest.approx((truth["one"] == 2).mean(), abs=0.12)
        drawn = model.sample(300, rng, {"height": "0"})
        assert (drawn["height"] == 0).all()
        assert (drawn["one"] == 1).mean() > 0.9
        drawn = model.sample(200, rng, {"age": "2", "two": "two1"})
        assert (drawn["age"] == 2).all()
        assert (drawn["one"] != 0).mean() > 0.9
    with pytest.raises(InputError, match="no value"):
        trained.sample(10, rng, {"one": "nonsense"})
    for given in (None, {"one": "one2"}, {"two": "two2"}):
        assert told.sample(0, rng, given).rows == 0


def test_drawing_from_a_stored_model_needs_no_torch(monkeypatch, told):
    values, arrays = told.parts()
    assert all(array.dtype == np.float32 for name, array in arrays.items() if name.startswith("network/"))
    monkeypatch.setitem(sys.modules, "torch", None)
    again = Diffused.from_parts(json.loads(json.dumps(values)), arrays)
    for given in (None, {"two": "two1"}):
        one, two = (own.sample(100, np.random.default_rng(2), given) for own in (told, again))
        assert all(np.array_equal(one[name], two[name], equal_nan=True) for name in one.arrays)


def test_numbers_are_standardized_where_they_vary():
    columns, rows = Columns.of(mixed())
    state = columns.standardized(rows)
    gone = mixed().missing("age")
    assert (state.values[gone, 1] == 0).all()
    assert np.allclose(state.values[~gone].mean(axis=0), [0.0, 0.0], atol=0.6)
    assert state.values[~gone, 1].std() == pytest.approx(1, abs=1e-3)
    back = columns.table(state)
    assert np.allclose(back["height"], mixed()["height"], atol=1e-5)
    assert np.array_equal(back.missing("age"), gone)


def generalized(rows=400):
    """Ages in three cells, one in a hundred missing, and a level that follows them; the cell is the target."""
    rng = np.random.default_rng(0)
    plain = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 90), role=Role.TARGET)
    column = plain.generalize(tuple(plain.interval_cell(Interval(low, low + 29)) for low in (0, 30, 60)))
    codes = rng.integers(0, 3, rows).astype(np.int32)
    follows = np.where(rng.random(rows) < 0.9, codes, 0).astype(np.int32)
    schema = Schema((column, category("follows", 3)))
    return Table(schema, {"age": np.where(rng.random(rows) < 0.01, -1, codes).astype(np.int32), "follows": follows})


def test_generalized_columns_are_levels():
    table = generalized()
    model = fitted(table, epochs=30)
    assert model.columns.classes == 4, "three cells, and missing"
    drawn = model.sample(2000, np.random.default_rng(0))
    known = drawn["age"] > 0
    assert (drawn["age"] == drawn["follows"])[known].mean() > 0.8
    assert 0 < drawn.missing("age").mean() < 0.05


@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("columns", [("one",), ("height",), ("age",), ("one", "two", "height", "age")])
@pytest.mark.parametrize("target", [Role.TARGET, Role.PLAIN])
def test_few_rows_and_one_column(rows, columns, target):
    table = mixed(rows, target=target).select(columns)
    drawn = fitted(table, epochs=1, widths=(4,), times=3, strides=2).sample(7, np.random.default_rng(0))
    assert drawn.rows == 7
    assert drawn.schema.names == columns


def test_awkward_tables():
    rng = np.random.default_rng(0)
    wide = Table(Schema((category("place", 1000),)), {"place": np.arange(500, dtype=np.int32)})
    assert fitted(wide, epochs=1).sample(None, rng).rows == 500
    schema = Schema((number("x"), number("gone", required=False), category("c", 2), number("y", role=Role.TARGET)))
    arrays = {"x": np.full(40, 3.0), "gone": np.full(40, np.nan), "c": np.ones(40, np.int32), "y": np.linspace(-9, 9, 40)}
    flat = fitted(Table(schema, arrays), epochs=10)
    drawn = flat.sample(100, rng)
    assert flat.columns.classes == 0, "a number is a column like others, target or not"
    assert np.allclose(drawn["x"], 3, atol=1e-5)
    assert drawn.missing("gone").mean() > 0.9
    assert (drawn["c"] == 1).mean() > 0.9
    with pytest.raises(InputError, match="no rows"):
        fitted(flat.sample(0, rng))
    with pytest.raises(InputError, match="widths"):
        Diffusion(widths=())
    text = Schema((Column(name="words", kind=Kind.TEXT), Column(name="more", kind=Kind.TEXT)))
    with pytest.raises(PlanError, match="words, more is text"):
        Diffusion().plan(text, None)


def test_draws_are_refined_unless_that_is_declined():
    model = fitted(mixed(300), epochs=5, refine=1)
    assert model.result()["refinement"]["rounds"] == 1
    assert "training" in model.result()


def test_training_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    table = mixed(200, target=Role.TARGET)
    columns, rows = Columns.of(table)
    assert columns.layout.spans == Layout.of(table).spans

    def trained(work, stop=2.0):
        def report(share):
            if share > stop:
                raise KeyboardInterrupt

        step, state = Diffusion(**(SMALL | {"epochs": 4})), columns.standardized(rows)
        return diffusion_net.train(step, table, columns.sizes, columns.classes, state, 5, report, work)[0].arrays

    whole = trained(None)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, stop=0.6)
    again = trained(tmp_path)
    assert all(np.array_equal(whole[name], again[name]) for name in whole)
