"""The transformer: the same chances with and without PyTorch, exact conditions, and no copies that nobody noticed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.audits.planted import overfit
from hushtable.encode.digits import Digits
from hushtable.errors import InputError, PlanError
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.fields import drawing_order
from hushtable.synthesize.neural.tokenwise import Attending, Tokenwise
from hushtable.synthesize.neural.transformer import Transformer
from hushtable.synthesize.refined import Refined
from hushtable.table.schema import Schema

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.learn.causal import Causal  # noqa: E402
from hushtable.learn.nets import NEVER, Within  # noqa: E402
from hushtable.synthesize.neural import transformer_net  # noqa: E402

pytestmark = pytest.mark.neural

TINY = Schema.parse(
    """
columns:
  ill:   {kind: category, role: target, domain: ["no", "yes"]}
  age:   {kind: integer, domain: [8, 13]}
  place: {kind: category, domain: [a, b, c]}
"""
)
SMALL = {"width": 8, "layers": 2, "heads": 2, "epochs": 5, "rate": 0.01, "refine": 0, "check": 0}


def rng(seed=0):
    return np.random.default_rng(seed)


def tiny(rows=500, seed=0):
    draw = rng(seed)
    age = draw.integers(8, 14, rows)
    place = np.array(["a", "b", "c"])[np.clip((age - 8) // 2 + draw.integers(-1, 2, rows), 0, 2)]
    ill = np.where(draw.random(rows) < 0.1 + 0.15 * (age - 8), "yes", "no")
    gaps = draw.random(rows) < 0.1
    frame = {"ill": ill, "age": np.where(gaps, "", age.astype(str)), "place": np.where(draw.random(rows) < 0.05, "", place)}
    return ht.read(pd.DataFrame(frame), TINY)


def fit(table, seed=0, **knobs):
    return Transformer(**{**SMALL, **knobs}).fit(Vault.of(table), rng(seed))


def in_digits(table):
    return Digits().fit(Vault.of(table), rng()).apply(table)


@pytest.fixture(scope="module")
def model():
    return fit(in_digits(tiny()))


def everything():
    """Every row that the domain holds, missing values included."""
    ages = ["", *(str(age) for age in range(8, 14))]
    return ht.read(pd.DataFrame(list(product(["no", "yes", ""], ages, ["a", "b", "c", ""])), columns=TINY.names), TINY)


def same(one, two):
    return all(np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f") for name in one.schema.names)


def keys(table):
    return [str(row) for row in zip(*(table.strings(name) for name in table.schema.names), strict=True)]


def distance(table, rows, chances):
    """The total variation between drawn rows and the chances of rows."""
    found, counts = np.unique(keys(table), return_counts=True)
    shares = dict(zip(found, counts / table.rows, strict=True))
    told = dict(zip(keys(rows), chances, strict=True))
    return sum(abs(told.get(key, 0.0) - shares.get(key, 0.0)) for key in told.keys() | shares.keys()) / 2


def random_net(cells, within=None):
    torch.manual_seed(3)
    net = Causal(cells, 12, 3, 3, within=within).eval()
    with torch.no_grad():
        for part in net.parameters():
            part += 0.3 * torch.randn_like(part)
    return net


def chances_of(net, codes):
    """By PyTorch, field by field, without a cache."""
    found = {}
    with torch.no_grad():
        for block, logits in zip(net.blocks, net(torch.from_numpy(codes)), strict=True):
            for place, field in enumerate(block.fields):
                found[field] = logits[:, place, : net.cells[field]].softmax(1).numpy()
    return found


@pytest.mark.parametrize("cells", [(3, 1, 40, 2, 5), (4,), (2, 2)])
def test_drawing_with_a_cache_equals_the_network_without_one(cells):
    within = {1: Within(0, torch.where(torch.rand(cells[0], cells[1]) < 0.3, NEVER, 0.5))} if cells[:2] == (2, 2) else None
    net = random_net(cells, within)
    codes = np.stack([rng(at).integers(0, most, 30) for at, most in enumerate(cells)], axis=1)
    told = chances_of(net, codes)
    walk = Attending.of(transformer_net.weights(net), 3, 30)
    for field in range(len(cells)):
        assert walk.chances() == pytest.approx(told[field], abs=1e-5)
        walk.add(codes[:, field])


def test_a_walk_that_was_not_asked_for_chances_and_lost_rows_is_where_it_should_be():
    cells = (3, 2, 6, 5)
    net = random_net(cells)
    codes = np.stack([rng(at).integers(0, most, 30) for at, most in enumerate(cells)], axis=1)
    walk = Attending.of(transformer_net.weights(net), 3, 30)
    walk.add(codes[:, 0])
    walk.add(codes[:, 1])
    walk.chances()
    some = codes[:, 0] == 1
    walk = walk.kept(some)
    walk.add(codes[some, 2])
    assert walk.chances() == pytest.approx(chances_of(net, codes[some])[3], abs=1e-5)


def test_the_chances_of_all_rows_sum_to_one(model):
    rows = in_digits(everything())
    # Digits that stand for no age, and those under a missing one, can be drawn too: the rest belongs to them.
    assert 0.7 < np.exp(model.log_likelihood(rows)).sum() < 1
    levels = [range(-(not c.required), len(c.levels)) for c in rows.schema]
    arrays = np.array(list(product(*levels)), np.int32)
    whole = ht.Table(rows.schema, {name: arrays[:, at] for at, name in enumerate(rows.schema.names)})
    assert np.exp(model.log_likelihood(whole)).sum() == pytest.approx(1, abs=2e-3)


def test_the_chances_of_all_rows_sum_to_one_where_numbers_are_cells():
    model = fit(tiny(), bins=3, parts=2)
    assert sum(cells.fields for cells in model.nested) > 3
    assert np.exp(model.log_likelihood(everything())).sum() == pytest.approx(1, abs=1e-3)


def test_it_draws_what_it_says(model):
    rows = in_digits(everything())
    drawn = model.sample(20_000, rng(1))
    known = set(keys(rows))
    inside = drawn.take(np.array([key in known for key in keys(drawn)]))
    chances = np.exp(model.log_likelihood(rows))
    assert inside.rows / drawn.rows == pytest.approx(chances.sum(), abs=0.02)
    assert distance(inside, rows, chances / chances.sum()) < 0.03


@pytest.mark.parametrize("given", [{"ill": "yes"}, {"place": "b"}, {"ill": "no", "place": "a"}])
def test_a_condition_is_exact(model, given):
    drawn = model.sample(6000, rng(2), given)
    assert all(set(drawn.strings(name)) == {value} for name, value in given.items())
    levels = [range(-(not c.required), len(c.levels)) for c in model.schema]
    arrays = np.array(list(product(*levels)), np.int32)
    rows = ht.Table(model.schema, {name: arrays[:, at] for at, name in enumerate(model.schema.names)})
    holds = np.all([rows.strings(name) == value for name, value in given.items()], axis=0)
    chances = np.where(holds, np.exp(model.log_likelihood(rows)), 0.0)
    assert distance(drawn, rows, chances / chances.sum()) < 0.04
    # The condition says something: draws without it are elsewhere.
    assert distance(model.sample(6000, rng(3)), rows, chances / chances.sum()) > 0.2


def test_a_number_is_fixed_with_all_of_its_digits():
    recipe = recipes.load("realtabformer").set({**{name: str(value) for name, value in SMALL.items()}, "order": "age"})
    table = tiny(2000)
    released = ht.release(table, recipe, seed=1, allow_copies="a test")
    fitted = released.fitted
    drawn = {age: fitted.draw(2000, 4, {"age": age}) for age in ("9", "13")}
    for age, rows in drawn.items():
        assert set(rows["age"].tolist()) == {int(age)}
        sick = (table.strings("ill") == "yes")[table["age"] == int(age)].mean()
        assert (rows.strings("ill") == "yes").mean() == pytest.approx(sick, abs=0.12)
    # Both digits count: had only the first been fixed, 10 to 13 would be alike.
    assert (drawn["13"].strings("ill") == "yes").mean() > (fitted.draw(2000, 4, {"age": "10"}).strings("ill") == "yes").mean() + 0.2


def test_digits_stay_together_in_the_order_in_which_they_are_drawn():
    numbers = Schema.parse(
        "columns: {a: {kind: integer, domain: [0, 99]}, b: {kind: integer, domain: [0, 99]}, "
        "wage: {kind: integer, domain: [0, 999], role: target}, 'x:y': {kind: category, domain: [u]}}"
    )
    written = Digits().plan(numbers, None).schema
    assert drawing_order(written, ()) == ("wage", "wage:1", "wage:2", "a", "a:1", "b", "b:1", "x:y")
    assert drawing_order(written, ("b",))[:2] == ("b", "b:1")
    assert drawing_order(written, ("b:1",))[:3] == ("b", "b:1", "wage")


def test_it_learns_what_depends_on_what():
    table, fresh = in_digits(tiny(2000)), in_digits(tiny(2000, 1))
    model = fit(table, epochs=8)
    trained, guessed = (m.log_likelihood(fresh).mean() for m in (model, fit(table, epochs=1, rate=1e-9)))
    assert trained > guessed + 0.2
    assert model.training["held"][-1] < model.training["held"][0]


def test_the_same_seed_gives_the_same_bits():
    table = in_digits(tiny(200))
    one, two, other = (fit(table, seed, check=2) for seed in (0, 0, 1))
    assert all(np.array_equal(one.weights[name], two.weights[name]) for name in one.weights)
    assert one.training == two.training
    assert same(one.sample(50, rng(5)), two.sample(50, rng(5)))
    assert not same(one.sample(50, rng(5)), other.sample(50, rng(5)))


def test_a_rebuilt_model_draws_the_same_without_the_network(monkeypatch, model):
    values, arrays = model.parts()
    monkeypatch.setattr("hushtable.synthesize.neural.transformer.network", None)
    other = Tokenwise.from_parts(values, arrays)
    assert same(model.sample(80, rng(1)), other.sample(80, rng(1)))
    assert np.array_equal(model.log_likelihood(model.sample(20, rng())), other.log_likelihood(model.sample(20, rng())))
    assert other.result() == model.result()


def test_refinement_wraps_it():
    model = fit(tiny(), refine=1)
    assert isinstance(model, Refined)
    assert same(model.sample(30, rng()), Refined.from_parts(*model.parts()).sample(30, rng()))


def test_target_masking_hides_values_and_the_rest_is_still_learnt():
    table, fresh = in_digits(tiny(1500)), in_digits(tiny(1500, 1))
    masked, whole, guessed = (
        fit(table, **knobs).log_likelihood(fresh).mean() for knobs in ({"mask": 0.3}, {}, {"epochs": 1, "rate": 1e-9})
    )
    assert guessed + 0.1 < masked < whole + 0.05
    assert masked != whole


def wide(rows=1000):
    draw = rng()
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, rows), "D")
    level = draw.integers(0, 400, rows)
    frame = {
        "code": [f"c{i:04d}" for i in level],
        "first": [f"g{i // 50}" for i in level],
        "day": day.strftime("%Y-%m-%d"),
        "same": ["1"] * rows,
        "nothing": [""] * rows,
        "pay": [f"{v:.1f}" if v < 60 else "" for v in draw.lognormal(3, 1, rows)],
    }
    kinds = "code: {kind: category}, first: {kind: category}, day: {kind: date}, same: {kind: integer, domain: [0, 5]}"
    schema = Schema.parse(f"columns: {{{kinds}, nothing: {{kind: real, domain: [0, 1]}}, pay: {{kind: real, decimals: 1}}}}")
    return ht.read(pd.DataFrame(frame), schema)


def test_hundreds_of_levels_dates_constants_and_what_is_always_missing():
    table = in_digits(wide())
    model = fit(table, epochs=8, width=16)
    drawn = model.sample(800, rng())
    assert set(drawn["same"].tolist()) == {1}
    assert drawn.missing("nothing").all()
    follows = {int(c): int(g) for c, g in zip(table["code"], table["first"], strict=True)}
    # By chance one in eight would be right.
    assert np.mean([follows[int(c)] == int(g) for c, g in zip(drawn["code"], drawn["first"], strict=True)]) > 0.3
    assert np.isfinite(model.log_likelihood(table)).all()


@pytest.mark.parametrize(
    "part",
    [lambda t: t.take(np.arange(1)), lambda t: t.select(["pay"]), lambda t: t.select(["nothing"]), lambda t: t.take(np.arange(9))],
)
def test_odd_tables(part):
    table = part(wide(60))
    for rows in (table, in_digits(table)):
        drawn = fit(rows, check=1).sample(20, rng())
        assert drawn.rows == 20
        assert drawn.schema.names == rows.schema.names


def test_generalized_columns_are_drawn_as_their_cells(small):
    steps = "- generalize: {k: 5}\n- transformer: {width: 4, layers: 1, heads: 1, epochs: 1, refine: 0}\n"
    released = ht.release(small, recipes.Recipe.parse(f"recipe: mine\nsteps:\n{steps}"), seed=0, allow_copies="a test").table
    assert any(column.generalized for column in released.schema)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(InputError, match="no rows"):
        fit(tiny().take(np.arange(0)))
    with pytest.raises(PlanError, match="no column wage"):
        Transformer(order=("wage",)).plan(TINY, None)
    for knobs, wrong in (({"mask": 1.0}, "mask"), ({"heads": 3}, "must divide the width"), ({"width": 0, "rate": 0}, "rate")):
        with pytest.raises(InputError, match=wrong):
            Transformer(**knobs)


def test_a_training_that_copies_is_stopped_and_what_copies_is_not_kept(monkeypatch):
    table = in_digits(wide(300).select(["first", "day", "pay"]))
    values = iter([0.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr("hushtable.synthesize.neural.q_delta.Copying.value", lambda self, tables, rng: next(values))
    model = fit(table, epochs=12, check=2, patience=12)
    training = model.training
    assert len(training["held"]) == 6
    assert list(training["q_delta"]) == ["2", "4", "6"]
    assert [value is None for value in training["held"]] == [False, False, False, True, True, True]
    assert training["epochs"] == 12
    monkeypatch.setattr("hushtable.synthesize.neural.q_delta.Copying.value", lambda self, tables, rng: 0.0)
    short = fit(table, epochs=12, check=2, patience=12)
    assert len(short.training["held"]) == 12
    best = int(np.argmin([value for value in training["held"] if value is not None]))
    assert training["held"][best] == pytest.approx(short.training["held"][best])


def test_snapshots_climb_to_their_ratios_and_remember_more_and_more():
    people = in_digits(wide(300).select(["first", "day", "pay"]))
    train, fresh = people.take(np.arange(60)), people.take(np.arange(100, 300))
    found = Transformer(width=16, layers=1, heads=2, rate=0.01).overfitted(train, fresh, (1.0, 1.05, 1.2), rng())
    losses = [loss for loss, _ in found]
    assert losses == sorted(losses)
    assert losses[1] >= 1.05 * losses[0]
    assert losses[-1] >= 1.2 * losses[0]
    nearer = [model.loss(train) for _, model in found]
    assert nearer[-1] < nearer[1] < nearer[0]


def test_an_overfit_generator_is_one_training_under_a_coder_as_well(monkeypatch):
    monkeypatch.setattr("hushtable.synthesize.neural.transformer.CLIMB", 2)
    train, fresh = tiny(100), tiny(100, 1)
    result = overfit(train, fresh, rng(), ratios=(1.0, 9.0), recipe="realtabformer")
    assert result[0].ratio == 1.0
    drawn = result[-1].sample(20)
    assert drawn.schema.names == train.schema.names
    assert same(drawn, result[-1].sample(20))


def test_a_training_that_was_stopped_goes_on_with_its_comparisons(tmp_path):
    table = in_digits(tiny(300))
    whole = fit(table, check=2)
    vault = replace(Vault.of(table), work=tmp_path / "work")

    def stop(share):
        if share > 0.65:
            raise KeyboardInterrupt

    step = Transformer(**{**SMALL, "check": 2})
    with pytest.raises(KeyboardInterrupt):
        step.fit(replace(vault, report=stop), rng())
    resumed = step.fit(vault, rng())
    assert all(np.array_equal(whole.weights[name], resumed.weights[name]) for name in whole.weights)
    assert whole.training == resumed.training
    assert whole.training["q_delta"]
