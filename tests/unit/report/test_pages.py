"""What holds for both pages, whatever they are made of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hushtable.api.compare.comparison import Comparison
from hushtable.api.hybrid.result import HybridGrid
from hushtable.pipeline.card import Card
from hushtable.report import card as cards
from hushtable.report.audit import audit_page
from hushtable.report.html import INTERNAL
from tests.unit.api.hybrid.planted import planted
from tests.unit.report import comparisons, samples
from tests.unit.report.documents import Reader

ROWS = {"train": 30000, "release": 29977, "control": 12000}
TAGS = (
    "html head meta title link style body a div nav p ol ul li main header section h1 h2 h3 h4 strong small span code pre dl dt dd "
    "table caption thead tfoot tbody tr th td details summary figure figcaption article svg g rect line path circle text script "
    "br label input select option button"
)


def card_page(plain: dict[str, Any]) -> str:
    """The page of a card as it is read back."""
    return cards.card_page(Card.from_json(plain))


def pages() -> dict[str, str]:
    result, card = samples.hostile()
    cards = {name: samples.card(getattr(samples, name)) for name in ("PROVEN", "PURE", "VERIFIED", "CLAIMED", "NONE")}
    results = {f"card {name}": card_page(value) for name, value in cards.items()}
    return results | {
        "card without hashes": card_page({k: v for k, v in cards["PROVEN"].items() if k != "hashes"}),
        "card hostile": card_page(card),
        "card empty": card_page({}),
        "audit": audit_page(samples.report(samples.audit(), cards["PROVEN"], rows=ROWS)),
        "audit hostile": audit_page(samples.report(result, card, rows={samples.EVIL: 3})),
        "audit of 40 columns": audit_page(samples.report(samples.audit([f"column_{i}" for i in range(40)]), None, rows=ROWS)),
        "audit of one column": audit_page(samples.report(samples.audit(["age"]), None, rows=ROWS)),
        "audit of attacks": attacked("income"),
        "audit of attacks, hostile": attacked(samples.EVIL),
        "audit empty": audit_page(samples.report([], None, rows={})),
        **{f"hybrids {name}": HybridGrid.from_json(plain).page() for name, plain in hybrids().items()},
        **{f"comparison {name}": Comparison.from_json(make()).page() for name, make in comparisons.EVERY.items()},
    }


def hybrids() -> dict[str, dict[str, Any]]:
    """Grids of hybrids: ordinary, with a generator of a hostile name, of one cell, and of nothing."""
    ordinary = json.dumps(planted(k=[5, 20], beta=[0.5, 1], generators="sequential", failing="k=20 beta=1").to_json())
    one = planted(k=5, beta=1, transition="uniform", order="pre", generators="sequential").to_json()
    hostile = json.loads(ordinary.replace('"sequential"', json.dumps(samples.EVIL)).replace("too few rows", "<b>too few"))
    return {"ordinary": json.loads(ordinary), "hostile": hostile, "of one cell": one, "empty": {}}


def attacked(text: str) -> str:
    findings, more = samples.attacked(text)
    return audit_page(samples.report([*samples.audit(), *findings], None, rows=ROWS, **more))


PAGES = pages()


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return PAGES[request.param]


def test_every_tag_is_closed_in_order_and_known(page: str) -> None:
    reader = Reader(page)
    assert {e.name for e in reader.elements} <= set(TAGS.split())
    assert page.startswith("<!doctype html>")
    assert reader.one("html").attributes["lang"] == "en"


def test_the_reader_of_these_tests_would_notice_a_fault() -> None:
    for broken in ("<p><b></p></b>", "<div>", "</div>", '<p class="a" class="b"></p>', "<div/>"):
        with pytest.raises(AssertionError):
            Reader(broken)


def test_nothing_but_its_own_script_can_run(page: str) -> None:
    reader = Reader(page)
    assert not re.search(r"<\s*(img|iframe|object|embed)", page, re.IGNORECASE)
    assert len(re.findall(r"<\s*script", page, re.IGNORECASE)) == 1
    assert not [a for e in reader.elements for a in e.attributes if a.startswith("on") or a == "style"]
    (policy,) = [e.attributes["content"] or "" for e in reader.all("meta") if e.attributes.get("http-equiv")]
    assert "default-src 'none'" in policy
    (code,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy


def test_the_policy_names_the_very_stylesheet_of_the_page(page: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page


def test_nothing_is_fetched(page: str) -> None:
    reader = Reader(page)
    targets = [
        v or "" for e in reader.elements for a, v in e.attributes.items() if a in ("src", "href", "xlink:href", "srcset", "action")
    ]
    assert targets
    assert all(t.startswith(("#", "data:")) for t in targets)
    assert not re.search(r"url\(|@import|https?://", page)


def test_hostile_text_is_shown_as_text() -> None:
    for name in ("card hostile", "audit hostile", "comparison hostile", "hybrids hostile"):
        text = Reader(PAGES[name]).text
        assert "<script>alert('x')</script>" in text
        assert "&amp;" in text, "an entity in the data is shown as it is written"
        assert "\u202e" not in PAGES[name]
        assert "\x00" not in PAGES[name]
        PAGES[name].encode("utf-8")


def test_every_figure_has_a_name_and_every_mark_its_numbers(page: str) -> None:
    reader = Reader(page)
    for svg in (e for e in reader.all("svg") if not e.has("sample")):
        links = [e for e in reader.all("a") if svg in e.parents]
        assert svg.attributes["role"] == ("group" if links else "img")
        assert len(svg.attributes["aria-label"] or "") > 10
        assert svg.attributes["viewbox"]
    titled = {id(parent) for title in reader.all("title") for parent in title.parents[-1:]}
    for mark in (e for e in reader.elements if e.name in ("rect", "circle")):
        assert id(mark) in titled or any(id(parent) in titled for parent in mark.parents), mark


def test_contents_lead_to_every_section(page: str) -> None:
    reader = Reader(page)
    ids = [e.attributes["id"] for e in reader.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    links = [(e.attributes["href"] or "")[1:] for e in reader.all("a") if any(p.name == "nav" for p in e.parents)]
    assert links == [e.attributes["id"] for e in reader.all("section")]
    assert len(reader.all("h1")) == 1
    assert len(reader.all("h2")) == len(links)


def test_tables_scroll_in_their_own_frame(page: str) -> None:
    for table in Reader(page).all("table"):
        assert table.parents[-1].has("scroll")
        assert table.parents[-1].attributes["tabindex"] == "0"


def test_audits_are_marked_above_below_and_in_the_title() -> None:
    for name in (n for n in PAGES if n.startswith(("audit", "comparison", "hybrids"))):
        reader = Reader(PAGES[name])
        assert reader.one("div", "top").text == INTERNAL == "INTERNAL: computed from the raw rows, do not publish"
        assert reader.one("div", "bottom").text == INTERNAL
        assert reader.all("title")[0].text.startswith("INTERNAL")
        assert re.search(r"@media print.*?\.running\.top \{ display: table-header-group", PAGES[name], re.DOTALL)


def test_cards_hold_no_word_of_the_audit() -> None:
    reported = [f["name"] for f in samples.audit()] + ["INTERNAL", "fresh rows", "baseline"]
    for name in (n for n in PAGES if n.startswith("card") and "hostile" not in n):
        text = Reader(PAGES[name]).text
        assert not [word for word in reported if word in text]


def test_pages_stay_small() -> None:
    assert max(len(page.encode()) for page in PAGES.values()) < 300_000
    assert len(PAGES["audit"].encode()) < 90_000


def test_pages_are_pure_functions_of_their_input() -> None:
    result, card = samples.audit(), samples.card()
    before = json.dumps([result, card])
    assert audit_page(samples.report(result, card, rows=ROWS)) == audit_page(samples.report(result, card, rows=ROWS))
    assert card_page(card) == card_page(card)
    assert json.dumps([result, card]) == before


def test_pages_do_not_name_the_machine_that_made_them() -> None:
    for page in PAGES.values():
        assert str(Path.cwd()) not in page
        assert str(Path.home()) + "/" not in page
