"""Released texts to be read by eye: none that a person wrote, escaped and cut."""

from __future__ import annotations

import hushtable as ht
from hushtable.api.audit_report import AuditReport
from hushtable.evidence.case import Case
from hushtable.evidence.examples import LETTERS, SHOWN, released_examples
from tests.sentences import notes, rewritten


def test_examples_are_of_the_release_and_no_persons_text_is_among_them():
    train, control, fresh = (notes(60, part) for part in range(3))
    leaked = {row: text.upper() for row, text in enumerate(train.strings("note")[:30])}
    leaked |= dict(zip(range(30, 50), control.strings("note")[:20], strict=True))
    examples = released_examples(Case(train, rewritten(fresh, leaked), control))
    assert len(examples) == SHOWN
    assert {example["note"] for example in examples} == set(fresh.strings("note")[50:])
    assert list(examples[0]) == ["label", "branch", "note"]


def test_without_text_there_are_none_and_with_nothing_new_there_are_none():
    train, control, fresh = (notes(30, part) for part in range(3))
    assert released_examples(Case(train, train, control)) == ()
    assert released_examples(Case(*(table.select(["label", "branch"]) for table in (train, fresh, control)))) == ()
    assert released_examples(Case(train, rewritten(fresh, dict.fromkeys(range(30))), control)) == ()


def test_the_page_escapes_and_cuts_them():
    train, control, fresh = (notes(30, part) for part in range(3))
    release = rewritten(fresh, {0: "<b>bold</b> & " + "long " * 200, 29: "😀 今天"})
    report = ht.audit(train, release, control, only=["text-patterns"])
    page = report.page()
    assert 'id="examples"' in page
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; long" in page
    assert "<b>bold" not in page
    assert "long " * (LETTERS // 5) not in page
    assert "😀 今天" in page
    assert AuditReport.from_json(report.to_json()).examples == list(report.examples)
    assert ht.utility(train, release, only=["text-margins"]).examples
    assert (
        'id="examples"' not in ht.audit(*(t.select(["label", "branch"]) for t in (train, fresh, control)), only=["coverage"]).page()
    )
