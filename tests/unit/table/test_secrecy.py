"""No value of a secret, an identifier, a text or a key ever enters an error; a value of another column does, with its row."""

from __future__ import annotations

import gzip
import traceback

import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.schema import Schema
from hushtable.table.values import from_mapping

PLANTED = "Zaphod31415"
HIDDEN = [(kind, role) for kind in ("category", "integer", "real", "date") for role in ("secret", "identifier")]
FREE = [(kind, role) for kind in ("text", "key") for role in ("plain", "quasi", "target", "secret", "identifier")]
SHOWN = [(kind, role) for kind in ("category", "ordinal", "integer", "real", "date") for role in ("plain", "quasi", "target")]
DOMAINS = {
    "category": "[a, b]",
    "ordinal": "[a, b]",
    "integer": "[0, 9]",
    "real": "[0, 9]",
    "date": "[2020-01-01, 2020-12-31]",
}


def full_text(error: BaseException) -> str:
    """All that a user may see: the message, and the traceback with what it was caused by."""
    return str(error) + repr(error) + "".join(traceback.format_exception(error))


def schema_of(kind: str, role: str, extra: str = "") -> Schema:
    domain = f", domain: {DOMAINS[kind]}" if kind in DOMAINS else ""
    return Schema.parse(f"columns: {{x: {{kind: {kind}, role: {role}{domain}{extra}}}}}")


def first(kind: str) -> str:
    return DOMAINS.get(kind, "[a, b]").strip("[]").split(",")[0]


@pytest.mark.parametrize(("kind", "role"), HIDDEN)
@pytest.mark.parametrize("generalized", [False, True])
def test_a_secret_value_never_enters_an_error(kind, role, generalized):
    with pytest.raises(InputError) as caught:
        from_mapping(schema_of(kind, role), {"x": [first(kind), PLANTED, f"[{PLANTED}, 5]"]}, generalized=generalized)
    assert PLANTED not in full_text(caught.value)
    assert "rows 2, 3" in str(caught.value)


@pytest.mark.parametrize(("kind", "value"), [("integer", "31415"), ("real", "31415.5"), ("date", "3141-05-09")])
@pytest.mark.parametrize("role", ["secret", "identifier"])
def test_a_secret_number_outside_its_domain_is_not_shown(kind, value, role):
    with pytest.raises(InputError) as caught:
        from_mapping(schema_of(kind, role), {"x": [first(kind), value]})
    assert value not in full_text(caught.value)
    assert "outside the declared domain" in str(caught.value)
    assert "row 2" in str(caught.value)


@pytest.mark.parametrize(("kind", "role"), FREE)
def test_a_text_or_key_never_enters_an_error(kind, role):
    with pytest.raises(InputError) as caught:
        from_mapping(schema_of(kind, role, ", required: true"), {"x": [PLANTED, "", PLANTED]})
    assert PLANTED not in full_text(caught.value)
    assert "row 2" in str(caught.value)


@pytest.mark.parametrize(("kind", "role"), [*HIDDEN, *FREE, *SHOWN])
def test_a_column_knows_whether_its_values_may_be_shown(kind, role):
    assert schema_of(kind, role)["x"].shows_values == ((kind, role) in SHOWN)


@pytest.mark.parametrize(("kind", "role"), SHOWN)
def test_a_value_of_another_column_is_shown_with_its_row(kind, role):
    with pytest.raises(InputError) as caught:
        from_mapping(schema_of(kind, role), {"x": [first(kind), PLANTED, first(kind)]})
    assert f"('{PLANTED}'); row 2" in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        f"1,2\n{PLANTED},2,3\n",
        f"1,2\n{PLANTED}\n",
        f'1,2\n3,"{PLANTED}\n',
        f'1,2\n3,"{PLANTED}"x\n4,5\n',
        f"1,{PLANTED}\r\n3,4\n",
        f"1,Found: 31415 {PLANTED},7\n",
        f'1,"\nExpected Number of Columns: 2 Found: 31415\nLine: 31415 {PLANTED}",7\n',
        f"1,unterminated quote Invalid unicode {PLANTED},7\n",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_line_is_named_by_number_and_never_quoted(tmp_path, damage, packed):
    data = f"a,b\n{damage}".encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InputError) as caught:
        io.read(path)
    assert PLANTED not in full_text(caught.value)
    assert "31415" not in full_text(caught.value)


def test_a_damaged_line_that_talks_about_errors_is_told_by_what_is_wrong_with_it(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,Invalid unicode Found: 9 unterminated quote,7\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        io.read(tmp_path / "t.csv")
    assert str(caught.value) == "t.csv: line 3: expected 2 values, as in the header, found 3"


@pytest.mark.parametrize("byte", [b"\xff", b"\xc3(", b"\xe9"])
def test_bytes_that_are_no_text_are_named_by_line_without_the_row(tmp_path, byte):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n" + PLANTED.encode() + byte + b",4\n")
    with pytest.raises(InputError) as caught:
        io.read(tmp_path / "t.csv")
    assert PLANTED not in full_text(caught.value)
    assert "line 3: the file is not UTF-8" in str(caught.value)


def test_a_first_record_in_the_place_of_the_header_is_not_quoted(tmp_path):
    (tmp_path / "t.csv").write_text(f"{PLANTED},1980,{PLANTED}\nb,1981,c\nd,1982,e\n", encoding="utf-8")
    (tmp_path / "u.csv").write_text(f"{PLANTED},1980,x\nb,1981,c\nd,1982,e\n", encoding="utf-8")
    schema = Schema.parse("columns: {name: key, born: integer}")
    for name, reason in (("t.csv", "for the columns 1, 3"), ("u.csv", "is there a header?")):
        with pytest.raises(InputError) as caught:
            io.read(tmp_path / name, schema)
        assert PLANTED not in full_text(caught.value)
        assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_text_that_cannot_be_written_is_not_quoted_and_leaves_no_file(tmp_path, name):
    table = from_mapping(Schema.parse("columns: {x: text, n: integer}"), {"x": [f"{PLANTED}\ud800", "b"], "n": [1, 2]})
    with pytest.raises(InputError) as caught:
        io.write(table, tmp_path / name)
    assert PLANTED not in full_text(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_parquet_file_is_not_quoted(tmp_path):
    pd.DataFrame({"x": [PLANTED] * 50}).to_parquet(tmp_path / "t.parquet", compression=None)
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[:-30])
    with pytest.raises(InputError, match="is not a readable Parquet file") as caught:
        io.read(tmp_path / "t.parquet")
    assert PLANTED not in full_text(caught.value)


def test_rows_enter_no_repr(small):
    table = from_mapping(Schema.parse("columns: {x: text, y: category}"), {"x": [PLANTED, "b"], "y": [PLANTED, "c"]})
    assert PLANTED not in repr(table)
    assert repr(table) == "Table(2 rows: x, y)"


def test_a_hierarchy_that_misses_a_secret_value_does_not_show_it(tmp_path):
    (tmp_path / "h.csv").write_text("a,x,*\nb,x,*\n", encoding="utf-8")
    for role, shown in (("secret", False), ("quasi", True)):
        schema = Schema.parse(f"columns: {{x: {{kind: category, role: {role}, hierarchy: h.csv}}}}", folder=tmp_path)
        with pytest.raises(InputError) as caught:
            from_mapping(schema, {"x": ["a", PLANTED]})
        assert (PLANTED in full_text(caught.value)) == shown
