"""Measures of free text: they rise with what they measure, stand beside real texts, and read any text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.utility import utilities
from hushtable.evidence.case import Case
from hushtable.measures.text.bert_score import Spelling, bert_score, mean_bert_score
from hushtable.measures.text.bits import TextBits
from hushtable.measures.text.discriminator import TextDiscriminator
from hushtable.measures.text.downstream import TextDownstream
from hushtable.measures.text.margins import TextMargins
from hushtable.table import io
from tests.attack.test_texts import SMS
from tests.sentences import AWKWARD, noted, notes, rewritten

MEASURES = [TextDownstream(), TextMargins(), TextDiscriminator(), TextBits()]
ROWS = 400


@pytest.fixture(scope="module")
def tables():
    return [notes(ROWS, part) for part in range(3)]


def findings_of(measure, train, release, control):
    found = measure.run(Case(train, release, control), np.random.default_rng(0))
    return {finding.name if finding.value is not None else None: finding for finding in found}


def scrambled(table, seed=0):
    """The same texts under other labels."""
    order = np.random.default_rng(seed).permutation(table.rows)
    return noted(list(table.strings("note")[order]), table.strings("label"), table.strings("branch"))


def shuffled(table, seed=0):
    """The words of each text in another order."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.permutation(text.split())) for text in table.strings("note")]
    return noted(texts, table.strings("label"), table.strings("branch"))


def test_models_learn_from_texts_what_their_labels_say(tables):
    train, control, fresh = tables
    name = "texts, train on release, test on real: AUC"
    good = TextDownstream(target="label").run(Case(train, fresh, control), np.random.default_rng(0))
    assert [finding.name.rpartition(" ")[2] for finding in good] == ["AUC", "accuracy", "F1"]
    assert good[0].value > 0.95
    assert good[0].baseline > 0.95
    assert good[0].low <= good[0].value <= good[0].high
    assert 0.5 < good[1].detail["majority"] < 0.7
    bad = findings_of(TextDownstream(target="label"), train, scrambled(fresh), control)[name]
    assert bad.value < 0.7
    every = TextDownstream().run(Case(train, fresh, control), np.random.default_rng(0))
    assert [finding.detail["column"] for finding in every] == ["label"] * 3 + ["branch"] * 3


def test_margins_see_length_words_missing_and_repeated_texts(tables):
    train, control, fresh = tables
    same = findings_of(TextMargins(), train, fresh, control)
    for name in ("text length TVD", "vocabulary TVD", "missing texts"):
        assert same[name].value == pytest.approx(same[name].baseline, abs=0.08)
    assert same["repeated texts"].value == 0
    short = rewritten(fresh, dict.fromkeys(range(200), "hello there") | dict.fromkeys(range(200, 260)))
    worse = findings_of(TextMargins(), train, short, control)
    assert worse["text length TVD"].value > 0.5
    assert worse["vocabulary TVD"].value > same["vocabulary TVD"].value
    assert worse["missing texts"].value == pytest.approx(60 / ROWS)
    assert worse["repeated texts"].value == pytest.approx(199 / 340)
    by_column = [
        f for f in TextMargins().run(Case(train, short, control), np.random.default_rng(0)) if f.name.startswith("text length and")
    ]
    assert [finding.scope for finding in by_column] == ["note, label", "note, branch"]
    assert all(finding.value >= worse["text length TVD"].value - 1e-9 for finding in by_column)


def test_a_model_distinguishes_other_texts_and_not_fresh_ones(tables):
    train, control, fresh = tables
    (same,) = findings_of(TextDiscriminator(), train, fresh, control).values()
    assert abs(same.value - 0.5) < 0.08
    (other,) = findings_of(TextDiscriminator(), train, shuffled(fresh), control).values()
    assert other.value > 0.9
    # A copy is judged by a model that saw it on neither side.
    (copy,) = findings_of(TextDiscriminator(), train, train, control).values()
    assert copy.value == pytest.approx(0.5, abs=0.02)


def test_bits_per_byte_rise_when_order_is_lost(tables):
    train, control, fresh = tables
    (same,) = findings_of(TextBits(), train, fresh, control).values()
    assert same.value == pytest.approx(same.baseline, rel=0.05)
    assert 0.5 < same.value < 4
    (other,) = findings_of(TextBits(), train, shuffled(fresh), control).values()
    assert other.value > same.value + 0.1
    (noise,) = findings_of(TextBits(), train, rewritten(fresh, dict.fromkeys(range(ROWS), "x")), control).values()
    assert noise.value > 5


@pytest.mark.parametrize("measure", MEASURES)
def test_awkward_texts_are_measured(measure):
    many = AWKWARD * 2
    labels = ["good", "bad"] * len(AWKWARD)
    train, control = noted([*many, "one more"], [*labels, "bad"]), noted([*many, "and another"], [*labels, "good"])
    for release in (noted(many, labels), noted(["", None] * 3), noted(["😀", "今天"])):
        found = measure.run(Case(train, release, control), np.random.default_rng(0))
        assert found
        assert all(finding.note for finding in found)
        assert all(f.value is None or (np.isfinite(f.value) and (f.low is None or f.low <= f.value <= f.high)) for f in found)


@pytest.mark.parametrize("measure", MEASURES)
def test_tables_without_text_are_not_measured(measure, tables):
    (finding,) = measure.run(Case(*(table.select(["label", "branch"]) for table in tables)), np.random.default_rng(0))
    assert finding.value is None
    assert "free text" in finding.note


@pytest.mark.parametrize("measure", MEASURES)
def test_the_same_seed_gives_the_same_numbers(measure, tables):
    train, control, fresh = (table.take(np.arange(80)) for table in tables)
    one, two = ([f.to_json() for f in measure.run(Case(train, fresh, control), np.random.default_rng(3))] for _ in range(2))
    assert one == two


def test_utility_measures_texts_by_default(tables):
    assert {"text-downstream", "text-margins", "text-discriminator", "text-bits"} <= set(utilities())
    train, _, fresh = tables
    report = ht.utility(train, fresh, only=["text-margins", "text-bits", "text-downstream"], target="label")
    assert 'id="texts"' in report.page()
    assert all(finding.value is not None for finding in report.findings)


def test_matching_words_by_hand():
    candidate, reference = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    score = bert_score(candidate, reference)
    assert score.precision == pytest.approx((1 + 0.5**0.5) / 2)
    assert score.recall == pytest.approx((1 + 0.5**0.5 + 0) / 3)
    assert score.f1 == pytest.approx(2 * score.precision * score.recall / (score.precision + score.recall))
    assert bert_score(np.zeros((0, 2)), np.zeros((0, 2))).f1 == 1
    assert bert_score(candidate, np.zeros((0, 2))).f1 == 0


def test_similar_texts_score_above_others_and_the_mean_is_no_more_than_it_can_be():
    own = ["the parcel was returned on Monday", "thank you for the visit"]
    near = ["on Monday the parcels were returned", "thanks for visiting"]
    far = ["今天天气很好", "completely unrelated nonsense"]
    same, close, other = (mean_bert_score(own, some) for some in (own, near, far))
    assert same.f1 == pytest.approx(1)
    assert 1 > close.f1 > other.f1 + 0.2
    assert close.f1 <= (close.precision + close.recall) / 2 + 1e-12
    assert mean_bert_score(["a b"], ["b a"], embedding=Spelling(dimensions=8)).f1 == pytest.approx(1)
    for text in AWKWARD:
        assert np.isfinite(mean_bert_score([(text or "")[:20_000]], ["hello"]).f1)


@pytest.mark.slow
def test_real_messages_are_learnt_as_well_as_is_known(real_data):
    path = real_data / "sms_spam" / "sms_spam.tsv.gz"
    if not path.exists():
        pytest.skip("sms_spam is not among the real tables")
    frame = pd.read_csv(path, sep="\t", quoting=3)
    order = np.random.default_rng(0).permutation(len(frame))
    train, control, fresh = (io.read(frame.iloc[part].reset_index(drop=True), SMS) for part in np.array_split(order, 3))
    scores = {f.name: f.value for f in TextDownstream().run(Case(train, fresh, control), np.random.default_rng(0))}
    assert scores["texts, train on release, test on real: AUC"] > 0.98
    assert scores["texts, train on release, test on real: F1"] > 0.93
