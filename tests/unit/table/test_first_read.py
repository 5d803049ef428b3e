"""The first read of a file: what is guessed, what is masked, and that the same layout then reads the whole file."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.first_read import START, masked, peek
from hushtable.table.header import FirstLine
from hushtable.table.infer import Suspicion
from hushtable.table.layout import Layout

ROWS = 120


def lines(mark: str = ",", point: str = ".") -> str:
    return "".join(f"{i % 70}{mark}{['Köln', 'Bern'][i % 2]}{mark}{i * 37 % 90}{point}{i % 10}\n" for i in range(ROWS))


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        ("age,city,pay\n" + lines(), "utf-8", Layout(True, (), "utf-8", ",")),
        ("age;größe;pay\n" + lines(";", ","), "cp1252", Layout(True, (), "cp1252", ";")),
        ("age\tcity\tpay\n" + lines("\t", ","), "utf-16", Layout(True, (), "utf-16", "\t")),
        ("sep=|\nage|city|pay\n" + lines("|"), "utf-8", Layout(True, (), "utf-8", "|")),
        (lines(), "utf-8", Layout(False, (), "utf-8", ",")),
    ],
)
def test_what_was_found_reads_the_file(tmp_path, text, encoding, said):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    found = peek(path)
    assert found.layout == said
    assert found.decimal == ("," if said.delimiter in ";\t" else ".")
    assert found.about == ROWS
    table = ht.read(path, layout=found.layout)
    assert table.rows == ROWS
    assert table.schema.names == found.names
    assert table.schema[found.names[2]].kind == "real"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert peek(tmp_path / "t.csv.gz").rows == found.rows


def test_values_are_masked_and_never_told(tmp_path):
    (tmp_path / "t.csv").write_text("name,born,code\n" + "Ängström Ł,1980-02-03,x-😀é\n" * 30)
    found = peek(tmp_path / "t.csv")
    assert found.rows[0] == ("Aaaaaaaa A", "9999-99-99", "a-?a")
    assert len(found.rows) == 10
    assert "ngstr" not in repr(found)
    assert "1980" not in str(found.to_json())
    assert masked("漢字 x" + "y" * 60) == "aa " + "a" * 37 + "…"


def test_a_header_that_looks_like_a_person_is_questioned_and_not_shown(tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"{20 + i % 50},Anna{i},1980-01-0{i % 9 + 1},555 123 {i:04d}\n" for i in range(60)))
    found = peek(tmp_path / "t.csv")
    assert found.questioned
    assert found.verdict is FirstLine.DATA
    assert "Anna" not in str(found.to_json())
    said = peek(tmp_path / "t.csv", Layout(header=True))
    assert said.questioned
    assert said.personal == (0, 2, 3)
    assert "Anna" not in str(said.to_json())
    assert not peek(tmp_path / "t.csv", Layout(names=("age", "name", "born", "phone"))).personal
    (tmp_path / "u.csv").write_text("2019,2020,age\n" + "1.5,2.5,3\n" * 20)
    assert not peek(tmp_path / "u.csv").questioned


@pytest.mark.parametrize("head", ["a,b\n", ",a,b\n"])
def test_a_first_column_without_a_name_numbers_the_rows(tmp_path, head):
    path = tmp_path / "t.csv"
    path.write_text(head + "".join(f"{i + 1},{i % 7},{['x', 'y', 'z'][i % 3]}\n" for i in range(60)))
    found = peek(path)
    assert found.layout.index
    assert found.names == ("row_id", "a", "b")
    table = ht.read(path, layout=found.layout)
    assert (table.rows, table.schema["row_id"].role) == (60, "identifier")
    assert table.strings("a")[0] == "0"
    with pytest.raises(InputError):
        ht.read(path)


def test_what_is_said_is_taken_for_granted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b,c\n" + "".join(f"{i};{i % 5},{i % 3}\n" for i in range(40)))
    assert ht.read(path, layout=Layout(delimiter=";")).schema.names == ("a", "b,c")
    assert ht.read(path, layout=Layout(delimiter=",")).schema.names == ("a;b", "c")
    assert peek(path, Layout(delimiter=",")).names == ("a;b", "c")
    path.write_text("a;b\n" + "".join(f"{100 + i}.{i % 10}00;{i % 3}\n" for i in range(40)))
    assert io.drafted(path, Layout(decimal=".")).schema["a"].kind == "real"
    assert io.drafted(path, Layout(decimal=",")).schema["a"].format == "1.234"
    with pytest.raises(InputError) as refused:
        Layout(delimiter=";;", decimal="x", header=False, index=True)
    assert [fault.where for fault in refused.value.faults] == ["delimiter", "decimal", "index"]
    with pytest.raises(InputError, match="leave out header"):
        ht.read(path, header=True, layout=Layout())


def test_lines_that_differ_are_counted_and_a_large_file_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,city\n1,x\n2\n3,y,z\n" + "4,x\n" * 20)
    assert peek(path).ragged == (3, 4)
    text = "age,city\n" + "12,Bern\n" * (START // 4)
    path.write_bytes(text.encode() + b"\xff\xff")
    found = peek(path)
    assert found.about == pytest.approx(START // 4, rel=0.01)
    assert not found.ragged


@pytest.mark.parametrize("content", [b"", b"\n\n", b"PK\x03\x04zip", b"\xd0\xcf\x11\xe0old"])
def test_what_is_no_text_is_refused(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError):
        peek(tmp_path / "t.csv")
    with pytest.raises(InputError, match="does not exist"):
        peek(tmp_path / "none.csv")


def test_a_parquet_file_says_itself_how_it_is_written(tmp_path):
    pd.DataFrame({"age": range(20), "city": ["Bern"] * 20}).to_parquet(tmp_path / "t.parquet")
    found = peek(tmp_path / "t.parquet")
    assert (found.names, found.about, found.verdict) == (("age", "city"), 20, None)
    assert found.rows[0] == ("9", "Aaaa")
    assert ht.read(tmp_path / "t.parquet", layout=found.layout).rows == 20


def test_what_a_person_should_look_at_is_named_by_its_kind(tmp_path):
    rows = [
        {
            "height": "nd" if i % 40 == 0 else str(150 + i * 7 % 50),
            "visits": -99 if i % 50 == 0 else i * 3 % 20,
            "pweight": 100 + i * 31 % 90,
            "hhid": i // 3,
            "town": ["a", "b", "c", "d"][i % 4],
            "town_code": "x" if i == 7 else ["A1", "B1", "C1", "D1"][i % 4],
        }
        for i in range(600)
    ]
    drafted = io.drafted(pd.DataFrame(rows).astype(str))
    found = {(remark.column, remark.what): remark for remark in drafted.remarks}
    assert found["height", Suspicion.WORDS].codes == ("nd",)
    assert drafted.schema["height"].missing == ("nd",)
    assert found["visits", Suspicion.SENTINELS].codes == ("-99",)
    assert ("pweight", Suspicion.WEIGHT) in found
    assert ("hhid", Suspicion.HOUSEHOLD) in found
    assert found["town_code", Suspicion.COPY].other == "town"
    assert not [remark for remark in drafted.remarks if remark.column == "town"]
