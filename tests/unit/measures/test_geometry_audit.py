"""Distances, directions and clusters as findings: a fresh sample ties with the control, planted differences are seen."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures.geometry import Geometry
from hushtable.measures.structure import assigned, axes_kept, centres_of
from tests.unit.measures.clouds import findings_of, numbers, odd_cases, ordinary

HIGHER = ("principal axes kept", "clusters kept")


def heaps(n: int, seed: int, centres: tuple[tuple[float, float, float], ...]) -> np.ndarray:
    """Round heaps of points."""
    rng = np.random.default_rng(seed)
    return np.array(centres)[rng.integers(0, len(centres), n)] + 0.3 * rng.normal(size=(n, 3))


CORNERS = ((0.0, 0.0, 0.0), (5.0, 0.0, 1.0), (0.0, 5.0, 2.0))


def heaped(release: np.ndarray, n: int = 250) -> dict[str, object]:
    case = Case(numbers(heaps(n, 0, CORNERS)), numbers(release), numbers(heaps(n, 1, CORNERS)))
    return findings_of(Geometry(clusters=3, axes=2), case)


def test_an_independent_sample_is_as_good_as_the_control():
    findings = heaped(heaps(250, 2, CORNERS))
    assert findings["K-Stress"].value < 2 * findings["K-Stress"].baseline
    assert findings["distances between records"].value < 0.05
    assert findings["principal axes kept"].value > 0.99
    assert findings["clusters kept"].value == pytest.approx(1)
    assert findings["silhouette difference"].value < 0.03


def test_the_training_rows_in_another_order_keep_everything():
    findings = heaped(heaps(250, 0, CORNERS)[::-1])
    assert findings["K-Stress"].value == pytest.approx(0, abs=1e-6)
    assert findings["distances between records"].value < 0.02
    assert findings["principal axes kept"].value == pytest.approx(1)
    assert findings["clusters kept"].value == pytest.approx(1)
    assert findings["silhouette difference"].value == pytest.approx(0, abs=1e-6)


def test_heaps_that_became_one_are_seen_by_all():
    findings = heaped(np.random.default_rng(2).normal(size=(250, 3)) * [0.1, 0.1, 3])
    assert findings["K-Stress"].value > 3 * findings["K-Stress"].baseline
    assert findings["distances between records"].value > 0.3
    assert findings["principal axes kept"].value < 0.7
    assert findings["clusters kept"].value < 0.7
    assert findings["silhouette difference"].value > 0.2


def test_a_table_that_shrank_keeps_its_axes_and_clusters_but_not_its_distances():
    findings = heaped(0.5 * heaps(250, 2, CORNERS))
    assert findings["K-Stress"].value == pytest.approx(0.5, abs=0.1)
    assert findings["distances between records"].value > 0.2
    assert findings["principal axes kept"].value > 0.99


def test_big_tables_are_paired_several_times():
    case = Case(*(numbers(heaps(n, seed, CORNERS)) for n, seed in ((400, 0), (300, 2), (250, 1))))
    stress = findings_of(Geometry(paired=60, draws=4), case)["K-Stress"]
    assert stress.n == 240
    assert stress.low < stress.value < stress.high
    assert stress.low < stress.baseline < stress.high
    assert "4 times" in stress.note
    assert findings_of(Geometry(paired=250), case)["K-Stress"].low is None


def test_too_small_a_control_is_no_baseline_of_pairs():
    findings = findings_of(Geometry(), odd_cases()["two rows of control"])
    assert findings["K-Stress"].value is not None
    assert findings["K-Stress"].baseline is None


@pytest.mark.parametrize("which", ["train", "release"])
def test_equal_rows_have_no_shape_and_say_so(which):
    flat, cloud = numbers(np.ones((60, 3))), numbers(heaps(60, 0, CORNERS))
    case = Case(flat if which == "train" else cloud, flat if which == "release" else cloud, numbers(heaps(60, 1, CORNERS)))
    findings = findings_of(Geometry(), case)
    for name in (*HIGHER, "silhouette difference"):
        assert findings[name].value is None
        assert which in findings[name].note
    assert (findings["K-Stress"].value is None) == (which == "train")


@pytest.mark.parametrize("name", odd_cases())
def test_odd_tables_have_numbers_in_range_or_a_reason(name):
    findings = findings_of(Geometry(), odd_cases()[name])
    assert len(findings) == 5
    for finding in findings.values():
        assert finding.value is None or finding.span[0] <= finding.value <= (finding.span[1] or np.inf)


def test_distances_are_told_without_an_extreme():
    train = heaps(250, 0, CORNERS)
    train[0] = 1000
    case = Case(numbers(train), numbers(heaps(250, 2, CORNERS)), numbers(heaps(250, 1, CORNERS)))
    detail = findings_of(Geometry(), case)["distances between records"].detail
    assert len(detail["edges"]) == 31
    assert detail["edges"][-1] < 5
    assert sum(detail["release"]) == pytest.approx(1, abs=1e-3)


def test_an_axis_without_variance_explains_nothing():
    assert axes_kept(np.diag([4.0, 1.0]), np.diag([0.0, 3.0]), 2) == pytest.approx(0.2)
    assert axes_kept(np.diag([4.0, 1.0]), np.diag([3.0, 1.0]), 1) == pytest.approx(1)
    assert np.isnan(axes_kept(np.zeros((2, 2)), np.eye(2), 1))


def test_of_two_solutions_that_are_as_good_the_nearer_one_counts():
    """Four corners of a square are two pairs in two ways."""
    rng = np.random.default_rng(0)
    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[np.arange(400) % 4] + 0.01 * rng.normal(size=(400, 2))
    for centres in ([[0, 0.5], [1, 0.5]], [[0.5, 0], [0.5, 1]]):
        near = centres_of(square.astype(np.float32), 2, 0, np.array(centres, np.float64))
        assert near == pytest.approx(np.array(centres), abs=0.05)
    far = centres_of(square.astype(np.float32), 2, 0, np.array([[0.5, 0.5], [9.0, 9.0]]))
    assert len(np.unique(assigned(square.astype(np.float32), far))) == 2


def test_a_generalized_release_is_read_as_values():
    from hushtable.checks.audits import _generalized

    findings = findings_of(Geometry(), ordinary(_generalized(example(200, 3)), 200))
    assert all(finding.value is not None for finding in findings.values())


@pytest.mark.parametrize("knobs", [{"most": 1}, {"paired": 1}, {"draws": 0}, {"axes": 0}, {"clusters": 1}])
def test_wrong_knobs_are_refused(knobs):
    with pytest.raises(InputError):
        Geometry(**knobs)
