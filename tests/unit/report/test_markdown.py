"""The same words as Markdown, and a page that can be made again from what was kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.audit_report import AuditReport
from hushtable.data.people import people
from hushtable.measures.catalogue import MEASURES
from hushtable.pipeline.card import Card
from hushtable.report.markdown import audit_markdown, card_markdown, grid, plain
from tests.unit.report import samples

ROWS = {"train": 30000, "release": 29977, "control": 12000}


def tables(text: str) -> list[list[str]]:
    """Lines of tables as cells; an escaped bar is no border."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.replace("\\|", "∣").strip("|").split("|")] for line in lines]


def test_the_audit_holds_every_finding_with_its_value() -> None:
    findings, more = samples.attacked()
    collected = [*samples.audit(), *findings]
    text = audit_markdown(samples.report(collected, samples.card(samples.VERIFIED), rows=ROWS, **more))
    reported = {row[0] for row in tables(text)}
    for finding in collected:
        label = f"{finding['name']}, {finding['scope']}" if finding["scope"] else finding["name"]
        assert plain(label) in reported, label
    assert text.startswith("**INTERNAL: computed from the raw rows, do not publish**\n\n# Audit: A demonstration recipe\n")
    order = [
        text.index(part)
        for part in ("**Do not publish it as it is.**", "\nWhy:", "| What is promised? |", "## Key figures", "## Singling")
    ]
    assert order == sorted(order)
    assert "Whoever knows a person’s age and sex finds at least 10 rows that match" in text
    assert "\n\n\n" not in text


def test_a_table_keeps_its_shape_whatever_is_in_it() -> None:
    result, card = samples.hostile()
    for text in (audit_markdown(samples.report(result, card, rows={samples.EVIL: 3})), card_markdown(Card.from_json(card))):
        assert "<" not in re.sub(r"`[^`]*`", "", text).replace("\\<", "").replace("max\\_risk<", "")
        width = 0
        for line in text.splitlines():
            cells = line.replace("\\|", "").count("|") if line.startswith("|") else 0
            assert not (cells and width) or cells == width, line
            width = cells


def test_a_line_break_stays_in_its_cell() -> None:
    assert grid(["a"], [[plain("x\n| y")]]).splitlines() == ["| a |", "| --- |", "| x \\| y |"]


def test_what_cannot_be_written_or_turns_a_line_round_is_replaced() -> None:
    result, card = samples.hostile()
    for text in (audit_markdown(samples.report(result, card, rows={samples.EVIL: 3})), card_markdown(Card.from_json(card))):
        text.encode("utf-8")
        assert not [char for char in text if char != "\n" and not char.isprintable()]
        assert "&amp;" not in re.sub(r"`[^`]*`", "", text).replace("\\&", ""), "an entity shows as it is"


def test_rows_of_people_are_not_told() -> None:
    findings, more = samples.attacked()
    more["records"] = [r | {"values": {"age": "83 and a half"}} for r in more["records"]]
    text = audit_markdown(samples.report(findings, None, rows=ROWS, **more))
    assert "83 and a half" not in text
    assert "12 people have a risk above 50 %" in text


@pytest.mark.parametrize("guarantee", [samples.PROVEN, samples.PURE, samples.VERIFIED, samples.CLAIMED, samples.NONE])
def test_the_card_tells_what_is_promised_and_where_the_budget_went(guarantee: Any) -> None:
    card = samples.card(guarantee)
    text = card_markdown(Card.from_json(card))
    word = card["guarantee"]["assurance"]
    assert f"**{word}**" in text
    assert "hush verify FOLDER" in text
    assert "ab" * 32 in text
    for entry in card["guarantee"]["ledger"]:
        assert entry["why"] in text
    assert card_markdown(Card()).startswith("# Untitled recipe")


def test_what_is_kept_makes_the_same_page_again() -> None:
    table = people(150, 0).select(("birth_date", "sex", "smoker", "income"))
    train, control = table.take(np.arange(100)), table.take(np.arange(100, 150))
    released = ht.release(train, "mdav", settings={"k": "5"}, seed=0)
    report = ht.audit(
        train, released, control, only=["identical-matches", "inference", "margins", "association"], gates=["max_risk<0.9"]
    )
    again = AuditReport.from_json(json.loads(json.dumps(report.to_json())))
    assert again.page() == report.page()
    assert again.markdown() == report.markdown()
    assert again.to_json() == json.loads(json.dumps(report.to_json()))
    assert again.card is not None
    assert again.card.recipe == "mdav"
    assert 'id="guarantee"' in report.page()


def test_an_audit_of_text_that_cannot_be_encoded_is_written(tmp_path: Path) -> None:
    result = MEASURES["TVD"].finding(0.1, n=3, note="a note", scope="\ud800lone")
    folder = AuditReport(findings=[result], rows=ROWS).save(tmp_path / "audit", ("html", "md"))
    for file in folder.iterdir():
        assert "lone" in file.read_text(encoding="utf-8")


def test_an_empty_audit_says_so_in_both() -> None:
    empty = samples.report([], rows={})
    assert "No audit was run" in empty.page()
    assert "No audit was run" in empty.markdown()
