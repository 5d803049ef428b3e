"""Masking by chance has the law it says: every test accepts it, and rejects a twin that is broken in one line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chisquare

from hushtable.anonymize.masking.noise import Noise
from hushtable.anonymize.masking.pram import Pram
from hushtable.anonymize.masking.swap import partners
from hushtable.anonymize.transition.leaves import NoisyLeaves
from hushtable.anonymize.transition.ranges import evenly
from hushtable.privacy.vault import Vault
from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT, REJECT

N = 60_000
AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 9))
TOWN = Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abcde")))
COUNTS = np.array([30_000, 15_000, 10_000, 5_000, 0])


def fit(counts: np.ndarray, shares: np.ndarray) -> float:
    """The chi-square p-value of counts against shares."""
    used = shares > 0
    assert counts[~used].sum() == 0
    return float(chisquare(counts[used], shares[used] / shares[used].sum() * counts.sum()).pvalue)


def test_noise_at_the_bounds_is_reflected_evenly():
    uniform = Table(Schema((AGE,)), {"age": np.arange(N) % 10})

    def ends(released: np.ndarray) -> float:
        return fit(np.bincount(released, minlength=10), np.full(10, 0.1))

    assert ends(Noise(sigma=0.5).fit(Vault.of(uniform), np.random.default_rng(0)).table["age"]) > ACCEPT
    noisy = uniform["age"] + 0.5 * uniform["age"].std() * np.random.default_rng(0).standard_normal(N)
    assert ends(np.clip(np.round(noisy), 0, 9).astype(int)) < REJECT  # cut off, values pile up
    mirrored = np.abs(noisy)
    mirrored = np.round(np.where(mirrored > 9, 18 - mirrored, mirrored)).astype(int)
    assert ends(np.clip(mirrored, 0, 9)) < REJECT  # folded at the values themselves, the ends are half empty


def _drawn(column: Column, code: int = 0) -> np.ndarray:
    return evenly(column, np.full(N, code, np.int32), np.random.default_rng(1))


def test_every_value_of_a_range_or_a_set_is_as_likely():
    def share(values: np.ndarray) -> float:
        return fit(np.bincount(values - 3, minlength=5), np.full(5, 0.2))

    column = AGE.generalize((AGE.interval_cell(Interval(3, 7)),))
    assert share(_drawn(column)) > ACCEPT
    twin = np.round(3 + np.random.default_rng(1).random(N) * 4).astype(int)
    assert share(twin) < REJECT  # rounding between the ends gives them half of what is theirs
    towns = TOWN.generalize((TOWN.set_cell(frozenset("bde")), ANYTHING))
    assert fit(np.bincount(_drawn(towns), minlength=5), np.array([0, 1, 0, 1, 1]) / 3) > ACCEPT
    assert fit(np.bincount(_drawn(towns, 1), minlength=5), np.full(5, 0.2)) > ACCEPT


def _chain(invariant: bool, keep: float = 0.7) -> np.ndarray:
    """The matrix of the chain, from its definition."""
    levels = len(COUNTS)
    first = np.full((levels, levels), (1 - keep) / (levels - 1))
    np.fill_diagonal(first, keep)
    if not invariant:
        return first
    shares = COUNTS / COUNTS.sum()
    back = first.T * shares / (shares @ first)[:, None]
    return first @ back


@pytest.mark.parametrize("invariant", [True, False])
def test_post_randomization_follows_its_matrix(invariant):
    before = np.repeat(np.arange(5), COUNTS).astype(np.int32)
    step = Pram(keep=0.7, invariant=invariant)
    after = step.fit(Vault.of(Table(Schema((TOWN,)), {"town": before})), np.random.default_rng(2)).table["town"]
    for code in range(4):
        counts = np.bincount(after[before == code], minlength=5)
        assert fit(counts, _chain(invariant)[code]) > ACCEPT
        wrong = _chain(invariant, keep=0.8)[code]
        assert fit(counts, wrong) < REJECT


def test_an_invariant_chain_keeps_the_expected_counts():
    shares = COUNTS / COUNTS.sum()
    np.testing.assert_allclose(shares @ _chain(True), shares)
    table = Table(Schema((TOWN,)), {"town": np.repeat(np.arange(5), COUNTS).astype(np.int32)})

    def away(invariant: bool) -> float:
        """The largest deviation of a mean count over runs, in its standard errors."""
        step = Pram(keep=0.7, invariant=invariant)
        runs = [step.fit(Vault.of(table), np.random.default_rng(seed)).table["town"] for seed in range(20)]
        counts = np.array([np.bincount(run, minlength=5)[:4] for run in runs])
        return float(abs((counts.mean(axis=0) - COUNTS[:4]) / (counts.std(axis=0, ddof=1) / np.sqrt(20))).max())

    assert away(invariant=True) < 5
    assert away(invariant=False) > 50


def test_strata_keep_their_own_expected_counts():
    group = Column(name="g", kind=Kind.CATEGORY, domain=Levels(("x", "y")))
    town = np.concatenate([np.repeat([0, 1], [9000, 1000]), np.repeat([0, 1, 2], [1000, 1000, 8000])]).astype(np.int32)
    table = Table(Schema((TOWN, group)), {"town": town, "g": np.repeat([0, 1], 10_000).astype(np.int32)})

    def share(within: tuple[str, ...]) -> float:
        step = Pram(keep=0.6, within=within)
        released = step.fit(Vault.of(table), np.random.default_rng(3)).table["town"][:10_000]
        return fit(np.bincount(released, minlength=5)[:3] + 0.0, np.array([0.9, 0.1, 0 if within else 1e-9]))

    assert share(("g",)) > ACCEPT
    assert share(()) < REJECT


def test_partners_are_evenly_spread_over_the_window():
    def spread(find: Callable[[np.random.Generator], np.ndarray]) -> float:
        firsts = np.array([find(np.random.default_rng(seed))[0] for seed in range(3000)])
        return fit(np.bincount(firsts - 1, minlength=10), np.full(10, 0.1))

    assert spread(lambda rng: partners(rng.random(40), 10)) > ACCEPT
    assert spread(lambda rng: partners(rng.random(40) ** 1.5, 10)) < REJECT


@pytest.mark.parametrize("kind", ["levels", "numbers"])
def test_noisy_leaves_are_drawn_as_often_as_they_count(kind):
    counts = np.array([50, 30, -5, 20, 100, 7])  # the last one: missing
    if kind == "levels":
        raw, cells = TOWN, (TOWN.set_cell(frozenset("abcd")), ANYTHING)
    else:
        raw = Column(name="n", kind=Kind.INTEGER, domain=Bounds(0, 4))
        cells = (raw.interval_cell(Interval(0, 3)), ANYTHING)
    leaves = NoisyLeaves(raw, 64)
    for code, shares in ((0, [50, 30, 0, 20, 0, 0]), (1, [50, 30, 0, 20, 100, 7])):
        drawn = leaves.draw(raw.generalize(cells), np.full(N, code, np.int32), counts, np.random.default_rng(4))
        actual = np.bincount(np.where(raw.is_missing(drawn), 5, drawn), minlength=6)
        assert fit(actual, np.array(shares, float)) > ACCEPT
        assert fit(actual[:2], np.array([45.0, 35.0])) < REJECT


def test_noisy_ranges_that_a_cell_cuts_count_by_the_part_inside():
    raw = Column(name="n", kind=Kind.INTEGER, domain=Bounds(0, 99))
    leaves = NoisyLeaves(raw, 10)
    column = raw.generalize((raw.interval_cell(Interval(7, 14)),))
    counts = np.append([300, 100], np.zeros(9, int))
    drawn = leaves.draw(column, np.zeros(N, np.int32), counts, np.random.default_rng(5))
    assert fit(np.bincount(drawn - 7, minlength=8), np.repeat([30.0, 10.0], [3, 5])) > ACCEPT
