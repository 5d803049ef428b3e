"""What a proof allows any attack to gain: reached by randomized response, exceeded by a mechanism that spends more."""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
import pytest

from hushtable.evidence.verdict import Evidence, allowed_gain, proven_gain
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.stated import StatedGuarantee
from hushtable.privacy.unit import Relation, Unit

PROVEN = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0, delta=1e-6)


def response(epsilon: float, delta: float) -> np.ndarray:
    """What is answered where the bit is 0 and where it is 1: told for sure with probability delta, else randomized response."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    answers = [
        [(1 - delta) * keep, (1 - delta) * (1 - keep), delta, 0.0],
        [(1 - delta) * (1 - keep), (1 - delta) * keep, 0.0, delta],
    ]
    return np.array(answers)


def best_gain(answers: np.ndarray) -> float:
    """The largest r - c of any attack: any set of answers at which it claims to succeed."""
    sets = chain.from_iterable(combinations(range(answers.shape[1]), size) for size in range(answers.shape[1] + 1))
    return max(float(answers[1, list(some)].sum() - answers[0, list(some)].sum()) for some in sets)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
def test_randomized_response_reaches_it(epsilon, delta):
    assert best_gain(response(epsilon, delta)) == pytest.approx(allowed_gain(epsilon, delta), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_mechanism_that_spends_more_exceeds_it(epsilon):
    assert best_gain(response(1.3 * epsilon, 0.0)) > allowed_gain(epsilon)
    assert best_gain(response(epsilon, 0.01)) > allowed_gain(epsilon)


def test_no_mechanism_with_that_guarantee_exceeds_it():
    """Random mechanisms over five answers, each with the least epsilon that it has."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        answers = rng.dirichlet(np.ones(5), 2)
        epsilon = float(np.abs(np.log(answers[0] / answers[1])).max())
        assert best_gain(answers) <= allowed_gain(epsilon) + 1e-12


def test_it_is_known_only_where_a_proof_is_about_the_whole_person():
    assert proven_gain(PROVEN) == pytest.approx(0.46212, abs=1e-5)
    assert proven_gain(PROVEN, several_rows=True) is None
    person = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0, unit=Unit(rows=3, by="person"))
    assert proven_gain(person, several_rows=True) == pytest.approx(0.46212, abs=1e-5)
    replaced = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0, unit=Unit(relation=Relation.REPLACE_ONE))
    assert proven_gain(replaced) == pytest.approx(0.46212, abs=1e-5)
    assert proven_gain(StatedGuarantee(assurance=Assurance.CLAIMED, epsilon=1.0)) is None
    assert proven_gain(StatedGuarantee(assurance=Assurance.PROVEN)) is None
    assert proven_gain(None) is None
    assert Evidence(findings=[], stated=PROVEN, assumed=["rows repeat"]).allowed is None
    assert Evidence(findings=[], stated=PROVEN).allowed == proven_gain(PROVEN)
