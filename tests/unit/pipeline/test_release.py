"""A release on disk: whole or not at all, and verified against its own card."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hushtable as ht
from hushtable.encode.bins import Bins
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import load_card, load_table
from hushtable.pipeline.verify import verify
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.schema import Schema
from hushtable.table.values import from_mapping


@pytest.fixture
def saved(small, tmp_path):
    released = ht.release(small, "mdav", settings={"k": "4"}, seed=1)
    return released, ht.save(released, tmp_path / "out")


@pytest.fixture
def saved_private(small, tmp_path):
    released = ht.release(small, "independent", epsilon=1.0, seed=1)
    return released, ht.save(released, tmp_path / "out")


def test_what_is_written_is_what_was_made(saved):
    released, folder = saved
    assert {p.name for p in folder.iterdir()} == {"data.csv", "card.json", "card.html", "recipe.yaml", "schema.yaml"}
    back = load_table(folder)
    assert all(np.array_equal(back[n], released.table[n], equal_nan=back[n].dtype.kind == "f") for n in back.schema.names)
    card = load_card(folder)
    assert set(card) >= {"recipe", "rows", "guarantee", "result", "versions", "hashes"}
    assert set(card["guarantee"]) >= {"assurance", "epsilon", "delta", "relation", "public", "criteria", "caveats"}
    assert card["recipe"] == "mdav"
    assert card["guarantee"]["assurance"] == "verified"
    assert card["guarantee"]["criteria"]["k"] >= 4
    assert not verify(folder).faults


@pytest.mark.parametrize("form", ["csv.gz", "parquet"])
def test_other_forms_verify_too(small, tmp_path, form):
    folder = ht.save(ht.release(small, "mdav", seed=1), tmp_path / "out", form)
    assert (folder / f"data.{form}").is_file()
    assert not verify(folder).faults


def test_a_private_release_verifies(saved_private):
    released, folder = saved_private
    assert not verify(folder).faults
    assert load_card(folder)["guarantee"]["epsilon"] == pytest.approx(released.guarantee.epsilon())


def edit_card(folder, change) -> None:
    card = json.loads((folder / "card.json").read_text())
    change(card)
    (folder / "card.json").write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda c: c["guarantee"]["criteria"].update(k=9), "criteria: k"),
        (lambda c: c["guarantee"]["criteria"]["secrets"]["sick"].update(l_distinct=9), "l_distinct"),
        (lambda c: c.update(rows=7), "rows"),
        (lambda c: c.update(recipe="magic"), "recipe"),
        (lambda c: c["guarantee"]["promises"][0].update(value=40), "promise"),
        (lambda c: c["hashes"].update({"data.csv": "0" * 64}), "data.csv"),
        (lambda c: c["hashes"].update({"extra.txt": "0" * 64}), "extra.txt"),
    ],
)
def test_a_card_that_claims_more_than_the_data_is_caught(saved, change, expected):
    _, folder = saved
    edit_card(folder, change)
    assert any(expected in fault.where for fault in verify(folder).faults), verify(folder)


def test_edited_data_is_caught(saved):
    _, folder = saved
    text = (folder / "data.csv").read_text()
    (folder / "data.csv").write_text(text.replace("yes", "no", 1))
    assert any(fault.where == "data.csv" for fault in verify(folder).faults)


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g.update(epsilon=g["epsilon"] / 2),
        lambda g: g["ledger"].pop(),
        lambda g: g["ledger"][0].update(sigma=g["ledger"][0].get("sigma", 1.0) * 2),
    ],
)
def test_a_ledger_that_does_not_add_up_is_caught(saved_private, change):
    _, folder = saved_private
    edit_card(folder, lambda card: change(card["guarantee"]))
    assert any(fault.where in ("epsilon", "ledger") for fault in verify(folder).faults)


def test_an_existing_folder_is_never_touched(saved, small):
    _, folder = saved
    before = sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir())
    with pytest.raises(InputError, match="exists already"):
        ht.save(ht.release(small, "mdav", seed=2), folder)
    assert sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir()) == before


def test_a_failed_save_leaves_nothing(small, tmp_path, monkeypatch):
    released = ht.release(small, "mdav", seed=1)
    monkeypatch.setattr("hushtable.pipeline.release.io.write", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(InputError, match="disk full"):
        released.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["empty", "not json", "not UTF-8", "not a card", "no data"])
def test_a_folder_that_is_no_release_is_refused(tmp_path, name):
    folder = tmp_path / "x"
    folder.mkdir()
    text = {
        "not json": "{",
        "not UTF-8": "\xe9",
        "not a card": "{}",
        "no data": json.dumps({"recipe": "x", "rows": 1, "guarantee": {}, "hashes": {}}),
    }.get(name)
    if text is not None:
        (folder / "card.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        verify(folder)


def test_an_audit_is_not_written_into_a_release(saved, small):
    released, folder = saved
    report = ht.audit(small, released, small.take(np.arange(0, 120, 2)), only=["identical-matches"])
    with pytest.raises(InputError, match="must not be published"):
        report.save(folder / "audit")


def test_hierarchy_files_travel_with_the_release(small, tmp_path):
    from dataclasses import replace

    from hushtable.table.hierarchy import FileTree

    rows = tuple((level, "side" if level in ("east", "west") else "height, above", "*") for level in small.schema["town"].levels)
    tree = FileTree("../elsewhere/town.csv", rows)
    column = replace(small.schema["town"], hierarchy=tree)
    folder = ht.save(ht.release(small.with_column(column, small["town"]), "mdav", seed=0), tmp_path / "out")
    assert not verify(folder).faults
    assert load_table(folder).schema["town"].hierarchy.rows == rows


def test_the_card_of_a_private_release_does_not_depend_on_the_rows(small):
    """Two private tables of one schema, one half the size: with a public number of rows their cards are the same.

    But for the note on small budgets, which tells the noisy number of rows.
    """
    one, two = (ht.release(t, "independent", epsilon=0.5, rows=50).card() for t in (small, small.take(np.arange(60))))
    for card in (one, two):
        assert "the noise of a cell is about" in card["result"]["margins"].pop("note")
    assert one == two


def test_verifying_runs_no_code_of_whoever_wrote_the_recipe(saved, monkeypatch):
    _, folder = saved
    (folder.parent / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(folder.parent)
    (folder / "recipe.yaml").write_text("recipe: mdav\nsteps:\n- evil_module:X: {}\n")
    assert [fault.where for fault in verify(folder).faults] == ["recipe.yaml"]


def test_a_date_without_a_day_is_released_as_it_is_written(tmp_path):
    rng = np.random.default_rng(0)
    schema = Schema.parse(
        "columns:\n  born: {kind: date, role: quasi, domain: ['1950', '2000'], format: '%Y'}\n"
        "  weight: {kind: integer, role: quasi, domain: [30, 200]}\n"
    )
    raw = {"born": [str(y) for y in rng.integers(1950, 2001, 900)], "weight": [str(w) for w in rng.integers(40, 60, 900)]}
    released = ht.release(from_mapping(schema, raw), "mdav", settings={"k": "7"}, seed=0)
    assert not verify(ht.save(released, tmp_path / "out")).faults


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda g: g.update(assurance="proven"), "assurance"),
        (lambda g: g.update(not_private=[]), "not_private"),
        (lambda g: g.update(epsilon=0.0, delta=0.0, ledger=[], assurance="proven"), "epsilon"),
        (lambda g: g["promises"].append(g["promises"][0] | {"kind": "l_diversity", "value": 9, "secret": "sick"}), "promise"),
        (lambda g: g["promises"][0].update(quasi=["nobody"]), "criteria"),
        (lambda g: g["criteria"].update(unique_share=0.5), "criteria: unique_share"),
        (lambda g: g["criteria"].update(marketer_risk=0.001), "criteria: marketer_risk"),
    ],
)
def test_a_forged_guarantee_is_caught(saved, change, expected):
    _, folder = saved
    edit_card(folder, lambda card: change(card["guarantee"]))
    assert expected in {fault.where for fault in verify(folder).faults}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda c: c.update(explanation=[["Proven", "everything"]]), "explanation"),
        (lambda c: c.update(columns=["age"]), "columns"),
        (lambda c: c.update(hashes={}), "data.csv"),
    ],
)
def test_a_forged_card_is_caught(saved, change, expected):
    _, folder = saved
    edit_card(folder, change)
    assert expected in {fault.where for fault in verify(folder).faults}


def test_a_stray_file_in_the_folder_is_caught(saved):
    _, folder = saved
    (folder / "raw.csv").write_text("name\nAnna\n")
    assert [fault.where for fault in verify(folder).faults] == ["raw.csv"]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(hashes=None),
        lambda c: c.update(guarantee={}),
        lambda c: c.update(guarantee=None),
        lambda c: c["guarantee"].update(promises=None),
        lambda c: c["guarantee"]["promises"][0].update(value="x"),
        lambda c: c["guarantee"].update(delta="abc"),
        lambda c: c["guarantee"]["ledger"][0].update(event="Magic"),
        lambda c: c.update(explanation=7),
    ],
)
def test_a_damaged_card_is_refused(saved, change):
    _, folder = saved
    edit_card(folder, change)
    with pytest.raises(InputError, match=r"card\.json is damaged"):
        verify(folder)


@pytest.mark.parametrize("epsilon", [None, "abc", "nan", -1])
def test_an_epsilon_that_is_none_is_caught(saved_private, epsilon):
    _, folder = saved_private
    edit_card(folder, lambda card: card["guarantee"].update(epsilon=epsilon))
    assert "epsilon" in {fault.where for fault in verify(folder).faults}


def test_a_card_of_brackets_is_no_card(saved):
    _, folder = saved
    (folder / "card.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="not valid JSON"):
        verify(folder)


@pytest.mark.parametrize("here", [False, True], ids=["made with the extra", "made without it"])
def test_a_release_is_verified_where_the_other_accountant_is(small, tmp_path, monkeypatch, here):
    monkeypatch.setattr("hushtable.privacy.pld.available", lambda: not here)
    # With public bins every price is known beforehand, so the numerical accountant has the last word.
    folder = ht.save(ht.release(small, Recipe(recipe="plain", steps=(Bins(), Margins())), epsilon=1.0), tmp_path / "out")
    monkeypatch.setattr("hushtable.privacy.pld.available", lambda: here)
    assert not verify(folder).faults
    edit_card(folder, lambda card: card["guarantee"].update(epsilon=card["guarantee"]["epsilon"] * (0.9 if here else 1.3)))
    assert [fault.where for fault in verify(folder).faults] == ["epsilon"]
    edit_card(folder, lambda card: card["guarantee"].update(assurance="claimed"))
    assert "assurance" in {fault.where for fault in verify(folder).faults}
