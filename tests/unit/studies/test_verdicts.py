"""What a source says is judged by several runs, and one run decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.finding import Better
from hushtable.studies.charts import Line, curves, dots
from hushtable.studies.lines import ABSENT, REFUSED, Lines, task_name
from hushtable.studies.releases import DRAWN
from hushtable.studies.report import Verdict
from hushtable.studies.verdicts import all_of, best, spoken, surely_better, worst

RUNS = {"a": [0.90, 0.91, 0.92], "b": [0.70, 0.71, 0.69], "c": [0.80, 0.79, 0.81]}


def test_a_method_is_best_if_it_is_surely_better_than_each():
    assert best("a", RUNS, Better.HIGHER) is Verdict.CONFIRMED
    assert best("b", RUNS, Better.HIGHER) is Verdict.CONTRADICTED
    assert best("b", RUNS, Better.LOWER) is worst("b", RUNS, Better.HIGHER) is Verdict.CONFIRMED
    assert best("a", {**RUNS, "d": [0.8, 0.9, 1.0]}, Better.HIGHER) is Verdict.UNDECIDED
    assert best("a", {"a": [0.9], "b": [0.1]}, Better.HIGHER) is Verdict.UNDECIDED
    assert best("z", RUNS, Better.HIGHER) is Verdict.UNDECIDED
    assert best("a", {"a": RUNS["a"]}, Better.HIGHER) is Verdict.UNDECIDED


def test_equal_runs_of_different_values_are_sure():
    assert surely_better([1.0, 1.0], [0.0, 0.0], Better.HIGHER)
    assert not surely_better([1.0, 1.0], [1.0, 1.0], Better.HIGHER)


def test_few_runs_of_the_same_method_are_seldom_thought_different():
    rng = np.random.default_rng(0)
    wrong = [surely_better(rng.normal(size=3).tolist(), rng.normal(size=3).tolist(), Better.HIGHER) for _ in range(2000)]
    assert np.mean(wrong) < 0.035  # 0.025 on each side
    # A rule that took any difference of means for sure would be wrong half of the time.
    assert np.mean([rng.normal(size=3).mean() > rng.normal(size=3).mean() for _ in range(2000)]) > 0.4


def test_of_several_things_one_that_fails_is_enough():
    yes, no, open_ = Verdict.CONFIRMED, Verdict.CONTRADICTED, Verdict.UNDECIDED
    assert all_of([yes, yes]) is yes
    assert all_of([yes, no, open_]) is no
    assert all_of([yes, open_]) is open_
    assert all_of([]) is open_


def test_means_are_spoken_with_their_intervals():
    assert spoken({"a": [0.5], "b": [], "c": [1.0, 2.0, 3.0]}) == "a 0.5, c 2 (-0.484 to 4.48)"


def test_lines_are_methods_as_they_leave_and_before_refinement():
    results = {
        task_name("Adult", "CTGAN", 0): {"refined": {"f1": 0.5}, "drawn": {"f1": 0.4}},
        task_name("Adult", "CTGAN", 1): {"refined": {"f1": None}, "drawn": None},
        task_name("Adult", "DPGAN", 0): {"title": "Adult: DPGAN", "refused": "no bounds"},
    }
    lines = Lines(("Adult",), ("CTGAN", "DPGAN"), 2, False, (), results)
    assert list(lines.of("Adult", lines.methods)) == ["CTGAN", "CTGAN" + DRAWN, "DPGAN"]
    assert lines.values("Adult", "CTGAN", "f1") == [0.5]
    assert lines.values("Adult", "CTGAN" + DRAWN, "f1") == [0.4]
    assert lines.as_published("Adult", lines.methods, "f1") == {"CTGAN": [0.4]}
    assert (lines.why_none("Adult"), lines.why_none("RNA")) == (REFUSED, ABSENT)
    assert lines.real("Adult") == {}


def test_drawings_stand_alone():
    drawn = dots([Line("one", [0.6, 0.7], 0.8, "#123456"), Line("two", [])], "AUC on x", "AUC", key={"proven": "#123456"})
    assert drawn.count("<circle") == 3  # two runs and the key
    assert "one, published: 0.800" in drawn
    assert "class=" not in drawn
    lines = curves({"one": [(0.5, 0.1), (1.0, 0.4)], "none": []}, "Disclosed", "threshold")
    assert lines.startswith("<svg ")
    assert "one: 0.4 at 1" in lines
    assert "none" not in lines.replace('fill="none"', "")
    assert curves({}, "Disclosed", "threshold").startswith("<svg ")


@pytest.mark.parametrize("place", [0, 8])
def test_curves_beyond_the_colours_are_dashed(place):
    names = [f"m{i}" for i in range(place + 1)]
    drawn = curves({name: [(0.0, 1.0), (1.0, 1.0)] for name in names}, "x", "y")
    assert ("stroke-dasharray" in drawn) is (place == 8)
