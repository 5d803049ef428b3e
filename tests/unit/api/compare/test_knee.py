"""The knee: with one release, two and many; noise; what a step gives up; and old orders that must not come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.api.compare.cell import Score, WorstAttack
from hushtable.api.compare.knee import KIND, NOISE, RATE, Step, alike, knee
from tests.unit.api.compare.cells import cell


def aim(epsilon, score, risk=0.05, **more):
    return cell(f"aim epsilon={epsilon:g}", score, risk, epsilon=float(epsilon), **more)


def test_one_release_is_its_own_knee_and_none_has_none():
    assert knee([]) is None
    assert knee([aim(4, 0.5)]).id == "aim epsilon=4"


@pytest.mark.parametrize(
    ("scores", "taken"),
    [
        ({0.5: 0.80, 4: 0.804}, 0.5),  # within noise
        ({0.5: 0.80, 4: 0.85}, 0.5),  # three doublings must add 0.06
        ({0.5: 0.80, 4: 0.87}, 4),
        ({0.5: 0.80, 1: 0.84, 4: 0.86}, 1),  # the knee
        ({0.5: 0.80, 1: 0.84, 4: 0.89}, 4),
        ({0.5: 0.84, 1: 0.80, 4: 0.81}, 0.5),  # a stricter one that is better too
        ({0.5: 0.70, 1: 0.701, 2: 0.78, 4: 0.785, 8: 0.79}, 2),  # a flat start does not stop it
        ({1: 0.90, 8: 0.90}, 1),
    ],
)
def test_more_epsilon_is_taken_only_while_it_buys_enough(scores, taken):
    assert knee([aim(epsilon, score) for epsilon, score in scores.items()]).epsilon == taken


def test_without_noise_the_largest_epsilon_is_not_taken_for_a_trifle():
    cells = [aim(e, 0.85 + 0.004 * i) for i, e in enumerate((0.5, 1, 2, 4, 8))]
    assert knee(cells).epsilon == 0.5


def test_scores_with_wide_intervals_do_not_buy_a_weaker_promise():
    wide = [aim(0.5, 0.82, width=0.05), aim(1, 0.86, width=0.05)]
    assert knee(wide).epsilon == 0.5
    assert knee([aim(0.5, 0.82), aim(1, 0.86)]).epsilon == 1


def test_a_weaker_kind_of_evidence_must_add_more():
    proven, verified, none = aim(1, 0.85), cell("mdav k=5", 0.89, k=5.0), cell("sequential", 0.91)
    assert knee([proven, verified, none]).id == "aim epsilon=1"
    assert knee([aim(1, 0.79), verified, none]).id == "mdav k=5"
    assert knee([aim(1, 0.79), cell("mdav k=5", 0.82, k=5.0), none]).id == "sequential"
    assert (Step(proven, verified).price, Step(proven, none).price) == (KIND, 2 * KIND)
    assert Step(none, aim(1, 0.85, 0.02)).price == 0.0


def test_halving_k_and_doubling_what_attacks_may_gain_have_their_price():
    assert Step(cell("a", k=40.0), cell("b", k=10.0)).price == pytest.approx(2 * RATE)
    calm, risky = cell("pram", 0.80, 0.05), cell("noise", 0.83, 0.20)
    assert Step(calm, risky).price == pytest.approx(2 * RATE)
    assert knee([calm, risky]).id == "pram"
    assert knee([calm, cell("swap", 0.805, 0.09)]).id == "swap", "within a factor of two the worst of many attacks is chance"


def test_of_equal_promises_the_better_score_is_taken():
    assert knee([cell("mst epsilon=1", 0.842, epsilon=1.0), cell("aim epsilon=1", 0.846, epsilon=1.0)]).id == "aim epsilon=1"


def test_a_release_with_alarms_is_not_taken_where_one_without_is_there():
    assert knee([cell("mdav k=5", 0.95, k=5.0, alarms=65), aim(1, 0.7)]).id == "aim epsilon=1"
    assert knee([cell("mdav k=5", 0.95, k=5.0, alarms=65)]).id == "mdav k=5"


def test_scores_are_alike_within_noise_or_within_an_interval_that_is_not_everything():
    assert alike(Score(0.80), Score(0.80 + NOISE))
    assert not alike(Score(0.80), Score(0.82))
    assert alike(Score(0.80, 0.77, 0.83), Score(0.82, 0.81, 0.83))
    assert not alike(Score(0.60, 0.2, 0.99), Score(0.80, 0.79, 0.81))


CELLS = st.lists(
    st.tuples(st.floats(0.5, 1.0), st.floats(0.02, 1.0), st.sampled_from([0.1, 0.5, 1.0, 4.0, None]), st.integers(0, 1)),
    min_size=1,
    max_size=8,
)


@given(CELLS)
def test_there_is_always_a_knee_and_no_step_from_it_is_worth_its_price(points):
    cells = [cell(f"r{i}", score, risk, epsilon=e, alarms=alarms) for i, (score, risk, e, alarms) in enumerate(points)]
    taken = knee(cells)
    assert taken is not None
    calm = [one for one in cells if not one.alarms] or cells
    assert taken in calm
    assert not any(Step(taken, other).worth for other in calm)
    best = max(one.score.value for one in calm)
    limit = max(Step(taken, one).price for one in calm)
    assert taken.score.value >= best - max(limit, 0.05) - 1e-6, "what is given up has a limit"


def test_what_was_not_attacked_is_as_exposed_as_can_be():
    unknown = cell("other", 0.83, None)
    assert Step(cell("pram", 0.80, 0.05), unknown).exposes
    assert not Step(unknown, cell("pram", 0.80, 0.05)).exposes
    assert WorstAttack(0.1).upper == 0.1
