"""The private descent: what one person can change, the noise, the coins; and broken twins that each check must refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from torch import nn  # noqa: E402, TID253

from hushtable.errors import GuaranteeRefused, PlanError  # noqa: E402
from hushtable.learn.ghost import Tape  # noqa: E402
from hushtable.learn.normal import normals  # noqa: E402
from hushtable.learn.private import ROOM, Descending, PrivateDescent  # noqa: E402
from hushtable.privacy import pld  # noqa: E402
from hushtable.privacy.allowance import Allowance  # noqa: E402
from hushtable.privacy.event import SampledGaussian  # noqa: E402
from hushtable.privacy.ledger import Entry, Ledger  # noqa: E402
from hushtable.privacy.noise import Entropy  # noqa: E402
from hushtable.privacy.sampled import GRID, sampled_gaussian  # noqa: E402
from hushtable.privacy.unit import Budget, Relation, Unit  # noqa: E402
from hushtable.privacy.vault import Vault  # noqa: E402
from hushtable.table.columns import Bounds, Column, Kind, Role  # noqa: E402
from hushtable.table.schema import Schema  # noqa: E402
from hushtable.table.table import Table  # noqa: E402

pytestmark = pytest.mark.neural
QUIET = PrivateDescent(rate=1.0, steps=1, clip=1.0, multiplier=1e-9)


def numbers(values: list[float], people: list[int] | None = None) -> Table:
    columns = [Column(name="x", kind=Kind.REAL, domain=Bounds(-1e6, 1e6))]
    arrays: dict[str, np.ndarray] = {"x": np.array(values, np.float64)}
    if people is not None:
        columns.append(Column(name="who", kind=Kind.INTEGER, domain=Bounds(0, 9), role=Role.IDENTIFIER))
        arrays["who"] = np.array(people, columns[1].dtype)
    return Table(Schema(tuple(columns)), arrays)


def vault(values, seed=0, **more) -> Vault:
    return Vault.of(numbers(values, more.pop("people", None)), entropy=Entropy.seeded(seed), **more)


def sums(how: PrivateDescent, locked: Vault, kind=Descending, count: float = 1.0, width: int = 1) -> np.ndarray:
    """Steps x parameters: the gradients that a layer gets whose loss at a row is the row's number times the sum of its outputs."""
    layer = nn.Linear(1, width, bias=False)
    run = kind(how, locked, [layer.weight], count, "trains")
    given = torch.tensor(run.table["x"], dtype=torch.float32)[:, None]
    found = []
    for _ in run.batches():
        run.update(lambda rows: Tape.of(layer, lambda: layer(given[rows]).sum(1)))
        found.append(layer.weight.grad.flatten().double().numpy().copy())
    return np.array(found)


# Broken twins.


class PerBatch(Descending):
    """Clips the gradient of the batch, not of each row (guarantees 5, number 8)."""

    def update(self, gradients):
        found = gradients(self._open)
        ((parameter, total),) = found.weighted(torch.ones(len(self._open)))
        self._open = None
        total = total.double().numpy()
        parameter.grad = torch.from_numpy(
            self._noisy(total * min(1.0, self._bound / np.linalg.norm(total))) / self._divisor
        ).float()


class Silent(Descending):
    def _noisy(self, exact):
        return exact


class Quieter(Descending):
    def _noisy(self, exact):
        return exact + 0.7 * (super()._noisy(exact) - exact)


class Shuffled(Descending):
    """Batches of one size, cut from a shuffled order."""

    def _coins(self, below):
        order = np.argsort(self.entropy.words(self._number))
        return order < round(self.how.rate * self._number)


class TrueNumber(Descending):
    def __init__(self, how, locked, parameters, count, why):
        super().__init__(how, locked, parameters, locked._table.rows, why)


def moved_by_one(kind) -> float:
    """The most by which one row more, of any size, changes the sum of a batch."""
    base, moves = [1.0, 1.0, 1.0], [-1e6, -30.0, -0.5, 0.0, 0.5, 1e6]
    before = sums(QUIET, vault(base), kind)
    return max(float(np.abs(sums(QUIET, vault([*base, move]), kind) - before).max()) for move in moves)


def test_one_row_changes_the_sum_by_no_more_than_the_bound():
    assert 0.99 < moved_by_one(Descending) <= 1.0
    assert moved_by_one(PerBatch) == pytest.approx(2 * ROOM, rel=1e-3)


def deviation(kind, count=50.0) -> float:
    """The noise of a step on rows without gradients, beside what it should be."""
    how = PrivateDescent(rate=0.1, steps=20, clip=2.0, multiplier=3.0)
    found = sums(how, vault([0.0] * 40, 1), kind, count=count, width=200)
    return float(found.std() / (3.0 * 2.0 / (0.1 * count)))


def test_the_noise_is_what_is_paid_for():
    """4,000 draws: a standard deviation is known to about 1 % (1 sd), so that 5 % is beyond chance."""
    assert deviation(Descending) == pytest.approx(1, abs=0.05)
    for broken in (Silent, Quieter):
        assert deviation(broken) < 0.75


def test_the_scale_is_by_the_paid_number_of_rows():
    assert deviation(TrueNumber) == pytest.approx(50 / 40, abs=0.05)


class NoGradients:
    def squared_norms(self):
        return torch.zeros(0)

    def weighted(self, weights):
        return []


def batches(kind, rate=0.3, steps=400, rows=50):
    run = kind(PrivateDescent(rate=rate, steps=steps, clip=1.0, multiplier=1.0), vault([0.0] * rows, 2), [], 1.0, "trains")
    found = []
    for taken in run.batches():
        run.update(lambda part: NoGradients())
        found.append(np.isin(np.arange(rows), taken))
    return np.array(found)


def test_each_row_is_in_a_batch_by_its_own_coin():
    """Counts of 50 rows in 400 batches: mean 15, variance 10.5 (sd of the estimate 0.74); shuffled batches have none."""
    taken = batches(Descending)
    assert taken.shape == (400, 50)
    assert taken.mean() == pytest.approx(0.3, abs=0.015)
    assert taken.sum(1).var() == pytest.approx(10.5, abs=3)
    assert np.abs(taken.mean(0) - 0.3).max() < 0.11
    assert batches(Shuffled).sum(1).var() == 0


def test_an_empty_batch_is_noised_and_no_rows_are_enough():
    how = PrivateDescent(rate=0.5, steps=3, clip=1.0, multiplier=1.0)
    found = sums(how, vault([]), width=50)
    assert found.std() == pytest.approx(2.0, rel=0.3)
    assert np.abs(found).min() >= 0
    np.testing.assert_allclose(found / (2 * GRID), np.round(found / (2 * GRID)), atol=1e-2)


def test_parts_of_a_batch_add_up_to_the_batch():
    values = np.random.default_rng(0).normal(0, 2, 300).tolist()
    how = PrivateDescent(rate=0.9, steps=3, clip=0.5, multiplier=1e-6)
    whole, parts = (sums(replace(how, part=part), vault(values, 5), count=10.0) for part in (1024, 7))
    np.testing.assert_allclose(whole, parts, rtol=1e-5)


def test_a_row_whose_gradient_is_no_number_is_left_out():
    values = [1.0, 1.0, np.nan, 0.5]
    layer = nn.Linear(1, 1, bias=False)
    run = QUIET.start(vault([0.0] * 4), [layer.weight], 1.0)
    given = torch.tensor(values)[:, None]
    for _ in run.batches():
        run.update(lambda rows: Tape.of(layer, lambda: layer(given[rows]).sum(1)))
    assert float(layer.weight.grad) == pytest.approx(2 * ROOM + 0.5, rel=1e-3)


def test_there_is_one_update_for_each_batch_and_no_more_than_were_paid_for():
    run = PrivateDescent(rate=0.5, steps=2, clip=1.0, multiplier=1.0).start(vault([1.0]), [], 1.0)
    with pytest.raises(ValueError, match="one update for each batch"):
        run.update(lambda rows: NoGradients())
    taken = run.batches()
    next(taken)
    with pytest.raises(ValueError, match="without an update"):
        next(taken)
    again = run.batches()
    next(again)
    run.update(lambda rows: NoGradients())
    assert list(again) == []
    assert list(run.batches()) == []


def test_chances_of_their_own_are_never_above_the_rate():
    how = PrivateDescent(rate=0.4, steps=300, clip=1.0, multiplier=1.0)
    run = how.start(vault([0.0, 0.0, 0.0]), [], 1.0)
    with pytest.raises(ValueError, match="above the rate"):
        next(run.batches(np.array([0.1, 0.2, 0.5])))
    counts = np.zeros(3)
    for rows in run.batches(np.array([0.4, 0.1, 0.0])):
        run.update(lambda part: NoGradients())
        counts[rows] += 1
    np.testing.assert_allclose(counts / 300, [0.4, 0.1, 0.0], atol=0.09)
    assert counts[2] == 0


# Persons with several rows.


def test_a_person_is_taken_as_a_whole_and_changes_the_sum_by_no_more_than_the_bound():
    people = [0, 0, 0, 1, 2, 2]
    unit = Unit(rows=3, by="who")
    locked = vault([1e3] * 6, 3, people=people, unit=unit)
    how = PrivateDescent(rate=0.5, steps=200, clip=1.0, multiplier=1e-9)
    run = how.start(locked, [], 1.0)
    held = run.table.persons
    for rows in run.batches():
        run.update(lambda part: NoGradients())
        assert np.isin(held, held[rows]).sum() == len(rows)
    assert locked.ledger.paid[0].event == how.event
    quiet = replace(QUIET, multiplier=1e-9)
    without = sums(quiet, vault([1e3] * 3, people=[1, 2, 2], unit=unit))
    everyone = sums(quiet, vault([1e3] * 6, people=people, unit=unit))
    assert 0.99 < float(np.abs(everyone - without).max()) <= 1.0


@pytest.mark.parametrize(
    ("unit", "why"), [(Unit(rows=3), "name the column"), (Unit(relation=Relation.REPLACE_ONE), "add-remove only")]
)
def test_units_that_cannot_be_sampled_are_refused_in_the_plan_and_in_the_run(unit, why):
    locked = vault([1.0, 2.0], unit=unit)
    with pytest.raises(GuaranteeRefused, match=why):
        QUIET.start(locked, [], 1.0)
    assert locked.ledger.entries == ()
    with pytest.raises(GuaranteeRefused, match=why):
        sampled_gaussian(Allowance.of(Budget(1.0, 1e-5), unit), 0.1, 100)


def test_what_a_step_does_to_persons_must_leave_them_known():
    locked = vault([1.0, 2.0], people=[0, 0], unit=Unit(rows=2, by="who"))
    with pytest.raises(GuaranteeRefused, match="has lost"):
        QUIET.start(replace(locked, _table=locked._table.held_by(None)), [], 1.0)


# What an allowance buys.


def test_the_noise_falls_with_the_allowance_and_all_of_it_fits_in_closed_form():
    for epsilon in (0.1, 1.0, 3.0, 8.0):
        whole = Allowance.of(Budget(epsilon, 1e-5), Unit())
        one, rest = whole.split([0.7, 0.3])
        bought = sampled_gaussian(one, 0.1, 300)
        others = [Entry("m", part.event(_count(), numbers([]).schema), "w") for part in rest.split([1.0, 2.0])]
        spent = Ledger([Entry("s", bought, "w"), *others]).epsilon(1e-5)
        assert 0.9 * epsilon < spent <= epsilon * (1 + 1e-9)
        more = sampled_gaussian(replace(one, rho=1.1 * one.rho), 0.1, 300)
        assert more.multiplier < bought.multiplier
        assert Ledger([Entry("s", sampled_gaussian(whole, 0.1, 300), "w"), *others]).epsilon(1e-5) > 1.02 * epsilon


def _count():
    from hushtable.privacy.query import Total

    return Total()


def test_a_budget_without_delta_or_too_small_is_refused_in_the_plan():
    with pytest.raises(GuaranteeRefused, match="needs a delta"):
        sampled_gaussian(Allowance.of(Budget(1.0, 0.0), Unit()), 0.1, 100)
    with pytest.raises(PlanError, match="too small"):
        sampled_gaussian(Allowance.of(Budget(1e-9, 1e-9), Unit()), 0.1, 10**6)


@pytest.mark.skipif(not pld.available(), reason="needs the extra dp")
def test_the_numerical_accountant_places_it_with_the_grid():
    event = SampledGaussian(7.15, 0.1, 300, GRID)
    assert pld.epsilon([event], 1e-5) == pytest.approx(pld.epsilon([SampledGaussian(7.15, 0.1, 300)], 1e-5))


def test_normal_numbers_are_normal():
    drawn = normals(200_001, Entropy.seeded(0))
    from scipy import stats

    assert len(drawn) == 200_001
    assert stats.kstest(drawn, "norm").pvalue > 0.01
    assert stats.kstest(0.97 * drawn, "norm").pvalue < 1e-6
    assert abs(np.corrcoef(drawn[:100_000], drawn[100_001:])[0, 1]) < 0.015
    words = np.array([0, 2**64 - 1, 2**63, 1], np.uint64)
    assert np.isfinite(normals(4, Entropy(lambda count: np.resize(words, count)))).all()


@pytest.mark.parametrize("rows", [1, 40])
def test_how_many_rows_are_in_a_batch_moves_no_random_number_of_the_network(rows):
    """A seed repeats those numbers: where they depended on the batch, whoever knows it could count the batch."""
    layer = nn.Linear(1, 1, bias=False)
    run = QUIET.start(vault([1.0] * rows), [layer.weight], 1.0)

    def noisy(part):
        return Tape.of(layer, lambda: layer(torch.rand(len(part), 1)).sum(1))

    torch.manual_seed(5)
    for _ in run.batches():
        run.update(noisy)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(1))


def test_a_person_with_fewer_rows_than_the_most_has_the_whole_bound():
    unit = Unit(rows=5, by="who")
    quiet = replace(QUIET, multiplier=1e-9)
    alone = sums(quiet, vault([1e3] * 2, people=[1, 2], unit=unit))
    fewer = sums(quiet, vault([1e3], people=[2], unit=unit))
    assert 0.99 < float(np.abs(alone - fewer).max()) <= 1.0


def test_parts_hold_whole_persons():
    people = [4, 1, 1, 3, 1, 2, 2, 4]
    how = PrivateDescent(rate=1.0, steps=1, clip=1.0, multiplier=1.0, part=2)
    run = how.start(vault([1.0] * 8, people=people, unit=Unit(rows=3, by="who")), [], 1.0)
    parts = list(run._parts(np.arange(8)))
    assert sorted(np.concatenate(parts)) == list(range(8))
    where = {}
    for number, part in enumerate(parts):
        for unit in run.units[part].tolist():
            assert where.setdefault(unit, number) == number
    assert len(parts) > 1
