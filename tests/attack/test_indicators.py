"""Every indicator wins against a planted leak and ties on an independent sample."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hushtable.audits.indicators import ClosestRecord, Distances, IdenticalMatches, KNearest, published
from hushtable.audits.planted import Noise, disturbed
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Levels
from hushtable.table.table import Table

N = 2000


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(4 * N, seed=5)
    return table.select(table.schema.released)


def leaky(population: Table, share: float, *, control: int = N) -> Case:
    """A release of fresh real rows, a share of which are training rows verbatim."""
    train, rest, fresh = (population.take(np.arange(i * N, (i + 1) * N)) for i in (0, 1, 2))
    leaked = round(share * N)
    release = Table.concat([train.take(np.arange(leaked)), fresh.take(np.arange(N - leaked))])
    return Case(train, release, rest.take(np.arange(control)))


def findings(case: Case, seed: int = 0) -> dict[str, object]:
    collected = [
        f for audit in (IdenticalMatches(), ClosestRecord(bootstrap=200)) for f in audit.run(case, np.random.default_rng(seed))
    ]
    return {f.name: f for f in collected}


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("control", [N, N // 4])
def test_a_planted_leak_is_found_and_sized(population, share, control):
    results = findings(leaky(population, share, control=control))
    assert results["identical match share"].value == pytest.approx(share, abs=0.005)
    assert results["identical match share"].low > results["identical match share"].baseline
    assert results["published verbatim"].low > 0
    assert results["published verbatim"].low <= share + 0.002
    assert results["published verbatim"].value == pytest.approx(share, abs=0.01)
    assert results["published verbatim"].p < 1e-3
    trace = results["published verbatim"].trace
    assert trace.train[: round(share * N)].all()
    assert (trace.released[: round(share * N)] == np.arange(round(share * N))).all()
    assert results["closest record score"].low > 0
    assert results["closest record score"].value == pytest.approx(share, abs=0.03)


def test_an_independent_sample_ties(population):
    results = findings(leaky(population, 0.0))
    for finding in results.values():
        assert finding.low == pytest.approx(0, abs=1e-3)
        assert finding.high > 0
        assert finding.p is None or finding.p > 0.05
        assert "no proof" in finding.note or finding.p is not None


@pytest.mark.slow
def test_no_alarm_more_often_than_stated_over_many_splits(population):
    alarms = 0
    for seed in range(40):
        rows = np.random.default_rng(seed).permutation(population.rows)
        train, control, fresh = (population.take(rows[i * N : (i + 1) * N]) for i in range(3))
        finding = ClosestRecord(bootstrap=100).run(Case(train, fresh, control), np.random.default_rng(seed))[0]
        alarms += finding.low > 0
    assert alarms <= 4  # 2.5 % of 40 expected on this side; 5 or more has probability 0.003


@pytest.mark.parametrize("grow", ["release", "control"])
def test_no_score_drifts_with_the_size_of_the_release_or_of_the_control(population, grow):
    """A tenth of every release is copied; the published form, its broken twin, grows with the number of rows."""
    train, *rest = (population.take(np.arange(i * 800, (i + 1) * 800)) for i in range(10))
    ours, twin = [], []
    for times in (1, 2, 4):
        size = 800 * (times if grow == "release" else 1)
        copied = train.take(np.arange(size // 10) % 800)
        release = Table.concat([copied, Table.concat(rest[:4]).take(np.arange(size - size // 10))])
        case = Case(train, release, Table.concat(rest[4 : 5 if grow == "release" else 4 + times]))
        collected = [f for audit in (ClosestRecord(), KNearest()) for f in audit.run(case, np.random.default_rng(0))]
        ours.append([f.value for f in collected])
        twin.append(collected[0].detail["published"]["score"])
    assert np.ptp(np.array(ours), axis=0).max() < 0.03
    assert np.array(ours)[:, 0] == pytest.approx(0.1, abs=0.03)
    assert (max(twin) > 3 * min(twin)) == (grow == "release")


def test_the_published_form_is_the_published_form():
    """Equations 3.10 and 3.11 by hand: of 200 real distances the 2 % point is 0.04 of the way; 7 of 100 lie below it."""
    real = np.arange(1, 201) / 200
    release = np.concatenate([np.full(7, 0.001), np.full(93, 0.9)])
    result = published(release, real, 0.02)
    assert result["threshold"] == pytest.approx(np.percentile(real, 2))
    assert result["ratio"] == pytest.approx(7 / (0.02 * 200))
    assert result["score"] == pytest.approx((7 / 200 - 0.02) / 0.98)
    assert published(np.full(100, 0.9), real, 0.02)["score"] == pytest.approx(-0.02 / 0.98)


def test_rows_that_crowd_around_several_people_are_seen_by_more_neighbours(population):
    """The release holds the middle of each of many small crowds of the training table: no copy, many near neighbours."""
    rng = np.random.default_rng(3)
    middles, control, fresh = (population.take(np.arange(a, a + size)) for a, size in ((0, 200), (2000, 1000), (4000, 1000)))
    train = disturbed(middles.take(np.arange(1000) % 200), Noise(sigma=0.05, lam=0.05, p=0.05), rng)
    crowd, calm = (
        {f.scope: f for f in KNearest().run(Case(train, release, control), np.random.default_rng(0))}
        for release in (middles, fresh)
    )
    for k in ("3 nearest", "5 nearest"):
        assert crowd[k].low > 0.5
        assert calm[k].low < 0.02


def test_one_copy_of_a_row_is_no_crowd(population):
    """Half the release is copied, which the closest record shows; two more neighbours, of other people, hide it."""
    case = leaky(population, 0.5)
    assert findings(case)["closest record score"].low > 0.4
    for finding in KNearest().run(case, np.random.default_rng(0)):
        assert finding.high < 0.3


def test_more_neighbours_than_rows_is_a_reason_and_no_error(population):
    few = Case(*(population.take(np.arange(4 * i, 4 * i + 4)) for i in range(3)))
    results = {f.scope: f for f in KNearest().run(few, np.random.default_rng(0))}
    assert results["3 nearest"].n == 4
    assert results["5 nearest"].value is None
    assert "only 4 rows" in results["5 nearest"].note
    for neighbours in ((), (1,), (3, 3)):
        with pytest.raises(InputError, match="neighbours"):
            KNearest(neighbours=neighbours)


def test_a_subsampled_search_would_miss_what_the_full_one_sees(population):
    """The broken twin: searching a random tenth of the training rows hides the leak."""
    case = leaky(population, 0.05)
    part = Case(case.train.take(np.arange(0, N, 10)), case.release, case.control)
    assert findings(case)["closest record score"].low > 0
    assert findings(part)["closest record score"].value < 0.02


def test_a_generalized_release_equals_a_row_only_where_it_says_one_value(population):
    train = population.select(["sex", "household_size"])
    column = train.schema["sex"]
    wide = column.generalize((column.set_cell(frozenset(column.levels)), column.set_cell(frozenset(column.levels[:1]))))
    rows = train.take(np.arange(N))
    hidden = rows.with_column(wide, np.zeros(N, np.int32))
    shown = rows.with_column(wide, np.ones(N, np.int32))
    control = train.take(np.arange(N, 2 * N))
    for release, expected in ((hidden, 0.0), (shown, 1.0)):
        finding = IdenticalMatches().run(Case(rows, release, control), np.random.default_rng(0))[0]
        assert (finding.value > 0.9) == (expected == 1.0), finding


def test_the_same_rows_as_train_and_control_are_refused(population):
    train = population.take(np.arange(N))
    with pytest.raises(InputError, match="same rows"):
        Case(train, train, train.take(np.random.default_rng(0).permutation(N)))


def test_levels_in_another_order_are_the_same_people(population):
    """A release read under its own schema may code its levels differently: matches must go by name."""
    train = population.take(np.arange(N)).select(["sex", "marital_status", "household_size"])
    column = train.schema["marital_status"]
    turned = replace(column, domain=Levels(tuple(reversed(column.levels))))
    codes = np.where(train["marital_status"] < 0, -1, len(column.levels) - 1 - train["marital_status"]).astype(np.int32)
    release = train.with_column(turned, codes)
    control = population.take(np.arange(N, 2 * N)).select(train.schema.names)
    finding = IdenticalMatches().run(Case(train, release, control), np.random.default_rng(0))[0]
    assert finding.value == 1.0


def test_where_every_fresh_row_is_close_the_score_says_so_and_no_number(population):
    sex = population.select(["sex", "smoker"])
    case = Case(*(sex.take(np.arange(i * N, (i + 1) * N)) for i in range(3)))
    (finding,) = ClosestRecord(bootstrap=50).run(case, np.random.default_rng(0))
    assert finding.value is None
    assert "no release can lie closer" in finding.note


def test_a_share_of_nobody_is_told_as_zero(population):
    case = leaky(population, 0.0, control=N)
    few = Case(case.train.take(np.arange(100)), case.release, case.control)
    finding = findings(few)["published verbatim"]
    assert finding.detail["hits"] == 0
    assert finding.low == 0
    assert finding.p == 1
    assert 0 < finding.high < 0.1
    assert " 0 of 100 people in the table" in finding.note


@pytest.mark.parametrize("stars", [False, True])
def test_generalized_rows_of_other_people_raise_no_alarm(population, stars):
    train, control, other = (population.take(np.arange(i * N, (i + 1) * N)) for i in (0, 1, 2))
    column = other.schema["income"]
    edges = [*range(int(column.bounds.low), int(column.bounds.high), 10_000), int(column.bounds.high) + 1]
    spans = tuple(column.interval_cell(Interval(a, b, False, True)) for a, b in pairwise(edges))
    codes = np.where(other.missing("income"), -1, np.searchsorted(edges, other["income"], side="right") - 1).astype(np.int32)
    release = other.with_column(column.generalize(spans), codes)
    if stars:
        sex = release.schema["sex"]
        release = release.with_column(sex.generalize((ANYTHING,)), np.zeros(N, np.int32))
    (finding,) = ClosestRecord(bootstrap=100).run(Case(train, release, control), np.random.default_rng(0))
    assert finding.low < 0.02
    (finding,) = ClosestRecord(bootstrap=100).run(
        Case(train, Table.concat([train.take(np.arange(N // 2)), other.take(np.arange(N // 2))]), control), np.random.default_rng(0)
    )
    assert finding.low > 0.3


@pytest.mark.parametrize("rows", [5, 400])
def test_the_fewer_rows_are_close_the_lower_is_the_upper_bound_and_never_a_point(rows):
    """No kink where the interval leaves zero: an upper bound that jumps up as the release improves is none."""
    control = np.linspace(0, 1, 400)
    highs = []
    for close in range(min(rows, 40) + 1):
        release = np.where(np.arange(rows) < close, 0.0, 1.0)
        result = ClosestRecord(alpha=0.05)._score(
            1, Distances(release, control, control), (float(rows), 400.0), False, np.random.default_rng(0)
        )
        assert result.low <= result.value < result.high or result.value == 1
        # Nothing seen in n rows leaves room for what n rows cannot rule out.
        assert result.high - result.value >= result.detail["close_exact"][1] - result.detail["close"] or result.high == 1
        highs.append(result.high)
    assert np.diff(highs).min() > -0.003
