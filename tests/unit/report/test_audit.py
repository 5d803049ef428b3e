"""The private audit: key figures with their verdicts, every finding in a table, nothing merged."""

from __future__ import annotations

import base64
import csv
import io
from typing import Any

from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.report.audit import audit_page, key_figures
from hushtable.report.tables import as_csv
from tests.unit.report import samples
from tests.unit.report.documents import Reader

ROWS = {"train": 30000, "release": 29977, "control": 12000}


def page(findings: list[dict[str, Any]], card: dict[str, Any] | None = None) -> Reader:
    return Reader(audit_page(samples.report(findings, card, rows=ROWS)))


def rows_of(reader: Reader, section: str) -> list[list[str]]:
    rows = [r for r in reader.all("tr") if any(p.attributes.get("id") == section for p in r.parents)]
    return [[c.text for c in reader.elements if c.name == "td" and c.parents[-1] is row] for row in rows]


def test_the_worst_privacy_findings_come_first_and_there_are_five_figures() -> None:
    collected = [Finding.from_json(f) for f in samples.audit()]
    figures = key_figures(collected)
    assert [r.name for r in figures] == [
        "plugin attack", "identical match share", "mean TVD", "association difference", "train on release, test on real: AUC",
    ]  # fmt: skip
    drawn = [e for e in page(samples.audit()).all("article") if any(p.attributes.get("id") == "figures" for p in e.parents)]
    assert len(drawn) == 5


def test_the_summary_counts_but_does_not_merge() -> None:
    reader = page(samples.audit())
    (reasons,) = reader.all("div", "reasons")
    assert [e.text.partition(":")[0] for e in reader.all("li") if reasons in e.parents] == [
        "identical match share", "plugin attack, age", "Attack it first",
    ]  # fmt: skip
    assert "never added up to one score" in reader.text


def test_every_finding_is_told_once_in_its_part_and_whole_in_the_file() -> None:
    report = samples.audit()
    reader = page(report)
    drawn = [r for e in reader.all("section") if (r := rows_of(reader, e.attributes["id"] or ""))]
    cells = [row[0] for rows in drawn for row in rows if row]
    for finding in report:
        shown = finding["scope"] if finding["scope"] else finding["name"]
        assert any(cell.startswith(shown) for cell in cells), shown
    assert sum(cell.startswith("identical match share") for cell in cells) == 1
    link = reader.one("a", "button").attributes["href"] or ""
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(link.split(",", 1)[1]).decode("utf-8-sig"), newline="")))
    assert [row["name"] for row in rows] == [f["name"] for f in report]
    assert not rows_of(reader, "all"), "no table repeats what the parts say"


def test_the_verdict_stands_first_and_everything_but_the_summary_is_folded() -> None:
    reader = page(samples.audit(), samples.card(samples.VERIFIED))
    (main,) = reader.all("main")
    children = [e for e in reader.elements if e.parents and e.parents[-1] is main]
    assert [e.name for e in children[:3]] == ["header", "section", "nav"], "the contents come after the verdict"
    assert children[1].attributes["id"] == "summary"
    first = next(e for e in reader.elements if e.name == "div" and children[1] in e.parents)
    assert first.has("decided")
    assert first.text.startswith("Should it be published?")
    assert [e.attributes["id"] for e in reader.all("section") if not e.has("folded")] == ["summary", "figures"]
    for section in reader.all("section", "folded"):
        own = [e for e in reader.all("summary") if e.parents[-2] is section]
        assert len(own) == 1
        assert next(e for e in reader.all("span", "gist") if own[0] in e.parents).text.endswith("."), section
    assert not [e for e in reader.all("details") if "open" in e.attributes]


def test_the_worst_column_stands_beside_a_mean() -> None:
    columns = [samples.finding("TVD", value, scope=name) for name, value in (("age", 0.05), ("job", 0.1234))]
    reader = page([samples.finding("mean TVD", 0.0867, baseline=0.01), *columns])
    (figure,) = [e for e in reader.all("article") if any(p.attributes.get("id") == "figures" for p in e.parents)]
    assert "worst: job 0.123" in figure.text
    assert "worst: job 0.123" in rows_of(reader, "margins")[1][0]


def test_the_title_is_the_name_of_the_data_the_date_and_the_verdict() -> None:
    report = samples.report(samples.audit(), samples.card(), rows=ROWS, title="A census", made={"date": "2026-11-17"})
    reader = Reader(audit_page(report))
    assert reader.all("title")[0].text == "INTERNAL audit: A census, 2026-11-17: Not decided: no attack was tested"
    assert reader.one("h1").text == "A census"
    assert "Audit, 2026-11-17" in reader.one("header").text


def test_a_finding_without_value_shows_its_reason() -> None:
    reader = page(samples.audit())
    assert rows_of(reader, "uncomputed")[1:] == [["broken attack", "whole table", "The reason it failed."]]


def test_unknown_metrics_have_a_section_and_a_meaning() -> None:
    reader = page(samples.audit())
    assert [r[0] for r in rows_of(reader, "others")[1:]] == ["plugin metric– no interval to judge it by"]
    assert reader.text.count("a metric of another package") == 3
    assert "others" not in [e.attributes.get("id") for e in page([samples.finding("mean TVD", 0.1)]).elements]


def test_columns_are_drawn_worst_first_and_the_rest_is_said_to_be_left_out() -> None:
    detail = {"labels": ["a", "missing"], "train": [1.0, 0.0], "release": [1.0, 0.0]}
    collected = [samples.finding("TVD", i / 100, scope=f"c{i}", detail=detail) for i in range(30)]
    reader = page(collected)
    names = [e.text for e in reader.all("strong") if any(p.has("panel") for p in e.parents)]
    assert names == [f"c{i}" for i in range(29, 5, -1)]
    assert "The 24 worst of 30 are drawn" in reader.text


def test_the_card_of_the_release_is_shown_if_it_is_known() -> None:
    reader = page(samples.audit(), samples.card(samples.VERIFIED))
    assert reader.one("h1").text == "A demonstration recipe"
    answers = [e for e in reader.all("article") if any(p.has("answers") for p in e.parents)]
    assert [e.attributes["class"] for e in answers] == ["verified", "open", "alarm"]
    assert reader.one("div", "decided").has("open")
    assert "k = 10" in answers[0].text
    assert "is not known" in page(samples.audit()).text
    assert "29,977 released rows" in reader.text


def test_without_findings_the_page_says_so() -> None:
    reader = page([])
    assert "No audit was run" in reader.text
    assert not reader.all("svg")
    assert not reader.all("article")


def test_the_export_is_the_table_with_all_digits() -> None:
    collected = [
        samples.finding("TVD", 0.123456789, scope="=cmd()|x", note='a "quoted", note'),
        samples.finding("KS", -0.5, better=Better.HIGHER),
    ]
    link = page(collected).one("a", "button")
    assert link.attributes["download"] == "INTERNAL-findings.csv"
    head, encoded = (link.attributes["href"] or "").split(",", 1)
    assert head == "data:text/csv;charset=utf-8;base64"
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(encoded).decode("utf-8-sig"), newline="")))
    assert float(rows[0]["value"]) == 0.123456789
    assert rows[0]["note"] == 'a "quoted", note'
    assert rows[0]["scope"] == "'=cmd()|x", "a spreadsheet must not run a column name"
    assert rows[1]["value"] == "-0.5"
    assert rows[1]["low"] == ""


def test_the_export_survives_text_that_is_not_unicode() -> None:
    collected = [samples.finding("TVD", 0.1, scope="\ud800", subject=Subject.PRIVACY)]
    assert page(collected).one("a", "button")
    assert "\ud800" in as_csv([Finding.from_json(f) for f in collected])


def test_spoilt_details_are_not_drawn_but_told() -> None:
    broken = [
        {"labels": ["a"], "train": [0.5, 0.5], "release": [0.5]},
        {"columns": ["a", "b"], "train": [[1.0]], "release": [[1.0]]},
        {"edges": [0.0, None], "release": [1.0], "control": [1.0]},
        {"edges": [0.0, 0.0], "release": [1.0], "control": [1.0]},
    ]
    for name in ("TVD", "association difference", "closest record score"):
        collected = [samples.finding(name, 0.5, scope="x", detail=detail, note="told") for detail in broken]
        reader = page(collected)
        assert not [e for e in reader.all("svg") if any(p.has("panel") or p.has("maps") for p in e.parents)]
        drawn = [r for e in reader.all("section") for r in rows_of(reader, e.attributes["id"] or "") if r]
        assert len(drawn) == 4
