"""Near matches, distance ratios and reconstruction: they win against planted copies, noisy ones too, and tie without."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hushtable.audits.indicators import IdenticalMatches
from hushtable.audits.nearness import DistanceRatio, LowScoreAttack, NearMatches, RowScores, excess_of_low
from hushtable.audits.planted import Noise, leaky, noisy
from hushtable.audits.reconstruction import Reconstruction
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.attack import of_hundred
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, wilson
from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.persons import People
from hushtable.table.table import Table

N = 1500
TESTS = {"identical": IdenticalMatches(), "near": NearMatches(), "ratio": DistanceRatio(), "curve": Reconstruction()}
NOISE = Noise(sigma=0.05, lam=0.05, p=0.05)


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(6 * N, seed=11)
    return table.select(table.schema.released)


def split(population: Table, seed: int, n: int = N) -> list[Table]:
    rows = np.random.default_rng(seed).permutation(population.rows)
    return [population.take(rows[i * n : (i + 1) * n]) for i in range(population.rows // n)]


def findings(case: Case, seed: int = 0) -> dict[str, Finding]:
    return {f.name: f for f in harness.run(case, TESTS, seed)}


def test_a_leak_of_two_in_a_hundred_is_found_by_every_test_and_sized(population):
    for seed in range(4):
        train, control, fresh, *_ = split(population, seed)
        results = findings(Case(train, leaky(train, fresh, 0.02, np.random.default_rng(seed)), control))
        for name in ("published verbatim", "near matches", "distance ratio", "reconstruction"):
            assert results[name].p_adjusted < 1e-3, (name, seed)
            assert results[name].low > 0
            assert results[name].value == pytest.approx(0.02, abs=0.015)
            assert results[name].risk is Risk.SINGLING_OUT


def test_noisy_copies_that_no_identical_match_shows_are_found_at_ten_in_a_hundred(population):
    for seed in range(3):
        train, control, fresh, *_ = split(population, seed)
        results = findings(Case(train, noisy(train, fresh, 0.1, np.random.default_rng(seed), NOISE), control))
        assert results["published verbatim"].p > 0.05
        assert results["near matches"].p_adjusted < 1e-6
        assert results["near matches"].low > 0.02
        assert results["reconstruction"].p_adjusted < 1e-6
        assert results["distance ratio"].p_adjusted < 1e-6
        assert results["mutual nearest"].p_adjusted < 1e-3
        assert results["mutual nearest"].risk is Risk.LINKABILITY


def test_those_who_are_hit_are_those_who_leaked(population):
    train, control, fresh, *_ = split(population, 1)
    release = Table.concat([noisy(train.take(np.arange(150)), fresh, 1.0, np.random.default_rng(0), NOISE), fresh])
    results = findings(Case(train, release, control))
    for name in ("near matches", "mutual nearest"):
        trace = results[name].trace
        assert trace.train[:150].mean() > 3 * max(trace.train[150:].mean(), 0.01)
        assert set(trace.released[~trace.train]) <= {-1}
        own = trace.released[:150][trace.train[:150]]
        assert (own < 150).mean() > 0.8


def test_without_a_leak_an_alarm_is_as_rare_as_stated(population):
    """30 runs; each alarms with probability 0.05 at most, so 6 or more with probability below 0.004."""
    alarms = 0
    for seed in range(30):
        train, control, fresh, *_ = split(population, seed, 400)
        results = findings(Case(train, fresh, control), seed)
        assert all(f.low <= f.value <= f.high for f in results.values())
        alarms += min(f.p_adjusted for f in results.values() if f.p is not None) <= 0.05
    assert alarms <= 5


def eager(ours: np.ndarray, others: np.ndarray) -> float:
    """The broken twin: thresholds set where training rows lie, and no correction for their number."""
    cuts = np.quantile(ours, [0.2, 0.4, 0.6, 0.8], method="higher")
    return min(fisher(int((ours <= t).sum()), len(ours), int((others <= t).sum()), len(others)) for t in cuts)


@pytest.mark.parametrize("ties", [False, True])
def test_the_test_is_exact_over_every_labelling(ties):
    """All ways to call 5 of 11 scores those of training rows: p is at most x in a share x of them at most. The twin's is not."""
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 4, 11) / 4 if ties else rng.random(11)
    ours = [np.isin(np.arange(11), chosen) for chosen in combinations(range(11), 5)]

    def honest(chosen: np.ndarray) -> float:
        released = np.zeros(5, np.int64)
        rows = RowScores((People(5), People(6)), scores[chosen], scores[~chosen], released)
        return excess_of_low(rows, (0.2, 0.4, 0.6, 0.8), LowScoreAttack("x", "", str, "nothing")).p

    def valid(p: np.ndarray) -> bool:
        return all((p <= x + 1e-12).mean() <= x + 1e-12 for x in np.unique(p))

    assert valid(np.array([honest(chosen) for chosen in ours]))
    assert not valid(np.array([eager(scores[c], scores[~c]) for c in ours]))


def test_who_is_paired_off_does_not_depend_on_the_table_they_stand_in():
    """Every labelling of seven people pairs off the same ones, so that Fisher's test of them is exact."""
    everyone, release = example(7, 5), example(6, 6)
    paired = []
    for chosen in combinations(range(7), 3):
        ours = np.isin(np.arange(7), chosen)
        _, results = Reconstruction().run(Case(everyone.take(ours), release, everyone.take(~ours)), np.random.default_rng(0))
        who = np.empty(7, bool)
        who[ours], who[~ours] = results.trace.train, results.trace.control
        paired.append(who.tolist())
    assert 0 < sum(paired[0]) < 7
    assert all(who == paired[0] for who in paired)


@pytest.mark.parametrize("grow", ["release", "control"])
def test_the_same_leak_looks_the_same_at_every_size(population, grow):
    train, *rest = split(population, 7, 1000)
    seen = []
    for times in (1, 2, 4):
        fresh = Table.concat(rest[: times if grow == "release" else 1])
        control = Table.concat(rest[4 : 5 if grow == "release" else 4 + times])
        release = Table.concat([train.take(np.arange(100)), fresh])
        results = findings(Case(train, release, control))
        seen.append([results[name].value for name in ("published verbatim", "near matches", "distance ratio", "reconstruction")])
    assert np.abs(np.array(seen) - 0.1).max() < 0.05
    assert np.ptp(np.array(seen)[:, :2], axis=0).max() < 0.03


def test_the_curve_rises_and_its_bands_hold_it(population):
    train, control, fresh, *_ = split(population, 2)
    result = findings(Case(train, leaky(train, fresh, 0.1, np.random.default_rng(0)), control))["reconstruction"]
    for who in ("train", "control"):
        middle, low, high = (np.array(result.detail[key]) for key in (who, f"{who}_low", f"{who}_high"))
        assert (np.diff(middle) >= 0).all()
        assert (low <= middle).all()
        assert (middle <= high).all()
    assert len(result.detail["thresholds"]) == len(result.detail["train"])
    assert result.value == pytest.approx(0.1, abs=0.03)
    assert result.detail["released_within"] >= 0.1 * N
    assert result.detail["released_mean"] > 0


def test_value_interval_test_and_sentence_are_of_one_threshold(population):
    """With a leak and without one, and where the control does better; the interval never shrinks to a point."""
    train, control, fresh, *_ = split(population, 3, 600)
    for release in (
        leaky(train, fresh, 0.1, np.random.default_rng(0)),
        fresh,
        leaky(control, fresh, 0.2, np.random.default_rng(0)),
    ):
        for collected in (
            audit.run(Case(train, release, control), np.random.default_rng(0))[0] for audit in (NearMatches(), Reconstruction())
        ):
            detail = collected.detail
            n, m, hits, others = (detail[key] for key in ("attempts", "control_attempts", "hits", "control_hits"))
            cuts = detail.get("curve", detail)["thresholds"]
            assert detail["threshold"] in cuts
            assert (collected.trace.train.sum(), collected.trace.control.sum()) == (hits, others)
            assert collected.p <= min(1.0, len(cuts) * fisher(hits, n, others, m))
            attack, rest = (wilson(x, of, detail["level"]) for x, of in ((hits, n), (others, m)))
            assert collected.value == max(0.0, (attack.value - rest.value) / (1 - rest.value))
            assert f"{of_hundred(hits / n)} people in the table" in collected.note
            assert collected.low <= collected.value < collected.high
            if hits / n <= others / m:
                assert collected.value == 0


def test_where_everybody_is_equally_far_there_is_no_number_but_a_reason(population):
    sex = population.select(["sex"])
    train, control, release = (sex.take(np.arange(i * 50, i * 50 + 50)) for i in range(3))
    for audit in (NearMatches(), DistanceRatio(), Reconstruction()):
        finding = audit.run(Case(train, release, control), np.random.default_rng(0))[0]
        assert finding.value is None
        assert finding.p is None
        assert "no threshold" in finding.note


def test_shares_must_rise():
    for shares in ((), (0.0, 0.1), (0.2, 0.1), (0.5, 1.0)):
        with pytest.raises(InputError, match="shares rise"):
            NearMatches(shares=shares)
