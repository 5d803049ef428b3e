"""The training of a network on the card: both lines, the epoch that was kept, and nothing where nothing can be drawn."""

from __future__ import annotations

import json
import re

import pytest

import hushtable as ht
from hushtable.pipeline.card import Card
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.ledger import Entry
from hushtable.report.budget import accesses
from hushtable.report.card import card_page
from hushtable.report.charts.training import Curve, drawing, is_training, section

JUDGED = {"training": {"loss": [5.0, 3.0, 2.0, 1.5], "held": [5.2, 3.4, 3.1, 3.3], "epochs": 60}}
ALONE = {"training": {"loss": [-0.2, -0.4], "held": []}}


def test_the_epoch_that_is_best_on_held_out_rows_is_the_one_kept():
    curve = Curve.of(JUDGED)
    assert curve is not None
    assert curve.best == 3
    assert curve.sentence() == "Stopped after 4 of 60 epochs; best on held-out rows after epoch 3, whose weights were kept."


@pytest.mark.parametrize(
    ("planned", "words"), [(4, "Trained for 4 epochs;"), (None, "Trained for 4 epochs;"), (5, "Stopped after 4 of 5 epochs;")]
)
def test_only_what_was_planned_longer_was_stopped(planned, words):
    assert Curve([4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0], planned).sentence().startswith(words)


def test_of_two_equal_ones_the_first_was_kept():
    assert Curve([], [2.0, 1.0, 1.0]).best == 2


def test_epochs_that_were_not_judged_are_passed_over():
    curve = Curve([3.0, 2.0, 1.0, 0.5], [None, 2.5, None, 2.0])
    assert curve.best == 4
    assert str(drawing(curve, "")).count("rows held out:") == 2


def test_without_held_out_rows_nothing_is_called_best():
    text = str(section(ALONE))
    assert "no rows were held out to judge it by" in text
    assert "kept: epoch" not in text
    assert "learn single rows by heart" not in text


def test_what_is_judged_by_something_else_has_a_scale_of_its_own():
    text = str(section({"training": {"loss": [-3.0, -2.0], "held": [0.5, 0.1], "judged": "distance of drawn rows"}}))
    assert text.count("<svg") == 2
    assert "below it the distance of drawn rows" in text
    assert text.count("kept: epoch 2") == 1
    assert "no rows were held out" not in text


def test_one_epoch_is_a_dot():
    assert "NaN" not in str(section({"training": {"loss": [1.0], "held": [1.0]}}))
    assert "Trained for 1 epoch;" in str(section({"training": {"loss": [1.0], "held": [1.0]}}))


@pytest.mark.parametrize(
    "odd",
    [
        None, 3, {}, {"training": None}, {"training": {}}, {"training": {"loss": "x"}}, {"training": {"loss": [None], "held": []}},
        {"training": {"loss": [float("nan")], "held": [float("inf")]}},
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_not(odd):
    assert not is_training(odd)


def test_more_epochs_lie_further_right_and_less_loss_lower():
    places = [
        tuple(map(float, xy)) for xy in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', str(drawing(Curve([5.0, 3.0, 1.0], []), "")))
    ]
    xs, ys = zip(*places, strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys)


def test_the_card_shows_it_beside_what_else_the_step_chose(small):
    card = ht.release(small, "sequential", seed=1, allow_copies="a test").card()
    card["result"] = {"network": {**JUDGED, "weights": 391}}
    page = card_page(Card.from_json(json.loads(json.dumps(card))))
    assert "Stopped after 4 of 60 epochs" in page
    assert "kept: epoch 3" in page
    assert "391" in page
    assert "5.2" not in re.sub(r"<(title|svg).*?</\1>", "", page, flags=re.S), "the numbers are drawn, not listed"


def test_noisy_gradients_read_as_words():
    entry = Entry("net", SampledGaussian(6.6, 0.1, 300), "gradients").to_json()
    (access,), _ = accesses([entry])
    assert access.mechanism() == "300 noisy gradient steps, each on a random 10 % of the rows, noise 6.6 times the clip"
    (whole,), _ = accesses([Entry("net", SampledGaussian(2.0, 1.0, 1), "gradients").to_json()])
    assert whole.mechanism() == "1 noisy gradient step on all rows, noise 2 times the clip"


def test_comparisons_with_training_rows_are_listed():
    curve = {"loss": [1.0, 0.9], "held": [1.0, None], "q_delta": {"1": 0.004, "2": 0.31, "x": "?"}, "q_delta_threshold": 0.02}
    text = str(section({"training": curve}))
    assert "0.004 after epoch 1, 0.31 after epoch 2. Between real rows it stays below 0.02 in 19 of 20 cases" in text
    assert "Q-delta" not in str(section(JUDGED))
    assert "Q-delta" not in str(section({"training": {**curve, "q_delta_threshold": None}}))
