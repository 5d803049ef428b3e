"""V-MDAV: the pruned search forms exactly the groups of the published algorithm; medoids equal those of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.microaggregate import mdav, vmdav
from hushtable.anonymize.microaggregate.microaggregate import GAMMAS, Method, Microaggregate
from hushtable.anonymize.microaggregate.space import Space


def random_space(seed: int) -> tuple[Space, int]:
    """Whole numbers make ties, normals make none, heaps let groups grow, more than 64 levels make bits collide."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 500)), int(rng.integers(2, 8))
    p = int(rng.integers(0, 4))
    q = int(rng.integers(0 if p else 1, 3))
    if seed % 3 == 0:
        numbers = rng.integers(0, 12, (p, n)).astype(float)
    elif seed % 3 == 1:
        numbers = rng.normal(size=(p, n))
    else:
        numbers = rng.normal(size=(p, 30))[:, rng.integers(0, 30, n)] * 9 + rng.normal(size=(p, n)) * 0.1
    codes = rng.integers(0, rng.integers(1, 90), (q, n)).astype(np.int32)
    return Space(numbers, codes, rng.random(q) * 2), min(k, n)


def from_one(space: Space, i: int) -> np.ndarray:
    return space.distances(space.take(np.array([i])))


def textbook(space: Space, k: int, gamma: float) -> np.ndarray:
    """As printed, with the whole matrix of distances; ties to the smaller row."""
    n = space.rows
    between = np.array([from_one(space, i) for i in range(n)])
    means = [row.mean() for row in space.numbers]
    modes = [np.bincount(row).argmax() for row in space.codes]
    centre = Space(np.array(means).reshape(-1, 1), np.array(modes, np.int32).reshape(-1, 1), space.weights)
    outward = space.distances(centre)
    free, labels, label = np.ones(n, bool), np.full(n, -1), 0
    while free.sum() >= k:
        rows = np.flatnonzero(free)
        start = rows[np.lexsort((rows, -outward[rows]))[0]]
        group = rows[np.lexsort((rows, between[start, rows]))[:k]].tolist()
        free[group] = False
        while gamma > 0 and len(group) < 2 * k - 1 and free.any():
            rows = np.flatnonzero(free)
            to_group = between[np.ix_(group, rows)].min(axis=0)
            at = np.lexsort((rows, to_group))[0]
            others = np.delete(between[rows[at], rows], at)
            if len(others) and not np.sqrt(to_group[at]) < gamma * np.sqrt(others.min()):
                break
            group.append(rows[at])
            free[rows[at]] = False
        labels[group] = label
        label += 1
    placed = labels >= 0
    groups = [np.flatnonzero(labels == g) for g in range(label)]
    for i in np.flatnonzero(~placed):
        d = []
        for rows in groups:
            own = sum((space.numbers[j, rows].mean() - space.numbers[j, i]) ** 2 for j in range(len(space.numbers)))
            modes = [np.bincount(space.codes[j, rows]).argmax() for j in range(len(space.codes))]
            d.append(own + sum(w for m, c, w in zip(modes, space.codes[:, i], space.weights, strict=True) if m != c))
        labels[i] = int(np.argmin(d))
    return labels


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("seed", range(12))
def test_groups_equal_the_textbook(seed, gamma):
    space, k = random_space(seed)
    np.testing.assert_array_equal(vmdav.partition(space, k, gamma), textbook(space, k, gamma))


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_group_has_k_members_for_every_number_of_records(k, gamma):
    for n in range(k, 5 * k + 1):
        rng = np.random.default_rng(n)
        for numbers in (np.zeros((1, n)), rng.normal(size=(2, n)), rng.integers(0, 2, (1, n)) * 9.0):
            labels = vmdav.partition(Space(numbers, np.zeros((0, n), np.int32), np.zeros(0)), k, gamma)
            sizes = np.bincount(labels)
            assert sizes.min() >= k
            assert sizes.sum() == n


class Silent:
    """All that the choice of a gamma needs of a vault."""

    @staticmethod
    def report(share: float) -> None:
        assert -1e-9 <= share <= 1


def best_of_all(space: Space, k: int) -> tuple[np.ndarray, dict]:
    return Microaggregate(k=k, method=Method.V_MDAV)._partition(space, Silent)


@pytest.mark.parametrize("seed", range(20))
def test_a_chosen_gamma_never_loses_more_than_mdav(seed):
    space, k = random_space(seed)
    groups, result = best_of_all(space, k)
    plain = mdav.partition(space.numbers, space.codes, space.weights, k)
    assert space.errors(groups).all_within <= space.errors(plain).all_within
    assert result["gamma"] in (*GAMMAS, "none: mdav lost least")


def test_heaps_are_kept_whole_and_mdav_cuts_them():
    # Heaps of 3 and of 4 records, k = 3: fixed groups of three must mix heaps.
    heaps = np.repeat(np.arange(8) * 100.0, [3, 4] * 4) + np.tile([0.0, 0.1, 0.2, 0.05], 8)[: 7 * 4]
    space = Space(heaps.reshape(1, -1), np.zeros((0, 28), np.int32), np.zeros(0))
    plain = space.errors(mdav.partition(space.numbers, space.codes, space.weights, 3)).within
    groups, result = best_of_all(space, 3)
    assert result["gamma"] in GAMMAS
    assert space.errors(groups).within < 1 < plain


@pytest.mark.parametrize("seed", range(12))
def test_medoids_have_the_least_sum_of_squared_distances(seed):
    space, k = random_space(seed)
    groups = mdav.partition(space.numbers, space.codes, space.weights, k)
    medoids = space.medoids(groups)
    for g in range(groups.max() + 1):
        rows = np.flatnonzero(groups == g)
        part = space.take(rows)
        sums = np.array([from_one(part, i).sum() for i in range(len(rows))])
        assert medoids[g] in rows
        assert sums[np.flatnonzero(rows == medoids[g])[0]] == pytest.approx(sums.min(), rel=1e-9, abs=1e-9)
