"""BNGAN's vectors: Laplace noise for the change of one number, on vectors of which a single row changes M. It costs M epsilon."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import beta

from hushtable.pipeline.recipe import load
from hushtable.privacy.event import Raw
from hushtable.synthesize.neural.structure import Scores, conditional_vectors, hill_climb

pytest.importorskip("torch")

from hushtable.synthesize.neural.gan.parents import noisy_vectors

EPSILON = 1.0
CHILDREN, ROWS = 30, 200
GRAPH = ((), *((0,) for _ in range(CHILDREN)))
SIZES = (3, *(2 for _ in range(CHILDREN)))


def town(answers: int) -> np.ndarray:
    """A column of three levels, the last of which one person has; that person answers all questions with 0, or all with 1."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 2, ROWS), rng.integers(0, 2, (ROWS, CHILDREN))])
    codes[-1, 0] = 2
    codes[-1, 1:] = answers
    return codes


def vectors(answers: int) -> np.ndarray:
    return conditional_vectors(GRAPH, town(answers), SIZES)[0]


def test_one_row_changes_all_numbers_of_its_level_by_two():
    one, two = vectors(0), vectors(1)
    assert np.abs(one).max() <= 1
    numbers = one.shape[1]
    assert numbers == 2 * CHILDREN
    assert np.abs(one[2] - two[2]).tolist() == [2.0] * numbers
    # The densities of a release equal to one of them differ by this much, where the claim is epsilon: sensitivity 2 M, not 2.
    loss = np.abs(one - two).sum() / (2 / EPSILON)
    assert loss == pytest.approx(numbers * EPSILON)
    enough = 2 * numbers / EPSILON
    assert np.abs(one - two).sum() / enough == pytest.approx(EPSILON)


def lower_bound(scale: float, runs: int = 400) -> float:
    """Epsilon from below, at 95 %: whether the person answered with 1, guessed from noisy vectors by the sign of the difference."""
    direction = vectors(1) - vectors(0)
    wrong = []
    for world, seed in ((0, 1), (1, 2)):
        rng = np.random.default_rng(seed)
        scores = np.array([(noisy_vectors(vectors(world), 2 / scale, rng) * direction).sum() for _ in range(runs)])
        wrong.append(int(((scores > 0) != world).sum()))
    false_positive, false_negative = (beta.ppf(0.975, count + 1, runs - count) for count in wrong)
    return max(0.0, math.log((1 - false_negative) / false_positive), math.log((1 - false_positive) / false_negative))


def test_two_worlds_refute_the_claim_and_not_noise_for_all_numbers():
    assert lower_bound(2 / EPSILON) > 2 * EPSILON
    assert lower_bound(2 * 2 * CHILDREN / EPSILON) <= EPSILON


def test_the_structure_is_a_function_of_single_rows():
    """Of sixteen rows, one decides whether there is an edge: it is in the released networks or not, with no noise at all."""
    codes = np.repeat([[0, 0], [1, 1]], 8, axis=0)
    graphs = set()
    for agreeing in range(9):
        world = codes.copy()
        world[agreeing:8, 1] = 1
        graphs.add((agreeing, hill_climb(Scores.of(world), 1) != ((), ())))
    found = [edge for _, edge in sorted(graphs)]
    assert not found[0]
    assert found[-1]
    assert sum(one != two for one, two in pairwise(found)) == 1


def test_the_published_form_promises_nothing_and_names_its_gaps_and_the_certified_one_reads_no_row(small):
    schema = small.select(small.schema.released).schema
    published = load("dp-bngan").steps[-1].plan(schema, None)
    assert any(isinstance(event, Raw) for event in published.events)
    (claim,) = published.claims
    assert "epsilon = 2" in claim.statement
    for word in ("depends on which", "M times epsilon", "real rows' own levels", "reconstruction", "delta"):
        assert any(word in gap for gap in claim.gaps), word
    certified = load("dp-bngan-certified")
    assert all(step.spends for step in certified.steps)
