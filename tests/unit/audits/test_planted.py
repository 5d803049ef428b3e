"""Risk models: what is leaked is what was asked for, and nothing else is touched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits.planted import NOISES, Noise, disturbed, leaky, noisy, outlying, overfit, plant, planted, rungs
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.cell import ANYTHING, Cell, Interval
from hushtable.table.columns import DAY, MISSING_INTEGER, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

N = 300


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def parts() -> list[Table]:
    table = people(3 * N, seed=3)
    table = table.select(table.schema.released)
    return [table.take(np.arange(i * N, (i + 1) * N)) for i in range(3)]


def copies(release: Table, train: Table, control: Table) -> int:
    ids = Case(train, release, control).row_ids()
    return int(np.isin(ids["release"], ids["train"]).sum())


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_share_is_that_of_the_released_rows(parts, share):
    train, control, fresh = parts
    for rows in (None, 120):
        release = leaky(train, fresh, share, rng(), rows)
        assert release.rows == (rows or N)
        assert copies(release, train, control) == round(share * release.rows)


def test_a_larger_leak_holds_the_smaller_one_and_the_order_tells_nothing(parts):
    train, control, fresh = parts
    small, large = (leaky(train, fresh, share, rng()) for share in (0.2, 0.6))
    ids = {n: Case(train, r, control).row_ids() for n, r in (("small", small), ("large", large))}
    hit = {n: np.isin(i["train"], i["release"]) for n, i in ids.items()}
    assert not (hit["small"] & ~hit["large"]).any()
    first = np.isin(ids["small"]["release"], ids["small"]["train"])
    assert 0.05 < first[: N // 2].mean() < 0.35


def test_what_cannot_be_made_is_refused(parts):
    train, _, fresh = parts
    for share, rows in ((1.2, None), (-0.1, None), (1.0, N + 1), (0.0, N + 1)):
        with pytest.raises(InputError):
            leaky(train, fresh, share, rng(), rows)
    for knobs in ({"sigma": -1}, {"lam": -0.1}, {"p": 1.1}, {"p": float("nan")}):
        with pytest.raises(InputError):
            Noise(**knobs)


def every_kind(rows: int = 4000) -> Table:
    columns = (
        Column(name="real", kind=Kind.REAL, domain=Bounds(-50.0, 50.0)),
        Column(name="whole", kind=Kind.INTEGER, domain=Bounds(0, 10)),
        Column(name="long", kind=Kind.INTEGER, domain=Bounds(0, 2**60)),
        Column(name="day", kind=Kind.DATE, domain=Bounds(0, 1000 * DAY)),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(tuple("abcde"))),
        Column(name="alone", kind=Kind.CATEGORY, domain=Levels(("x",))),
        Column(name="gone", kind=Kind.REAL, domain=Bounds(0.0, 1.0)),
    )
    g = rng(1)
    arrays = {
        "real": np.where(g.random(rows) < 0.1, np.nan, g.normal(0, 8, rows).clip(-50, 50)),
        "whole": np.where(g.random(rows) < 0.1, MISSING_INTEGER, g.integers(0, 11, rows)),
        "long": g.integers(0, 2**60, rows),
        "day": g.integers(0, 1001, rows) * DAY,
        "level": g.integers(-1, 5, rows).astype(np.int32),
        "alone": np.zeros(rows, np.int32),
        "gone": np.full(rows, np.nan),
    }
    return Table(Schema(columns), arrays)


def test_no_noise_is_no_change():
    table = every_kind(50)
    same = disturbed(table, Noise(), rng())
    assert all(np.array_equal(table[n], same[n], equal_nan=table[n].dtype.kind == "f") for n in table.schema.names)


@pytest.mark.parametrize("noise", [*NOISES[1:], Noise(sigma=3, lam=40, p=1)], ids=str)
def test_noise_is_as_large_as_it_says_and_stays_in_the_domain(noise):
    table = every_kind()
    result = disturbed(table, noise, rng(2))
    for name in table.schema.names:
        assert np.array_equal(table.missing(name), result.missing(name))
    moved = {n: (result[n] != table[n]) & ~table.missing(n) for n in table.schema.names}
    known = ~table.missing("level")
    assert moved["level"][known].mean() == pytest.approx(noise.p, abs=0.02)
    assert not moved["alone"].any()
    if noise.lam < 1:
        # Moved unless the Poisson draw is 0; at an end of the range half of the moves are cut off.
        chance = 1 - np.exp(-noise.lam)
        assert moved["day"].mean() == pytest.approx(chance, abs=0.02)
        assert moved["long"].mean() == pytest.approx(chance, abs=0.02)
        assert moved["whole"].mean() <= chance + 0.01
        steps = (result["day"] - table["day"])[moved["day"]] / DAY
        assert abs(np.sign(steps).mean()) < 0.2 if noise.lam else not len(steps)
        gap = (result["real"] - table["real"])[~table.missing("real")]
        assert gap.std() == pytest.approx(noise.sigma * np.nanstd(table["real"]), rel=0.06)


def test_a_switched_level_is_any_other_level():
    table = every_kind()
    result = disturbed(table, Noise(p=1.0), rng())
    pairs = np.zeros((5, 5))
    known = ~table.missing("level")
    np.add.at(pairs, (table["level"][known], result["level"][known]), 1)
    assert (np.diag(pairs) == 0).all()
    off = pairs[~np.eye(5, dtype=bool)]
    assert off.min() > 0.7 * off.mean()


def test_absolute_noise_counts_in_the_units_of_the_column():
    table = every_kind()
    result = disturbed(table, Noise(sigma=0.05, absolute=True), rng())
    assert np.nanstd(result["real"] - table["real"]) == pytest.approx(0.05, rel=0.06)


def test_the_published_settings_are_eight():
    assert len({(n.sigma, n.lam, n.p) for n in NOISES}) == 8
    assert NOISES[0] == Noise()
    assert NOISES[-1] == Noise(sigma=0.05, lam=0.05, p=0.05)


def test_noisy_copies_are_near_and_not_equal(parts):
    train, control, fresh = parts
    release = noisy(train, fresh, 0.5, rng(), NOISES[-1])
    near = Case(train, release, control).nearest("release", "train").distance[:, 0]
    plain = Case(train, fresh, control).nearest("release", "train").distance[:, 0]
    assert copies(release, train, control) < 0.1 * N
    assert (near < np.quantile(plain, 0.02)).mean() > 0.35


@pytest.mark.parametrize("recipe", ["k-anonymity", "mondrian", "mdav", "sequential"])
def test_a_leak_is_planted_in_the_form_of_any_release(parts, recipe):
    train, control, _ = parts
    release = ht.release(train, recipe, seed=1).table
    case = Case(train, release, control)
    before = copies(release, train, control)
    result = plant(case, 0.1, rng())
    assert result.release.rows == release.rows
    assert result.release.schema.names == release.schema.names
    assert [c.generalized for c in result.release.schema] == [c.generalized for c in release.schema]
    assert copies(result.release, train, control) >= round(0.1 * release.rows)
    name = release.schema.names[0]
    retained = int((result.release.strings(name) == release.strings(name)).sum())
    assert retained >= 0.85 * release.rows
    assert before < round(0.1 * release.rows)


def test_a_planted_row_widens_the_domain_only_as_far_as_it_must():
    train = every_kind(40).select(["whole", "level", "real"])
    narrow = Schema(
        (
            Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "z"))),
            replace(train.schema["whole"], domain=Bounds(4, 5), required=True),
            train.schema["real"].generalize((ANYTHING, Cell("[0, 9]", Interval(0, 9)))),
            Column(name="own", kind=Kind.CATEGORY, domain=Levels(("q",))),
        )
    )
    codes = np.zeros(20, np.int32)
    release = Table(narrow, {"level": codes, "whole": np.full(20, 4), "real": codes, "own": codes})
    result = planted(release, train, 0.9, rng())
    assert result.schema["level"].levels[:2] == ("a", "z")
    assert set(result.schema["level"].levels) <= set("abcdez")
    assert result.schema["whole"].bounds.low >= 0
    assert not result.schema["whole"].required
    assert result.schema["real"].levels[:2] == ("*", "[0, 9]")
    assert result["own"].tolist() == [0] * 20
    ids = Case(train, result, every_kind(30)).row_ids()
    assert int(np.isin(ids["release"], ids["train"]).sum()) == 18
    assert planted(result, train, 0.9, rng()).schema == result.schema


def test_at_least_one_row_is_planted_and_never_more_people_than_there_are(parts):
    train, control, fresh = parts
    assert copies(planted(fresh, train, 1e-6, rng()), train, control) == 1
    few = train.take(np.arange(3))
    assert copies(planted(fresh, few, 1.0, rng()), few, control) == 3


def test_a_generator_of_a_planted_case_leaks_alike(parts):
    train, control, fresh = parts
    case = plant(Case(train, fresh, control, lambda table, seed: fresh), 0.1, rng())
    again = case.generator(control, 7)
    assert copies(again, control, train) == 30
    assert copies(again, train, control) == 0
    assert plant(Case(train, fresh, control), 0.1, rng()).generator is None


def test_overfitting_reaches_from_learning_to_copying(parts):
    train, control, fresh = parts
    result = overfit(train, fresh, rng(), ratios=(1.0, 1.4, 9.0))
    assert result[0].ratio == 1.0
    assert [m.ratio for m in result] == sorted(m.ratio for m in result)
    assert result[-1].settings["min_leaf"] == "1"
    shares = [copies(m.sample(N), train, control) / N for m in result]
    assert shares[0] < 0.05
    assert shares[-1] > 0.8
    again = overfit(train, fresh, rng(), ratios=(1.0, 1.4, 9.0))
    for one, two in zip(result, again, strict=True):
        assert one.ratio == two.ratio
        table, other = one.sample(50), two.sample(50)
        assert all(np.array_equal(table[n], other[n], equal_nan=table[n].dtype.kind == "f") for n in table.schema.names)


def test_rungs_are_the_nearest_and_the_last_where_none_goes_as_far():
    losses = np.array([3.0, 2.0, 2.5, 3.1, 3.6, 3.5])
    assert rungs(losses, (1.0,)) == [1]
    assert rungs(losses, (1.0, 1.2, 1.5, 1.51)) == [1, 2, 3]
    assert rungs(losses, (1.0, 1.8)) == [1, 4]
    assert rungs(losses, (1.0, 2.0)) == [1, 5]
    assert rungs(losses[:1], (1.0, 2.0)) == [0]


@pytest.mark.parametrize("recipe", ["mdav", "independent", "hybrid"])
def test_a_recipe_that_knows_no_likelihood_is_refused(parts, recipe):
    train, _, fresh = parts
    with pytest.raises(InputError, match="gives no likelihood"):
        overfit(train, fresh, rng(), recipe=recipe, ladder=[{}])


def test_a_row_far_from_all_others_is_the_most_outlying():
    train = every_kind(200).select(["real", "alone"])
    arrays = dict(train.arrays) | {"real": np.append(rng(3).uniform(-5, 5, 199), 50.0)}
    factors = outlying(Table(train.schema, arrays))
    assert factors.argmax() == 199
    assert np.median(factors) == pytest.approx(1, abs=0.15)


def test_rows_that_all_repeat_one_another_are_no_outliers():
    table = every_kind(30).select(["level", "alone"])
    factors = outlying(table.take(np.zeros(12, np.int64)))
    assert factors == pytest.approx(np.ones(12))
