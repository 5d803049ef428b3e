"""The geometry of the charts, on inputs small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.evidence.finding import Finding
from hushtable.report.charts import folding, heat, intervals, plots
from hushtable.report.charts.folding import Bar
from tests.unit.report.documents import Reader, number


def test_a_scale_is_straight_and_ends_on_round_numbers() -> None:
    scale = plots.from_zero([0.17], 0, 100)
    assert (scale.low, scale.high) == (0, 0.2)
    assert scale(0.1) == pytest.approx(50)
    assert scale.ticks() == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    below = plots.from_zero([-0.4, 0.5], 0, 100)
    assert below.low <= -0.4
    assert below.high >= 0.5
    assert below(below.low) == 0
    assert 0.0 in below.ticks()


@pytest.mark.parametrize("values", [[], [0.0], [1e-12], [1e9]])
def test_a_scale_never_has_length_zero(values: list[float]) -> None:
    scale = plots.from_zero(values, 10, 20)
    assert scale.high > scale.low
    assert 10 <= scale(0.0) <= 20


def test_lengths_of_paired_bars_are_proportional() -> None:
    drawn = Reader(plots.paired_bars([Bar("a", 0.4, 0.2), Bar("b", 0.1, 0.0)], "a chart of two levels"))
    train = [number(e, "width") for e in drawn.all("rect", "real")]
    release = [number(e, "width") for e in drawn.all("rect", "release")]
    assert train[0] > 0
    assert train[1] / train[0] == pytest.approx(1 / 4, abs=0.001)
    assert release[0] / train[0] == pytest.approx(1 / 2, abs=0.001)
    assert release[1] == 0
    assert [e.text for e in drawn.all("title")] == ["a: train 40 %, release 20 %", "b: train 10 %, release 0 %"]


def test_heights_of_paired_columns_are_proportional_and_stand_on_the_axis() -> None:
    drawn = Reader(plots.paired_columns([Bar("1 to 3", 0.1, 0.4), Bar("3 to 8", 0.2, 0.3)], "a chart of ranges", ["1", "3", "8"]))
    bars = drawn.all("rect")
    heights = [number(e, "height") for e in bars]
    assert [h / heights[0] for h in heights] == pytest.approx([1, 4, 2, 3], abs=0.01)
    assert len({round(number(e, "y") + number(e, "height"), 1) for e in bars}) == 1
    assert {"1", "8"} <= {e.text for e in drawn.all("text")}


def test_whiskers_end_at_the_interval_and_the_tick_stands_at_the_baseline() -> None:
    finding = Finding.from_json(
        {"name": "x", "value": 0.1, "low": 0.05, "high": 0.2, "baseline": 0.0, "better": "lower", "subject": "privacy"}
    )
    drawn = Reader(intervals.dots([finding], "one finding on a line"))
    left, right = intervals.LEFT, intervals.RIGHT
    assert [e.text for e in drawn.all("text", "small")] == ["0", "0.25", "0.5", "0.75", "1"], "the same scale on every page"
    whisker, dot, base = drawn.one("line", "whisker"), drawn.one("circle"), drawn.one("line", "baseline")
    assert number(whisker, "x1") == pytest.approx(left + (right - left) * 0.05, abs=0.01)
    assert number(whisker, "x2") == pytest.approx(left + (right - left) * 0.2, abs=0.01)
    assert number(dot, "cx") == pytest.approx(left + (right - left) * 0.1, abs=0.01)
    assert number(base, "x1") == number(base, "x2") == pytest.approx(left, abs=0.01)
    assert dot.has("alarm")


def test_a_finding_without_interval_or_value_has_no_whisker_or_dot() -> None:
    bare = Finding.from_json({"name": "x", "value": 0.1, "subject": "privacy"})
    missing = Finding.from_json({"name": "y", "value": None, "subject": "privacy"})
    drawn = Reader(intervals.dots([bare, missing], "two findings on a line"))
    assert len(drawn.all("circle")) == 1
    assert not drawn.all("line", "whisker")
    assert not drawn.all("line", "baseline")


def test_bars_beside_real_rows_reach_to_both_sides_of_zero() -> None:
    finding = Finding.from_json({"name": "R2", "value": -0.5, "low": -0.6, "high": -0.4, "baseline": 0.5, "better": "higher"})
    drawn = Reader(intervals.versus([finding], "a model below zero"))
    ours, real = drawn.one("rect", "release"), drawn.one("rect", "real")
    assert number(ours, "x") + number(ours, "width") == pytest.approx(number(real, "x"), abs=0.02)
    assert number(ours, "width") == pytest.approx(number(real, "width"), abs=0.02)
    whisker = drawn.one("line", "whisker")
    assert (number(whisker, "x1") + number(whisker, "x2")) / 2 == pytest.approx(number(ours, "x"), abs=0.02)


def test_distances_show_both_samples_and_the_threshold() -> None:
    drawn = Reader(plots.distances([0.0, 1.0, 2.0], [0.2, 0.8], [0.4, 0.6], 0.5, "two samples of distances"))
    heights = [number(e, "height") for e in drawn.all("rect", "real")]
    assert heights[1] / heights[0] == pytest.approx(1.5, abs=0.01)
    hover = drawn.all("rect", "hover")
    line = drawn.one("line", "threshold")
    assert number(line, "x1") == pytest.approx(number(hover[0], "x") + number(hover[0], "width") / 2, abs=0.01)
    steps = drawn.one("path", "line").attributes["d"] or ""
    bottom = number(drawn.all("rect", "real")[0], "y") + heights[0]
    tops = [bottom - float(part.split("H")[0]) for part in steps.split("V")[1:3]]
    assert tops[1] / tops[0] == pytest.approx(4, abs=0.02)
    assert [e.text for e in drawn.all("title")][:2] == [
        "distance 0 to 1: release 20 %, fresh real rows 40 %", "distance 1 and more: release 80 %, fresh real rows 60 %",
    ]  # fmt: skip


def test_a_threshold_outside_the_plot_is_not_drawn() -> None:
    assert not Reader(plots.distances([0.0, 1.0], [1.0], [1.0], 5.0, "one bin")).all("line", "threshold")
    assert not Reader(plots.distances([0.0, 1.0], [1.0], [1.0], None, "one bin")).all("line", "threshold")


def test_heat_is_opacity_and_its_colour_the_sign() -> None:
    gap = np.array([[0.0, 0.2, -0.1], [0.2, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    drawn = Reader(heat.difference_map(["a", "b", "c"], gap, "differences of three columns", 0.2))
    cells = {e.text: e for e in drawn.all("rect")}
    assert set(cells) == {"a, b: 0.20", "a, c: −0.10", "b, c: 0.00"}
    assert number(cells["a, b: 0.20"], "fill-opacity") == 1
    assert number(cells["a, c: −0.10"], "fill-opacity") == pytest.approx(0.52)
    assert number(cells["b, c: 0.00"], "fill-opacity") == pytest.approx(0.04)
    assert cells["a, c: −0.10"].has("weaker")
    assert not cells["a, b: 0.20"].has("weaker")


def test_an_unknown_association_is_not_drawn_as_none() -> None:
    drawn = Reader(heat.strength_map(["a", "b"], np.array([[1.0, np.nan], [np.nan, 1.0]]), "an unknown association"))
    assert drawn.one("rect").has("unknown")
    assert drawn.one("rect").text == "a, b: –"


def test_of_many_columns_those_with_the_largest_differences_are_kept() -> None:
    train, release = np.eye(40), np.eye(40)
    release[7, 30] = release[30, 7] = 0.9
    names = [f"c{i}" for i in range(40)]
    pairs = heat.Pairs.of({"columns": names, "train": train.tolist(), "release": release.tolist()})
    assert pairs is not None
    retained = pairs.worst()
    assert len(retained.columns) == heat.COLUMNS
    assert {"c7", "c30"} <= set(retained.columns)
    assert retained.columns == sorted(retained.columns, key=names.index)
    assert pairs.largest(1) == [("c7", "c30", 0.0, 0.9)]
    assert retained.release[retained.columns.index("c7"), retained.columns.index("c30")] == 0.9


def test_many_levels_are_folded_without_losing_mass() -> None:
    result = [Bar(f"v{i}", (i + 1) / 1275, (50 - i) / 1275) for i in range(50)] + [Bar("missing", 0.0, 0.0)]
    shown = folding.levels(result, ordered=False)
    assert len(shown) == folding.LEVELS + 1
    assert shown[-1].label == "other (38 levels)"
    assert sum(bar.train for bar in shown) == pytest.approx(sum(bar.train for bar in result))
    assert sum(bar.release for bar in shown) == pytest.approx(sum(bar.release for bar in result))
    assert {"v0", "v49"} <= {bar.label for bar in shown}, "a level that is large on one side only is kept"


def test_levels_come_by_size_or_in_their_own_order_and_missing_last() -> None:
    collected = [Bar("low", 0.1, 0.1), Bar("high", 0.7, 0.7), Bar("never", 0.0, 0.0), Bar("missing", 0.2, 0.2)]
    assert [bar.label for bar in folding.levels(collected, ordered=False)] == ["high", "low", "missing"]
    assert [bar.label for bar in folding.levels(collected, ordered=True)] == ["low", "high", "missing"]


def test_one_level_too_many_is_not_folded_alone() -> None:
    result = [Bar(f"v{i}", 1 / 13, 1 / 13) for i in range(13)] + [Bar("missing", 0.0, 0.0)]
    assert all("other" not in bar.label for bar in folding.levels(result, ordered=False))


def test_ranges_are_recognized_and_put_together() -> None:
    result = [Bar(f"{i} to {i + 1}", 0.01, 0.02) for i in range(50)] + [Bar("missing", 0.5, 0.0)]
    assert folding.limits(result)[:2] == ["0", "1"]
    shown, ends, missing = folding.ranges(result)
    assert len(shown) <= folding.RANGES
    assert len(ends) == len(shown) + 1
    assert (shown[0].label, shown[-1].label) == ("0 to 3", "48 to 50")
    assert sum(bar.release for bar in shown) == pytest.approx(1.0)
    assert missing == Bar("missing", 0.5, 0.0)
    assert folding.limits([Bar("near to far", 1, 1), Bar("home to work", 1, 1), Bar("missing", 0, 0)]) == []
