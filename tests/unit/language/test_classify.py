"""Private classifiers of text: what they promise, pay, release and keep, on a tiny encoder."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("transformers", reason="language models need transformers")

import hushtable as ht
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.language.classify import ClassifyText
from hushtable.language.distill import DistillText
from hushtable.language.task import Task
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe, load, names
from hushtable.pipeline.verify import verify
from hushtable.privacy.event import DiscreteGaussian, SampledGaussian
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Unit
from hushtable.table.columns import Column, Kind, Levels, Role
from tests.language_models import labelled, sentence, tiny_encoder

pytestmark = pytest.mark.neural
RECIPES = [
    name for name in names() if any(step.split("-")[0] in ("classify", "distill") for step in load(name).dump().split("- ")[1:])
]


@pytest.fixture(scope="module")
def quick(encoder, pool):
    """A recipe with little work and the tiny encoder."""

    def made(name, **settings):
        recipe = load(name).quick()
        more = {"model": str(encoder), "pool": str(pool), **settings}
        return replace(recipe, steps=tuple(replace(step, **more) for step in recipe.steps))

    return made


def test_the_recipes_are_those_that_we_know():
    assert set(RECIPES) == {"dp-lora", "prune-dp-lora", "tskd", "tskd-transfer", "dp-lora-published", "tskd-published"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_keeps_what_it_says_and_its_model_is_read_back(name, quick, tmp_path, encoder, monkeypatch):
    recipe = quick(name)
    private = any(step.spends for step in recipe.steps)
    assert Recipe.parse(recipe.dump()) == recipe
    release = ht.release(labelled(), recipe, epsilon=4.0 if private else None)
    assert release.guarantee.assurance is recipe.assurance
    assert (release.guarantee.assurance is Assurance.PROVEN) == private
    assert release.table.schema.names == ("note", "mood")
    assert release.table.rows == 60
    ht.save(release, tmp_path / "out")
    assert not verify(tmp_path / "out").faults
    path = ht.save_model(release, tmp_path / "it.model")
    assert path.stat().st_size < (encoder / "model.safetensors").stat().st_size
    model = ht.load_model(path)
    with pytest.raises(InputError, match=f"the public model {encoder.name} .*HUSHTABLE_MODELS"):
        model.fitted.model.chances(["the lamp was good"])
    monkeypatch.setenv("HUSHTABLE_MODELS", str(encoder.parent))
    assert np.array_equal(
        model.fitted.model.chances(["the lamp was good", None]), release.fitted.model.chances(["the lamp was good", ""])
    )
    level = release.table.strings("mood")[0]
    drawn = ht.draw(model, 2, {"mood": level}, seed=1) if (release.table.strings("mood") == level).sum() > 1 else ht.draw(model, 2)
    assert drawn.table.rows == 2
    with pytest.raises(InputError, match="the pool has"):
        ht.draw(model, 1000)


def test_only_public_texts_leave(quick, tmp_path, pool):
    table = labelled()
    release = ht.release(table, quick("tskd"), epsilon=4.0)
    public = set(pool.read_text(encoding="utf-8").splitlines())
    assert set(release.table.strings("note")) <= public
    values, arrays = release.fitted.model.parts()
    own = {text for text in table.strings("note") if text} - public
    assert not [text for text in own if text in json.dumps(values)]
    assert all(array.dtype.kind == "f" for array in arrays.values())


def test_the_plan_lists_what_the_run_pays(quick):
    table = labelled(100)
    for name, sampled in (("dp-lora", 2), ("prune-dp-lora", 2), ("tskd", 3), ("tskd-transfer", 2)):
        recipe = quick(name, **({"scores": "private", "drop": 1} if name == "prune-dp-lora" else {}))
        course = plan(recipe, table.schema, budget=Budget(2.0, 1e-6))
        planned = [entry.event for entry in course.ledger.paid]
        assert [type(event) for event in planned].count(SampledGaussian) == sampled
        assert [type(event) for event in planned].count(DiscreteGaussian) == (2 if name == "prune-dp-lora" else 1)
        release = ht.release(table, recipe, epsilon=2.0)
        assert release.guarantee.epsilon() == pytest.approx(2.0, rel=0.01)


def test_the_same_seed_and_noise_give_the_same_bits(quick):
    table = labelled(80)
    for name in ("dp-lora", "tskd"):
        one, two, other = (
            ht.release(table, quick(name), epsilon=2.0, seed=seed, entropy=Entropy.seeded(noise), unproven=True)
            for seed, noise in ((1, 2), (1, 2), (1, 3))
        )
        first, second, third = (release.fitted.model.parts()[1] for release in (one, two, other))
        assert all(np.array_equal(first[key], second[key]) for key in first)
        assert not all(np.array_equal(first[key], third[key]) for key in first)


def test_it_learns_where_there_is_something_to_learn(encoder, tmp_path):
    rng = np.random.default_rng(5)
    moods = rng.random(200) < 0.5
    texts = [sentence(rng, bool(mood)) for mood in moods]
    (tmp_path / "pool.txt").write_text("\n".join(texts), encoding="utf-8")
    step = ClassifyText(model=str(encoder), pool=str(tmp_path / "pool.txt"), steps=8, rate=0.5, length=24, top=0, speed=0.01)
    table = labelled(1500)
    # The broken twin: labels that say nothing about the texts.
    shuffled = table.with_column(table.schema["mood"], np.random.default_rng(0).permutation(table["mood"]))
    right, wrong = (
        (ht.release(rows, Recipe(recipe="it", steps=(step,)), epsilon=8.0).fitted.model.chances(texts).argmax(1) == moods).mean()
        for rows in (table, shuffled)
    )
    # Five deviations above a coin, of two hundred texts; the encoder has random weights, so little more can be asked for.
    assert right > 0.5 + 5 * 0.5 / np.sqrt(200) > wrong


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_are_no_error(quick, rows):
    assert ht.release(labelled(4).take(np.arange(rows) + 1), quick("dp-lora"), epsilon=1.0).table.rows == 60


def test_persons_with_several_notes_are_sampled_as_a_whole(quick):
    table = labelled(60)
    schema = table.schema.with_columns(Column(name="pid", kind=Kind.KEY, role=Role.IDENTIFIER))
    from hushtable.table.table import Table

    ids = np.array([str(number // 3) for number in range(60)], object)
    words, codes = np.unique(ids, return_inverse=True)
    held = Table(schema, {**table.arrays, "pid": codes.astype(np.int32)}, {**table.texts, "pid": words})
    release = ht.release(held, quick("dp-lora"), epsilon=2.0, unit=Unit(rows=3, by="pid"))
    assert release.guarantee.assurance is Assurance.PROVEN


def test_columns_that_do_not_fit_are_refused_by_name():
    schema = labelled(4).schema
    other = Column(name="other", kind=Kind.TEXT)
    with pytest.raises(PlanError, match="no such"):
        Task.of(schema, "no such", "", "it")
    with pytest.raises(PlanError, match="note, other"):
        Task.of(schema.with_columns(other), "", "", "it")
    with pytest.raises(PlanError, match="age"):
        Task.of(schema, "", "age", "it")
    with pytest.raises(PlanError, match="mood is not of kind text"):
        Task.of(schema, "mood", "", "it")
    one = replace(schema["mood"], domain=Levels(("only",)))
    with pytest.raises(PlanError, match="target"):
        Task.of(schema.with_columns(one), "", "", "it")


def test_a_missing_model_or_pool_is_named_before_any_row_is_read(quick, tmp_path):
    with pytest.raises(PlanError, match="hush model add"):
        ht.release(labelled(10), "dp-lora", epsilon=1.0)
    with pytest.raises(InputError, match="cannot be read"):
        ht.release(labelled(10), quick("dp-lora", pool=str(tmp_path / "none.txt")), epsilon=1.0)
    with pytest.raises(InputError, match="no folder"):
        ht.release(labelled(10), quick("dp-lora", model="nothing"), epsilon=1.0)
    with pytest.raises(GuaranteeRefused, match="delta"):
        ht.release(labelled(10), quick("dp-lora"), epsilon=1.0, delta=0.0)


@pytest.mark.parametrize(("kind", "knobs"), [(ClassifyText, {"rate": 0.0, "rank": 0}), (DistillText, {"student": 0, "alpha": 2.0})])
def test_all_knobs_out_of_range_are_listed(kind, knobs):
    with pytest.raises(InputError) as raised:
        kind(**knobs)
    assert all(name in str(raised.value) for name in knobs)


def test_another_base_model_is_refused_by_its_fingerprint(quick, tmp_path, encoder):
    release = ht.release(labelled(40), quick("dp-lora"), epsilon=4.0)
    path = ht.save_model(release, tmp_path / "it.model")
    other = tiny_encoder(tmp_path / "other", seed=7)
    with pytest.raises(InputError, match="fingerprint"):
        ht.predict(path, ["the lamp"], base=str(other))
    same = shutil.copytree(encoder, tmp_path / "same")
    assert ht.predict(path, ["the lamp"], base=str(same)).rows == 1


def test_texts_of_a_file_are_labelled_with_probabilities(quick, tmp_path):
    release = ht.release(labelled(40), quick("tskd-transfer"), epsilon=4.0)
    (tmp_path / "in.csv").write_text("id,remark\n1,the lamp was good\n2,\n3,日本\n", encoding="utf-8")
    table = ht.predict(release, tmp_path / "in.csv", "remark")
    assert table.schema.names == ("note", "mood", "p(bad)", "p(good)")
    assert table.rows == 3
    assert table["p(bad)"] + table["p(good)"] == pytest.approx(1, abs=2e-4)
    with pytest.raises(InputError, match="remark"):
        ht.predict(release, tmp_path / "in.csv")
    with pytest.raises(InputError, match="does not classify"):
        ht.predict(ht.release(ht.people(50), "independent", epsilon=1.0), ["a"])
    assert ht.predict(release, []).rows == 0
