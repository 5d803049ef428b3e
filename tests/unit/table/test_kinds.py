"""What the drafter makes of codes, counts, missing words, places, weights, households and copies; and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.table import io
from hushtable.table.columns import Kind, Role
from hushtable.table.guess import Words
from hushtable.table.kinds import stand_ins
from hushtable.table.schema import Schema

ROWS = 240
RNG = np.random.default_rng(0)


def drafted(**columns):
    return io.drafted(pd.DataFrame(columns, dtype=object))


def picked(*values):
    return [str(v) for v in RNG.choice(values, ROWS)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("RAC1P", [1, 2, 3, 6, 8, 9], Kind.CATEGORY),
        ("SEX", [1, 2], Kind.CATEGORY),
        ("MARRIAGE", [0, 1, 2, 3], Kind.CATEGORY),
        ("MSP", [1, 2, 3, 4, 5, 6], Kind.CATEGORY),
        ("industry", [170, 770, 4970, 8680, 9920], Kind.CATEGORY),
        ("occupation_code", [10, 20, 105, 3040, 9830], Kind.CATEGORY),
        ("month", list(range(1, 13)), Kind.CATEGORY),
        ("admit_weekday", list(range(1, 8)), Kind.CATEGORY),
        ("age_group", [1, 2, 3, 4, 5], Kind.CATEGORY),
        ("icd9", [250, 401, 414], Kind.CATEGORY),
        ("target", [0, 1, 2], Kind.CATEGORY),
        ("illness_severity", [0, 1, 2, 3, 4], Kind.ORDINAL),
        ("education", [1, 2, 3, 4], Kind.ORDINAL),
        ("education_num", list(range(1, 17)), Kind.INTEGER),
        ("children", list(range(10)), Kind.INTEGER),
        ("number_of_children", list(range(4)), Kind.INTEGER),
        ("num_dependents", [1, 2], Kind.INTEGER),
        ("AGEP", list(range(90)), Kind.INTEGER),
        ("pain_score", list(range(1, 6)), Kind.INTEGER),
        ("q7", [1, 2, 3, 4, 5], Kind.INTEGER),
        ("months", list(range(1, 60)), Kind.INTEGER),
        ("rent", list(range(300, 2000, 7)), Kind.INTEGER),
        ("blood_pressure", list(range(60, 120)), Kind.INTEGER),
        ("year", list(range(1990, 2020)), Kind.INTEGER),
        ("age", list(range(18, 18 + ROWS)), Kind.INTEGER),
    ],
)
def test_whole_numbers_are_codes_only_where_something_says_so(name, values, kind):
    words = [str(v) for v in values] if len(values) == ROWS else picked(*values)
    (line,) = drafted(**{name: words}).lines
    assert line.column.kind is kind
    assert line.kind_reason
    assert line.distinct == len(set(words))


def test_few_numbers_with_gaps_and_no_shape_are_codes():
    uneven = RNG.choice([1, 2, 4, 7, 11, 12, 20], ROWS * 4, p=[0.3, 0.02, 0.3, 0.02, 0.2, 0.02, 0.14])
    schema = drafted(v=[str(v) for v in uneven]).schema
    assert schema["v"].kind is Kind.CATEGORY
    assert any(note.startswith("Column v ") and "codes" in note for note in schema.notes)
    falling = RNG.geometric(0.4, ROWS * 4)
    assert drafted(v=[str(v) for v in falling]).schema["v"].kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("words", "kind", "missing"),
    [
        ([*map(str, range(1000, 1000 + ROWS * 7, 9))][: ROWS - 60] + ["N"] * 60, Kind.INTEGER, ("N",)),
        ([f"{i / 7:.2f}" for i in range(ROWS - 30)] + ["-"] * 30, Kind.REAL, ("-",)),
        ([f"{i * i}" for i in range(ROWS - 9)] + ["unknown"] * 5 + ["refused"] * 4, Kind.INTEGER, ("unknown", "refused")),
        ([f"{i * i}" for i in range(ROWS - 5)] + ["Wert fehlt"] * 5, Kind.INTEGER, ("Wert fehlt",)),
        ([f"2024-01-{i % 28 + 1:02d}" for i in range(ROWS - 9)] + ["none"] * 9, Kind.DATE, ("none",)),
    ],
)
def test_a_word_among_numbers_is_a_missing_code_of_the_column(words, kind, missing):
    schema = drafted(x=words, sex=["f", "m"] * (ROWS // 2)).schema
    column = schema["x"]
    assert (column.kind, column.missing) == (kind, missing)
    assert not column.required
    assert any("missing code" in note for note in schema.notes if note.startswith("Column x "))
    assert Schema.parse(schema.dump()) == schema
    frame = pd.DataFrame({"x": words, "sex": ["f", "m"] * (ROWS // 2)})
    assert io.read(frame, schema).missing("x").sum() == sum(words.count(code) for code in missing)


def test_a_word_that_stands_once_among_numbers_is_in_no_note_and_no_missing_code():
    words = [*(str(i * i) for i in range(ROWS - 1)), "Smithson"]
    draft = drafted(score=words, sex=["f", "m"] * (ROWS // 2))
    assert draft.schema["score"].missing == ()
    assert not any("Smithson" in note for note in draft.schema.notes)
    assert any("but for 1 of 240 rows" in note for note in draft.schema.notes)


def test_limits_of_detection_are_no_missing_codes():
    words = [*(str(i * i % 97) for i in range(ROWS - 8)), *["<5"] * 8]
    assert drafted(crp=words).schema["crp"].missing == ()


def test_codes_of_a_category_beside_a_word_keep_the_word_as_a_level():
    schema = drafted(MSP=picked(1, 2, 3, 4, 5, 6, "N")).schema
    assert schema["MSP"].kind is Kind.CATEGORY
    assert "N" in schema["MSP"].levels


def test_codes_beside_a_word_are_not_offered_as_numbers():
    """A number could be read of both; only of the second is that what somebody may want."""
    for name, values, offered in (("type_of_admission", "1234569", ()), ("visits", range(40), ("x",))):
        words = (*map(str, values), "x")
        assert stand_ins(Words(name, words, np.full(len(words), 5), 5 * len(words))) == offered


@pytest.mark.parametrize("name", ["zip", "postcode", "PUMA", "fips", "city"])
def test_a_place_that_is_nearly_unique_is_kept_and_said(name):
    words = [f"{10000 + i * 37}" for i in range(ROWS)]
    schema = drafted(**{name: words, "sex": ["f", "m"] * (ROWS // 2)}).schema
    assert schema[name].kind is Kind.CATEGORY
    assert schema[name].role is not Role.IDENTIFIER
    assert any(note.startswith(f"Column {name} seems to be a place with 240 values in 240 rows") for note in schema.notes)


@pytest.mark.parametrize("name", ["fnlwgt", "PWGTP", "WGTP", "sample_weight", "perwt", "survey_wt"])
def test_a_survey_weight_is_named(name):
    schema = drafted(**{name: [str(i * 31 % 997 + 20) for i in range(ROWS)]}).schema
    assert any(note.startswith(f"Column {name} seems to be a survey weight") for note in schema.notes)
    assert not any("survey weight" in note for note in drafted(weight=[str(50 + i % 60) for i in range(ROWS)]).schema.notes)


@pytest.mark.parametrize(("name", "word"), [("SERIALNO", "households"), ("household_id", "households"), ("patient_id", "people")])
def test_numbers_of_households_and_people_are_keys_however_many_rows_share_them(name, word):
    schema = drafted(**{name: [str(5000 + i // 4 * 13) for i in range(ROWS)], "sex": ["f", "m"] * (ROWS // 2)}).schema
    assert schema[name].kind is Kind.KEY
    assert any(f"number {word}" in note and "--person" in note for note in schema.notes)


def test_columns_that_copy_another_are_named():
    words = picked(*"abcdef")
    other = [{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"}[w] for w in words]
    schema = drafted(one=words, two=other, three=picked(*"abcdef")).schema
    assert "Column two says the same as one, value for value: leave one of them out, or give both one role." in schema.notes
    assert not any("three" in note and "same" in note for note in schema.notes)


def test_a_column_of_a_family_is_what_the_others_are():
    columns = {f"pixel_{i}": [str(v) for v in RNG.integers(0, 50, ROWS)] for i in range(6)}
    schema = drafted(**columns, pixel_6=["0"] * ROWS, alone_7=["0"] * ROWS).schema
    assert schema["pixel_6"].kind is Kind.INTEGER
    assert schema["alone_7"].kind is Kind.CATEGORY


@pytest.mark.parametrize(
    ("form", "drafted_as"),
    [
        ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%SZ"),
        ("%Y-%m-%d %H:%M:%SZ", "%Y-%m-%d %H:%M:%SZ"),
        ("%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%MZ"),
        ("%Y-%m-%dT%H:%M:%S+02:00", "%Y-%m-%dT%H:%M:%S%z"),
        ("%Y-%m-%d %H:%M:%S.123456", "%Y-%m-%d %H:%M:%S.%f"),
        ("%d %b %Y", "%d %b %Y"),
        ("%d-%b-%Y", "%d-%b-%Y"),
        ("%B %d, %Y", "%B %d, %Y"),
        ("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M %p"),
    ],
)
def test_times_with_a_zone_and_written_months_are_dates(tmp_path, form, drafted_as):
    when = pd.date_range("2024-01-01", periods=50, freq="27h")
    table = io.read(pd.DataFrame({"x": when.strftime(form)}))
    assert (table.schema["x"].kind, table.schema["x"].format) == (Kind.DATE, drafted_as)
    io.write(table, tmp_path / "t.csv")
    again = io.read(tmp_path / "t.csv", Schema.parse(table.schema.dump()))
    assert (again["x"] == table["x"]).all()
    if "+02:00" in form:
        assert table["x"][0] == when[0].timestamp() - 7200
        assert any("UTC" in note for note in table.schema.notes)


def test_a_day_that_may_be_a_month_is_said():
    schema = drafted(x=[f"0{i % 9 + 1}/0{i % 7 + 1}/2020" for i in range(ROWS)]).schema
    assert any("does not show whether day or month comes first" in note for note in schema.notes)
    clear = drafted(x=[f"{i % 28 + 1:02d}/0{i % 7 + 1}/2020" for i in range(ROWS)]).schema
    assert not any("comes first" in note for note in clear.notes)


def test_whole_numbers_that_are_written_with_a_point_are_told_like_others(tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "RAC1P": rng.choice([1, 2, 6, 8, 9], 300),
        "grade": rng.integers(1, 6, 300),
        "answer": rng.integers(0, 2, 300),
        "visits": rng.poisson(3, 300),
    }
    for point in ("", ".0"):
        rows = [",".join(f"{column[i]}{point}" for column in columns.values()) for i in range(300)]
        path = tmp_path / f"rows{point}.csv"
        path.write_text("\n".join([",".join(columns), *rows]))
        schema = ht.draft(path)
        assert [str(schema[name].kind) for name in columns] == ["category", "ordinal", "category", "integer"], point
        assert schema["grade"].levels == tuple(f"{step}{point}" for step in range(1, 6))


def test_numbers_that_all_stand_equally_often_are_those_of_people(tmp_path):
    rng = np.random.default_rng(0)
    people = rng.permutation(np.repeat(rng.choice(5000, 80, replace=False), 4))
    (tmp_path / "panel.csv").write_text("\n".join(["code_of_wave,hours", *(f"{p},{p % 7}" for p in people)]))
    schema = ht.draft(tmp_path / "panel.csv")
    assert str(schema["code_of_wave"].role) == "identifier"
    assert any("--person" in note for note in schema.notes)
    uneven = np.append(people, people[:5])
    (tmp_path / "uneven.csv").write_text("\n".join(["code_of_wave,hours", *(f"{p},{p % 7}" for p in uneven)]))
    assert str(ht.draft(tmp_path / "uneven.csv")["code_of_wave"].role) != "identifier"


def test_numbers_beside_many_texts_are_levels_and_that_is_said():
    values = [*map(str, range(100, 167)), *map(str, range(100, 167)), *map(str, range(100, 166)), *["<0,5"] * 20, *["k.A."] * 20]
    (line,) = drafted(crp=values).lines
    assert line.column.kind is Kind.CATEGORY
    assert "holds numbers or dates but for 40 of 240 rows" in " ".join(drafted(crp=values).schema.notes)
    # Codes of diagnoses may be numbers, too.
    assert "numbers or dates but for" not in " ".join(drafted(diagnosis=values).schema.notes)
    assert "numbers or dates but for" not in " ".join(drafted(x=picked("12", "13", "<5", "a")).schema.notes)


def test_dates_in_several_forms_are_levels_and_that_is_said():
    days = [f"{d:02d}.{m:02d}.2020" for d in range(1, 21) for m in range(1, 4)]
    other = [f"2020-{m:02d}-{d:02d}" for d in range(1, 21) for m in range(1, 4)]
    draft = drafted(seen=days * 3 + other)
    assert draft.lines[0].column.kind is Kind.CATEGORY
    assert "seems to hold dates in several forms" in " ".join(draft.schema.notes)


@pytest.mark.parametrize(
    ("name", "form", "kind"),
    [
        ("interview date", "{m}/{d}/{y}", Kind.DATE),
        ("x", "{m}/{d}/{y}", Kind.DATE),
        ("Datum", "{d}.{m}.{y}", Kind.DATE),
        ("version", "{m}.{m}.{y}", Kind.CATEGORY),
    ],
)
def test_days_without_zeros_and_century_are_dates(name, form, kind):
    words = [form.format(d=i % 28 + 1, m=i % 12 + 1, y=20 + i % 3) for i in range(84)]
    (line,) = drafted(**{name: words * 3}).lines
    assert line.column.kind is kind


@pytest.mark.parametrize(("code", "rest"), [("999", range(18, 90)), ("99", range(1, 8)), ("9999", range(200, 900))])
def test_nines_far_from_all_others_may_be_missing(code, rest):
    values = [str(v) for v in [*rest] * 3]
    assert f"{code} may mean a missing value" in " ".join(drafted(weeks_since=[*values, code]).schema.notes)
    assert "may mean a missing value" not in " ".join(drafted(weeks_since=[*values, str(max(rest) + 1)]).schema.notes)


def test_levels_that_differ_in_capitals_alone_are_counted():
    notes = " ".join(drafted(sex=picked("m", "M", "w", "W", "d")).schema.notes)
    assert "Column sex has values that differ in capitals alone (2 of 5)" in notes
    assert "capitals" not in " ".join(drafted(sex=picked("m", "w")).schema.notes)


def test_an_option_quotes_the_name_of_a_column():
    frame = {"Respondent No.": [f"P-{i // 3:04d}" for i in range(240)]}
    assert "--person 'Respondent No.' --rows-per-person 3" in " ".join(drafted(**frame).schema.notes)
