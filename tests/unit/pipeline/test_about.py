"""What the data is called, whom to ask and the licence: declared in the schema, carried to the card, and held against it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import hushtable as ht
from hushtable.api.compare.comparison import Comparison
from hushtable.errors import InputError
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import load_card, load_table, today
from hushtable.pipeline.verify import verify
from hushtable.report.card import card_page
from hushtable.report.markdown import card_markdown
from hushtable.table.schema import Schema
from tests.unit.report.comparisons import ordinary

ABOUT = {"title": "A town: its people", "contact": "data@example.org", "licence": "CC BY 4.0"}


@pytest.fixture
def named(small):
    return small.under(small.schema.described(**ABOUT))


def test_a_schema_file_holds_them(named):
    text = named.schema.dump()
    assert Schema.parse(text).about == ABOUT
    assert Schema.parse(text).dump() == text
    assert Schema.parse("columns: {age: {kind: integer}}").about == {}


def test_each_is_one_line_of_text():
    assert Schema.parse("title: |\n  two\n  lines\ncolumns: {age: {kind: integer}}").title == "two lines"
    with pytest.raises(InputError, match="contact: expected a text"):
        Schema.parse("contact: [a, b]\ncolumns: {age: {kind: integer}}")


@pytest.mark.parametrize(("recipe", "options"), [("mdav", {}), ("k-anonymity", {}), ("independent", {"epsilon": 1.0})])
def test_the_card_and_the_released_schema_say_them(named, tmp_path, recipe, options):
    released = ht.release(named, recipe, seed=1, **options)
    folder = ht.save(released, tmp_path / "out")
    card = load_card(folder)
    assert {name: card[name] for name in ("data_title", "contact", "licence")} == dict(
        zip(("data_title", "contact", "licence"), ABOUT.values(), strict=True)
    )
    assert card["title"] == released.recipe.title, "the title of the recipe is still its own"
    assert load_table(folder).schema.about == ABOUT
    assert not verify(folder).faults
    for shown in (card_page(Card.from_json(card)), card_markdown(Card.from_json(card))):
        assert all(text in shown for text in ABOUT.values())
        assert card["date"] in shown


def test_a_drawn_release_says_them_too(named):
    assert ht.draw(ht.release(named, "independent", epsilon=1.0), rows=20).table.schema.about == ABOUT


def test_nothing_is_said_where_nothing_is_declared(small):
    card = ht.release(small, "mdav", seed=1).card()
    assert not {"data_title", "contact", "licence"} & set(card)
    page = card_page(Card.from_json(card))
    assert "Contact" not in page
    assert "Licence" not in page


@pytest.mark.parametrize(
    ("entry", "value"), [("data_title", "Another"), ("contact", "me"), ("licence", "none"), ("date", "lately"), ("date", 5)]
)
def test_a_card_that_says_other_than_its_schema_is_caught(named, tmp_path, entry, value):
    folder = ht.save(ht.release(named, "mdav", seed=1), tmp_path / "out")
    card = load_card(folder) | {entry: value}
    (folder / "card.json").write_text(json.dumps(card))
    assert [fault.where for fault in verify(folder).faults] == [entry]


def test_the_day_is_that_of_the_build_where_one_is_set(monkeypatch, small):
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", today())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == "1970-01-02"
    assert ht.release(small, "mdav", seed=1).card()["date"] == "1970-01-02"


def test_an_audit_knows_what_it_is_about(named):
    train, control = ht.hold_out(named, 0.3, 0)
    report = ht.utility(train, ht.release(train, "mdav", seed=1), control, only=["margins"])
    assert report.title == ABOUT["title"]
    assert report.run.date == today()
    back = type(report).from_json(report.to_json())
    assert (back.title, back.run.date) == (report.title, report.run.date)
    old = {name: value for name, value in report.to_json().items() if name != "title"}
    assert type(report).from_json(old | {"made": {}}).title == ""
    assert f"<title>INTERNAL utility: {ABOUT['title']}, {today()}" in report.page()
    assert f"# Utility: {ABOUT['title']}, {today()}" in report.markdown()
    unnamed = replace(report, title="", card=None)
    assert "An unnamed release" in unnamed.page()


def test_a_comparison_knows_what_it_is_about():
    plain = ordinary()
    comparison = Comparison.from_json(plain | {"table": plain["table"] | {"title": "A town"}, "made": {"date": "2026-11-17"}})
    assert (comparison.table.title, comparison.run.date) == ("A town", "2026-11-17")
    assert comparison.to_json()["table"]["title"] == "A town"
    assert f"<title>INTERNAL comparison: A town, 2026-11-17: take {comparison.best.id}</title>" in comparison.page()
    assert "Which release to publish: A town" in comparison.page()
