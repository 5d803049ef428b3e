"""Redaction: patterns become placeholders, and everything else stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.masking.redact import Redact
from hushtable.checks.tables import annotated, example
from hushtable.errors import InputError, PlanError
from hushtable.table.columns import Column, Kind

TEXTS = [
    "write to Ann.Lee@example.org or call +49 171 2345678",
    None,
    "",
    "Ann met José Ångström at 10:30, room 12",
    "患者 🙂 see https://example.org/x.",
    "card 4111 1111 1111 1111, ann@example.org",
    "plain " * 20_000,
]


def notes(texts=TEXTS):
    table = example(len(texts))
    return table.with_text(Column(name="note", kind=Kind.TEXT), texts)


def masked(table, **knobs):
    released = ht.release(table, "redact", seed=1, allow_copies="nobody exists", **knobs)
    by = {row[0]: row[1] for row in zip(released.table.strings("height"), released.table.strings("note"), strict=True)}
    return released, [by[height] for height in table.strings("height")]


def test_patterns_become_placeholders_and_the_rest_stays():
    table = notes()
    released, found = masked(table)
    assert found[0] == "write to [MAIL] or call [PHONE]"
    assert found[1] is None
    assert found[3] == TEXTS[3]
    assert found[4] == "患者 🙂 see [URL]."
    assert found[5] == "card [CARD], [MAIL]"
    assert found[6] == TEXTS[6].strip() or found[6] == TEXTS[6]
    assert released.result["redact"]["masked"]["note"] == {"card": 1, "mail": 2, "phone": 1, "url": 1}
    assert sorted(map(str, released.table.strings("town"))) == sorted(map(str, table.strings("town")))
    assert released.guarantee.assurance == "none"
    assert not np.isfinite(released.guarantee.epsilon())
    assert "names" in " ".join(released.guarantee.caveats)


def test_only_the_kinds_that_are_asked_for():
    _, found = masked(notes(), kinds=["mail"])
    assert found[5] == "card 4111 1111 1111 1111, [MAIL]"


def test_names_of_a_file_are_masked_as_words_in_any_case(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("ann\nJosé Ångström\nRoo\n", encoding="utf-8")
    released, found = masked(notes(), names=str(names))
    assert found[3] == "[NAME] met [NAME] at 10:30, room 12"
    # An address is one thing, whatever stands in it.
    assert found[0].startswith("write to [MAIL]")
    assert released.result["redact"]["masked"]["note"]["name"] == 2


def test_what_cannot_be_used_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="must be some of mail, url"):
        Redact(kinds=("names",))
    with pytest.raises(InputError, match="does not exist"):
        ht.release(notes(), "redact", names=str(tmp_path / "none.txt"))
    with pytest.raises(PlanError, match="town is not a column of free text"):
        ht.release(notes(), "redact", columns=["town"])
    with pytest.raises(PlanError, match="free text"):
        ht.release(example(), "redact")


def test_all_missing_and_a_text_that_is_one_pattern():
    _, found = masked(annotated(example(4)).with_text(Column(name="note", kind=Kind.TEXT), [None] * 4))
    assert found == [None] * 4
    _, found = masked(notes(["ann@example.org"] * 3))
    assert found == ["[MAIL]"] * 3
