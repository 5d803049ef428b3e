"""The page of a certificate: whole, silent and honest, whatever the metrics are called."""

from __future__ import annotations

import re

import pytest

from hushtable.api.certificate import Certificate, Expect, curve
from tests.unit.report.documents import Reader
from tests.unit.report.samples import EVIL


def records(level: float, names: list[str]) -> list[dict[str, object]]:
    collected = []
    for i, name in enumerate(names):
        for scope in ("", EVIL) if i % 2 else ("",):
            value = level if i % 3 else 0.2
            plain = {"audit": f"audit {i}", "name": name, "scope": scope, "better": "lower", "risk": None, "baseline": 0.0}
            collected.append(plain | {"value": value, "low": value - 0.05, "high": value + 0.05})
    return collected


def study(names: list[str]) -> Certificate:
    def along(model: str, name: str, expect: Expect, levels: tuple[float, ...]):
        return curve(model, name, "how far", expect, [(x, records(x, names)) for x in levels])

    curves = [
        along("leaky", "leaky", Expect.RISE, (0.0, 0.5, 1.0)),
        *(along("noisy", f"setting {i}", Expect.RISE, (0.0, 1.0)) for i in range(8)),
        along("size", "size", Expect.STAY, (1.0, 4.0)),
        *(along(f"{EVIL}, radius", f"radius {i}", Expect.NOTHING, (0.0, 1.0)) for i in range(2)),
    ]
    seconds = {f"audit {i}": 0.5 + i for i in range(len(names))}
    return Certificate(
        rows={"train": 10, "control": 10, "fresh": 10}, table=99, seed=3, curves=curves, seconds=seconds, refused={EVIL: EVIL}
    )


PAGES = {
    "ordinary": study(["one", "two", "three", "four"]).page(),
    "hostile": study([EVIL, f"{EVIL} 2"]).page(),
    "many": study([f"metric {i}" for i in range(25)]).page(),
    "one": study(["one"]).page(),
    "empty": Certificate(rows={}, table=0, seed=0, curves=[], seconds={}).page(),
}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return PAGES[request.param]


def test_it_is_closed_silent_and_marked(page: str) -> None:
    reader = Reader(page)
    assert not re.search(r"<\s*(img|iframe|object|embed)", page, re.IGNORECASE)
    assert not re.search(r"url\(|@import|https?://", page)
    assert "default-src 'none'" in page
    assert reader.one("div", "top").text.startswith("INTERNAL")
    ids = [e.attributes["id"] for e in reader.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    links = [(e.attributes["href"] or "")[1:] for e in reader.all("a") if any(p.name == "nav" for p in e.parents)]
    assert links == [e.attributes["id"] for e in reader.all("section")]


def test_every_figure_has_a_name_and_every_mark_its_numbers(page: str) -> None:
    reader = Reader(page)
    for svg in reader.all("svg"):
        assert svg.attributes["role"] == "img"
        assert len(svg.attributes["aria-label"] or "") > 10
    titled = {id(parent) for title in reader.all("title") for parent in title.parents[-1:]}
    for mark in (e for e in reader.elements if e.name in ("rect", "circle")):
        assert id(mark) in titled or any(id(parent) in titled for parent in mark.parents), mark


def test_no_coordinate_is_lost(page: str) -> None:
    for svg in Reader(page).all("svg"):
        assert svg.attributes["viewbox"]
    assert "nan" not in re.sub(r'"[^"]*(title|label)[^"]*"', "", " ".join(re.findall(r' (?:d|x|y|x1|y1|cx|cy)="[^"]*"', page)))


def test_it_says_what_fails_and_what_was_left_out() -> None:
    text = Reader(PAGES["ordinary"]).text
    assert "69 of its 99 rows were not used" in text
    assert "does not rise" in text
    assert "drifts" in text
    assert "leaky: 2 of 4 metrics rise" in text
    assert "Every metric did what is expected" not in text


def test_one_panel_for_each_metric_and_one_dashed_line_for_every_second_setting() -> None:
    reader = Reader(PAGES["ordinary"])
    panels = [e for e in reader.all("figure") if e.has("panel")]
    # Four metrics on four models, and the correlations of the one curve that is to rise alone.
    assert len(panels) == 17
    dashed = [e for e in reader.elements if "stroke-dasharray" in e.attributes]
    assert len(dashed) == 4 * 4


def test_nothing_run_is_nothing_claimed() -> None:
    assert "Nothing was judged" in Reader(PAGES["empty"]).text
