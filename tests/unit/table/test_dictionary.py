"""A data dictionary: read from many forms, what it says is declared, what contradicts the rows is counted and not quoted."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Bounds, Facet, Kind, Levels, Role
from hushtable.table.dictionary import Dictionary
from hushtable.table.schema import Schema

ROWS = 120
FRAME = pd.DataFrame(
    {
        "AGEP": [str(i % 90) for i in range(ROWS)],
        "SEX": [str(i % 2 + 1) for i in range(ROWS)],
        "PINCP": ["N" if i % 6 == 0 else str(i * 250) for i in range(ROWS)],
        "DEPT": [f"{i % 3}" for i in range(ROWS)],
    },
    dtype=object,
)
NIST = {
    "AGEP": {"description": "Person's age", "values": {"min": 0, "max": 99}},
    "SEX": {"description": "Person's gender", "values": {"1": "Male", "2": "Female"}},
    "PINCP": {"description": "Income", "values": {"N": "N/A (less than 15 years old)", "-19998..4209995": "Income in dollars"}},
}
CENSUS = {
    "variables": {
        "AGEP": {"label": "Age", "predicateType": "int", "values": {"range": [{"min": "0", "max": "99"}]}},
        "SEX": {"label": "Sex", "predicateType": "string", "values": {"item": {"1": "Male", "2": "Female"}}},
        "PINCP": {
            "label": "Income",
            "predicateType": "int",
            "values": {"item": {"N": "N/A (less than 15 years old)"}, "range": [{"min": "-19998", "max": "4209995"}]},
        },
        "NOC": {"label": "Children"},
    }
}
FIELDS = {
    "fields": [
        {"name": "AGEP", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "SEX", "type": "string", "constraints": {"enum": ["1", "2"]}},
        {"name": "PINCP", "type": "integer", "constraints": {"minimum": -19998, "maximum": 4209995}},
    ],
    "missingValues": ["", "N"],
}
WIDE = """Variable;Type;Description;Codes;Missing values;Min;Max
agep;integer;Age;;;0;99
SEX;categorical;Sex;1=Male, 2=Female;;;
PINCP;integer;Income;;N;-19998;4209995
"""
LONG = """variable,type,value,label
AGEP,integer,0..99,Age
SEX,,1,Male
,,2,Female
PINCP,int,-19998..4209995,dollars
PINCP,,N,not applicable
"""


def file_of(folder, content):
    text = content if isinstance(content, str) else json.dumps(content)
    path = folder / ("d.csv" if isinstance(content, str) else "d.json")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("content", [NIST, CENSUS, FIELDS, WIDE, LONG], ids=["nist", "census", "fields", "wide", "long"])
def test_every_form_says_the_same(tmp_path, content):
    schema = io.draft(FRAME, dictionary=file_of(tmp_path, content))
    assert schema["AGEP"].domain == Bounds(0, 99)
    assert schema["SEX"].domain == Levels(("1", "2"))
    assert (schema["PINCP"].domain, schema["PINCP"].missing) == (Bounds(-19998, 4209995), ("N",))
    assert [c.kind for c in schema][:3] == [Kind.INTEGER, Kind.CATEGORY, Kind.INTEGER]
    assert schema.declared_by == f"data dictionary {'d.csv' if isinstance(content, str) else 'd.json'}"
    assert schema["DEPT"].undeclared == frozenset(Facet)
    assert any("does not describe DEPT" in note for note in schema.notes)
    assert Schema.parse(schema.dump()) == schema
    assert io.read(FRAME, schema).missing("PINCP").sum() == 20


def test_what_it_says_is_declared_and_what_it_leaves_out_is_not(tmp_path):
    content = "name,type,role,min,max,required\nAGEP,integer,quasi,0,99,yes\nSEX,numeric,,,,\nPINCP,number,secret,,,\n"
    schema = io.draft(FRAME, dictionary=file_of(tmp_path, content))
    age, sex, income = schema["AGEP"], schema["SEX"], schema["PINCP"]
    assert age.undeclared == {Facet.MISSING, Facet.FORMAT, Facet.HIERARCHY}
    assert (age.role, age.required) == (Role.QUASI, True)
    # Numbers, whole or not: only the rows say which, so the kind stays marked.
    assert sex.kind is Kind.INTEGER
    assert Facet.KIND in sex.undeclared
    assert Facet.DOMAIN in sex.undeclared
    assert income.role is Role.SECRET
    assert Facet.ROLE not in income.undeclared
    assert income.missing == ("N",)
    assert Facet.MISSING in income.undeclared


def test_a_declared_domain_is_never_widened_by_the_rows(tmp_path):
    content = "name,type,codes,min,max\nSEX,category,1=Male,,\nAGEP,integer,,0,50\nPINCP,integer,,0,999\n"
    with pytest.raises(InputError) as caught:
        io.draft(FRAME, dictionary=file_of(tmp_path, content))
    faults = {fault.where.split()[-1]: fault for fault in caught.value.faults}
    assert set(faults) == {"SEX", "AGEP", "PINCP"}
    assert faults["SEX"].count == 60
    assert faults["PINCP"].count == 97
    assert not any(fault.values for fault in faults.values())
    assert "'N'" not in str(caught.value)


def test_every_fault_of_a_dictionary_is_listed_at_once(tmp_path):
    content = "name,type,role,min,decimals\nAGEP,colour,quasi,0,1\nSEX,category,boss,,\nPINCP,real,,low,two\n"
    with pytest.raises(InputError) as caught:
        Dictionary.load(file_of(tmp_path, content))
    assert len(caught.value.faults) == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n1,2\n", "no column of names"),
        ("name,type\nother,integer\n", "describes none of the columns"),
        ("name,type\n", "describes no columns"),
        ('{"AGEP": ', "not valid JSON, at line 1"),
    ],
)
def test_what_is_no_dictionary_of_the_table_is_said(tmp_path, content, reason):
    with pytest.raises(InputError, match=reason):
        io.draft(FRAME, dictionary=file_of(tmp_path, content))


def test_columns_that_the_table_lacks_are_a_note(tmp_path):
    notes = io.draft(FRAME, dictionary=file_of(tmp_path, CENSUS)).notes
    assert any("describes NOC too, which the table does not have" in note for note in notes)


def test_an_ordinal_keeps_the_order_of_the_dictionary(tmp_path):
    schema = io.draft(FRAME, dictionary=file_of(tmp_path, 'name,type,codes\nDEPT,ordinal,"2=low;0=middle;1=high"\n'))
    assert schema["DEPT"].domain == Levels(("2", "0", "1"))
    assert schema["DEPT"].kind is Kind.ORDINAL
