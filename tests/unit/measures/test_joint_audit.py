"""MMD and Frechet distance as findings: an independent sample ties with the control, planted differences are seen."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures import joint
from hushtable.measures.features import features
from hushtable.measures.joint import Joint
from tests.unit.measures.clouds import bound, findings_of, numbers, odd_cases, ordinary, shuffled


def moved(case: Case, by: float) -> Case:
    age = case.release.schema["age"]
    return Case(
        case.train,
        case.release.with_column(age, age.from_floats(np.clip(case.release.floats("age") + by, 0, 99))),
        case.control,
    )


def test_an_independent_sample_is_as_near_as_the_control():
    findings = findings_of(Joint(), ordinary(example(300, 3)))
    assert findings["MMD"].low == 0
    assert findings["MMD"].value < 0.06
    assert findings["Frechet distance"].value == pytest.approx(findings["Frechet distance"].baseline, rel=0.3)


def test_a_moved_column_is_seen_by_both():
    findings = findings_of(Joint(), moved(ordinary(example(300, 3)), 25))
    assert findings["MMD"].low > 0.1
    assert findings["Frechet distance"].value > 3 * findings["Frechet distance"].baseline
    assert "means" in findings["Frechet distance"].note


def test_broken_pairs_are_seen_by_both_though_no_column_changed():
    train, release, control = (bound(example(600, seed)) for seed in (1, 3, 2))
    retained, broken = (findings_of(Joint(), Case(train, table, control)) for table in (release, shuffled(release)))
    assert retained["MMD"].low == 0
    assert broken["MMD"].low > 0.03
    assert broken["Frechet distance"].value > 3 * retained["Frechet distance"].value


def test_the_training_rows_themselves_lie_nowhere_else():
    findings = findings_of(Joint(), ordinary(example(300, 1)))
    assert findings["MMD"].value == 0
    assert findings["Frechet distance"].value == pytest.approx(0, abs=1e-6)


def test_many_rows_take_random_features_and_agree_with_all_pairs(monkeypatch):
    case = moved(ordinary(example(600, 3), 600), 12)
    exact = findings_of(Joint(), case)["MMD"]
    monkeypatch.setattr(joint, "EXACT", 100)
    drawn = findings_of(Joint(), case)["MMD"]
    assert "all pairs" in exact.note
    assert "2,048 random frequencies" in drawn.note
    assert drawn.value == pytest.approx(exact.value, rel=0.1)
    assert drawn.low < exact.value < drawn.high


def test_no_release_sets_the_bandwidth():
    rng = np.random.default_rng(0)
    train, control = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    widths = {
        joint.bandwidth(features(Case(numbers(train), numbers(release), numbers(control))), np.random.default_rng(0))
        for release in (rng.normal(size=(50, 3)), 100 * rng.normal(size=(80, 3)))
    }
    assert len(widths) == 1
    assert widths.pop() == pytest.approx(np.sqrt(2 * 2.37), rel=0.1)  # the median of chi-square with three degrees


def test_few_rows_have_no_interval():
    findings = findings_of(Joint(), odd_cases()["two rows each"])
    assert findings["MMD"].value is not None
    assert findings["MMD"].low is findings["MMD"].high is None


@pytest.mark.parametrize("name", odd_cases())
def test_odd_tables_have_finite_numbers(name):
    for finding in findings_of(Joint(), odd_cases()[name]).values():
        assert finding.value is not None
        assert finding.baseline is not None
        assert finding.span[0] <= finding.value <= (finding.span[1] or np.inf)


def test_a_single_frequency_has_no_spread_and_is_refused():
    with pytest.raises(InputError, match="frequencies"):
        Joint(frequencies=1)
