"""The fast forms of the indicators against the slow ones that define them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.audits.indicators import IdenticalMatches, _resampled
from hushtable.audits.nearness import DistanceRatio, NearMatches, thresholds
from hushtable.audits.reconstruction import Reconstruction
from hushtable.checks import example
from hushtable.evidence.case import Case
from hushtable.evidence.neighbours.search import Encoding, search
from hushtable.table.table import Table


def laid_out(release, control, place, times, rng):
    """The bootstrap as it is defined: draw both samples, sort, count."""
    scores = np.zeros(times)
    for i in range(times):
        ours, fresh = (values[rng.integers(0, len(values), len(values))] for values in (release, control))
        cut = np.sort(fresh)[place]
        chance = (fresh <= cut).mean()
        scores[i] = ((ours <= cut).mean() - chance) / (1 - chance) if chance < 1 else 0.0
    return scores


@pytest.mark.parametrize("ties", [False, True])
def test_the_bootstrap_through_order_statistics_has_the_law_of_the_bootstrap(ties):
    rng = np.random.default_rng(8)
    release, control = rng.random(150) ** 2, rng.random(90)
    if ties:
        release, control = np.floor(release * 8), np.floor(control * 8)
    fast = _resampled(release, control, 6, (150, 90), 1500, np.random.default_rng(0))
    slow = laid_out(release, control, 6, 1500, np.random.default_rng(1))
    # The largest gap of two samples of 1,500 from one law exceeds 0.065 with probability 0.004.
    everything = np.unique(np.concatenate([fast, slow]))
    gap = max(abs((fast <= x).mean() - (slow <= x).mean()) for x in everything)
    assert gap < 0.065
    twin = laid_out(release, control, 12, 1500, np.random.default_rng(2))
    assert max(abs((twin <= x).mean() - (slow <= x).mean()) for x in everything) > 0.065


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(2, 9), st.integers(2, 9))
def test_scores_by_brute_force(seed, n, m, rows):
    """Distances one by one: who is near, whose nearest row stands out, who is paired off, who stands in the release."""
    everyone = example(n + m + rows, seed)
    # Few columns and some repeated rows, so that there are ties.
    narrow = everyone.select(["school", "town", "age"] if seed % 2 else ["school", "sick"])
    pick = np.random.default_rng(seed).integers(0, n + m + rows, n + m + rows)
    train, control, release = (narrow.take(part) for part in np.split(pick, [n, n + m]))
    if n == m and sorted(_texts(train), key=str) == sorted(_texts(control), key=str):
        return
    case = Case(train, release, control)
    distance = {who: _distances(table, release, case) for who, table in (("train", train), ("control", control))}
    nearest = {who: d.min(axis=1) for who, d in distance.items()}
    pool = np.minimum(distance["train"].min(axis=0), distance["control"].min(axis=0))
    rng = np.random.default_rng(0)
    near, (curve, pairs) = NearMatches().run(case, rng)[0], Reconstruction().run(case, rng)
    for finding in (near, curve):
        if finding.value is not None:
            assert (finding.trace.train == (nearest["train"] <= finding.detail["threshold"])).all()
            assert (finding.trace.control == (nearest["control"] <= finding.detail["threshold"])).all()
    for who in ("train", "control"):
        own = distance[who].argmin(axis=1)
        assert (getattr(pairs.trace, who) == (nearest[who] <= pool[own])).all()
    ratio = DistanceRatio().run(case, rng)[0]
    if ratio.value is not None:
        two = np.sort(distance["train"], axis=1)[:, :2]
        expected = np.array([a / b if b else 1.0 for a, b in two])
        assert (ratio.trace.train == (expected <= ratio.detail["threshold"])).all()
    released = _texts(release)
    verbatim = IdenticalMatches().run(case, rng)[1].trace
    assert verbatim.train.tolist() == [row in released for row in _texts(train)]
    assert verbatim.control.tolist() == [row in released for row in _texts(control)]
    first = [released.index(row) if row in released else -1 for row in _texts(train)]
    assert verbatim.released.tolist() == first


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12), st.integers(1, 11), st.randoms())
def test_thresholds_do_not_know_who_is_who(scores, cut, random):
    values = np.array(scores, float)
    cut = min(cut, len(values) - 1)
    shuffled = list(scores)
    random.shuffle(shuffled)
    other = np.array(shuffled, float)
    shares = (0.1, 0.3, 0.7)
    one, two = thresholds(values[:cut], values[cut:], shares), thresholds(other[:cut], other[cut:], shares)
    assert (one == two).all()
    assert (one < values.max()).all()


def _texts(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(table.strings(name).tolist() for name in table.schema.names), strict=True))


def _distances(people: Table, release: Table, case: Case) -> np.ndarray:
    """All distances: as many neighbours as there are released rows, put back into their order."""
    encoding = Encoding.of([case.train, case.control, case.release], case.columns)
    nearest_rows = search(encoding.points(people), encoding.points(release), encoding, release.rows)
    distances = np.empty_like(nearest_rows.distance)
    np.put_along_axis(distances, nearest_rows.index, nearest_rows.distance, axis=1)
    return distances
