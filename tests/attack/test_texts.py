"""Attacks on free text: a planted leak is found in every run, an independent sample raises no more alarms than stated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.audit import pick_audits
from hushtable.audits.text.membership import TextMembership
from hushtable.audits.text.nearest import NearestTexts
from hushtable.audits.text.patterns import TextPatterns
from hushtable.audits.text.verbatim import VerbatimTexts
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.verdict import alarms
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.patterns import scan
from hushtable.table.schema import Schema
from tests.sentences import AWKWARD, noted, notes, rewritten

AUDITS = {
    "text-verbatim": VerbatimTexts(),
    "text-patterns": TextPatterns(),
    "text-nearest": NearestTexts(),
    "text-membership": TextMembership(),
}


def run(train, release, control, names=tuple(AUDITS), seed=0):
    return harness.run(Case(train, release, control), {name: AUDITS[name] for name in names}, seed)


def changed(text: str, rng: np.random.Generator) -> str:
    """With one word of five replaced."""
    words = text.split()
    return " ".join("something" if lot < 0.2 else word for word, lot in zip(words, rng.random(len(words)), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_two_percent_of_copied_texts_are_found_in_every_run(seed):
    train, control, fresh = (notes(2000, 3 * seed + part) for part in range(3))
    leaked = dict(zip(range(100, 140), train.strings("note")[200:240], strict=True))
    findings = run(train, rewritten(fresh, leaked), control, ("text-verbatim", "text-nearest", "text-membership"))
    raised = {finding.audit for finding in alarms(findings)}
    assert raised == {"text-verbatim", "text-nearest", "text-membership"}
    verbatim = findings[0]
    assert verbatim.detail["hits"] >= 36
    assert verbatim.detail["longest_run"] > verbatim.detail["control_longest_run"]
    hit = set(verbatim.trace.persons[verbatim.trace.train].tolist())
    assert len(hit & set(range(200, 240))) >= 36


def test_copies_with_words_changed_are_found_by_similarity():
    train, control, fresh = (notes(1000, part) for part in range(3))
    rng = np.random.default_rng(0)
    leaked = {row: changed(text, rng) for row, text in enumerate(train.strings("note")[:100])}
    raised = {finding.audit for finding in alarms(run(train, rewritten(fresh, leaked), control))}
    assert {"text-nearest", "text-membership"} <= raised


def test_independent_samples_raise_no_more_alarms_than_stated():
    false, tests, small = 0, 0, 0
    for seed in range(24):
        train, control, fresh = (notes(300, 1000 + 3 * seed + part) for part in range(3))
        findings = run(train, fresh, control, seed=seed)
        false += bool(alarms(findings))
        ps = [finding.p for finding in findings if finding.p is not None]
        tests, small = tests + len(ps), small + sum(p <= 0.05 for p in ps)
    # Of 24 audits with an error of 5 % each, more than 4 are false with a probability below 1 %.
    assert false <= 4
    assert tests >= 24 * 5
    assert small <= 0.12 * tests


def test_numbers_and_addresses_are_found_in_another_text_and_spelling():
    train, control, fresh = (notes(600, part) for part in range(3))
    with_phone = [row for row, text in enumerate(train.strings("note")) if scan(text)]
    keys = [scan(train.strings("note")[row])[0].key for row in with_phone[:20]]
    leaked = {row: f"please ring +44 {key[:4]} {key[4:]} soon" for row, key in enumerate(keys)}
    findings = run(train, rewritten(fresh, leaked), control, ("text-patterns",))
    (finding,) = findings
    assert finding.detail["hits"] == 20
    assert finding.detail["attempts"] == len(with_phone)
    assert alarms(findings) == [finding]
    assert finding.detail["released"]["phone"] >= 20
    assert not any(key in str(finding.to_json()) for key in keys)


def test_a_number_that_many_people_wrote_identifies_nobody():
    train, control, fresh = (
        rewritten(notes(300, part), {row: f"office 0845 2810075, file {part}{row:03d}" for row in range(40)}) for part in range(3)
    )
    (finding,) = run(train, fresh, control, ("text-patterns",))
    assert finding.detail["hits"] == finding.detail["control_hits"] == 0


@pytest.mark.parametrize("audit", AUDITS)
def test_persons_with_several_texts_are_attacked_once(audit):
    train, control, fresh = (notes(300, part) for part in range(3))
    train, control = (replace(side, persons=np.arange(300) // 3) for side in (train, control))
    leaked = dict(enumerate(train.strings("note")[:150]))
    findings = run(train, rewritten(fresh, leaked), control, (audit,))
    assert findings[0].n <= 100
    assert findings[0].p < 0.05


@pytest.mark.parametrize("audit", AUDITS)
def test_awkward_texts_are_read(audit):
    many = AWKWARD * 2
    train, control = noted([*many, "one more"]), noted([*many, "and another"], "bad")
    for release in (noted(many, "bad"), noted(["", None] * 3), noted(["😀", "今天"])):
        findings = run(train, release, control, (audit,))
        assert findings
        assert not alarms(findings)
        assert all(finding.note for finding in findings)


@pytest.mark.parametrize("audit", AUDITS)
def test_tables_without_text_say_so(audit):
    tables = [notes(40, part).select(["label", "branch"]) for part in range(3)]
    (finding,) = run(*tables, (audit,))
    assert finding.value is None
    assert "free text" in finding.note


def test_a_text_in_a_script_without_spaces_is_recognized():
    rng = np.random.default_rng(0)
    letters = np.array([chr(0x4E00 + i) for i in range(3000)])
    train, control, fresh = (["".join(rng.choice(letters, 30)) + "。" for _ in range(200)] for _ in range(3))
    fresh[:20] = ["说：" + text[5:20] + "啊" for text in train[:20]]
    findings = run(noted(train), noted(fresh, "bad"), noted(control, "bad"), ("text-verbatim", "text-nearest"))
    assert findings[0].detail["hits"] == 20
    assert {finding.audit for finding in alarms(findings)} == {"text-verbatim", "text-nearest"}


def test_alarms_are_explained_and_a_release_read_from_a_file_keeps_its_text(tmp_path: Path):
    train, control, fresh = (notes(500, part) for part in range(3))
    release = rewritten(fresh, dict(enumerate(train.strings("note")[:60])))
    report = ht.audit(train, release, control, only=[*AUDITS, "membership", "identical-matches"])
    assert {"text-verbatim", "text-nearest", "text-membership"} <= {finding.audit for finding in alarms(report.findings)}
    assert any(finding.audit == "text-patterns" for finding in report.findings)
    assert any("note" in cause.columns for cause in report.causes)
    assert set(AUDITS) <= set(pick_audits())
    io.write(release, tmp_path / "release.csv")
    train.schema.save(tmp_path / "schema.yaml")
    read, _ = ht.read_release(tmp_path / "release.csv", train.schema)
    assert read.strings("note").tolist() == release.strings("note").tolist()


SMS = Schema(
    columns=(
        Column(name="label", kind=Kind.CATEGORY, domain=Levels(("ham", "spam")), role=Role.TARGET),
        Column(name="text", kind=Kind.TEXT),
    )
)


@pytest.mark.slow
def test_copied_short_messages_are_found_and_others_are_not(real_data):
    path = real_data / "sms_spam" / "sms_spam.tsv.gz"
    if not path.exists():
        pytest.skip("sms_spam is not among the real tables")
    frame = pd.read_csv(path, sep="\t", quoting=3).drop_duplicates("text")
    order = np.random.default_rng(0).permutation(len(frame))
    train, control, fresh = (frame.iloc[part] for part in np.array_split(order, 3))
    sides = [io.read(part.reset_index(drop=True), SMS) for part in (train, fresh, control)]
    assert not alarms(run(*sides))
    # Many messages differ from others in a word or two, so that a few copies more are noticed by the nearest ones alone.
    for count, noticed in ((40, {"text-nearest"}), (170, {"text-nearest", "text-verbatim", "text-membership"})):
        leaky = pd.concat([fresh.iloc[count:], train.iloc[:count]]).reset_index(drop=True)
        raised = {finding.audit for finding in alarms(run(sides[0], io.read(leaky, SMS), sides[2]))}
        assert noticed <= raised


def test_people_who_agree_in_every_column_but_wrote_other_texts_are_other_people():
    train, control = noted(["one text", "another text"] * 10), noted(["a third one", "a fourth one"] * 10)
    assert Case(train, control, control).columns == ("label", "branch")
    with pytest.raises(InputError, match="same rows"):
        Case(train, control, train.take(np.arange(20)[::-1]))
