"""Identifiers and texts: found behind digests, other letters and other spaces, and in columns that nobody declared."""

from __future__ import annotations

import base64
import hashlib
import uuid
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits import covert
from hushtable.audits.identifiers import PublishedIdentifiers
from hushtable.audits.text.verbatim import VerbatimTexts
from hushtable.data.people import people
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import alarms
from hushtable.report import decision
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

N = 60
FORMS = {
    "as it is": lambda word: word,
    "respelled": lambda word: f" {word.lower()[:3]}-{word.lower()[3:]} ",
    "md5": lambda word: hashlib.md5(word.encode()).hexdigest(),
    "SHA1": lambda word: hashlib.sha1(word.encode()).hexdigest().upper(),
    "sha256 of small letters": lambda word: hashlib.sha256(word.lower().encode()).hexdigest(),
    "sha512, cut": lambda word: hashlib.sha512(word.encode()).hexdigest()[:10],
    "sha256 in base 64": lambda word: base64.b64encode(hashlib.sha256(word.encode()).digest()).decode(),
    "md5 as a UUID": lambda word: str(uuid.UUID(hashlib.md5(word.encode()).hexdigest())),
    "base 64": lambda word: base64.b64encode(word.encode()).decode(),
    "behind a prefix": lambda word: f"PAT-{word}",
    "without its letter": lambda word: word[1:],
    "reversed": lambda word: word[::-1],
    "md5 behind a prefix": lambda word: f"u_{hashlib.md5(word.encode()).hexdigest()}",
    "sha256 by name": lambda word: f"sha256:{hashlib.sha256(word.encode()).hexdigest()}",
    "sha256, six digits": lambda word: hashlib.sha256(word.encode()).hexdigest()[:6],
    "md5, its end": lambda word: hashlib.md5(word.encode()).hexdigest()[-10:],
    "sha256 in base 64, cut": lambda word: base64.b64encode(hashlib.sha256(word.encode()).digest()).decode()[:16],
    "md5 digits in base 64": lambda word: base64.b64encode(hashlib.md5(word.encode()).hexdigest().encode()).decode(),
    "md5 in base 32": lambda word: base64.b32encode(hashlib.md5(word.encode()).digest()).decode(),
    "md5 in decimal": lambda word: str(int(hashlib.md5(word.encode()).hexdigest(), 16)),
    "sha1 modulo a billion": lambda word: f"{int(hashlib.sha1(word.encode()).hexdigest(), 16) % 10**9:09d}",
    "md5 of md5": lambda word: hashlib.md5(hashlib.md5(word.encode()).hexdigest().encode()).hexdigest(),
    "md5 of a line": lambda word: hashlib.md5(f"{word}\n".encode()).hexdigest(),
    "md5 for addresses": lambda word: base64.urlsafe_b64encode(hashlib.md5(word.encode()).digest()).decode().rstrip("="),
}
TEXTS = {
    "as it is": lambda text: text,
    "in capitals": str.upper,
    "other spaces": lambda text: text.replace(" ", "\t  "),
    "no spaces": lambda text: text.replace(" ", ""),
    "punctuation": lambda text: text.replace(" ", ", ") + "!",
    "a part of it": lambda text: "they said: " + " ".join(text.split()[2:10]),
}


@pytest.fixture(scope="module")
def parts() -> list[Table]:
    table = covert.named(people(3 * N, seed=3), np.random.default_rng(0)).select(["sex", "income", covert.IDENTIFIER, covert.TEXT])
    return [table.take(np.arange(i * N, i * N + N)) for i in range(3)]


def findings_of(audit, train: Table, release: Table, control: Table) -> Finding:
    return next(f for f in audit.run(Case(train, release, control), np.random.default_rng(0)) if f.value is not None)


@pytest.mark.parametrize("form", FORMS)
def test_identifiers_are_recognized_in_every_usual_form(parts, form):
    train, control, fresh = parts
    release = covert.rewritten(train, fresh, covert.IDENTIFIER, 0.5, np.random.default_rng(0), FORMS[form])
    leak = findings_of(PublishedIdentifiers(), train, release, control)
    assert (leak.detail["hits"], leak.detail["control_hits"]) == (N // 2, 0)
    assert leak.p < 1e-6
    words = train.strings(covert.IDENTIFIER)
    assert not any(word in str(leak.to_json()) for word in words)


@pytest.mark.parametrize("form", TEXTS)
def test_texts_are_recognized_however_they_are_written(parts, form):
    train, control, fresh = parts
    release = covert.rewritten(train, fresh, covert.TEXT, 0.5, np.random.default_rng(0), TEXTS[form])
    leak = findings_of(VerbatimTexts(), train, release, control)
    assert (leak.detail["hits"], leak.detail["control_hits"]) == (N // 2, 0)


def test_without_a_leak_nothing_is_recognized(parts):
    train, control, fresh = parts
    for audit in (PublishedIdentifiers(), VerbatimTexts()):
        tie = findings_of(audit, train, fresh, control)
        assert (tie.detail["hits"], tie.detail["control_hits"], tie.p) == (0, 0, 1.0)


def test_what_all_values_of_a_column_begin_with_is_set_aside(parts):
    """Even where it runs on into the digits of the digest."""
    train, control, fresh = parts
    rng = np.random.default_rng(0)
    release = covert.rewritten(train, fresh, covert.IDENTIFIER, 1.0, rng, lambda word: f"ID{FORMS['sha512, cut'](word)}x")
    assert findings_of(PublishedIdentifiers(), train, release, control).detail["hits"] == N


def test_an_end_that_others_have_too_recognizes_nobody(parts):
    """A released word with which all identifiers begin would otherwise hide everybody behind everybody."""
    train, control, fresh = (
        covert.with_texts(
            t, t.schema[covert.IDENTIFIER], np.array([f"patient{w[1:]}" for w in t.strings(covert.IDENTIFIER)], object)
        )
        for t in parts
    )
    tie = findings_of(
        PublishedIdentifiers(), train, covert.with_texts(fresh, fresh.schema[covert.TEXT], np.full(N, "patient", object)), control
    )
    assert (tie.detail["hits"], tie.detail["control_hits"]) == (0, 0)


@pytest.mark.parametrize("kept", [True, False])
def test_an_identifier_column_is_named_though_nobody_is_recognized(parts, kept):
    """Digests with a secret key, in the place of the identifier or under another name."""
    train, control, fresh = parts
    keyed = np.array([hashlib.sha256(f"secret{w}".encode()).hexdigest() for w in train.strings(covert.IDENTIFIER)], object)
    name = covert.IDENTIFIER if kept else "token"
    release = covert.with_texts(fresh.select(["sex", "income"]), Column(name=name, kind=Kind.KEY), keyed)
    report = ht.audit(train, release, control, only=["identifiers"])
    (named,) = (f for f in report.findings if f.name == "identifier columns")
    assert not report.alarms
    assert (named.value, named.p, named.detail["columns"]) == (1.0, None, [name])
    assert ("an identifier column" if kept else "look like identifiers") + f": {name}" in named.note.replace("values ", "")
    last = decision.published(report.evidence)
    assert last.figure == "Examine it further first"
    assert named.note in last.text


def test_words_and_numbers_are_no_identifier_column(parts):
    train, control, fresh = parts
    measured = Column(name="measured", kind=Kind.REAL, domain=Bounds(0, 1))
    release = fresh.select(["sex", "income", covert.TEXT]).with_columns((measured, np.random.default_rng(0).random(N)))
    assert {f.name for f in ht.audit(train, release, control, only=["identifiers"]).findings} == {"identifiers published"}


def test_identifiers_that_the_control_lacks_are_counted_in_words(parts):
    train, control, fresh = parts
    words = train.strings(covert.IDENTIFIER)
    release = covert.with_texts(fresh.select(["sex", "income"]), Column(name="token", kind=Kind.KEY), words)
    (lone, named) = PublishedIdentifiers().run(Case(train, release, control.select(["sex", "income"])), np.random.default_rng(0))
    assert lone.value is None
    assert f"the values of {N} of {N} training people are in it" in lone.note
    assert named.detail["columns"] == ["token"]


def test_ten_of_four_hundred_raise_an_alarm_among_all_tests():
    table = covert.named(people(1200, seed=5), np.random.default_rng(0)).select(["sex", "income", covert.IDENTIFIER, covert.TEXT])
    train, control, fresh = (table.take(np.arange(i * 400, i * 400 + 400)) for i in range(3))
    bare = fresh.select(["sex", "income"])
    for leak, audit, name in (
        (covert.digested, PublishedIdentifiers(), "identifiers published"),
        (covert.retyped, VerbatimTexts(), "texts published"),
    ):
        release = leak(train, bare, 0.025, np.random.default_rng(0))
        crowd = [Finding(name=str(i), value=0.0, better="lower", subject="privacy", n=1, note="", p=0.5) for i in range(60)]
        case = Case(train, release, control)
        own = audit.run(case, np.random.default_rng(0))
        assert [f.name for f in alarms(harness.corrected([*crowd, *own]))] == [name]
        # With no part of the error of their own they would drown.
        assert not alarms(harness.corrected([*crowd, *(replace(f, reserved=0.0) for f in own)]))


@pytest.mark.parametrize("form", ["as it is", "without its letter", "reversed", "sha256, six digits", "md5 in decimal"])
def test_who_is_recognized_does_not_depend_on_who_is_who(parts, form):
    train, control, fresh = parts
    mixed = Table.concat([train.take(np.arange(40)), control.take(np.arange(20))])
    release = covert.rewritten(mixed, fresh, covert.IDENTIFIER, 1.0, np.random.default_rng(0), FORMS[form])
    one, other = (
        findings_of(PublishedIdentifiers(), train, release, control),
        findings_of(PublishedIdentifiers(), control, release, train),
    )
    assert (one.detail["hits"], one.detail["control_hits"]) == (40, 20) == (other.detail["control_hits"], other.detail["hits"])


def test_numbers_that_everybody_has_are_no_leak(parts):
    """Digests of consecutive numbers stand in the release for training and for control people alike."""
    train, control, _ = parts
    digests = np.array([hashlib.md5(str(i).encode()).hexdigest() for i in range(2 * N)], object)
    numbers = np.random.default_rng(1).permutation(2 * N)
    ours, others = (
        covert.with_texts(side, side.schema[covert.IDENTIFIER], numbers[at * N : at * N + N].astype(str).astype(object))
        for at, side in enumerate((train, control))
    )
    release = covert.with_texts(train, train.schema[covert.IDENTIFIER], digests[:N])
    leak = findings_of(PublishedIdentifiers(), ours, release, others)
    assert leak.detail["hits"] + leak.detail["control_hits"] == N
    assert leak.p > 0.01


def test_a_phrase_that_many_people_wrote_recognizes_nobody(parts):
    phrase = " ".join(f"word{i}" for i in range(12))
    train, control, fresh = (covert.with_texts(t, t.schema[covert.TEXT], np.full(N, phrase, object)) for t in parts)
    assert findings_of(VerbatimTexts(), train, fresh, control).detail["hits"] == 0


def test_tables_without_names_or_texts_say_so(parts):
    train, control, fresh = (table.select(["sex", "income"]) for table in parts)
    for audit in (PublishedIdentifiers(), VerbatimTexts()):
        (finding,) = audit.run(Case(train, fresh, control), np.random.default_rng(0))
        assert finding.value is None
        assert "the training table has no" in finding.note


@pytest.mark.parametrize(("column", "role"), [("number", "identifier"), ("token", "identifier"), ("token", "plain")])
def test_a_file_with_digests_is_read_and_alarms(tmp_path, column, role):
    """In the place of a number that the schema declares, or in a column that it does not know; declared to tell people or not."""
    schema = Schema.parse(
        f"columns:\n  number: {{kind: integer, role: {role}, domain: [0, 99999]}}\n  sex: {{kind: category, domain: [f, m]}}\n"
    )
    rng = np.random.default_rng(0)
    numbers = rng.permutation(100_000)[: 3 * N]

    def lines(name: str, start: int, write=str, extra: str = "number") -> str:
        rows = [f"{write(n)},{rng.choice(['f', 'm'])}" for n in numbers[start : start + N].tolist()]
        (tmp_path / name).write_text("\n".join([f"{extra},sex", *rows]) + "\n")
        return tmp_path / name

    train, control = (io.read(lines(f"{at}.csv", at * N), schema) for at in range(2))
    path = lines("release.csv", 0, lambda n: hashlib.sha256(str(n).encode()).hexdigest(), column)
    release, _ = ht.read_release(path, train.schema)
    assert release.schema[column].kind in (Kind.KEY, Kind.TEXT)
    report = ht.audit(train, release, control, only=["identifiers", "coverage"])
    assert [(f.name, f.scope) for f in report.alarms] == [("identifiers published", "number")]
