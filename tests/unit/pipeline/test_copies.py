"""Rows of real people in a release: counted, refused, allowed with a reason; and what leaves unchanged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline.copies import MOST_COPIES, Copies, copies
from hushtable.pipeline.untouched import untouched
from hushtable.pipeline.verify import SAYS_UNTOUCHED
from tests.survey import survey


def answers(rows: int, columns: int, seed: int = 0) -> ht.Table:
    """Yes/no columns with something in common."""
    rng = np.random.default_rng(seed)
    common, bias = rng.normal(size=(rows, 1)), np.random.default_rng(9).normal(size=columns) / 2
    given = (0.7 * common + rng.normal(size=(rows, columns)) > bias).astype(int).astype(str)
    lines = ", ".join(f"q{i}: {{kind: category, domain: ['0', '1']}}" for i in range(columns))
    return ht.read(pd.DataFrame(given).rename(columns="q{}".format), ht.Schema.parse(f"columns: {{{lines}}}"))


def poor(schema: ht.Schema, *quasi: str) -> ht.Schema:
    """The schema with these quasi-identifiers alone."""
    return ht.Schema.parse(
        "\n".join(
            line if any(f" {name}:" in line for name in quasi) else line.replace("role: quasi", "role: plain")
            for line in schema.dump().splitlines()
        )
    )


@pytest.fixture(scope="module")
def raw() -> ht.Table:
    """A survey under a draft that found two of its quasi-identifiers."""
    return ht.read(survey(), poor(ht.draft(survey()), "SEX", "HISP"))


def test_a_verified_k_over_two_columns_does_not_publish_the_raw_table(raw):
    with pytest.raises(GuaranteeRefused, match=r"100 % of the released rows equal.*more than 5 % is refused") as refused:
        ht.release(raw, "k-anonymity", k=10, seed=1)
    assert "AGEP" in str(refused.value)
    assert "--allow-copies" in str(refused.value)
    assert refused.value.exit_code == 3


def test_following_the_draft_publishes_no_row_as_it_was():
    table = ht.read(survey())
    released = ht.release(table, "mondrian", k=10, seed=1)
    assert released.copies is not None
    assert released.copies.alone <= MOST_COPIES
    assert "columns leave unchanged" in released.exposed[0]
    assert released.exposed[0].startswith("k = 10 holds for PUMA, AGEP")


def test_with_a_reason_it_is_released_and_the_reason_stands_on_the_card(raw, tmp_path):
    released = ht.release(raw, "k-anonymity", k=10, seed=1, allow_copies="nobody in it exists")
    folder = ht.save(released, tmp_path / "out")
    card = json.loads((folder / "card.json").read_text())
    assert card["copies"] == {"reason": "nobody in it exists", "equal": 1.0, "alone": 1.0}
    assert card["untouched"]["columns"] == list(released.table.schema.names)
    page = (folder / "card.html").read_text()
    assert page.index("leave unchanged") < page.index("finds at least 10 rows that match")
    assert "nobody in it exists" in page
    assert "nobody in it exists" in ht.render(folder).text
    assert "unchanged" in repr(released)
    assert "leave unchanged" in released._repr_html_()


def test_a_reason_that_was_not_needed_does_not_stand_on_the_card():
    table = ht.people(300)
    card = ht.release(table, "mdav", k=10, seed=1, allow_copies="just in case").card()
    assert "copies" not in card
    assert card["untouched"]["columns"]


@pytest.mark.parametrize("reason", ["", "  ", 3, True])
def test_a_reason_has_words(reason):
    with pytest.raises(InputError, match="allow-copies"):
        ht.ReleaseOptions(allow_copies=reason)


def test_options_with_a_reason_are_written_and_read():
    options = ht.ReleaseOptions(allow_copies="nobody exists")
    assert ht.ReleaseOptions.from_json(options.to_json()) == options
    assert ht.ReleaseOptions.from_json({}).allow_copies is None


def test_in_a_table_of_three_answers_every_row_equals_a_real_one_and_that_is_fine():
    table = answers(1000, 3)
    released = ht.release(table, "sample", beta=0.9, seed=1)
    assert released.copies is not None
    assert (released.copies.equal, released.copies.alone) == (1.0, 0.0)


@pytest.mark.parametrize("columns", [10, 12, 14])
def test_a_fresh_sample_repeats_as_many_rows_as_chance_says_and_a_copy_more(columns):
    """Good and Turing: the broken twin is a generator that hands out rows of the table."""
    train, fresh = (answers(2000, columns, seed) for seed in (1, 2))
    chance = copies(train, fresh, generated=True)
    assert chance.alone > MOST_COPIES
    assert chance.alone == pytest.approx(chance.chance, abs=3 * chance.error)
    assert not chance.too_many
    rng = np.random.default_rng(3)
    memory = copies(train, train.take(rng.integers(0, 2000, 2000)), generated=True)
    assert memory.too_many is (columns > 10)
    assert copies(train, train, generated=False).too_many


def test_a_synthesizer_is_not_refused_for_what_chance_repeats():
    released = ht.release(answers(1500, 12), "sequential", seed=1)
    assert released.copies is not None
    assert released.copies.alone > MOST_COPIES
    assert not released.untouched


def test_rows_of_one_person_are_that_persons_alone():
    frame = pd.DataFrame({"who": np.repeat(np.arange(400), 2).astype(str), "x": np.repeat(np.arange(400), 2)})
    table = ht.read(frame, ht.Schema.parse("columns: {who: {kind: key, role: identifier}, x: {kind: integer}}")).held_by("who")
    leaving = table.select(["x"]).held_by(None).take(np.arange(0, 800, 2))
    assert copies(table, leaving, generated=False).alone == 1.0
    assert copies(table.held_by(None), leaving, generated=False).alone == 0.0


def test_a_private_recipe_is_judged_by_its_plan_and_no_row_is_read(monkeypatch):
    from hushtable.pipeline import run

    def looked(*_, **__):
        raise AssertionError("an unpaid look at the rows")

    monkeypatch.setattr(run, "copies", looked)
    table = ht.people(200)
    released = ht.release(table, "independent", epsilon=1.0)
    assert released.copies is None
    assert released.card()["untouched"] == {"columns": [], "alone": 0.0}
    assert ht.preflight(table, "mst", epsilon=1.0).private


def test_columns_that_leave_as_they_were_are_found_by_comparing(raw):
    rng = np.random.default_rng(0)
    names = ("PUMA", "AGEP", "SEX", "NOC", "DENSITY")
    part = raw.select(names)
    moved = part.with_column(part.schema["AGEP"], part["AGEP"][rng.permutation(part.rows)])
    assert untouched(part, part).columns == names
    assert untouched(part, moved.take(rng.permutation(part.rows))).columns == ("PUMA", "SEX", "NOC", "DENSITY")
    assert untouched(part, part, moved={"SEX"}).columns == ("PUMA", "AGEP", "NOC", "DENSITY")


@pytest.mark.parametrize(("recipe", "knobs"), [("swap", {"rate": 1.0}), ("rank-swap", {}), ("pram", {}), ("noise", {})])
def test_columns_that_a_step_moves_never_count_as_unchanged(recipe, knobs):
    table = ht.people(300)
    tried = ht.release(table, recipe, seed=1, allow_copies="nobody exists", **knobs)
    step = tried.recipe.steps[0]
    assert not set(step.plan(table.schema.select(table.schema.released), None).moves) & set(tried.untouched.columns)
    assert tried.untouched.columns


def test_a_generalized_cell_of_one_value_is_that_value(raw):
    """Local recoding leaves single numbers in columns of cells: they are as public as they were."""
    age = raw.schema["AGEP"]
    cells = [str(value) for value in range(40)]
    single = raw.select(["AGEP", "PUMA"]).take(raw["AGEP"] < 40)
    from hushtable.table.cell import Cell, Interval

    column = age.generalize((*(Cell(text, Interval(int(text), int(text))) for text in cells),))
    recoded = single.with_column(column, single["AGEP"].astype(np.int32))
    assert untouched(single, recoded).columns == ("AGEP", "PUMA")
    assert copies(single, recoded, generated=False).equal == 1.0


def test_verify_names_what_leaves_unchanged_beside_ok_and_measures_it_again(tmp_path):
    folder = ht.save(ht.release(ht.people(300), "mdav", k=10, seed=1), tmp_path / "out")
    found = ht.verify(folder)
    assert found.holds
    assert "leave unchanged" in found.exposed[0]
    assert "but: k = 10 holds for" in repr(found)
    card = json.loads((folder / "card.json").read_text())
    card["untouched"]["alone"] = 0.0
    (folder / "card.json").write_text(json.dumps(card))
    assert [fault.where for fault in ht.verify(folder).faults] == ["untouched"]
    card["untouched"] = {"columns": ["nothing"], "alone": 0.0}
    (folder / "card.json").write_text(json.dumps(card))
    assert "which the data has not" in str(ht.verify(folder).faults[0])


def test_a_card_of_an_earlier_version_that_does_not_say_still_verifies(tmp_path):
    folder = ht.save(ht.release(ht.people(300), "mdav", k=10, seed=1), tmp_path / "out")
    card = json.loads((folder / "card.json").read_text())
    del card["untouched"]
    (folder / "card.json").write_text(json.dumps(card))
    assert any(fault.where == "untouched" for fault in ht.verify(folder).faults)
    card["versions"]["hushtable"] = "0.2.0"
    (folder / "card.json").write_text(json.dumps(card))
    found = ht.verify(folder)
    assert found.holds
    assert any(one.where == "untouched" for one in found.assumed)
    assert not found.exposed


def test_estimators_and_preflight_refuse_and_allow_alike(raw):
    assert ht.preflight(raw, "k-anonymity", k=10, seed=1).refused
    with pytest.raises(GuaranteeRefused):
        ht.Anonymizer("k-anonymity", k=10, schema=raw.schema).fit(raw)
    fitted = ht.Anonymizer("k-anonymity", k=10, schema=raw.schema, allow_copies="nobody exists").fit(raw)
    assert fitted.release_.allowed == "nobody exists"


def test_matching_long_tables_takes_no_time():
    import time

    rng = np.random.default_rng(0)
    frame = {f"c{i}": rng.integers(0, 50, 40_000) for i in range(25)}
    table = ht.read(pd.DataFrame(frame), ht.Schema.parse("columns: {" + ", ".join(f"{n}: {{kind: integer}}" for n in frame) + "}"))
    before = time.process_time()
    copies(table, table, generated=False)
    untouched(table, table)
    assert time.process_time() - before < 2


@pytest.mark.parametrize("recipe", ["k-anonymity", "sample"])
def test_rows_that_a_person_holds_twice_are_still_that_persons_alone(recipe):
    rng = np.random.default_rng(3)
    once = pd.DataFrame(
        {"pid": [f"p{i}" for i in range(200)], "age": rng.integers(18, 30, 200), "pay": rng.integers(0, 10**6, 200)}
    )
    schema = ht.Schema.parse(
        "columns: {pid: {kind: key, role: identifier}, age: {kind: integer, role: quasi, domain: [18, 30]}, "
        "pay: {kind: integer, domain: [0, 1000000]}}"
    )
    table = ht.read(pd.concat([once, once]), schema)
    knobs = {"k": 2} if recipe == "k-anonymity" else {"beta": 0.5}
    with pytest.raises(GuaranteeRefused, match="the row of a real person that nobody else has"):
        ht.release(table, recipe, unit=ht.Unit(rows=2, by="pid"), seed=1, **knobs)


def test_the_reason_stays_with_a_model_that_repeats_rows(tmp_path):
    released = ht.release(answers(200, 4), "sequential", seed=1)
    many = Copies(rows=200, equal=1.0, alone=0.5, chance=0.0, error=0.0)
    with pytest.raises(GuaranteeRefused, match="nothing is released"):
        ht.save_model(replace(released, copies=many), tmp_path / "refused.model")
    assert not (tmp_path / "refused.model").exists()
    allowed = replace(released, copies=many, allowed="nobody exists")
    ht.save_model(allowed, tmp_path / "it.model")
    for model in (allowed, tmp_path / "it.model"):
        drawn = ht.draw(model, 50, seed=1)
        assert drawn.card()["copies"]["reason"] == "nobody exists"
        assert "The reason given: nobody exists" in drawn.exposed[0]


def test_verify_says_what_only_the_rows_could_show_and_refuses_what_no_card_can_say(raw, tmp_path):
    ht.save(ht.release(raw, "k-anonymity", k=10, seed=1, allow_copies="a test"), tmp_path / "k")
    ht.save(ht.release(answers(200, 3), "mst", epsilon=1.0), tmp_path / "private")

    def edited(folder, **entries):
        card = json.loads((folder / "card.json").read_text())
        card = {name: value for name, value in (card | entries).items() if value is not None}
        (folder / "card.json").write_text(json.dumps(card))
        return ht.verify(folder)

    assert not ht.verify(tmp_path / "private").faults
    assert not any(one.where == "untouched" for one in ht.verify(tmp_path / "private").assumed)
    emptied = edited(tmp_path / "k", copies=None, untouched={"columns": [], "alone": 0.0})
    assert any("rows of real people" in one.reason for one in emptied.assumed)
    versions = json.loads((tmp_path / "k" / "card.json").read_text())["versions"]
    without = edited(tmp_path / "k", untouched=None, versions=versions | {"hushtable": SAYS_UNTOUCHED})
    assert any(fault.where == "untouched" for fault in without.faults)
    for entries in ({"copies": {"reason": "x", "equal": 1.0, "alone": 1.0}}, {"untouched": {"columns": ["q0"], "alone": 0.0}}):
        found = edited(tmp_path / "private", **entries)
        assert any("not compared with the rows" in fault.reason for fault in found.faults)
