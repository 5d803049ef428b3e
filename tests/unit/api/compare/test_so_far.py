"""A comparison while it runs, and how a proof that was seen is kept."""

from __future__ import annotations

import hushtable as ht
from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import Cell, Score, WorstGain
from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.making import Way, ways
from hushtable.api.compare.so_far import SoFar, read_so_far, seconds_of, within
from hushtable.privacy.guarantee import Assurance


def cell(name, recipe, score, gain, seconds=2.0, **more):
    return Cell(
        id=name,
        recipe=recipe,
        score=Score(score),
        gain=WorstGain(gain, None, gain + 0.05),
        seconds=seconds,
        runs=1,
        fits=True,
        **more,
    )


def test_cells_that_are_done_are_kept_ranked_and_nothing_is_recommended(tmp_path):
    table, options = ht.people(60), ht.CompareOptions(recipes=("mdav",), target="readmitted")
    path = tmp_path / "so-far.json"
    so_far = SoFar.open(path, table, options)
    so_far.add(cell("mdav k=5", "mdav", 0.6, 0.1))
    so_far.add(cell("mdav k=10", "mdav", 0.7, 0.05))
    # A comparison that goes on has those of before.
    SoFar.open(path, table, options).add(cell("mdav k=50", "mdav", 0.5, 0.2))
    found = read_so_far(path)
    assert [(one.id, one.rank, one.front) for one in found.cells] == [
        ("mdav k=10", 1, True), ("mdav k=5", 2, False), ("mdav k=50", 3, False)
    ]  # fmt: skip
    assert found.recommendation.words == ()
    assert found.axis.label == "AUC for readmitted"


def test_what_one_more_would_take_is_told_by_its_own_recipe_alone():
    cells = [
        cell("a", "mdav", 0.6, 0.1, 4.0),
        cell("b", "mdav", 0.6, 0.1, 8.0),
        Cell(id="c", recipe="aim", failed="no", seconds=1.0),
    ]
    assert seconds_of(cells, "mdav") == 6.0
    assert seconds_of(cells, "aim") is None


def test_the_best_within_a_risk_is_one_whose_bound_lies_within():
    axis = Axis("x", "x", "x")
    cells = [cell("useful", "mdav", 0.9, 0.3), cell("safe", "mdav", 0.6, 0.01), cell("bound", "mdav", 0.8, 0.08)]
    assert within(cells, axis, 1.0).id == "useful"
    assert within(cells, axis, 0.1).id == "safe"
    assert within(cells, axis, 0.01) is None


def test_only_private_recipes_whose_price_adds_up_can_be_paid_for():
    proven = {"assurance": Assurance.PROVEN, "epsilon": 1.0, "settings": {"epsilon": "1"}}
    cells = (cell("aim epsilon=1", "aim", 0.7, 0.0, **proven), cell("mst epsilon=1", "mst", 0.6, 0.0, **proven))
    cells += (cell("mdav k=5", "mdav", 0.9, 0.3),)
    shown = Comparison(axis=Axis("x", "x", "x"), cells=cells)
    found, payable = ways(shown, cells[0], ht.people(60).schema)
    assert payable == ("aim", "mst")
    assert set(found) == set(Way) - {Way.FILE}
    assert "--best-of aim,mst" in found[Way.PAY]
