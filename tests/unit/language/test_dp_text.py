"""A table with free text released under one budget, with a tiny model that needs no weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.language.corpus import Corpus
from hushtable.language.models import Sort, checkpoint
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.plan import plan
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.unit import Budget
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.language_models import sentence, tiny_causal, tiny_encoder

pytestmark = pytest.mark.neural
SCHEMA = """
title: a help desk
columns:
  mood: {kind: category, domain: [good, bad], role: target}
  age: {kind: integer, domain: [0, 99]}
  who: {kind: key, role: identifier}
  note: {kind: text}
  reply: {kind: text}
"""
QUICK = {"topics": 3, "steps": 2, "length": 6, "twin": 0, "rate": 0.5}


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    return tiny_causal(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny-encoder")


def desk(rows=60, seed=0):
    """Labels, numbers, two texts, some of them missing, empty, long, or in other scripts, and several rows a person."""
    rng = np.random.default_rng(seed)
    mood = rng.integers(2, size=rows)
    notes = [sentence(rng, good=not bad) for bad in mood]
    notes[:6] = [None, " ", "zażółć gęślą jaźń", "患者は元気です", "🙂 🙂", "word " * 20_000]
    replies = [sentence(rng) if rng.random() < 0.7 else None for _ in range(rows)]
    schema = Schema.parse(SCHEMA)
    arrays = {"mood": mood.astype(np.int32), "age": rng.integers(18, 90, rows)}
    bare = Table(schema.select(["mood", "age"]), arrays)
    table = bare.with_text(schema["who"], [f"p{row // 3}" for row in range(rows)])
    table = table.with_text(schema["note"], notes).with_text(schema["reply"], replies)
    return table.select(schema.names).under(schema)


def released(table, model, **more):
    return ht.release(
        table, "dp-text", epsilon=8.0, delta=1e-5, settings={"model": str(model), **QUICK, **more.pop("settings", {})}, **more
    )


@pytest.fixture(scope="module")
def release(causal):
    # Enough rows that noise does not hide the share of missing replies.
    return released(desk(240), causal)


def test_the_whole_table_leaves_under_one_epsilon(release):
    assert release.table.schema.names == ("mood", "age", "note", "reply")
    assert release.guarantee.epsilon() <= 8.0 + 1e-9
    assert release.guarantee.assurance == "proven"
    assert release.dropped == ("who",)
    assert [entry.step for entry in release.guarantee.ledger if isinstance(entry.event, SampledGaussian)] == ["write-text"]
    assert not any("left out" in caveat for caveat in release.guarantee.caveats)
    assert any("public-model" in caveat for caveat in release.guarantee.caveats)


def test_texts_are_missing_where_the_model_of_the_table_says_so(release):
    missing = release.table.missing("reply").mean()
    assert 0.0 < missing < 0.9
    words = [word for name in ("note", "reply") for word in release.table.texts[name]]
    assert all(isinstance(word, str) and word == word.strip() for word in words)
    assert set(release.table.texts["note"]) == {word for word in release.table.strings("note") if word is not None}


def test_it_is_written_read_and_drawn_from_again(release, causal, tmp_path, monkeypatch):
    ht.save(release, tmp_path / "out")
    assert Schema.load(tmp_path / "out" / "schema.yaml")["note"].kind == "text"
    monkeypatch.setenv("HUSHTABLE_MODELS", str(causal.parent))
    ht.save_model(release, tmp_path / "model.zip")
    size = (tmp_path / "model.zip").stat().st_size
    assert size < 400_000
    drawn = ht.load_model(tmp_path / "model.zip").draw(8, given={"mood": "bad"}, seed=1)
    assert set(drawn.table.strings("mood")) == {"bad"}
    assert drawn.table.rows == 8
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path))
    with pytest.raises(InputError, match="HUSHTABLE_MODELS"):
        ht.load_model(tmp_path / "model.zip").draw(8, seed=1)


def test_persons_with_several_rows_are_clipped_together(causal):
    unit = ht.Unit(rows=3, by="who")
    made = released(desk(), causal, unit=unit)
    assert made.guarantee.unit == unit
    assert made.guarantee.epsilon() <= 8.0 + 1e-9


def test_an_encoder_may_decide_what_is_near(causal, encoder):
    made = released(desk(), causal, settings={"encoder": str(encoder)})
    assert made.result["topics"]["note"]["topics"] == 3


def test_what_is_behind_a_released_table_is_planned_as_paid(causal):
    recipe = recipes.load("dp-text").set({"model": str(causal), **QUICK})
    course = plan(recipe, desk().schema, budget=Budget(8.0, 1e-5))
    paid = [entry.step for entry in course.ledger.paid]
    assert "write-text" in paid
    assert course.factor > 1
    without = replace(recipe, steps=recipe.steps[:-1])
    assert "note" not in plan(without, desk().schema, budget=Budget(8.0, 1e-5)).steps[-1].plan.schema


def test_text_is_hidden_from_steps_that_do_not_read_it(causal):
    recipe = recipes.load("dp-text").set({"model": str(causal), **QUICK})
    for planned in plan(recipe, desk().schema, budget=Budget(8.0, 1e-5)).steps:
        assert bool(planned.schema.texts) == planned.step.reads_text


def test_other_recipes_leave_text_out_and_say_so():
    made = ht.release(desk(), "mst", epsilon=1.0, delta=1e-5)
    assert "note" not in made.table.schema
    assert any("free text was left out: note, reply" in caveat for caveat in made.guarantee.caveats)


@pytest.mark.parametrize(
    ("settings", "error", "why"),
    [
        ({}, InputError, "hush model add"),
        ({"model": "no-such-model"}, InputError, "no folder 'no-such-model'"),
        ({"model": "", "steps": 0}, InputError, "steps"),
    ],
)
def test_a_model_must_be_there_before_a_row_is_read(settings, error, why):
    with pytest.raises(error, match=why):
        ht.release(desk(), "dp-text", epsilon=1.0, delta=1e-5, settings=settings)


def test_a_table_without_text_is_refused(causal):
    table = desk().select(["mood", "age"])
    with pytest.raises(PlanError, match="kind: text"):
        released(table, causal)


def test_no_delta_and_replace_one_are_refused(causal):
    with pytest.raises(GuaranteeRefused, match="delta"):
        ht.release(desk(), "dp-text", epsilon=8.0, delta=0.0, settings={"model": str(causal), **QUICK})
    with pytest.raises(GuaranteeRefused, match="add-remove"):
        released(desk(), causal, unit=ht.Unit(relation="replace_one"))


def test_the_encoder_is_no_writer(encoder):
    with pytest.raises(InputError, match="causal is needed"):
        released(desk(), encoder)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "config.json").write_text('{"auto_map": {"AutoModel": "evil.Model"}}'), "code of its own"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "pytorch_model.bin"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json"),
        (lambda folder: (folder / "config.json").unlink(), "no checkpoint"),
    ],
)
def test_folders_that_must_not_be_loaded_are_refused_by_name(tmp_path, spoil, why):
    folder = tiny_causal(tmp_path / "odd")
    spoil(folder)
    with pytest.raises(InputError, match=why) as caught:
        checkpoint(str(folder), Sort.CAUSAL, "test")
    assert "odd" in str(caught.value)


def test_prompts_speak_of_what_is_known_and_of_nothing_else():
    table = desk(rows=8)
    corpus = Corpus(table.schema.select(["mood", "age", "note", "reply"]), ("note", "reply"), chat=False)
    prompts = corpus.prompts(table)
    assert all("a help desk" in prompt and "mood: " in prompt and "who" not in prompt for prompt in prompts)
    pieces = corpus.pieces(table)
    assert [piece.text for piece in pieces[0] if piece.written] == [
        text for text in [table.strings("reply")[0]] if text is not None
    ]
    public = corpus.public(20, np.random.default_rng(0))
    assert len(public) == 20
    assert not any(str(age) in prompt for age in range(10, 100) for prompt in public)


def test_a_model_that_learnt_a_text_finds_it_likelier(causal, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_MODELS", str(causal.parent))
    rng = np.random.default_rng(3)
    table, secret = desk(rows=40), "the lamp in the garden was calm and rude"
    rows = table.with_text(table.schema["note"], [secret] * 40).with_text(table.schema["reply"], [None] * 40)
    learnt = released(
        rows, causal, settings={"steps": 30, "rate": 1.0, "length": 24, "speed": 0.05, "layers": 2, "words": 0.0}
    ).fitted.model
    fresh = [sentence(rng) for _ in range(20)]
    known, *others = learnt.log_likelihood([secret, *fresh], rows.take(np.arange(21)))
    assert known > max(others)


def test_batches_stay_small_where_the_schema_declares_many_rows(causal):
    recipe = recipes.load("dp-text").set({"model": str(causal), "topics": 3, "steps": 2, "length": 6, "twin": 0})
    for declared, rate in (("", 0.1), ("size: 2000\n", 0.1), ("size: 51200\n", 0.01)):
        schema = Schema.parse(declared + SCHEMA)
        course = plan(recipe, schema, budget=Budget(8.0, 1e-6))
        assert [own.event.rate for own in course.ledger.paid if isinstance(own.event, SampledGaussian)] == [rate]
    large = desk().under(Schema.parse("size: 5120\n" + SCHEMA))
    settings = {"model": str(causal), "topics": 3, "steps": 2, "length": 6, "twin": 0, "words": 0.0}
    assert ht.release(large, "dp-text", epsilon=8.0, delta=1e-5, settings=settings).result["write-text"]["rate"] == 0.1
