"""The parts of a report one by one: each stands on the page as it is, and all of them are all of the page."""

from __future__ import annotations

import re

import pytest

import hushtable as ht
from hushtable.api import sections as api
from hushtable.api.audit_report import AuditReport
from hushtable.errors import InputError
from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import load_card
from hushtable.report import audit
from hushtable.report.card import card_page

NASTY = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    train, control = ht.hold_out(ht.people(300, seed=1), 0.4, seed=0)
    released = ht.release(train, "k-anonymity", k=4, limit=1.0, seed=1, allow_copies=NASTY)
    ht.save(released, folder / "release")
    ht.audit(train, released, control, only=["linkability", "margins"], seed=0, card=released.card()).save(folder / "audit")
    return folder


def test_all_parts_together_are_the_page_of_an_audit(saved):
    page = ht.read_audit(saved / "audit").page()
    shown = [one for part in api.parts(saved / "audit") for one in ht.sections(saved / "audit", part)]
    assert api.parts(saved / "audit") == ("decision", "attacks", "people", "power", "promise", "use", "words")
    at = 0
    for one in shown:
        at = page.index(one.html, at) + len(one.html)
        assert one.body in one.html
    anchors = re.findall(r'<section id="([^"]*)"', page)
    assert [one.anchor for one in shown] == anchors
    assert {"linkability"} <= {one.anchor for one in ht.sections(saved / "audit", "attacks")}
    assert ht.sections(saved / "audit", "people")[0].anchor == "records"


def test_only_the_part_that_is_asked_for_is_drawn(saved, monkeypatch):
    report = ht.read_audit(saved / "audit")
    for name in audit.PARTS:
        if name != "people":
            monkeypatch.setitem(audit.PARTS, name, lambda _, own=name: pytest.fail(f"{own} was drawn"))
    assert ht.sections(report, "people")


def test_all_parts_together_are_the_page_of_a_card(saved):
    card = Card.from_json(load_card(saved / "release"))
    page = card_page(card)
    assert api.parts(card) == ("head", "card")
    assert ht.sections(saved / "release", "head")[0].body in page
    for one in ht.sections(saved / "release", "card"):
        assert one.html in page


def test_a_fragment_is_escaped_and_carries_no_script_or_style(saved):
    hostile = AuditReport(
        findings=[
            Finding(audit="x", name=NASTY, scope=NASTY, value=0.5, note=NASTY, better=Better.LOWER, subject=Subject.PRIVACY, n=9)
        ],
        rows={"train": 9},
        title=NASTY,
    )
    for shown in (hostile, saved / "release", saved / "audit"):
        for part in api.parts(shown):
            for one in ht.sections(shown, part):
                assert not re.search(r"<script|<style|\sstyle=|\son\w+=", one.html)


def test_what_is_no_part_is_refused(saved):
    with pytest.raises(InputError, match="did you mean 'people'"):
        ht.sections(saved / "audit", "peopel")
    with pytest.raises(InputError):
        ht.sections(saved, "people")


def test_the_style_and_the_script_are_those_of_the_pages(saved):
    page = ht.read_audit(saved / "audit").page()
    assert api.stylesheet() in page
    assert api.script() in page
