"""A card that was edited until it agrees with itself is contradicted by its recipe, or it is said what nobody can check."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import hushtable as ht
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.release import file_hash
from hushtable.pipeline.verify import verify
from hushtable.privacy.guarantee import Guarantee, Void
from hushtable.privacy.unit import Relation, Unit
from hushtable.table.columns import Bounds

PLAIN = """recipe: plain
steps:
- bins: {edges: uniform}
- margins: {}
"""
FREE_AIM = PLAIN.replace("margins", "aim")
PAID_BINS = PLAIN.replace("- bins", "- bins: {}\n- bins")
TUNED = PLAIN.replace("steps:", "tuned: private\nsteps:")
ONE, THREE = Unit(), Unit(rows=3)
ONE_FOR_ONE = Unit(relation=Relation.REPLACE_ONE)


@cache
def released(recipe: str, unit: Unit, seed: int | None = None):
    parsed = Recipe.parse(recipe) if "\n" in recipe else load(recipe)
    budget = 1.0 if any(step.spends for step in parsed.steps) else None
    return ht.release(example(400), parsed, epsilon=budget, unit=unit, seed=seed, unproven=True)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A release as it was saved, once for all tests."""
    return cache(lambda *asked: ht.save(released(*asked), tmp_path_factory.mktemp("saved") / "out"))


@pytest.fixture
def saved(tmp_path, originals):
    """A copy of a saved release, to be damaged."""
    return lambda recipe, unit=ONE, seed=None: shutil.copytree(originals(recipe, unit, seed), tmp_path / "out")


def forge(folder, change) -> None:
    """Edit the guarantee, and put right everything on the card that follows from it."""
    card = json.loads((folder / "card.json").read_text())
    change(card["guarantee"])
    forged = Guarantee.from_json(card["guarantee"])
    card |= {"guarantee": forged.to_json(), "explanation": forged.sentences()}
    card["hashes"] = {name: file_hash(folder / name) for name in card["hashes"] if (folder / name).is_file()}
    (folder / "card.json").write_text(json.dumps(card))


def halve(guarantee) -> None:
    """Only half of the looks, and half of the bound."""
    guarantee["ledger"] = guarantee["ledger"][::2]
    guarantee |= {"bound": 0.5, "budget": guarantee["budget"] | {"epsilon": 0.5}}


def lower_delta(guarantee) -> None:
    guarantee |= {"delta": 1e-12, "budget": guarantee["budget"] | {"delta": 1e-12}}


def louder(guarantee) -> None:
    """A tenth more rho than was calibrated, in a ledger that shows as much."""
    guarantee["factor"] *= 1.1
    for look in guarantee["ledger"]:
        look["sigma"] /= 1.1**0.5


def bound(guarantee) -> None:
    guarantee["bound"] = guarantee["budget"]["epsilon"]


def one_wide_look(guarantee) -> None:
    """A hundredth of the budget, and of the looks only one that keeps within it."""
    guarantee |= {"bound": 0.01, "budget": guarantee["budget"] | {"epsilon": 0.01}}
    guarantee["ledger"] = [next(look for look in guarantee["ledger"] if "sigma" in look) | {"sigma": 1e5}]


def many_rows(guarantee) -> None:
    bound(guarantee)
    guarantee["unit"]["rows"] = 50


def one_for_one(guarantee) -> None:
    bound(guarantee)
    guarantee["relation"] = "replace_one"


FORGERIES = {
    "a bound where all is decided": (PLAIN, ONE, bound, "bound"),
    "a bound, and one wide look": (PLAIN, ONE, one_wide_look, "ledger"),
    "a bound, and many rows a person": (PLAIN, ONE, many_rows, "ledger"),
    "a bound, and the other relation": (PLAIN, ONE, one_for_one, "ledger"),
    "one wide look of an undecided step": (FREE_AIM, ONE, one_wide_look, "ledger"),
    "many rows a person, undecided": (FREE_AIM, ONE, many_rows, "ledger"),
    "the other relation, undecided": (FREE_AIM, ONE, one_for_one, "ledger"),
    "many rows a person after paid bins": ("mst", ONE, many_rows, "ledger"),
    "a look of a step that plans none": (PAID_BINS, ONE, lambda g: g["ledger"].append(_priced() | {"step": "bins 2"}), "ledger"),
    "a round less": (FREE_AIM, ONE, lambda g: g["ledger"].pop(), "ledger"),
    "fewer noisy leaves": ("safe-noisy", ONE, lambda g: g["ledger"].pop(), "ledger"),
    "no bound": ("aim", ONE, lambda g: g.pop("bound"), "bound"),
    "a smaller bound": ("aim", ONE, lambda g: g.update(bound=0.9), "bound"),
    "half of everything": ("aim", ONE, halve, "ledger"),
    "a smaller delta under a bound": ("aim", ONE, lower_delta, "ledger"),
    "looks of paid bins alone": ("aim", ONE, lambda g: g.update(ledger=[e for e in g["ledger"] if e["step"] == "bins"]), "ledger"),
    "no bound after paid bins": ("independent", ONE, lambda g: g.pop("bound"), "bound"),
    "another delta": (PLAIN, ONE, lambda g: g.update(delta=1e-3), "delta"),
    "a smaller delta": (PLAIN, ONE, lower_delta, "recipe"),
    "a look less": (PLAIN, ONE, lambda g: g["ledger"].pop(), "ledger"),
    "more noise": (PLAIN, ONE, lambda g: g["ledger"][0].update(sigma=99.0), "ledger"),
    "a secret sample": (PLAIN, ONE, lambda g: [look.update(rate=0.1, sample=1) for look in g["ledger"]], "ledger"),
    "one look in place of all": (PLAIN, ONE, lambda g: g.update(ledger=[g["ledger"][0] | {"step": "other"}]), "ledger"),
    "a smaller budget": (PLAIN, ONE, lambda g: g["budget"].update(epsilon=0.1), "ledger"),
    "one row a person": (PLAIN, THREE, lambda g: g["unit"].update(rows=1), "ledger"),
    "fewer rows a person": (PLAIN, THREE, lambda g: g["unit"].update(rows=2), "recipe"),
    "another relation": (PLAIN, ONE_FOR_ONE, lambda g: g.update(relation="add_remove"), "recipe"),
    "the other relation": (PLAIN, ONE, lambda g: g.update(relation="replace_one"), "ledger"),
    "a larger factor, and less noise": (PLAIN, ONE, lambda g: louder(g), "recipe"),
    "a larger factor": (PLAIN, ONE, lambda g: g.update(factor=1.2 * g["factor"]), "recipe"),
    "no factor": (PLAIN, ONE, lambda g: g.pop("factor"), "ledger"),
    "a factor for a step that fixes nothing": (FREE_AIM, ONE, lambda g: g.update(factor=1.1), "recipe"),
    "a larger factor under a bound": ("independent", ONE, lambda g: louder(g), "recipe"),
    "nothing assumed": (PLAIN, ONE, lambda g: g.update(public=[]), "public"),
    "never tuned": (TUNED, ONE, lambda g: g["caveats"].remove(Void.TUNED_ON_PRIVATE), "caveats"),
    "no raw look": ("clustmix", ONE, lambda g: g.update(ledger=[_priced()], claims=[], budget=_ASKED, delta=1e-6), "ledger"),
    "no claim": ("clustmix", ONE, lambda g: g.update(claims=[]), "claims"),
    "no gaps": ("clustmix", ONE, lambda g: g["claims"][0].update(gaps=[]), "claims"),
    "no caveat": ("noise", ONE, lambda g: g.update(caveats=[]), "caveats"),
    "a larger derived k": ("k-anonymity-uniform", ONE, lambda g: g["promises"][0].update(value=50), "promise"),
    "fewer columns": ("mdav", ONE, lambda g: g["promises"][0]["quasi"].pop(), "caveats"),
    "derived called syntactic": ("k-anonymity-uniform", ONE, lambda g: g["promises"][0].update(form="syntactic"), "promise"),
}
_ASKED = {"epsilon": 1.0, "delta": 1e-6}


def _priced() -> dict:
    noise = {"event": "DiscreteGaussian", "sigma": 9.0, "sensitivity": 1.0, "ones": 1}
    return {"step": "clustmix", "why": "x", "sample": 0, "rate": 1.0, **noise}


@pytest.mark.parametrize(("recipe", "unit", "change", "expected"), FORGERIES.values(), ids=FORGERIES)
def test_the_recipe_contradicts_an_edited_card(saved, recipe, unit, change, expected):
    folder = saved(recipe, unit)
    assert not verify(folder).faults
    forge(folder, lambda guarantee: None)
    assert not verify(folder).faults
    forge(folder, change)
    assert expected in {fault.where for fault in verify(folder).faults}


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["guarantee"]["public"].pop(),
        lambda c: c["guarantee"]["caveats"].append("x"),
        lambda c: c.update(steps=["margins"]),
        lambda c: c["guarantee"].update(accountant="magic"),
        lambda c: c.update(title="Proven: 0.001-differential privacy for every person"),
        lambda c: c.update(cite="certified"),
        lambda c: c.update(certified_by="an institute"),
        lambda c: c["guarantee"].update(epsilon_per_person=0.001),
        lambda c: c["guarantee"]["unit"].update(epsilon=0.001),
        lambda c: c["guarantee"].update(spent=0.001),
    ],
)
def test_a_card_that_does_not_agree_with_itself_is_caught(saved, change):
    folder = saved(PLAIN, ONE_FOR_ONE)
    card = json.loads((folder / "card.json").read_text())
    change(card)
    (folder / "card.json").write_text(json.dumps(card))
    assert verify(folder).faults


def test_the_words_of_the_other_accountant_are_checked_too(saved, monkeypatch):
    monkeypatch.setattr("hushtable.privacy.pld.available", lambda: False)
    folder = saved(PLAIN, seed=3)
    monkeypatch.undo()
    assert verify(folder).holds
    card = json.loads((folder / "card.json").read_text())
    card["explanation"][0][1] = card["explanation"][0][1].replace("1", "0.01", 1)
    (folder / "card.json").write_text(json.dumps(card))
    assert [fault.where for fault in verify(folder).faults] == ["explanation"]


@pytest.mark.parametrize("epsilon", [0.001, 0.5])
def test_an_epsilon_that_nobody_can_recompute_here_is_not_called_checked(saved, monkeypatch, epsilon):
    folder = saved(PLAIN)
    assert verify(folder).holds
    card = json.loads((folder / "card.json").read_text())
    assert epsilon < card["guarantee"]["epsilon"] < 1
    card["guarantee"]["epsilon"] = epsilon
    card["explanation"] = Guarantee.from_json(card["guarantee"]).sentences(epsilon)
    (folder / "card.json").write_text(json.dumps(card))
    assert [fault.where for fault in verify(folder).faults] == ["epsilon"]
    monkeypatch.setattr("hushtable.privacy.pld.available", lambda: False)
    verification = verify(folder)
    assert not verification.holds
    assert [one.where for one in verification.unchecked] == ["epsilon"]
    assert "hushtable[dp]" in verification.unchecked[0].reason


REWORDED = {
    "no claim": ("clustmix", lambda g: g.update(claims=[]), "claims"),
    "no gaps": ("clustmix", lambda g: g["claims"][0].update(gaps=[]), "claims"),
    "no caveat": ("noise", lambda g: g.update(caveats=[]), "caveats"),
    "nothing assumed": (PLAIN, lambda g: g.update(public=[]), "public"),
}


@pytest.mark.parametrize("version", [ht.__version__, "0.1.0", "0.0.9", "", "9", "9.9.9x", None, "later"])
@pytest.mark.parametrize(("recipe", "change", "part"), REWORDED.values(), ids=REWORDED)
def test_no_version_on_a_card_excuses_what_is_left_out(saved, recipe, change, part, version):
    """The version is on the card too: whoever leaves a claim or a caveat out may write any."""
    folder = saved(recipe)
    forge(folder, change)
    stamp(folder, "999.0.0" if version == "later" else version)
    assert part in {fault.where for fault in verify(folder).faults}


def stamp(folder, version) -> None:
    """Write a version of hushtable on a card."""
    card = json.loads((folder / "card.json").read_text())
    card["versions"]["hushtable"] = version
    (folder / "card.json").write_text(json.dumps(card))


@pytest.mark.parametrize("part", ["caveats", "explanation"])
def test_other_words_are_a_fault_unless_a_later_version_wrote_them(saved, part):
    """How a later version words things is not known here: never called checked, nor called forged."""
    folder = saved("mst")
    assert verify(folder).holds
    if part == "caveats":
        forge(folder, lambda g: g.update(caveats=["other words" for _ in g["caveats"]]))
    else:
        card = json.loads((folder / "card.json").read_text())
        card["explanation"][0][1] = "everybody is safe."
        (folder / "card.json").write_text(json.dumps(card))
    for version in (ht.__version__, "0.1.0", "0.0.9", None):
        stamp(folder, version)
        assert {fault.where for fault in verify(folder).faults} == {part}
    stamp(folder, "999.0.0")
    verification = verify(folder)
    assert not verification.faults
    assert {one.where for one in verification.unchecked} == {part}
    assert not verification.holds


def test_raw_rows_under_a_derived_promise_are_not_called_checked(saved):
    folder = saved("mdav-sequential")
    clean = verify(folder)
    assert not clean.holds
    assert "derived" in clean.unchecked[0].reason
    recipe = Recipe.parse("recipe: x\nsteps: [sample: {beta: 1.0}]")
    raw = ht.save(ht.release(example(400), recipe, seed=1, allow_copies="nobody exists"), folder.parent / "raw")
    shutil.copy(raw / "data.csv", folder / "data.csv")
    forge(folder, lambda guarantee: None)
    assert not verify(folder).holds


def test_persons_are_not_in_the_file(saved):
    folder = saved("mdav")
    assert verify(folder).holds
    forge(folder, lambda guarantee: guarantee["unit"].update(by="pid"))
    assert "persons" in str(verify(folder).unchecked[0])


def test_a_recipe_of_other_steps_is_not_run_and_its_proof_not_checkable(saved, monkeypatch):
    folder = saved(PLAIN)
    (folder.parent / "sent.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(folder.parent)
    (folder / "recipe.yaml").write_text(PLAIN.replace("margins", "'sent:Margins'"))
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | {"steps": ["bins", "sent:Margins"]}))
    forge(folder, lambda guarantee: None)
    verification = verify(folder)
    assert not verification.faults
    assert [one.where for one in verification.unchecked] == ["recipe"]
    assert "sent:Margins" in verification.unchecked[0].reason


def test_a_proof_without_its_budget_is_not_checkable(saved):
    folder = saved(PLAIN)
    forge(folder, lambda guarantee: guarantee.update(budget=None))
    assert [one.where for one in verify(folder).unchecked] == ["recipe"]


def test_the_best_of_several_runs_is_not_checkable(tmp_path):
    best = ht.best_of(example(400), [Recipe.parse(PLAIN), load("independent")], epsilon=1.0)
    assert math.isfinite(best.guarantee.epsilon())
    verification = verify(ht.save(best, tmp_path / "out"))
    assert not verification.faults
    assert [one.where for one in verification.unchecked] == ["ledger"]


def test_a_release_without_its_recipe_is_not_whole(saved):
    folder = saved("mdav")
    (folder / "recipe.yaml").unlink()
    forge(folder, lambda guarantee: None)
    assert [fault.where for fault in verify(folder).faults] == ["recipe.yaml"]


@pytest.mark.parametrize(
    "text", ["[" * 5000, "recipe: mdav\nsteps: [7]", "recipe: mdav\nsteps: [{a: 1, b: 2}]", "recipe: mdav\nsteps: {}"]
)
def test_a_damaged_recipe_is_refused(saved, text):
    folder = saved("mdav")
    (folder / "recipe.yaml").write_text(text)
    forge(folder, lambda guarantee: None)
    with pytest.raises(InputError):
        verify(folder)


def test_a_recipe_with_knobs_that_no_step_has_is_not_planned(saved):
    folder = saved(PLAIN)
    (folder / "recipe.yaml").write_text(PLAIN.replace("margins: {}", "margins: {magic: 1}"))
    forge(folder, lambda guarantee: None)
    assert [one.where for one in verify(folder).unchecked] == ["recipe"]


def test_learned_domains_verify(tmp_path):
    table = example(4000).select(["age", "town", "sick"])
    low, high = int(table["age"].min()), int(table["age"].max())
    observed = replace(table.schema["age"], domain=Bounds(low, high, observed=True))
    table = table.with_column(observed, table["age"].astype(np.int64))
    folder = ht.save(ht.release(table, "independent", epsilon=5.0, learn_domain=True), tmp_path / "out")
    assert verify(folder).holds
    forge(folder, lambda guarantee: guarantee.pop("bound"))
    assert "bound" in {fault.where for fault in verify(folder).faults}


@pytest.mark.parametrize("text", ['"epsilon": 0.001, "epsilon": ', '"epsilon": 0.001, "x": 1, "epsilon": '])
def test_a_card_that_says_one_thing_twice_is_refused(saved, text):
    folder = saved(PLAIN)
    card = (folder / "card.json").read_text()
    (folder / "card.json").write_text(card.replace('"epsilon": ', text, 1))
    with pytest.raises(InputError, match="more than once: epsilon"):
        verify(folder)


@pytest.mark.parametrize(
    "name", ["data.parquet", "data.csv.gz", "rows.json", "data.html", "hierarchies/77.csv", "hierarchies/raw.csv", "more/card.html"]
)
def test_raw_rows_in_a_file_that_no_release_has_are_found(saved, name):
    folder = saved(PLAIN)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("age,town\n34,Ash\n")
    put_on_card(folder, name)
    faults = verify(folder).faults
    assert faults
    assert all("hash" not in fault.reason for fault in faults)


def put_on_card(folder, name) -> None:
    """Put a file on the card."""
    card = json.loads((folder / "card.json").read_text())
    card["hashes"][name] = file_hash(folder / name)
    (folder / "card.json").write_text(json.dumps(card))


def test_a_link_is_no_file_of_a_release(saved):
    folder = saved(PLAIN)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (folder / "hierarchies").symlink_to(elsewhere)
    assert [fault.where for fault in verify(folder).faults] == ["hierarchies"]
    (folder / "hierarchies").unlink()
    assert verify(folder).holds
    shutil.move(folder / "data.csv", elsewhere / "data.csv")
    (folder / "data.csv").symlink_to(elsewhere / "data.csv")
    assert [fault.where for fault in verify(folder).faults] == ["data.csv"]


@pytest.mark.parametrize("recipe", ["mdav", "noise"])
def test_raw_looks_are_said_also_where_nothing_is_proven(saved, recipe):
    folder = saved(recipe)
    forge(folder, lambda guarantee: guarantee.update(ledger=[]))
    assert "ledger" in {fault.where for fault in verify(folder).faults}


def test_what_a_run_found_is_taken_on_trust(saved):
    assert any("result" in one.where for one in verify(saved("mdav")).assumed)


def test_nothing_is_promised_of_no_rows(tmp_path):
    empty = ht.release(example(60), "safe-k", epsilon=0.1)
    assert empty.table.rows == 0
    assert not empty.guarantee.promises
    folder = ht.save(empty, tmp_path / "out")
    assert verify(folder).holds
    k = {"kind": "k_anonymity", "value": 5, "quasi": list(empty.table.schema.quasi), "secret": None}
    forge(folder, lambda guarantee: guarantee.update(promises=[k | {"variant": "", "form": "syntactic", "counted": "rows"}]))
    assert "promise" in {fault.where for fault in verify(folder).faults}


@pytest.mark.parametrize(
    ("step", "names", "epsilon", "delta"),
    [
        ("mwem: {rounds: 4}", ["town", "sick"], 0.3, None),
        ("mwem: {rounds: 4}", ["town", "sick"], 2.0, 0.0),
        ("mwem: {}", ["town", "sick"], 2.0, 0.0),
        ("aim: {}", ["town"], 1.0, None),
    ],
)
def test_rounding_and_single_columns_depart_from_no_plan(tmp_path, step, names, epsilon, delta):
    recipe = Recipe.parse(f"recipe: x\nsteps: [{step}]")
    released = ht.release(example(200).select(names), recipe, epsilon=epsilon, delta=delta)
    assert (released.guarantee.bound is None) == ("rounds" in step), "else noisy answers decide how many rounds there are"
    assert verify(ht.save(released, tmp_path / "out")).holds
