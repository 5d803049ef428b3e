"""Proposed roles: names, what follows from them, and whom everyday columns single out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.table import naming
from hushtable.table.columns import Role
from tests.survey import survey


@pytest.mark.parametrize(
    "name",
    ["AGEP", "PUMA", "PUMA10", "RAC1P", "MSP", "SEX", "DOB", "ST", "zip", "HISP", "SCHL", "INDP", "birthDate"],
)
def test_names_of_what_others_know(name):
    assert naming.matches(name, naming.QUASI)


@pytest.mark.parametrize("name", ["st_depression", "ST_Slope", "first", "list", "racing", "msparam", "citations", "latency"])
def test_names_that_only_begin_alike(name):
    assert not naming.matches(name, naming.QUASI)


def anonymous(rows: int = 2000) -> pd.DataFrame:
    """Columns whose names say nothing: six everyday ones, an amount, and a constant."""
    rng = np.random.default_rng(0)
    frame = {f"q{i}": [f"v{v}" for v in rng.integers(0, size, rows)] for i, size in enumerate([9, 11, 13, 5, 4, 3])}
    return pd.DataFrame({**frame, "x": np.round(rng.gamma(2, 900, rows), 2).astype(str), "same": "s"})


def test_columns_that_single_people_out_are_proposed_whatever_their_names():
    schema = ht.draft(anonymous())
    assert {"q0", "q1", "q2"} <= set(schema.quasi)
    assert "same" not in schema.quasi
    assert any("together single out" in note and "q0" in note for note in schema.notes)


def test_an_amount_is_not_proposed_for_being_unique_and_is_named():
    schema = ht.draft(anonymous())
    assert schema["x"].role is Role.PLAIN
    assert any("not proposed as a quasi-identifier: x (" in note for note in schema.notes)


def test_a_secret_is_not_proposed_for_being_unique():
    frame = anonymous().rename(columns={"q0": "diagnosis"})
    assert ht.draft(frame)["diagnosis"].role is Role.SECRET


def test_the_draft_of_a_survey_is_never_silent_about_a_set_that_singles_out_many():
    schema = ht.draft(survey())
    assert {"AGEP", "PUMA", "RAC1P", "MSP", "SEX", "HISP"} <= set(schema.quasi)
    notes = " ".join(schema.notes)
    table = ht.read(survey(), schema)
    outside = [name for name in schema.released if name not in schema.quasi]
    assert "100.0% on all" in notes
    assert "Outside the quasi-identifiers, few columns still single out many of the rows" in notes
    found = ht.profile(table.select(outside)).singling[2]
    assert all(name in notes for name in found.sets[0].columns)


def test_few_rows_propose_nothing_by_what_they_single_out():
    schema = ht.draft(anonymous(40))
    assert not any("together single out" in note for note in schema.notes)


def panel(people: int = 120, years: int = 6) -> pd.DataFrame:
    """Several years of each person, under a name that does not say so."""
    rng = np.random.default_rng(0)
    nr = np.repeat(rng.choice(9000, people, replace=False) + 100, years)
    born = np.repeat(rng.choice(["a", "b", "c"], people), years)
    return pd.DataFrame(
        {"nr": nr, "year": np.tile(np.arange(years) + 1990, people), "born": born, "w": rng.integers(0, 50, len(nr))}
    )


def test_one_person_with_very_many_rows_does_not_set_the_bound_for_all():
    number = [*np.repeat(np.arange(1000, 1300), 2), *[999] * 200]
    frame = pd.DataFrame({"patient_id": [f"p{n}" for n in number], "w": np.arange(len(number)) % 7})
    said = " ".join(ht.draft(frame).notes)
    assert "--person patient_id --rows-per-person 2 (1 of 301 have more rows, of which so many are read)." in said


def test_a_number_of_people_with_several_rows_is_named_and_dropped():
    # Some left early, and the name says nothing: only that no year comes twice does.
    frame = panel().drop(index=[3, 77]).rename(columns={"nr": "unit"})
    schema = ht.draft(frame)
    assert schema["unit"].role is Role.IDENTIFIER
    assert any("no two of one with the same year" in note and "--person unit --rows-per-person 6" in note for note in schema.notes)
    # In another order of the years it numbers nothing.
    mixed = frame.assign(year=lambda rows: np.random.default_rng(1).permutation(rows["year"]))
    assert ht.draft(mixed)["unit"].role is not Role.IDENTIFIER


def test_everyday_columns_that_single_people_out_beside_named_ones_are_proposed():
    rng = np.random.default_rng(0)
    frame = {name: [f"v{v}" for v in rng.integers(0, 11, 3000)] for name in ("industry", "occupation", "p", "q")}
    schema = ht.draft(pd.DataFrame(frame | {"r": rng.choice(["x", "y"], 3000)}))
    assert {"industry", "occupation", "p", "q"} <= set(schema.quasi)
