"""The private GAN: real rows reach the critic by the private descent alone, the plan is what the run spends, and it learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.errors import GuaranteeRefused, InputError, PlanError  # noqa: E402
from hushtable.learn.private import Descending  # noqa: E402
from hushtable.pipeline.plan import alike, plan  # noqa: E402
from hushtable.pipeline.recipe import Recipe, load  # noqa: E402
from hushtable.pipeline.run import release  # noqa: E402
from hushtable.privacy.allowance import Allowance  # noqa: E402
from hushtable.privacy.event import SampledGaussian  # noqa: E402
from hushtable.privacy.ledger import Ledger  # noqa: E402
from hushtable.privacy.noise import Entropy  # noqa: E402
from hushtable.privacy.unit import Budget, Relation, Unit  # noqa: E402
from hushtable.privacy.vault import Vault  # noqa: E402
from hushtable.synthesize.neural.gan import private_net  # noqa: E402
from hushtable.synthesize.neural.gan.forbidden import broken, forbidden  # noqa: E402
from hushtable.synthesize.neural.gan.private import PrivateGan  # noqa: E402
from hushtable.synthesize.neural.gan.products import GRID, Products, correlations  # noqa: E402
from hushtable.synthesize.neural.gan.start import Start, classes  # noqa: E402
from hushtable.table.columns import Bounds, Column, Kind, Levels  # noqa: E402
from tests.unit.privacy.cases import Touched  # noqa: E402
from tests.unit.synthesize.test_pate import NAMES, SCHEMA, people, vault  # noqa: E402

pytestmark = pytest.mark.neural
CERTIFIED = ("dpgan-certified", "dp-ctgan-certified", "dp-pcgan-certified", "dp-csgan-certified", "dp-bngan-certified")
PUBLISHED = ("dpgan", "dp-ctgan", "dp-pcgan", "dp-csgan", "pate-gan")


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_run_spends_what_was_planned(name):
    recipe = load(name).quick()
    course = plan(recipe, SCHEMA, budget=Budget(1.0, 1e-6))
    released = release(people(300), recipe, epsilon=1.0, delta=1e-6)
    assert alike(course.ledger, Ledger(released.guarantee.ledger))
    trained = [e.event for e in released.guarantee.ledger if isinstance(e.event, SampledGaussian)]
    assert len(trained) == 1
    assert trained[0].grid > 0, "or the low bits of the noise would void the proof"
    assert 0.97 < released.guarantee.epsilon() <= 1.0
    assert released.guarantee.assurance is recipe.assurance


class _Guarded(Descending):
    """A descent whose rows can be touched while it works out clipped gradients, and at no other time."""

    touched: list[bool] = []

    def update(self, gradients):
        _Guarded.touched.append(True)
        super().update(gradients)
        _Guarded.touched.append(False)


@pytest.mark.parametrize(
    "knobs", [{"loss": "wgan-gp", "condition": "level"}, {"loss": "wgan-clip"}, {"loss": "bce", "condition": "network"}]
)
def test_real_rows_reach_the_critic_by_the_private_descent_alone(knobs, monkeypatch):
    """Rows become tensors inside ``update`` only; anything that the generator is shown comes from what was released."""
    inside = _Guarded.touched
    inside.clear()
    spread = private_net.Game._spread

    def guarded(self, cells):
        if not inside or not inside[-1]:
            raise Touched("rows were read outside of the clipped sum")
        return spread(self, cells)

    monkeypatch.setattr(private_net.Game, "_spread", guarded)
    monkeypatch.setattr("hushtable.learn.private.Descending", _Guarded)
    PrivateGan(steps=2, width=4, **knobs).fit(vault(people(200)), np.random.default_rng(0))
    assert inside


@pytest.mark.parametrize("loss", ["wgan-gp", "wgan-clip", "bce"])
def test_how_many_rows_a_batch_has_does_not_move_what_the_generator_draws(loss, monkeypatch):
    """With a known seed its stream of random numbers would else give the exact size of every batch away."""
    states = []
    update = Descending.update

    def watched(self, gradients):
        before = torch.get_rng_state()
        update(self, gradients)
        states.append(torch.equal(before, torch.get_rng_state()))

    monkeypatch.setattr(Descending, "update", watched)
    PrivateGan(steps=3, width=4, rate=0.5, loss=loss).fit(vault(people(200)), np.random.default_rng(0))
    assert states
    assert all(states)


def test_rows_with_rare_levels_are_taken_more_often_but_never_above_the_rate():
    table = people(400)
    rare = table.with_column(table.schema["three"], np.where(np.arange(400) < 8, 2, 0).astype(np.int32))
    locked = vault(rare, budget=Budget(50.0, 1e-6))
    step = PrivateGan(condition="level", steps=1, width=4)
    start = Start.measured(locked, classes(SCHEMA, "", "x"), locked.paid(), np.random.default_rng(0))
    condition = private_net.Condition.random(start, np.random.default_rng(0))
    game = private_net.Game(step, start, condition, private_net.Extra(None, ()), 0)
    cells = np.stack([rare.cells(name) for name in SCHEMA.names], axis=1)
    chances = game._chances(cells, np.arange(400), 0.1)
    assert chances.max() <= 0.1
    assert chances[:8].mean() > 1.3 * chances[8:].mean()


def test_a_budget_without_delta_and_a_replaced_record_are_refused():
    with pytest.raises(GuaranteeRefused, match="delta"):
        PrivateGan(steps=1).plan(SCHEMA, Allowance.of(Budget(1.0, 0.0), Unit()))
    with pytest.raises(GuaranteeRefused, match="add-remove"):
        PrivateGan(steps=1).plan(SCHEMA, Allowance.of(Budget(1.0, 1e-6), Unit(relation=Relation.REPLACE_ONE)))


def test_it_learns_dependence_that_the_margins_do_not_have():
    step = PrivateGan(loss="bce", steps=120, rate=0.2, width=24, tables=0.2, pull=0.1)
    model = step.fit(vault(people(3000), budget=Budget(8.0, 1e-6)), np.random.default_rng(0))
    drawn = model.sample(3000, np.random.default_rng(1))
    assert np.mean(drawn["one"] == drawn["two"]) > 0.45, "a third, if columns were independent"


def test_constraints_hold_in_what_is_drawn():
    step = PrivateGan(steps=2, width=4, penalties=("constraints=10",), constraints=("two = a if one = a", "three in {a, b}"))
    model = step.fit(vault(people(300)), np.random.default_rng(0))
    again = type(model).from_parts(*model.parts())
    drawn = again.sample(500, np.random.default_rng(0))
    assert set(drawn.strings("two")[drawn.strings("one") == "a"]) == {"a"}
    assert "c" not in set(drawn.strings("three"))
    assert "two = a if one = a" in " ".join(step.plan(SCHEMA, None).public)


def test_constraints_on_bins_are_read_as_numbers():
    cut = Column(name="age", kind=Kind.ORDINAL, domain=Levels(("[0, 18)", "[18, 65)", "[65, 130)")), required=True)
    schema = SCHEMA.with_columns(cut, Column(name="count", kind=Kind.INTEGER, domain=Bounds(0, 3), required=True))
    masks = forbidden(["age <= 64 if count >= 2"], schema, "x")
    rows = np.zeros((3, len(schema)), np.int64)
    age, count = schema.names.index("age"), schema.names.index("count")
    rows[:, age], rows[:, count] = [2, 1, 2], [2, 3, 1]
    assert broken(masks, rows).tolist() == [True, False, False]


def test_a_bin_of_a_single_value_is_a_number_too():
    cut = Column(name="age", kind=Kind.ORDINAL, domain=Levels(("[0, 17]", "18", "[19, 130]")), required=True)
    places = Column(name="place", kind=Kind.ORDINAL, domain=Levels(("1", "2", "3")), required=True)
    schema = SCHEMA.with_columns(cut, places)
    masks = forbidden(["age <= 17 if place = 3"], schema, "x")
    rows = np.zeros((3, len(schema)), np.int64)
    rows[:, schema.names.index("age")], rows[:, schema.names.index("place")] = [0, 1, 1], [2, 2, 1]
    assert broken(masks, rows).tolist() == [False, True, False]
    with pytest.raises(PlanError, match="no level"):
        forbidden(["place <= 2.5"], schema, "x")  # an order of levels, not a number


@pytest.mark.parametrize(
    ("texts", "match"), [(("height > 3",), "height"), (("one = z",), "no level"), (("first < last",), "compares two columns")]
)
def test_constraints_that_cannot_be_read_are_refused(texts, match):
    numbers = (Column(name=name, kind=Kind.INTEGER, domain=Bounds(0, 3), required=True) for name in ("first", "last"))
    with pytest.raises(PlanError, match=match):
        PrivateGan(constraints=texts).plan(SCHEMA.with_columns(*numbers), None)


def test_knobs_out_of_range_are_refused():
    with pytest.raises(InputError, match="identifiability"):
        PrivateGan(penalties=("identifiability=1",))
    with pytest.raises(InputError, match="rate"):
        PrivateGan(rate=0.0)


def test_products_change_by_no_more_than_is_said():
    table, query = people(60), Products(SCHEMA.names)
    whole = query.answer(table)
    l1, l2, _ = query.sensitivity(SCHEMA, Relation.ADD_REMOVE)
    changes = [np.abs(whole - query.answer(table.take(np.delete(np.arange(60), row)))) for row in range(60)]
    assert max(c.sum() for c in changes) <= l1
    assert max(np.sqrt(np.square(c).sum()) for c in changes) <= l2
    assert max(c.max() for c in changes) == GRID**2
    assert np.abs(whole).max() <= query.largest(SCHEMA, 60)


def test_correlations_come_from_noisy_products():
    table = people(4000)
    locked = vault(table, budget=Budget(100.0, 1e-6))
    start = Start.measured(locked, classes(SCHEMA, "", "x"), locked.paid(), np.random.default_rng(0))
    found = correlations(start, Products(SCHEMA.names).answer(table))
    exact = np.corrcoef(np.stack([table.cells(name) for name in SCHEMA.names]))
    assert found == pytest.approx(exact, abs=0.06)
    assert np.array_equal(found, found.T)


def test_what_is_drawn_is_raked_to_the_tables():
    locked = vault(people(2000), budget=Budget(50.0, 1e-6))
    model = PrivateGan(steps=5, width=8, loss="bce").fit(locked, np.random.default_rng(0))
    drawn = model.sample(2000, np.random.default_rng(0))
    for name in NAMES:
        wanted = model.start.shares[name]
        for kind in range(2):
            counts = np.bincount(drawn.cells(name)[drawn["class"] == kind], minlength=3)
            assert counts / counts.sum() == pytest.approx(wanted[kind], abs=0.02)


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_published_is_claimed_with_its_gaps(name):
    released = release(people(150), load(name).quick(), seed=0, allow_copies="generated")
    assert released.guarantee.epsilon() == float("inf")
    assert released.guarantee.claims[0].statement.startswith("differential privacy with epsilon = 1")
    assert len(released.guarantee.claims[0].gaps) >= 5


def test_the_published_form_names_the_gaps_of_its_knobs():
    gaps = {name: " ".join(load(name).steps[-1].plan(SCHEMA, None).claims[0].gaps) for name in PUBLISHED}
    assert "gradient penalty" in gaps["dp-ctgan"]
    assert "exact counts" in gaps["dp-ctgan"]
    assert "gradient penalty" not in gaps["dpgan"]
    assert "correlations" in gaps["dp-csgan"]
    assert "analysis of the rows" in gaps["dp-pcgan"]
    assert "teachers agree" in gaps["pate-gan"]


def test_a_person_with_several_rows_is_one_coin():
    table = people(120)
    who = Column(name="who", kind=Kind.INTEGER, domain=Bounds(0, 999), required=True)
    held = table.with_column(who, np.repeat(np.arange(40), 3))
    unit = Unit(rows=3, by="who")
    locked = Vault.of(held, unit=unit, budget=Budget(1.0, 1e-6), entropy=Entropy.seeded(0)).select(SCHEMA.names)
    locked = replace(locked, allowance=Allowance.of(Budget(1.0, 1e-6), unit), step="private-gan")
    recipe = Recipe(recipe="x", steps=(PrivateGan(steps=2, width=4, condition="level"),))
    model = recipe.steps[0].fit(locked, np.random.default_rng(0))
    assert model.sample(5, np.random.default_rng(0)).rows == 5
    assert locked.ledger.within(Budget(1.0, 1e-6))
