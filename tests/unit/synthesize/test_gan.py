"""The adversarial network: what it is given, what it pays for, and that it learns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.checks.tables import awkward  # noqa: E402
from hushtable.encode.layout import Layout  # noqa: E402
from hushtable.errors import HushError, InputError, PlanError  # noqa: E402
from hushtable.learn.loop import seeded  # noqa: E402
from hushtable.privacy.vault import Vault  # noqa: E402
from hushtable.synthesize.neural.gan import penalties  # noqa: E402
from hushtable.synthesize.neural.gan.conditions import Levels as LevelCondition  # noqa: E402
from hushtable.synthesize.neural.gan.constraints import read_constraints  # noqa: E402
from hushtable.synthesize.neural.gan.game import Game, Rules, Shape, rows  # noqa: E402
from hushtable.synthesize.neural.gan.gan import Adversarial, Gan  # noqa: E402
from hushtable.synthesize.neural.gan.nets import ConvolutionCritic, DenseCritic  # noqa: E402
from hushtable.synthesize.neural.gan.wires import Wires  # noqa: E402
from hushtable.table.broken import breaks_any  # noqa: E402
from hushtable.table.columns import Bounds, Column, Kind, Levels  # noqa: E402
from hushtable.table.schema import Schema  # noqa: E402
from hushtable.table.table import Table  # noqa: E402

pytestmark = pytest.mark.neural
SCHEMA = Schema(
    (
        Column(name="pay", kind=Kind.REAL, domain=Bounds(-10.0, 90.0)),
        Column(name="group", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
        Column(name="echo", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
        Column(name="rare", kind=Kind.CATEGORY, domain=Levels(("no", "seldom", "never"))),
    )
)
TINY = {"epochs": 1, "width": 8, "noise": 4, "layers": 1, "batch": 100, "refine": 0}


def people(count: int = 2000) -> Table:
    rng = np.random.default_rng(0)
    group = rng.choice(3, count, p=[0.6, 0.3, 0.1]).astype(np.int32)
    pay = np.where(rng.random(count) < 0.2, np.nan, 20 + 20 * group + rng.normal(0, 3, count)).clip(-10, 90)
    echo = np.where(rng.random(count) < 0.9, group, -1).astype(np.int32)
    return Table(SCHEMA, {"pay": pay, "group": group, "echo": echo, "rare": (rng.random(count) < 0.01).astype(np.int32)})


def fitted(step: Gan, table: Table, seed: int = 0):
    return step.fit(Vault.of(table), np.random.default_rng(seed))


@pytest.fixture(scope="module")
def wired():
    table = people()
    layout = Layout.of(table)
    wires = Wires(layout)
    return table, wires, *rows(wires, layout.encode(table))


def test_rows_come_back_from_their_vectors(wired):
    table, wires, codes, values = wired
    vectors = wires.spread(codes, values)
    assert vectors.shape == (table.rows, wires.width)
    assert torch.equal(vectors[:, wires.numbers :].sum(1), torch.full((table.rows,), float(len(wires.choices))))
    back = wires.layout.decode(wires.rows(codes.long(), vectors[:, : wires.numbers]))
    assert all(np.array_equal(back[name], table[name]) for name in ("group", "echo", "rare"))
    assert np.allclose(back["pay"], table["pay"], atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("broken", [False, True])
def test_levels_are_drawn_by_the_softmax(wired, broken):
    """Many rows of the same scores; the broken twin draws the likeliest level only more often."""
    _, wires, _, _ = wired
    with seeded(0):
        raw = torch.randn(1, wires.width).expand(20_000, -1)
        places, _ = wires.drawn(raw * (1.2 if broken else 1.0))
    worst = 1.0
    for at, place in enumerate(wires.choices):
        start, levels = int(wires.starts[place]), wires.layout.spans[place].levels
        shares = raw[0, start : start + levels].softmax(0).double().numpy()
        counts = np.bincount(places[:, at].numpy() - start, minlength=levels)
        worst = min(worst, stats.chisquare(counts, 20_000 * shares / shares.sum()).pvalue)
    assert (worst < 1e-4) == broken


@pytest.mark.parametrize("broken", [False, True])
def test_conditions_follow_log_frequencies_in_training_and_frequencies_in_drawing(wired, broken):
    """A column evenly, then a level; the broken twin exchanges the two."""
    table, wires, codes, _ = wired
    among = torch.arange(1500)
    condition = LevelCondition.counted(wires, codes, among)
    with seeded(1):
        trained, drawn = condition.train(torch.zeros(30_000, dtype=torch.int64)), condition.draw(30_000, {})
    if broken:
        trained, drawn = drawn._replace(rows=trained.rows), trained
    assert condition.width == 3 + 4 + 3  # echo may be missing
    for turn, weigh in ((trained, np.log1p), (drawn, lambda counts: counts)):
        expected = []
        for place in condition.places:
            name = wires.layout.spans[place].column.name
            levels = table[name][:1500]
            counts = np.bincount(np.where(levels < 0, 3, levels), minlength=wires.layout.spans[place].levels)
            expected.append(weigh(counts) / weigh(counts).sum() / len(condition.places))
        held = np.concatenate(expected)
        found = np.bincount(turn.cells.numpy(), minlength=condition.width)
        assert not found[held == 0].any()
        assert (stats.chisquare(found[held > 0], 30_000 * held[held > 0]).pvalue < 1e-4) == broken
    if not broken:
        # Every row has what its condition says, is a training row, and all of them have their turn.
        assert torch.equal(
            wires.spread(codes[trained.rows], torch.zeros(30_000, 1))[range(30_000), condition.wire[trained.cells]].min(),
            torch.tensor(1.0),
        )
        assert trained.rows.max() < 1500
        assert len(trained.rows.unique()) > 1400
        assert torch.equal(trained.vectors.argmax(1), trained.cells)


def test_the_condition_is_what_the_generator_is_tied_to(wired):
    _, wires, codes, _ = wired
    condition = LevelCondition.counted(wires, codes, torch.arange(len(codes)))
    with seeded(0):
        drawn, raw = condition.draw(50, {}), torch.randn(50, wires.width)
    places = condition.wire[drawn.cells]
    expected = []
    for at, row in enumerate(raw):
        place = condition.places[int(condition.column[drawn.cells[at]])]
        start = int(wires.starts[place])
        own = row[start : start + wires.layout.spans[place].levels]
        expected.append(torch.nn.functional.cross_entropy(own[None], (places[at] - start)[None]))
    assert torch.allclose(condition.loss(raw, drawn), torch.stack(expected).mean(), atol=1e-5)


@pytest.mark.parametrize("pac", [1, 3])
def test_the_critics_gradient_is_that_of_its_scores(pac):
    with seeded(0):
        points = torch.randn(12, 7, requires_grad=True)
        for critic in (DenseCritic(7, 16, 3, dropout=0.0, pac=pac), ConvolutionCritic(7, 8, 2, dropout=0.0, pac=pac)):
            (own,) = torch.autograd.grad(critic(points).sum(), points)
            slopes = critic.gradient(points)
            assert torch.allclose(slopes, own.reshape(12 // pac, -1), atol=1e-6)
            (slopes.norm(dim=1) - 1).square().mean().backward()
            weights = [weights for name, weights in critic.named_parameters() if name.endswith("weight")]
            assert all(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in weights)


def test_every_penalty_can_be_learnt_from(wired):
    table, wires, codes, values = wired
    texts = (
        "pay in 0..10",
        "pay <= 3 if group = b",
        "rare = no if echo is missing",
        "echo in {a, c}",
        "pay is missing if group = a",
    )
    constraints = read_constraints(texts, table.schema, "gan")
    made = [penalties.Constrained(wires, (constraint,)) for constraint in constraints]
    entropies = penalties.entropies(wires, codes, values)
    made += [penalties.Correlation(wires), penalties.Identifiability(wires, entropies)]
    with seeded(0):
        raw = (0.1 * torch.randn(200, wires.width)).requires_grad_()
        fake = wires.activate(raw)
    real = wires.spread(codes[:200], values[:200])
    real_only = wires.spread(codes[200:400], values[200:400])
    for penalty in made:
        paid = penalty(real, fake)
        (slopes,) = torch.autograd.grad(paid, raw, retain_graph=True)
        assert paid > 0
        assert slopes.abs().sum() > 0
    assert made[-2](real, real) < 1e-3 < made[-2](real, fake)
    # A copy of every row is as near as can be; other people's rows are mostly not nearer than people are to one another.
    assert made[-1](real, real) > 3 * made[-1](real, real_only)
    assert entropies[1] == pytest.approx(stats.entropy(np.bincount(table["group"])), abs=1e-6)


def test_constraints_cost_nothing_where_they_are_kept(wired):
    table, wires, codes, values = wired
    real = wires.spread(codes, values)
    held = read_constraints(("pay in -10..90", "pay <= 50 if group = a", "group = b if echo = b"), table.schema, "gan")
    assert float(penalties.Constrained(wires, held)(real, real)) == pytest.approx(0, abs=1e-6)
    half = read_constraints(("pay >= 40",), table.schema, "gan")
    gaps = np.nan_to_num(40 - table["pay"]).clip(0) / 50
    assert float(penalties.Constrained(wires, half)(real, real)) == pytest.approx(gaps.mean(), rel=1e-4)


def test_numbers_are_compared_with_numbers_and_with_one_another():
    columns = (
        Column(name="first", kind=Kind.INTEGER, domain=Bounds(0, 20)),
        Column(name="last", kind=Kind.INTEGER, domain=Bounds(10, 50)),
    )
    table = Table(Schema(columns), {"first": np.array([0, 5, 20, 20]), "last": np.array([10, 50, 10, 20])})
    layout = Layout.of(table)
    wires = Wires(layout)
    real = wires.spread(*rows(wires, layout.encode(table)))
    for text, gaps in {
        "first <= last": [0, 0, 1, 0],
        "first = last": [1, 4.5, 1, 0],
        "first != 5": [0, 1, 0, 0],
        "first in {0, 18}": [0, 0.5, 0.2, 0.2],
        "last = 20 if first = 20": [0, 0, 0.5, 0],
        "last > 30 if first != 5": [1, 0, 1, 0.5],
    }.items():
        paid = penalties.Constrained(wires, read_constraints((text,), table.schema, "gan"))(real, real)
        assert float(paid) == pytest.approx(np.mean(gaps), abs=1e-5), text


@pytest.fixture(scope="module")
def trained() -> Adversarial:
    return fitted(
        Gan(condition="level", epochs=40, every=10, width=32, noise=8, batch=200, rate=2e-3, dropout=0.0, refine=0), people()
    )


def test_dependence_is_learnt(trained):
    table, drawn = people(), trained.sample(4000, np.random.default_rng(1))
    shares = [np.bincount(t["group"], minlength=3) / t.rows for t in (table, drawn)]
    assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.15
    here = drawn["echo"] >= 0
    assert (drawn["group"] == drawn["echo"])[here].mean() > 0.8
    means = [np.nanmean(drawn["pay"][drawn["group"] == group]) for group in range(3)]
    assert means[1] - means[0] > 8
    assert means[2] - means[1] > 5
    curve = trained.result()["training"]
    assert len(curve["loss"]) == len(curve["held"])
    held = [value for value in curve["held"] if value is not None]
    assert min(held) < 0.3


def test_given_levels_are_met(trained):
    for given in ({"group": "c"}, {"echo": "b", "group": "b"}, {"rare": "seldom"}):
        drawn = trained.sample(200, np.random.default_rng(0), given)
        assert drawn.rows == 200
        assert all((drawn.strings(name) == level).all() for name, level in given.items())
    with pytest.raises(InputError, match=r"of [\d,]+ drawn rows 0 \(0.00%\) have pay 3.25"):
        trained.sample(20, np.random.default_rng(0), {"pay": "3.25"})
    with pytest.raises(InputError, match="no value of group"):
        trained.sample(20, np.random.default_rng(0), {"group": "z"})


def test_a_model_is_rebuilt_and_draws_the_same_bits(trained):
    values, arrays = trained.parts()
    back = Adversarial.from_parts(json.loads(json.dumps(values)), arrays)
    one, two = trained.sample(300, np.random.default_rng(4)), back.sample(300, np.random.default_rng(4))
    assert all(np.array_equal(one[name], two[name], equal_nan=name == "pay") for name in SCHEMA.names)
    assert all(array.dtype in (np.float32, np.float64) for array in arrays.values())
    assert trained.sample(0, np.random.default_rng(4)).rows == 0


@pytest.mark.parametrize(
    "knobs",
    [
        {"pac": 5, "condition": "level"},
        {"loss": "bce", "net": "convolution"},
        {"loss": "wgan-clip", "critic_steps": 2, "net": "dense"},
    ],
)
def test_the_same_seed_gives_the_same_bits(knobs):
    step = Gan(**{**TINY, **knobs, "penalties": ("correlation=1", "identifiability=0.1")})
    table = people(300)
    before = torch.random.get_rng_state()
    one, two, other = (fitted(step, table, seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(np.array_equal(array, two.weights[name]) for name, array in one.weights.items())
    assert any(not np.array_equal(array, other.weights[name]) for name, array in one.weights.items())


def test_clipped_weights_stay_small(wired):
    _, wires, codes, values = wired
    with seeded(0):
        condition = LevelCondition.counted(wires, codes, torch.arange(len(codes)))
        game = Game(wires, Shape(hidden=8), Rules(loss="wgan-clip", clip=0.01), condition, (codes, values))
        game.update(torch.arange(100))
    assert max(float(weights.detach().abs().max()) for weights in game.critic.parameters()) <= 0.01 + 1e-7


def test_constraints_hold_in_what_is_drawn():
    texts = ("pay in 10..50", "rare = no if group = b", "pay is missing if group = c")
    step = Gan(**{**TINY, "penalties": ("constraints=10",), "constraints": texts, "loss": "bce", "net": "dense"})
    table = people(500)
    model = fitted(step, table)
    zeros = [zero for constraint in read_constraints(texts, SCHEMA, "gan") for zero in constraint.zeros]
    assert breaks_any(table, zeros).any()
    assert breaks_any(model.sample(2000, np.random.default_rng(0)), zeros).mean() <= 0.001
    values, arrays = model.parts()
    assert Adversarial.from_parts(values, arrays).constraints == model.constraints


def test_awkward_tables_are_drawn_or_refused():
    for condition in ("none", "level"):
        step = Gan(**{**TINY, "pac": 3, "condition": condition})
        for name, table in awkward().items():
            try:
                step.plan(table.schema, None)
                drawn = fitted(step, table).sample(7, np.random.default_rng(0))
            except HushError:
                continue
            assert drawn.rows == 7, name
    one = people(1)
    assert fitted(Gan(**TINY), one).sample(5, np.random.default_rng(0)).rows == 5
    with pytest.raises(InputError, match="at least one row"):
        fitted(Gan(**TINY), people(3).take(np.zeros(3, np.bool_)))
    wide = Schema((Column(name="town", kind=Kind.CATEGORY, domain=Levels(tuple(f"t{i}" for i in range(1000)))), SCHEMA["pay"]))
    table = Table(wide, {"town": (np.arange(3000) % 900).astype(np.int32), "pay": np.full(3000, 5.0)})
    drawn = fitted(Gan(**{**TINY, "condition": "level"}), table).sample(500, np.random.default_rng(0))
    assert len(np.unique(drawn["town"])) > 100


@pytest.mark.parametrize(
    "knobs", [{"penalties": ("beauty=1",)}, {"penalties": ("correlation=x",)}, {"loss": "l2"}, {"epochs": 0}, {"dropout": 1.0}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises((InputError, PlanError)):
        Gan(**knobs)


def test_refinement_brings_draws_nearer():
    table = people()
    step = Gan(**{**TINY, "epochs": 3, "condition": "level", "refine": 1})
    model = fitted(step, table)
    shares = [np.bincount(t["group"], minlength=3) / t.rows for t in (table, model.sample(2000, np.random.default_rng(0)))]
    assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.02
    assert {"training", "refinement"} <= model.result().keys()


def test_a_training_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    step, table = Gan(**{**TINY, "epochs": 4, "every": 1, "condition": "level"}), people(400)
    whole = fitted(step, table)
    vault = replace(Vault.of(table), work=tmp_path, report=stop_after(0.6))
    with pytest.raises(KeyboardInterrupt):
        step.fit(vault, np.random.default_rng(0))
    resumed = step.fit(replace(vault, report=lambda share: None), np.random.default_rng(0))
    assert all(np.array_equal(array, resumed.weights[name]) for name, array in whole.weights.items())


def stop_after(share: float):
    def report(done: float) -> None:
        if done > share:
            raise KeyboardInterrupt

    return report
