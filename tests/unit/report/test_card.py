"""The public card: what is promised comes first, in words; everything on the card is on the page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import hushtable as ht
from hushtable.pipeline.card import Card, Suppressed
from hushtable.privacy.criteria import Counted
from hushtable.privacy.event import DiscreteLaplace
from hushtable.privacy.ledger import Entry
from hushtable.report import card as cards
from hushtable.report.markdown import card_markdown
from tests.unit.report import samples
from tests.unit.report.documents import Reader, number


def card_page(plain: dict[str, Any]) -> str:
    """The page of a card as it is read back."""
    return cards.card_page(Card.from_json(plain))


@pytest.mark.parametrize(
    ("name", "word", "sentence"),
    [
        (
            "PROVEN",
            "proven",
            "Adding or removing any one record makes no conclusion that anybody could draw from this table more than",
        ),
        (
            "VERIFIED",
            "verified",
            "Whoever knows a person’s age and sex finds at least 10 rows that match; by these columns alone, a guess which of them "
            "is theirs is right with",
        ),
        (
            "CLAIMED",
            "claimed",
            "A publication claims 1-differential privacy; its proof has a known gap, so it is not promised here.",
        ),
        ("NONE", "none", "No privacy guarantee is given for the people in this table."),
    ],
)
def test_the_promise_and_how_we_know(name: str, word: str, sentence: str) -> None:
    reader = Reader(card_page(samples.card(getattr(samples, name))))
    assert reader.one("strong", "badge").text.split()[1] == word
    assert reader.one("strong", "badge").has(word)
    assert reader.one("p", "promise").text.startswith(sentence)


def test_an_unknown_assurance_promises_nothing() -> None:
    card = samples.card()
    card["guarantee"]["assurance"] = "certified by a friend"
    reader = Reader(card_page(card))
    assert reader.one("strong", "badge").has("none")
    assert reader.one("p", "promise").text == "No privacy guarantee is given for the people in this table."


def test_epsilon_is_told_as_odds_and_in_symbols() -> None:
    card = samples.card()
    card["guarantee"] |= {"epsilon": math.log(2.5), "delta": 1e-6}
    text = Reader(card_page(card)).text
    assert "more than 2.5 times as likely, plus a probability of at most 1 in 1,000,000." in text
    assert "epsilon = 0.9163, delta = 0.000001" in text


def test_the_odds_agree_with_the_explanation() -> None:
    card = samples.card()
    reported = dict(card["explanation"])["Which means"]
    factor = reported.split("more than ")[1].split(" times")[0]
    assert f"more than {factor} times as likely, plus" in Reader(card_page(card)).one("p", "promise").text


@pytest.mark.parametrize("size", [10.01, 50.0, 800.0, 12345.0])
def test_a_large_epsilon_is_said_to_protect_hardly_anybody(size: float) -> None:
    guarantee = replace(samples.PURE, ledger=(Entry("a", DiscreteLaplace(1.0, size), "counts"),))
    card = samples.card(guarantee)
    assert card["guarantee"]["epsilon"] == pytest.approx(size)
    promise, reported = Reader(card_page(card)).one("p", "promise").text, dict(card["explanation"])["Which means"]
    power = {10.01: "10.1", 50.0: "50", 800.0: "800", 12345.0: "12,400"}[size]
    for text in (promise, reported):
        assert "an epsilon this large protects hardly anybody" in text.lower()
        assert f"a factor of at most e to the power {power}." in text
    assert "almost as readily" not in reported
    assert "almost as readily" in dict(samples.card()["explanation"])["Which means"]


def test_what_a_step_warns_of_stands_in_the_box_and_in_the_explanation() -> None:
    result = {"bins": {"pieces": {"age": 4, "note": "nested warning"}}, "margins": {"note": "the noise drowns the rows."}}
    card = samples.card(result=result)
    reader = Reader(card_page(card))
    box = reader.one("p", "caution").text
    assert box == "Caution: Nested warning. The noise drowns the rows. Columns were drawn independently."
    section = [e.text for e in reader.all("li") if any(p.attributes.get("id") == "meaning" for p in e.parents)]
    assert "the noise drowns the rows." in section
    plain = Reader(card_page(samples.card(result={"margins": {"note": {"column": 3}}}))).one("p", "caution").text
    assert plain == "Caution: Columns were drawn independently."


def test_the_unit_and_the_relation_are_told() -> None:
    card = samples.card()
    card["guarantee"] |= {"relation": "replace_one", "unit": {"rows": 3, "by": "patient"}}
    assert "Replacing any one person (who holds at most 3 rows) by another makes no conclusion" in Reader(card_page(card)).text


def test_infinity_is_a_word() -> None:
    text = Reader(card_page(samples.card(samples.NONE))).text
    assert "Differential privacy: none (epsilon is infinite)." in text
    assert "inf." not in text


def test_explanations_are_grouped_under_their_headings() -> None:
    card = samples.card(explanation=[["Note", "one."], ["Other", "two."], ["Note", "three."]])
    reader = Reader(card_page(card))
    section = [e for e in reader.all("dt") if any(p.attributes.get("id") == "meaning" for p in e.parents)]
    assert [e.text for e in section] == ["Note", "Other"]
    assert [e.text for e in reader.all("li") if any(p.attributes.get("id") == "meaning" for p in e.parents)] == ["one.", "three."]


def test_every_sentence_of_the_explanation_is_there() -> None:
    for guarantee in (samples.PROVEN, samples.VERIFIED, samples.CLAIMED, samples.NONE):
        text = Reader(card_page(samples.card(guarantee))).text
        for head, sentence in guarantee.sentences():
            assert head in text
            assert sentence in text


def test_criteria_have_value_and_meaning() -> None:
    reader = Reader(card_page(samples.card(samples.VERIFIED)))
    rows = [[c.text for c in reader.elements if c.name == "td" and c.parents[-1] is row] for row in reader.all("tr")]
    results = {row[0]: row for row in rows if len(row) == 3}
    assert results["k"][1] == "10"
    assert "look alike" in results["k"][2]
    assert results["marketer risk"][1] == "9.58 %"
    assert results["t"][1] == "0.763"
    assert "gives its value away" in results["l, distinct"][2]
    assert "No criterion" in Reader(card_page(samples.card(samples.NONE))).text


def test_a_card_says_whom_it_counts() -> None:
    rows = samples.VERIFIED.criteria
    promises = tuple(replace(p, counted=Counted.PERSONS) for p in samples.VERIFIED.promises)
    criteria = {**rows, "counted": "persons", "k": 4, "largest_share": 0.5, "by_rows": rows}
    text = Reader(card_page(samples.card(replace(samples.VERIFIED, promises=promises, criteria=criteria)))).text
    assert "Persons are counted" in text
    assert "only k = 10, counted by rows, can be measured on it" in text
    assert "are those of at least this many persons" in text
    assert "finds rows of at least 10 people that match" in text
    assert "one person holds up to 50 % of the rows that look alike" in text
    assert (
        "Rows are counted, not persons: k rows are k people only where each person holds one row."
        in Reader(card_page(samples.card(samples.VERIFIED))).text
    )


def test_the_budget_is_shared_by_rho() -> None:
    """Two looks at sigma 20 cost 2/800, one at sigma 10 costs 1/200: a third and two thirds."""
    reader = Reader(card_page(samples.card(samples.PROVEN)))
    bars = [e for e in reader.all("rect") if any(p.has("stacked") for p in e.parents)]
    assert len(bars) == 2
    assert number(bars[0], "x") == 0
    assert number(bars[1], "x") == pytest.approx(200)
    assert number(bars[1], "width") == pytest.approx(400, abs=2)
    assert "ranges of age (2 times)" in reader.text
    assert "66.7 %" in reader.text
    assert "shares are of rho" in reader.text


def test_pure_looks_are_shared_by_epsilon() -> None:
    """A Laplace look of epsilon 1/4 and a choice of epsilon 3/4."""
    reader = Reader(card_page(samples.card(samples.PURE)))
    bars = [e for e in reader.all("rect") if any(p.has("stacked") for p in e.parents)]
    assert [number(bar, "x") for bar in bars] == [0, 150]
    assert "shares are of epsilon" in reader.text


def test_a_raw_look_has_no_share() -> None:
    reader = Reader(card_page(samples.card(samples.NONE)))
    assert not reader.all("svg")
    assert "unprotected" in reader.text


def test_an_unreadable_event_has_no_share() -> None:
    card = samples.card()
    card["guarantee"]["ledger"].append({"step": "x", "why": "y", "sample": 0, "rate": 1.0, "event": "Unheard", "size": 3})
    reader = Reader(card_page(card))
    assert not reader.all("svg")
    assert "Unheard, size 3" in reader.text
    assert "not known by itself" in reader.text


def test_what_the_core_chose_keeps_column_names() -> None:
    card = samples.card(
        columns=["hours_per_week"], result={"step": {"noise_scale": {"hours_per_week": 1.5}, "methods": ["tree"] * 14}}
    )
    text = Reader(card_page(card)).text
    assert "noise scale" in text
    assert "hours_per_week1.5" in text.replace(" ", "")
    assert "tree × 14" in text


def test_hashes_and_how_to_verify() -> None:
    reader = Reader(card_page(samples.card()))
    assert reader.one("pre").text == "hush verify FOLDER"
    assert "ab" * 32 in reader.text
    assert any(p.name == "details" for c in reader.all("code") if c.text == "ab" * 32 for p in c.parents)
    assert "SHA-256" not in Reader(card_page({k: v for k, v in samples.card().items() if k != "hashes"})).text


@pytest.mark.parametrize(
    ("result", "starred", "value", "meaning"),
    [
        ({"generalize": {"suppressed_rows": 242}}, 0, "242", "242 left out of the table, 0 in it with every column above hidden"),
        ({"generalize": {"suppressed_rows": 242}}, 242, "242", "0 left out of the table, 242 in it with every column"),
        ({"suppress": {"rows_dropped": 2, "rows_suppressed": 3}}, 3, "5", "2 left out of the table, 3 in it with every column"),
        ({"margins": {"order": ["age"]}}, 0, "0", "no row was left out"),
    ],
)
def test_suppressed_rows_are_those_left_out_too(result: dict[str, Any], starred: int, value: str, meaning: str) -> None:
    card = samples.card(samples.VERIFIED, result=result)
    card["guarantee"]["criteria"]["suppressed"] = starred
    text = Reader(card_page(card)).text
    assert f"suppressed rows{value}{meaning}" in text
    assert f"| suppressed rows | {value} | {meaning}" in card_markdown(Card.from_json(card))


def test_a_card_of_a_release_counts_the_rows_that_were_left_out() -> None:
    released = ht.release(ht.people(400), "k-anonymity", k=5, limit=0.2, seed=1)
    gone = released.result["generalize"]["suppressed_rows"]
    assert gone
    assert gone == 400 - released.table.rows
    assert Card.from_json(released.card()).suppressed == Suppressed(left_out=gone, starred=0)
    assert f"| suppressed rows | {gone} |" in card_markdown(Card.from_json(released.card()))


def test_a_group_without_any_known_secret_is_not_said_to_give_a_value_away() -> None:
    card = samples.card(samples.VERIFIED)
    card["guarantee"]["criteria"]["secrets"]["income"]["l_distinct"] = 0
    for text in (Reader(card_page(card)).text, card_markdown(Card.from_json(card))):
        assert "all values are missing: no value is given away there, but that it is missing is" in text
        assert "at 1 some group gives its value away" not in text
