"""Models on disk: read back the same, with what they promise, and never a door for foreign code."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from functools import cache
from zipfile import ZipFile

import numpy as np
import pytest

import hushtable as ht
from hushtable.checks import example
from hushtable.encode.bins import Binned
from hushtable.errors import InputError
from hushtable.pipeline.recipe import load, names
from hushtable.pipeline.store import ONCE
from hushtable.privacy.criteria import Counted
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.unit import Unit
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SPEND = [recipe for recipe in map(load, names()) if any(step.spends for step in recipe.steps)]
DRAWN = tuple(r.recipe for r in SPEND if not r.reads_text and r.recipe not in ("safe-k", "safe-noisy"))
"""The recipes that spend budget and may have a model to draw from; tests of text save theirs."""


@cache
def released(name):
    recipe = load(name).quick()
    spends = any(step.spends for step in recipe.steps)
    return ht.release(example(), recipe, epsilon=4.0 if spends else None, unit=Unit(relation=recipe.relation))


def same(one, two):
    return one.schema == two.schema and all(
        np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names
    )


def entries(path):
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, changed, *, rehash=True, **card):
    """The model file with entries exchanged, and the card telling their new hashes."""
    new = entries(path) | changed
    document = json.loads(new["card.json"]) | card
    if rehash:
        document["hashes"] = {name: hashlib.sha256(new[name]).hexdigest() for name in new if name != "card.json"}
    new["card.json"] = json.dumps(document).encode()
    other = path.with_name("other.model")
    with ZipFile(other, "w") as archive:
        for name, content in new.items():
            archive.writestr(name, content)
    return other


@pytest.mark.parametrize("name", DRAWN)
def test_a_private_model_draws_the_same_rows_after_it_was_saved(name, tmp_path):
    release = released(name)
    if release.fitted is None:
        with pytest.raises(InputError, match="no model to draw new rows from"):
            ht.save_model(release, tmp_path / "it.model")
        assert not list(tmp_path.iterdir())
        return
    path = ht.save_model(release, tmp_path / "it.model")
    model = ht.load_model(path)
    one, two = ht.draw(release, 60, seed=5), ht.draw(model, 60, seed=5)
    assert same(one.table, two.table)
    assert two.table.schema == release.table.schema
    assert two.guarantee == one.guarantee
    assert two.guarantee.to_json() | {"caveats": []} == release.guarantee.to_json() | {"caveats": []}
    assert ONCE in two.guarantee.caveats
    assert [p.name for p in tmp_path.iterdir()] == ["it.model"]
    _holds_no_row(path, example())
    _meets_conditions(model)


def _holds_no_row(path, table):
    """Heights are all different: no more of them stand in the file than chance puts there."""
    content = entries(path)
    arrays = [np.load(io.BytesIO(data), allow_pickle=False) for name, data in content.items() if name.endswith(".npy")]
    numbers = np.concatenate([a.astype(np.float64).ravel() for a in arrays if a.dtype.kind in "fiu"])
    text = b"".join(data for name, data in content.items() if not name.endswith(".npy")).decode()
    heights = table.floats("height")
    assert np.isin(heights, numbers).mean() + np.mean([repr(float(h)) in text for h in heights]) <= 0.05


def _meets_conditions(model):
    given = {name: value for name, value in {"sick": "yes", "age": "41"}.items() if name in model.fitted.model.schema}
    drawn = ht.draw(model, 30, given, seed=1)
    assert drawn.table.rows == 30
    for name, value in given.items():
        assert set(drawn.table.strings(name)) == {value}
    assert drawn.result["draw"] == {"rows": 30, "given": given}
    assert any("sick = yes" in caveat for caveat in drawn.guarantee.caveats)


def test_without_a_number_a_model_draws_as_many_rows_as_it_says():
    release = released("independent")
    assert ht.draw(release, seed=1).table.rows == release.fitted.model.total
    for few in (0, 1):
        with pytest.raises(InputError, match="at least two rows"):
            ht.draw(release, few)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"nobody": "1"}, "there is no column 'nobody'"),
        ({"sick": "perhaps"}, "'perhaps' is no value of sick"),
        ({"age": "400"}, "'400' is no value of age"),
        ({"age": ""}, "'' is no value of age"),
    ],
)
def test_what_is_no_value_cannot_be_fixed(given, wrong):
    with pytest.raises(InputError, match=wrong):
        ht.draw(released("independent"), 30, given)


def test_a_number_is_fixed_to_the_value_and_its_bin_decides_the_rest():
    release = released("mst")
    assert any(isinstance(code, Binned) and "pay" in code.edges for code in release.fitted.codes)
    assert set(ht.draw(release, 40, {"pay": "1234"}, seed=2).table.strings("pay")) == {"1234"}


def test_a_drawn_release_is_saved_and_verifies(tmp_path):
    drawn = ht.draw(ht.save_model(released("mst"), tmp_path / "it.model"), 50, {"sick": "yes"}, 3)
    ht.save(drawn, tmp_path / "out")
    verification = ht.verify(tmp_path / "out")
    assert not verification.faults
    assert not verification.unchecked
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["rows"] == 50
    assert card["result"]["draw"] == {"rows": 50, "given": {"sick": "yes"}}
    assert card["guarantee"]["epsilon"] == released("mst").guarantee.to_json()["epsilon"]
    # Drawing from what was drawn is drawing from the model.
    assert same(ht.draw(drawn, 20, seed=9).table, ht.draw(released("mst"), 20, seed=9).table)


def test_a_claim_stays_a_claim(tmp_path):
    release = released("clustmix")
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 40)
    assert drawn.guarantee.assurance is Assurance.CLAIMED
    assert drawn.guarantee.claims == release.guarantee.claims
    assert ONCE not in drawn.guarantee.caveats


def test_a_derived_promise_holds_for_every_drawn_table(tmp_path):
    release = released("mdav-sequential")
    assert [p.form for p in release.guarantee.promises] == [Form.DERIVED]
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 40)
    assert drawn.guarantee.promises == release.guarantee.promises
    ht.save(drawn, tmp_path / "out")
    assert not ht.verify(tmp_path / "out").faults


@pytest.mark.parametrize(
    ("value", "counted", "holds"), [(2, Counted.ROWS, True), (61, Counted.ROWS, False), (2, Counted.PERSONS, False)]
)
def test_what_was_verified_on_the_first_release_is_measured_again_or_dropped(value, counted, holds):
    release = released("independent")
    promise = Promise(kind=Syntactic.K_ANONYMITY, value=value, quasi=("town",), counted=counted)
    guarantee = replace(release.guarantee, promises=(promise,), criteria={"k": 9, "quasi": ["town"]})
    drawn = ht.draw(replace(release, guarantee=guarantee), 60, {"town": "north"}, seed=1)
    assert drawn.guarantee.promises == ((promise,) if holds else ())
    assert drawn.guarantee.criteria == {}
    if holds:
        assert any("does not cover" in caveat for caveat in drawn.guarantee.caveats)


def test_an_anonymized_table_is_no_model(tmp_path):
    release = ht.release(example(), "mdav", seed=1)
    for asked in (lambda: ht.save_model(release, tmp_path / "it.model"), lambda: ht.draw(release, 10)):
        with pytest.raises(InputError, match=r"recipe mdav: .* no model to draw new rows from"):
            asked()
    assert not list(tmp_path.iterdir())


def test_what_was_read_off_the_rows_is_not_saved(tmp_path):
    table = example()
    marked = replace(table.schema, columns=tuple(c.marked(frozenset({"domain"})) if c.name == "pay" else c for c in table.schema))
    release = ht.release(table.under(marked), "sequential", seed=1)
    assert ht.draw(release, 10).table.rows == 10
    with pytest.raises(InputError, match=r"read off the rows \(pay\)"):
        ht.save_model(release, tmp_path / "it.model")
    assert not list(tmp_path.iterdir())


def test_a_code_that_cannot_be_stored_is_refused_by_name(tmp_path):
    class Opaque:
        schema, stability = example().schema, 1

        def apply(self, table):
            return table

        def undo(self, table, rng):
            return table

    release = released("independent")
    odd = replace(release, fitted=replace(release.fitted, codes=(*release.fitted.codes, Opaque())))
    with pytest.raises(InputError, match="Opaque has no parts"):
        ht.save_model(odd, tmp_path / "it.model")
    Opaque.parts, Opaque.from_parts = (lambda self: ({}, {})), classmethod(lambda cls, values, arrays: cls())
    with pytest.raises(InputError, match="could not be read back"):
        ht.save_model(odd, tmp_path / "it.model")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    path = ht.save_model(released("independent"), tmp_path / "it.model")
    before = path.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        ht.save_model(released("mst"), path)
    assert path.read_bytes() == before


def test_hierarchy_files_travel_with_the_model(tmp_path):
    table = example()
    sick = table.schema["sick"]
    tree = FileTree("sick.csv", tuple((level, "*") for level in sick.levels))
    table = table.under(table.schema.with_columns(replace(sick, hierarchy=tree)))
    release = ht.release(table, "independent", epsilon=2.0)
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 20, seed=1)
    assert drawn.table.schema == release.table.schema
    assert drawn.table.schema["sick"].hierarchy == tree


def test_columns_may_be_called_anything(tmp_path):
    names_ = ("file", "b", "b/x", "allow_pickle", "model.json")
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("u", "v"))) for n in names_))
    rng = np.random.default_rng(0)
    table = Table(schema, {n: rng.integers(0, 2, 60).astype(np.int32) for n in names_})
    release = ht.release(table, "sequential", seed=1)
    path = ht.save_model(release, tmp_path / "it.model")
    assert same(ht.draw(path, 30, seed=1).table, ht.draw(release, 30, seed=1).table)


def test_a_file_that_names_foreign_code_is_refused(tmp_path):
    path = ht.save_model(released("independent"), tmp_path / "it.model")
    document = json.loads(entries(path)["model.json"])
    for target, wrong in [
        ("subprocess:Popen", "no registered step"),
        ("hushtable.table.schema:Schema", "damaged"),
        ("hushtable.encode.bins:Binned", "damaged"),
    ]:
        document["model"]["class"] = target
        with pytest.raises(InputError, match=wrong):
            ht.load_model(rewritten(path, {"model.json": json.dumps(document).encode()}))


def test_a_recipe_with_foreign_steps_runs_no_code(tmp_path):
    path = ht.save_model(released("independent"), tmp_path / "it.model")
    with pytest.raises(InputError, match="no step of hushtable"):
        ht.load_model(rewritten(path, {"recipe.yaml": b"recipe: independent\nsteps:\n- subprocess:Popen: {}\n"}))


def test_a_changed_file_is_refused(tmp_path):
    path = ht.save_model(released("independent"), tmp_path / "it.model")
    content = entries(path)
    array = content["arrays/0.npy"]
    card = json.loads(content["card.json"])
    guarantee = card["guarantee"]
    changes = {
        "was changed after": rewritten(path, {"arrays/0.npy": array[:-1] + b"\x07"}, rehash=False),
        "is not on the card": rewritten(path, {"extra.txt": b"hello"}, rehash=False),
    }
    for wrong, other in list(changes.items()):
        with pytest.raises(InputError, match=wrong):
            ht.load_model(other)
    half = guarantee | {"epsilon": guarantee["epsilon"] / 2}
    with pytest.raises(InputError, match="epsilon"):
        ht.load_model(rewritten(path, {}, guarantee=half))
    cheap = guarantee | {"ledger": guarantee["ledger"][:1]}
    with pytest.raises(InputError, match="is not what its card says"):
        ht.load_model(rewritten(path, {}, guarantee=cheap))
    tuned = content["recipe.yaml"].replace(b"fewest: 32", b"fewest: 31").replace(b"share: 0.1", b"share: 0.2")
    with pytest.raises(InputError, match="ledger"):
        ht.load_model(rewritten(path, {"recipe.yaml": tuned}))
    layout = json.dumps(json.loads(content["model.json"]) | {"format": 99}).encode()
    with pytest.raises(InputError, match="layout 99"):
        ht.load_model(rewritten(path, {"model.json": layout}))
    assert ht.load_model(path).guarantee == released("independent").guarantee


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", None])
def test_something_else_is_no_model(tmp_path, content):
    if content is not None:
        (tmp_path / "it.model").write_bytes(content)
    with pytest.raises(InputError, match="not a model file"):
        ht.load_model(tmp_path / "it.model")


def test_another_archive_is_no_model(tmp_path):
    np.savez(tmp_path / "it.npz", a=np.arange(3))
    with pytest.raises(InputError, match=r"no readable card\.json"):
        ht.load_model(tmp_path / "it.npz")


@pytest.mark.parametrize("name", ["rows.csv", "../../rows.csv", "arrays/rows.csv", "/etc/rows", "arrays/0.npy/x"])
def test_nothing_else_travels_with_a_model(tmp_path, name):
    """The card may list it: rows beside a private model would be shared with it."""
    path = ht.save_model(released("independent"), tmp_path / "it.model")
    with pytest.raises(InputError, match="is no entry that a model file has"):
        ht.load_model(rewritten(path, {name: b"age,town"}))


@pytest.mark.parametrize(
    ("rows", "given", "where"), [(10.5, {}, "rows"), ("7", {}, "rows"), (1, {}, "rows"), (5, {"age": None}, "given")]
)
def test_what_is_no_number_of_rows_and_no_value_is_an_error_of_ours(rows, given, where):
    with pytest.raises(InputError) as error:
        ht.draw(released("independent"), rows, given)
    assert [fault.where for fault in error.value.faults] == [where]


def test_a_value_to_fix_may_be_a_number():
    drawn = ht.draw(released("independent"), np.int64(5), {"age": 30})
    assert set(drawn.table.strings("age")) == {"30"}
