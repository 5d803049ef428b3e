"""The plane of risk and use: where marks stand, what is ruled out, and names that never cover anything."""

from __future__ import annotations

import itertools
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.api.compare.comparison import Comparison
from hushtable.report.charts import knobs
from hushtable.report.charts.ground import TICKS, Risks, score_ticks, tick_texts, upwards
from hushtable.report.charts.placing import Box, Wish, place
from hushtable.report.charts.plane import plane
from hushtable.report.charts.plots import Scale
from hushtable.report.words import wide
from tests.unit.report import comparisons
from tests.unit.report.documents import Element, Reader, number


@cache
def drawn(name: str, **size: float) -> Reader:
    return Reader(f"<body>{plane(Comparison.from_json(comparisons.EVERY[name]()), **size)}</body>")


def mark(reader: Reader, label: str) -> list[Element]:
    """What is drawn for one release."""
    (link,) = [e for e in reader.all("a") if (e.attributes["aria-label"] or "").split(": ")[0].endswith(label)]
    return [e for e in reader.elements if link in e.parents]


def place_of(reader: Reader, label: str) -> tuple[float, float]:
    (hover,) = [e for e in mark(reader, label) if e.has("hover")]
    return number(hover, "cx"), number(hover, "cy")


def test_the_scale_of_risk_is_fixed_keeps_zero_and_order_and_stretches_what_is_small() -> None:
    scale = Risks(10.0, 110.0)
    assert (scale(0.0), scale(1.0)) == (10.0, 110.0)
    assert (scale(-0.5), scale(1.5)) == (10.0, 110.0), "what is beyond the ends stands at them"
    assert scale(0.05) - scale(0.0) > 30.0, "most releases lie below five of 100"
    assert np.diff([scale(t) for t in TICKS]).min() >= 12.0
    for name in ("ordinary", "sixty", "nothing fits"):
        texts = [e.text for e in drawn(name).all("text")]
        assert [t for t in ("0", "1", "5", "20", "50", "100") if t in texts] == ["0", "1", "5", "20", "50", "100"]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(5, 7))
def test_ticks_are_different_texts(low: float, span: float, most: int) -> None:
    ticks = Scale(low, low + span, 0.0, 1.0).ticks(most)
    texts = tick_texts(ticks)
    assert len(set(texts)) == len(texts) == len(ticks) >= 2
    step = ticks[1] - ticks[0]
    for tick, shown in zip(ticks, texts, strict=True):
        assert float(shown.replace("−", "-").replace(",", "")) == pytest.approx(tick, abs=step / 100)


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [0.9998, 1.0], [0.871, 0.872], [0.5, 0.93], [-0.2, 0.6]])
def test_scores_that_hardly_differ_have_ticks_of_three_digits(values: list[float]) -> None:
    reported = comparisons.comparison([comparisons.cell("aim", i + 1, 0.0, s) for i, s in enumerate(values)], None)
    comparison = Comparison.from_json(reported)
    texts = [text for _, text in score_ticks(comparison.axis, upwards(comparison.axis, comparison.cells, 100.0, 0.0), 6)]
    assert len(set(texts)) == len(texts) >= 2
    assert all(len(text.lstrip("−").replace(".", "")) <= 4 for text in texts), "0.995 and 1.000"
    assert all(float(text.replace("−", "-")) <= 1 for text in texts), "no area under a curve is above 1"


@given(st.lists(st.tuples(st.floats(0.4, 1.0), st.floats(0.0, 0.3)), min_size=1, max_size=6))
def test_the_scale_of_scores_holds_every_mark_and_its_interval(points: list[tuple[float, float]]) -> None:
    cells = [comparisons.cell("aim", i + 1, 0.0, s, score=comparisons.estimate(s, gap)) for i, (s, gap) in enumerate(points)]
    comparison = Comparison.from_json(comparisons.comparison(cells, None))
    scale = upwards(comparison.axis, comparison.cells, 100.0, 0.0)
    for one in comparison.cells:
        assert one.score is not None
        assert all(0 <= scale(end) <= 100 for end in (one.score.value, one.score.lower, one.score.upper))


def test_a_release_with_alarms_stands_at_its_worst_measured_gain_filled_and_right_of_a_calm_one() -> None:
    reader = drawn("leaky")
    leaky, calm = place_of(reader, "k-anonymity k=5"), place_of(reader, "mdav k=10")
    assert leaky[0] > calm[0] + 100, "its widest bound is of an attack that measured nothing"
    along = next(e for e in mark(reader, "k-anonymity k=5") if e.name == "line" and number(e, "y1") == number(e, "y2"))
    assert number(along, "x1") == pytest.approx(leaky[0])
    assert number(along, "x2") > leaky[0]
    filled = [e for e in mark(reader, "k-anonymity k=5") if e.name == "path"]
    hollow = [e for e in mark(reader, "mdav k=10") if e.name == "path"]
    assert not filled[0].has("ring")
    assert hollow[0].has("ring")
    (link,) = [e for e in reader.all("a") if "k-anonymity k=5:" in (e.attributes["aria-label"] or "")]
    assert "42 more of 100 people, at most 97 (linkability); alarms: 65 of 116" in (link.attributes["aria-label"] or "")


def test_less_risk_is_left_and_a_better_score_is_up() -> None:
    reader = drawn("ordinary")
    safe, risky = place_of(reader, "mst epsilon=0.5"), place_of(reader, "sequential")
    assert safe[0] < risky[0]
    assert safe[1] > risky[1], "y grows downwards"


def test_up_is_better_where_less_is_better() -> None:
    reader = drawn("nothing fits")
    assert place_of(reader, "mdav k=5")[1] < place_of(reader, "mdav k=50")[1], "0.1 is better than 0.55"


def test_a_score_far_off_does_not_flatten_the_others() -> None:
    reported = comparisons.ordinary()
    before = place_of(drawn("ordinary"), "mdav k=10")[1] - place_of(drawn("ordinary"), "aim epsilon=1")[1]
    next(c for c in reported["cells"] if c["id"] == "mst epsilon=0.5")["score"] = {"value": -40.0, "low": -90.0, "high": -3.0}
    reader = Reader(f"<body>{plane(Comparison.from_json(reported))}</body>")
    after = place_of(reader, "mdav k=10")[1] - place_of(reader, "aim epsilon=1")[1]
    assert before / after < 5
    assert place_of(reader, "mst epsilon=0.5")[1] == max(number(e, "cy") for e in reader.all("circle"))
    assert all(number(e, "y2") <= 470 for e in reader.all("line"))


def test_whiskers_reach_from_bound_to_bound() -> None:
    reported = comparisons.ordinary()
    cell = next(c for c in reported["cells"] if c["id"] == "mdav k=10")
    reader = drawn("ordinary")
    along = next(e for e in mark(reader, "mdav k=10") if e.name == "line" and number(e, "y1") == number(e, "y2"))
    zero, x = place_of(reader, "mst epsilon=0.5")[0], place_of(reader, "mdav k=10")[0]
    assert number(along, "x1") == pytest.approx(x), "the bound may be of another attack than the mark"
    scale = Risks(zero, 900.0 - 76.0)
    assert number(along, "x2") == pytest.approx(scale(cell["gain"]["high"]), abs=0.1)
    earlier = drawn("earlier")
    along = next(e for e in mark(earlier, "mdav k=10") if e.name == "line" and number(e, "y1") == number(e, "y2"))
    assert number(along, "x1") == pytest.approx(zero), "the lower bound of a residual risk is zero"


def test_without_intervals_there_are_marks_alone() -> None:
    reader = drawn("alone")
    (link,) = reader.all("a")
    assert not [e for e in reader.all("line") if link in e.parents]


def test_what_was_not_attacked_stands_apart_beyond_every_risk() -> None:
    reader = drawn("ordinary")
    unknown = place_of(reader, "dpcopula-hybrid epsilon=1")[0]
    others = [number(e, "cx") for e in reader.all("circle", "hover")]
    assert sorted(others)[-2] < unknown - 20
    assert "unknown" in reader.text
    assert "unknown" not in drawn("alone").text


def test_a_void_audit_has_no_place_among_the_risks() -> None:
    reported = comparisons.ordinary()
    for cell in reported["cells"]:
        cell["void"] = ["the control rows are training rows"] if cell["id"] == "mdav k=10" else []
    reader = Reader(f"<body>{plane(Comparison.from_json(reported))}</body>")
    assert place_of(reader, "mdav k=10")[0] == place_of(reader, "dpcopula-hybrid epsilon=1")[0]


def test_shapes_show_the_kind_of_evidence() -> None:
    reader = drawn("ordinary")
    corners = {
        label: [len(re.findall("[ML]", e.attributes["d"] or "")) for e in mark(reader, label) if e.name == "path"]
        for label in ("mdav k=10", "dpcopula-hybrid epsilon=1", "aim epsilon=1", "sequential")
    }
    assert corners == {"mdav k=10": [4], "dpcopula-hybrid epsilon=1": [3], "aim epsilon=1": [], "sequential": [4]}
    assert not [e for e in mark(reader, "sequential") if e.has("ring")], "it raised an alarm"
    assert [e for e in mark(reader, "aim epsilon=1") if e.has("ring")]


def test_the_front_steps_up_to_the_right_through_upper_bounds() -> None:
    reader = drawn("ordinary")
    (path,) = reader.all("path", "front")
    steps = path.attributes["d"] or ""
    across = [float(x) for x in re.findall(r"[MH]([\d.]+)", steps)]
    upwards = [float(y) for y in re.findall(r"(?:V|M[\d.]+ )([\d.]+)", steps)]
    assert across == sorted(across)
    assert upwards == sorted(upwards, reverse=True)
    assert upwards[-1] == place_of(reader, "sequential")[1], "the best score ends it"


def test_a_limit_of_risk_is_hatched_where_marks_are_ruled_out() -> None:
    reader = drawn("ordinary")
    (region,) = reader.all("rect", "ruled")
    left = number(region, "x")
    inside = place_of(reader, "mondrian k=10"), place_of(reader, "aim epsilon=1")
    assert all(x < left for x, _ in inside)
    assert place_of(reader, "sequential")[0] > left
    (hatch,) = reader.all("path", "hatch")
    xs = [float(x) for x in re.findall(r"[ML]([\d.]+)", hatch.attributes["d"] or "")]
    assert min(xs) >= left - 0.1
    assert max(xs) <= left + number(region, "width") + 0.1


def test_a_limit_of_score_is_hatched_below() -> None:
    reported = comparisons.ordinary() | {"constraints": [{"expression": "score>=0.8", "told": "the score is at least 0.8"}]}
    reader = Reader(f"<body>{plane(Comparison.from_json(reported))}</body>")
    (region,) = reader.all("rect", "ruled")
    assert place_of(reader, "mst epsilon=0.5")[1] > number(region, "y") > place_of(reader, "mst epsilon=1")[1]


def test_the_recommended_one_is_ringed_and_named() -> None:
    for size, name in (({}, "1 mdav k=10"), ({"width": 350.0, "height": 400.0}, "1")):
        reader = drawn("ordinary", **size)
        assert [e for e in mark(reader, "mdav k=10") if e.has("chosen")]
        assert len(reader.all("circle", "chosen")) == 1
        assert reader.one("text", "best").text == name


def test_every_release_with_a_score_is_drawn_once() -> None:
    for name, count in (("ordinary", 17), ("sixty", 60), ("alone", 1), ("safe", 3), ("all failed", 0)):
        links = drawn(name).all("a")
        assert len({e.attributes["href"] for e in links}) == len(links) == count


def test_everything_stays_inside_the_drawing() -> None:
    for name, width in itertools.product(("ordinary", "sixty", "safe", "alone", "nothing fits"), (900.0, 350.0)):
        reader = drawn(name, width=width, height=400.0)
        for e in reader.elements:
            for key in {"x1", "x2", "cx"} & set(e.attributes):
                assert 0 <= number(e, key) <= width
            for key in {"y1", "y2", "cy"} & set(e.attributes):
                assert 0 <= number(e, key) <= 400


def test_names_cover_no_mark_and_no_other_name() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(20, 380, (80, 2))
    marks = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    frame = Box(0, 0, 400, 400)
    wishes = [Wish(x, y, (f"{i} some release", str(i))) for i, (x, y) in enumerate(points)]
    places = place(wishes, frame, marks=marks, size=12.0)
    boxes = [Box(p.x, p.y - 9, p.x + wide(p.text, 12.0), p.y + 2) for p in places if p]
    assert len(boxes) > 40
    assert {bool(p and " " in p.text) for p in places} == {True, False}, "some have room for the whole name and some have not"
    assert all(b.inside(frame) for b in boxes)
    assert not any(a.meets(b) for a, b in itertools.combinations(boxes, 2))
    assert not any(b.meets(m) for b in boxes for m in marks)


def test_a_line_is_crossed_only_where_there_is_no_other_room() -> None:
    line = Box(0, 49, 100, 51)
    (spot,) = place([Wish(50, 50, ("name",))], Box(0, 0, 100, 100), marks=[], lines=[line])
    assert spot is not None
    assert spot.y < 49 or spot.y - 9 > 51
    narrow = Box(0, 42, 100, 58)
    (short,) = place([Wish(50, 50, ("n" * 5, "n"))], narrow, marks=[], lines=[line])
    (whole,) = place([Wish(50, 50, ("n" * 5, "n"), insists=True)], narrow, marks=[], lines=[line])
    assert short is not None
    assert whole is not None
    assert (short.text, whole.text) == ("n", "n" * 5)
    assert place([Wish(50, 50, ("name",))], Box(0, 48, 100, 52), marks=[]) == [None]


def test_knobs_are_epsilon_k_or_the_one_number_that_differs() -> None:
    comparison = Comparison.from_json(comparisons.ordinary())
    results = {
        knob: {line.recipe: [x for x, _ in line.points] for line in lines} for knob, lines in knobs.lines(comparison).items()
    }
    assert results == {
        "k": {"mdav": [5, 10, 50], "mondrian": [5, 10, 50], "k-anonymity": [5, 10, 50]},
        "epsilon": {"aim": [0.5, 1, 4], "mst": [0.5, 1, 4]},
    }
    plain = [
        comparisons.cell("sequential", 0, 0.0, 0.8, id=f"beta {b}", settings={"word": "x", "beta": b}, guarantee={})
        for b in ("0.1", "2")
    ]
    assert list(knobs.lines(Comparison.from_json(comparisons.comparison(plain, None)))) == ["beta"]
    assert knobs.lines(Comparison.from_json(comparisons.alone())) == {}


def test_the_chart_of_a_knob_has_a_mark_for_each_release_and_the_real_rows() -> None:
    comparison = Comparison.from_json(comparisons.ordinary())
    reader = Reader(f"<body>{knobs.chart(comparison.axis, 'epsilon', knobs.lines(comparison)['epsilon'])}</body>")
    assert len(reader.all("circle")) == 6
    assert len(reader.all("line", "baseline")) == 1
    across = sorted({number(e, "cx") for e in reader.all("circle")})
    assert (across[2] - across[1]) / (across[1] - across[0]) == pytest.approx(2.0, rel=0.01), (
        "a log scale: 1 to 4 is twice 0.5 to 1"
    )
