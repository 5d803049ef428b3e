"""A drafted schema: kinds, missing codes, roles and remarks; and whatever parses can be read under its own draft."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.table import io
from hushtable.table.columns import Bounds, Facet, Kind, Levels, Role
from hushtable.table.infer import MISSING_TEXTS
from hushtable.table.roles import unique_share
from hushtable.table.schema import Schema
from tests import strategies

MANY = 60


def draft(**columns):
    return io.draft(pd.DataFrame(columns, dtype=object))


def drafted(values, name="x"):
    return draft(**{name: values})[name]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "3"], Kind.INTEGER),
        (["-1", "+2", "300"], Kind.INTEGER),
        (["1.0", "2.0", "3.00"], Kind.INTEGER),
        (["1.5", "2", "3"], Kind.REAL),
        (["1e5", "2.5e-3", "3"], Kind.REAL),
        (["0", "1", "1", "0"], Kind.CATEGORY),
        (["7", "7", "7"], Kind.CATEGORY),
        (["01", "02", "10", "11"], Kind.CATEGORY),
        (["00202", "00043", "00280"], Kind.CATEGORY),
        (["a", "b", "a"], Kind.CATEGORY),
        (["yes", "no", "no"], Kind.CATEGORY),
        (["low", "high", "medium", "low"], Kind.ORDINAL),
        (["Never", "Often", "Always"], Kind.ORDINAL),
        (["low", "high"], Kind.CATEGORY),
        (["1e400", "2", "3"], Kind.CATEGORY),
        (["inf", "2.5", "3"], Kind.CATEGORY),
        (["1_000", "2", "3"], Kind.CATEGORY),
        (["", "?", None], Kind.TEXT),
        ([f"{i:04d}" for i in range(MANY)], Kind.KEY),
        ([str(i) for i in range(1000, 1000 + MANY)], Kind.KEY),
        ([str(i * i * 1000) for i in range(MANY)], Kind.INTEGER),
        ([f"A-{i * 37}" for i in range(MANY)], Kind.KEY),
        ([f"the patient said {i} and left" for i in range(MANY)], Kind.TEXT),
        ([str(10**18 + i) for i in range(MANY)], Kind.KEY),
        ([str(10**25 + i) for i in range(MANY)], Kind.KEY),
        (["9" * 5000, "8" * 5000, "1"], Kind.CATEGORY),
        ([str(10**17 + i * 10**9) for i in range(MANY)], Kind.INTEGER),
    ],
)
def test_the_kind_is_told_by_the_values(values, kind):
    assert drafted(values).kind is kind


@pytest.mark.parametrize("name", ["zip", "zipcode", "ZIP Code", "post_code", "postcode", "homePLZ", "icd9"])
def test_whole_numbers_under_the_name_of_a_code_are_categories(name):
    assert drafted(["73139", "10115", "80331", "10115"], name).kind is Kind.CATEGORY


@pytest.mark.parametrize("name", ["post", "zipping_speed_kmh_x", "plzen_distance", "fipsy"])
def test_other_names_do_not_make_codes_of_numbers(name):
    assert drafted(["73139", "10115", "80331", "10115"], name).kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("values", "form", "first"),
    [
        (["2020-01-31", "2020-02-29"], None, "2020-01-31"),
        (["31.01.2020", "01.02.2020"], "%d.%m.%Y", "31.01.2020"),
        (["31/01/2020", "01/02/2020"], "%d/%m/%Y", "31/01/2020"),
        (["01/31/2020", "02/01/2020"], "%m/%d/%Y", "01/31/2020"),
        (["2020/01/31", "2020/02/01"], "%Y/%m/%d", "2020/01/31"),
        (["31-01-2020", "01-02-2020"], "%d-%m-%Y", "31-01-2020"),
        (["2020-01-31 10:00:00", "2020-02-01 00:00:00"], "%Y-%m-%d %H:%M:%S", "2020-01-31 10:00:00"),
        (["2020-01-31T10:00:00", "2020-02-01T00:00:00"], "%Y-%m-%dT%H:%M:%S", "2020-01-31T10:00:00"),
        (["2020-01-31 10:00", "2020-02-01 07:30"], "%Y-%m-%d %H:%M", "2020-01-31 10:00"),
        (["2020-01-31T10:00", "2020-02-01T07:30"], "%Y-%m-%dT%H:%M", "2020-01-31T10:00"),
        (["31.01.2020 10:00", "01.02.2020 07:30"], "%d.%m.%Y %H:%M", "31.01.2020 10:00"),
        (["01/31/2020 10:00:01", "02/01/2020 07:30:00"], "%m/%d/%Y %H:%M:%S", "01/31/2020 10:00:01"),
    ],
)
def test_dates_are_recognized_in_the_usual_formats(values, form, first):
    table = io.read(pd.DataFrame({"x": [*values, ""]}))
    assert table.schema["x"].kind is Kind.DATE
    assert table.schema["x"].format == form
    assert list(table.strings("x")) == [*values, None]


@pytest.mark.parametrize(
    "values", [["2020-01-31", "31.01.2020"], ["2020-02-30", "2020-01-01"], ["12/2020", "01/2020"], ["20-1-1", "20-2-2"]]
)
def test_what_is_not_one_format_of_dates_is_no_date(values):
    assert drafted(values).kind is Kind.CATEGORY


def test_dates_and_booleans_of_a_frame_are_told_by_their_type():
    when = pd.date_range("2020-01-01", periods=3)
    schema = io.draft(pd.DataFrame({"d": when, "w": when + pd.Timedelta("1s"), "b": [True, False, True], "f": [1.0, np.nan, 3.0]}))
    assert [column.kind for column in schema] == [Kind.DATE, Kind.DATE, Kind.CATEGORY, Kind.CATEGORY]
    assert [column.format for column in schema][:2] == [None, "%Y-%m-%d %H:%M:%S"]
    assert schema["b"].levels == ("False", "True")


@pytest.mark.parametrize(
    ("values", "decimals"), [(["1.5", "2.25"], 2), (["1.5", "2"], 1), (["1.1234567", "2"], None), (["1e-3", "2.5"], None)]
)
def test_decimals_are_those_of_the_longest_value(values, decimals):
    assert drafted(values).decimals == decimals


@pytest.mark.parametrize("code", sorted(MISSING_TEXTS))
def test_the_usual_missing_codes_are_declared_for_the_schema(code):
    schema = draft(a=["1", code, "3", "4"], b=["x", "y", "x", "z"])
    assert schema.missing == (code,)
    assert schema["a"].kind is Kind.INTEGER
    assert not schema["a"].required
    assert schema["b"].required


def test_a_column_without_values_is_left_out_and_no_value_is_invented():
    schema = draft(a=["", None, "?"], b=["1", "2", "3"])
    assert schema.released == ("b",)
    assert schema["a"].domain is None
    assert any(note.startswith("Column a has no value at all") for note in schema.notes)
    assert Schema.parse(schema.dump()) == schema


@pytest.mark.parametrize(
    ("form", "kind"), [("%Y-%m-%d %Hh%M", Kind.KEY), ("%Y-%m-%dT%H:%M:%S UTC", Kind.KEY), ("A%y%j%H", Kind.KEY)]
)
def test_what_is_dropped_is_remarked(form, kind):
    when = pd.date_range("2024-01-01", periods=MANY, freq="7h")
    schema = draft(x=list(when.strftime(form)), sex=["f", "m"] * (MANY // 2))
    assert schema["x"].kind is kind
    (note,) = (note for note in schema.notes if note.startswith("Column x "))
    assert ("dates in a form that is not read" in note) is form.startswith("%Y")
    assert "dropped" in note


def test_domains_are_the_observed_ones_and_marked_so():
    schema = draft(
        age=["17", "90", "40"], sex=["m", "f", "m"], code=[f"a b {i}" for i in range(3)], born=["2020-01-01", "2020-01-03", ""]
    )
    assert schema["age"].domain == Bounds(17, 90, observed=True)
    assert schema["sex"].domain == Levels(("f", "m"), observed=True)
    assert schema["born"].domain == Bounds(1577836800, 1578009600, observed=True)
    assert all(column.undeclared == frozenset(Facet) for column in schema)
    assert schema.drafted
    assert schema.dump().count("observed: true") == 4 + 2


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patient_id", [str(i) for i in range(MANY)], Role.IDENTIFIER),
        ("Email", [f"p{i}@example.org" for i in range(MANY)], Role.IDENTIFIER),
        ("lastName", [f"Name{i}" for i in range(MANY)], Role.IDENTIFIER),
        ("age", [str(i % 50) for i in range(MANY)], Role.QUASI),
        ("Zip Code", [f"{i % 9:05d}" for i in range(MANY)], Role.QUASI),
        ("maritalStatus", ["a", "b"] * (MANY // 2), Role.QUASI),
        ("income", [str(i % 7) for i in range(MANY)], Role.SECRET),
        ("main.diagnosis", ["a", "b"] * (MANY // 2), Role.SECRET),
        ("weight", [str(i % 7) for i in range(MANY)], Role.PLAIN),
        ("package", ["a", "b"] * (MANY // 2), Role.PLAIN),
    ],
)
def test_roles_are_told_by_the_name(name, values, role):
    assert draft(**{name: values, "sex": ["f", "m"] * (MANY // 2)})[name].role is role


PEOPLE = ["Omar Smith", "Ivy Khan", "Ann Lee"] * (MANY // 3)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(
            (name, PEOPLE)
            for name in ("name", "Name", "surname", "patientName", "customer name", "contact_name", "next of kin name")
        ),
        *(
            (name, ["030 1234", "040 77"] * (MANY // 2))
            for name in ("phone", "home_phone", "Phone No", "telephone2", "mobile", "Fax")
        ),
        *((name, ["3012345678", "4012345679"] * (MANY // 2)) for name in ("phoneNumber", "SSN", "tel", "ssn_no", "iban")),
        *((name, ["a@b.org", "c@d.org"] * (MANY // 2)) for name in ("email", "E-Mail", "eMail", "email_address", "mail")),
        *((name, ["1 High St", "2 Low Rd"] * (MANY // 2)) for name in ("address", "address_line1", "Street", "homeAddress2")),
        ("name", [*PEOPLE[:-1], ""]),
    ],
)
def test_who_somebody_is_is_an_identifier_however_few_values_there_are(name, values):
    schema = draft(**{name: values, "sex": ["f", "m"] * (MANY // 2)})
    assert (schema[name].kind, schema[name].role) == (Kind.KEY, Role.IDENTIFIER)
    assert any(note.startswith(f"Column {name} ") and "identifier" in note for note in schema.notes)
    assert name not in schema.released
    assert Schema.parse(schema.dump()) == schema


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("phone", ["yes", "no"]),
        ("own_telephone", ["yes", "none"]),
        ("PhoneService", ["Fibre", "Cable"]),
        ("email_opt_in", ["1", "0"]),
        ("address_type", ["flat", "house"]),
        ("product_name", ["Alpha", "Beta"]),
        ("hospitalName", ["St. Mary", "Hope"]),
        ("renamed", ["a", "b"]),
        ("tele", ["a", "b"]),
        ("mrna_MAILR", ["a", "b"]),
        ("notebook", ["paper", "screen"]),
        ("note_count", ["a", "b"]),
        ("notes", ["1", "0"]),
        ("comments", ["Yes", "No"]),
    ],
)
def test_what_is_only_near_such_a_name_stays_a_category(name, values):
    schema = draft(**{name: values * (MANY // 2), "sex": ["f", "m"] * (MANY // 2)})
    assert (schema[name].kind, schema[name].role) == (Kind.CATEGORY, Role.PLAIN)
    assert not any(note.startswith(f"Column {name} ") for note in schema.notes)


@pytest.mark.parametrize("name", ["note", "Notes", "comment", "remarks", "description", "diagnosis_text", "freeText", "nurseNote2"])
def test_notes_and_remarks_are_text_however_few_values_there_are(name):
    schema = draft(**{name: ["stable", "c/o pain"] * (MANY // 2), "sex": ["f", "m"] * (MANY // 2)})
    assert schema[name].kind is Kind.TEXT
    assert schema[name].role is Role.PLAIN
    assert any(note.startswith(f"Column {name} ") and "text" in note for note in schema.notes)


@pytest.mark.parametrize(("name", "kind"), [("notes", Kind.INTEGER), ("remark", Kind.INTEGER), ("comment", Kind.DATE)])
def test_numbers_and_dates_are_no_text_under_any_name(name, kind):
    values = [f"2020-01-{i % 9 + 1:02d}" if kind is Kind.DATE else str(i % 9) for i in range(MANY)]
    assert drafted(values, name).kind is kind


def test_sentences_that_often_differ_are_text_and_labels_are_not():
    said = ["complains of sharp chest pain", "was transferred from another ward", "follow-up in two or three weeks"]
    notes = [said[i % 3] + (f" tel 0{i}" if i % 4 == 0 else "") for i in range(4 * MANY)]
    labels = [f"services of a kind numbered {i % 24}" for i in range(4 * MANY)]
    lines = [f"I waited {i % 25} hours and nobody came." for i in range(4 * MANY)]
    schema = draft(x=notes, y=labels, z=lines, sex=["f", "m"] * (2 * MANY))
    assert schema["x"].kind is Kind.TEXT
    assert schema["y"].kind is Kind.CATEGORY
    assert schema["z"].kind is Kind.TEXT
    assert any(note.startswith("Column x ") and "text" in note for note in schema.notes)


@pytest.mark.parametrize(
    "name",
    [
        "mrna_POSTN",
        "POSTN",
        "placebo",
        "mrna_ALCAM",
        "mrna_EDUX",
        "ziprasidone",
        "familiar",
        "postop_days",
        "statement",
        "mrna_AGER",
    ],
)
def test_a_word_that_only_begins_like_a_telling_one_tells_nothing(name):
    schema = draft(**{name: ["a", "b"] * (MANY // 2), "sex": ["f", "m"] * (MANY // 2)})
    assert schema[name].role is Role.PLAIN


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *(
            (name, Role.QUASI)
            for name in ("postcode", "post_code", "postal_code", "PostalCode", "zip", "zipcode", "ZIPCode", "zip3")
        ),
        *(
            (name, Role.QUASI)
            for name in ("birth_date", "birthdate", "birthplace", "place_of_birth", "education", "education_num", "educ")
        ),
        *((name, Role.SECRET) for name in ("alcohol", "alc_use", "alcoholic", "drugs", "smoker", "medication")),
    ],
)
def test_the_telling_words_still_tell(name, role):
    assert draft(**{name: ["a", "b"] * (MANY // 2), "sex": ["f", "m"] * (MANY // 2)})[name].role is role


def test_where_no_name_tells_the_columns_that_split_the_rows_best_are_taken():
    columns = {f"c{n}": [str(i % n) for i in range(MANY)] for n in (1, 2, 3, 4, 5, 6, 7)}
    assert draft(**columns).quasi == ("c3", "c4", "c5", "c6", "c7")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (["-8", "1", "2", "3"], "-8"),
        (["-1", "0", "2", "3.5"], "-1"),
        (["-9.0", "0.5", "2.0", "3.5"], "-9"),
        (["99999", "1", "2", "3"], "99999"),
        (["999", "18", "40", "91"], "999"),
        (["-99", "-98", "1", "2", "3"], "-99, -98"),
        (["-9", "-8", "0", "1", "2"], "-9, -8"),
        (["-3", "-2", "-1", "0", "1", "2"], None),
        (["-8", "-7", "2", "3"], None),
        (["-8", "-2", "2", "3"], None),
        (["99999", "50000", "2", "3"], None),
        (["5", "1", "2", "3"], None),
    ],
)
def test_a_lone_extreme_code_is_remarked(values, code):
    remarks = [note for note in draft(x=values, sex=list("fmfmfm")[: len(values)]).notes if note.startswith("Column x")]
    assert remarks == [
        f"Column x: {one} may mean a missing value; if so, add missing: ['{one}'] to it, and mend its domain and 'required'."
        for one in (code or "").split(", ")
        if one
    ]


def test_words_of_a_scale_are_ordered_beside_what_stands_for_no_answer():
    words = ["agree", "strongly agree", "neither agree nor disagree", "No answer", "disagree"]
    drafted = draft(x=words * 4, y=["never", "always", "n/a", "never"] * 5)
    assert drafted["x"].kind is Kind.ORDINAL
    assert drafted["x"].levels == ("disagree", "neither agree nor disagree", "agree", "strongly agree")
    assert drafted["x"].missing == ("No answer",)
    # Of two words nobody knows whether they are steps of a scale.
    assert drafted["y"].kind is Kind.CATEGORY


@pytest.mark.parametrize(("groups", "share"), [([0, 0, 1, 2], 0.5), ([0, 0], 0.0), ([0, 1, 2], 1.0), ([], 0.0)])
def test_the_unique_share_counts_rows_alone_in_their_group(groups, share):
    assert unique_share(np.array(groups, int)) == share


def test_the_unique_share_is_remarked():
    schema = draft(age=["1", "2", "2", "3"], sex=["f", "m", "m", "f"])
    on_all = "50.0% on all columns that would be released (2)"
    assert f"50.0% of the rows are unique on the likely quasi-identifiers: age, sex; {on_all}." in schema.notes


CELLS = (
    st.none()
    | strategies.texts
    | st.integers(-(10**20), 10**20).map(str)
    | st.floats().map(str)
    | st.just("")
    | st.dates().map(str)
)


@settings(max_examples=80)
@given(st.data())
def test_whatever_parses_can_be_read_under_its_own_draft(data):
    names = data.draw(st.lists(strategies.names.map(str.strip).filter(bool), min_size=1, max_size=4, unique=True))
    rows = data.draw(st.integers(2, 25))
    column = st.sampled_from([CELLS, st.sampled_from(["1", "2.50", ""]), st.integers(0, 10**17).map(str), strategies.values])
    frame = pd.DataFrame(
        {name: data.draw(column.flatmap(lambda cells: st.lists(cells, min_size=rows, max_size=rows))) for name in names},
        dtype=object,
    )
    schema = io.draft(frame)
    again = Schema.parse(schema.dump())
    assert again == schema
    table = io.read(frame, again)
    assert table.schema == schema
    for name in names:
        blank = [value is None or value.strip() in ("", *schema.missing, *schema[name].missing) for value in frame[name]]
        assert table.missing(name).tolist() == blank
        if schema[name].kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
            assert [value for value in table.strings(name) if value] == [
                v.strip() for v, b in zip(frame[name], blank, strict=True) if not b
            ]


@settings(max_examples=60)
@given(st.lists(st.none() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False), min_size=2, max_size=30))
def test_typed_numbers_can_be_read_under_their_own_draft(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    table = io.read(frame, Schema.parse(io.draft(frame).dump()))
    assert table.missing("x").tolist() == [value is None for value in values]


def test_a_draft_says_what_a_person_should_check():
    notes = "\n".join(draft(age=["1", "2", "3"]).notes)
    assert "observed: true" in notes
    assert "Drafted from the data" in notes


def test_a_column_that_follows_from_a_quasi_identifier_is_one_too():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 60, 600)
    group = np.where(age < 35, "young", np.where(age < 50, "middle", "old"))
    noisy = np.where(rng.random(600) < 0.1, rng.permutation(group), group)
    schema = draft(age=[str(a) for a in age], band=group, guess=noisy, diagnosis=group, rare=["x"] * 599 + ["y"])
    assert schema.quasi == ("age", "band")
    assert schema["diagnosis"].role is Role.SECRET
    assert "Column band follows from age: who knows the one knows the other." in schema.notes
    assert not any("guess" in note or "rare" in note for note in schema.notes)


def test_nothing_follows_from_a_value_that_few_rows_share():
    rng = np.random.default_rng(0)
    schema = draft(age=[str(a) for a in rng.permutation(3000)[:600]], colour=rng.choice(["red", "green"], 600))
    assert "colour" not in schema.quasi


def test_a_column_that_another_one_determines_is_remarked_on_and_one_that_nearly_does_is_not():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 600)
    frame = {"code": [f"c{c}" for c in codes], "group": [f"g{c // 3}" for c in codes], "other": [f"o{c // 3}" for c in codes]}
    frame["other"][:3] = ["o9"] * 3
    notes = ht.draft(pd.DataFrame(frame)).notes
    assert any("Column group follows from code in every row" in note for note in notes)
    assert not any("Column other follows" in note or "Column code follows" in note for note in notes)
