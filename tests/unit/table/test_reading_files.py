"""Files as people have them: any delimiter, line end, compression and damage; what cannot be read is named by its line."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema

ROWS = {"id": ["a1", "b2", "c3"], "note": ["x, y", 'say "hi"', "two\nlines"], "n": ["-1", None, "3"]}
CSV = 'id,note,n\na1,"x, y",-1\nb2,"say ""hi""",\nc3,"two\nlines",3\n'
SCHEMA = Schema.parse("columns: {id: key, note: text, n: integer}")


def file_of(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def content(table):
    return {name: list(table.strings(name)) for name in table.schema.names}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", CSV),
        ("t.CSV", CSV),
        ("t.txt", CSV),
        ("t.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("two members.csv.gz", gzip.compress(CSV[:20].encode(), mtime=0) + gzip.compress(CSV[20:].encode(), mtime=0)),
        ("bom.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("bom quoted.csv", b"\xef\xbb\xbf" + CSV.replace("id", '"id"').encode()),
        ("crlf.csv", CSV.replace("\n", "\r\n").replace("two\r\n", "two\n")),
        ("cr.csv", CSV.replace("\n", "\r").replace("two\r", "two\n")),
        ("semicolon.csv", 'id;note;n\na1;"x, y";-1\nb2;"say ""hi""";\nc3;"two\nlines";3\n'),
        ("bar.csv", 'id|note|n\na1|x, y|-1\nb2|"say ""hi"""|\nc3|"two\nlines"|3\n'),
        ("t.tsv", 'id\tnote\tn\na1\tx, y\t-1\nb2\t"say ""hi"""\t\nc3\t"two\nlines"\t3\n'),
        ("blanks.csv", 'id , note, n\n a1,"x, y", -1 \nb2 ,"say ""hi""", \nc3,"two\nlines",3\n'),
        ("no last line end.csv", CSV.removesuffix("\n")),
        ("it's [a] strange? name*.csv", CSV),
    ],
)
def test_the_same_table_is_read_from_every_way_to_write_it(tmp_path, name, data):
    table = io.read(file_of(tmp_path, name, data), SCHEMA)
    assert content(table) == ROWS


def test_every_format_of_file_gives_the_same_table(tmp_path):
    frame = pd.DataFrame({"id": ROWS["id"], "note": ROWS["note"], "n": pd.array([-1, None, 3], "Int64")})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_parquet(tmp_path / "t.pq", engine="pyarrow", compression=None)
    for name in ("t.parquet", "t.pq"):
        assert content(io.read(tmp_path / name, SCHEMA)) == ROWS


def test_a_star_in_a_file_name_never_reads_other_peoples_files(tmp_path):
    for name in ("town*", "town1", "town?", "town[12]"):
        file_of(tmp_path, f"{name}.csv", f"a,b\n{name},1\n{name},2\n")
        pd.DataFrame({"a": [name] * 2, "b": [1, 2]}).to_parquet(tmp_path / f"{name}.parquet")
    for name in ("town*", "town?", "town[12]"):
        for end in (".csv", ".parquet"):
            assert content(io.read(tmp_path / (name + end)))["a"] == [name] * 2


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_a_folder_named_like_a_partition_adds_no_column(tmp_path, end):
    folder = tmp_path / "year=2020" / "c0=7" / "a=9"
    folder.mkdir(parents=True)
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    frame.to_csv(folder / "t.csv", index=False) if end == ".csv" else frame.to_parquet(folder / "t.parquet")
    assert io.column_names(folder / f"t{end}") == ["a", "b"]
    assert content(io.read(folder / f"t{end}")) == {"a": ["1", "2", "3"], "b": ["4", "5", "6"]}


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_names_that_differ_only_in_capitals_are_two_names(tmp_path, end):
    frame = pd.DataFrame({"a": [1, 2], "A": [3, 4], " b ": [5, 6]})
    frame.to_csv(tmp_path / "t.csv", index=False) if end == ".csv" else frame.to_parquet(tmp_path / "t.parquet")
    assert content(io.read(tmp_path / f"t{end}")) == {"a": ["1", "2"], "A": ["3", "4"], "b": ["5", "6"]}


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"a;b;c;d",e', ["a;b;c;d", "e"]),
        ("a;b;c;d,e", ["a;b;c;d", "e"]),
        ('a,"b\nc",d', ["a", "b\nc", "d"]),
        ('a,"b ""c"", d"', ["a", 'b "c", d']),
        ("alone", ["alone"]),
        ('5" pipe,b', ['5" pipe', "b"]),
    ],
)
def test_a_header_is_cut_where_its_values_are_cut(tmp_path, header, names):
    rows = "\n".join(",".join("123"[i] for _ in names) for i in range(3))
    assert io.column_names(file_of(tmp_path, "t.csv", f"{header}\n{rows}\n")) == names
    assert io.read(tmp_path / "t.csv").rows == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
def test_a_line_break_inside_quotes_is_not_the_end_of_a_line(tmp_path, end, inside):
    text = end.join([f'"a{inside}b",c', f'"x{inside}y",1', f'2,"{inside}z"', ""])
    table = io.read(
        file_of(tmp_path, "t.csv", text), Schema((Column(name=f"a{inside}b", kind=Kind.TEXT), Column(name="c", kind=Kind.TEXT)))
    )
    assert content(table) == {f"a{inside}b": [f"x{inside}y", "2"], "c": ["1", "z"]}


BIG = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 1013) for i in range(20_000)), mtime=0)
FLIPPED = gzip.compress(b"a,b\n1,2\n3,4\n", compresslevel=0, mtime=0).replace(b"3,4", b"3,5")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.csv", b"", "empty.csv: the file is empty"),
        ("empty line.csv", b"\na,b\n1,2\n", "the first line is empty; expected column names"),
        ("header.csv", b"a,b\n", "has no rows"),
        ("one.csv", b"a,b\n1,2\n", "has only one row"),
        ("short.csv", b"a,b\n1,2\n3\n5,6\n", "line 3: expected 2 values, as in the header, found 1"),
        ("long.csv", b"a,b\n1,2\n3,4\n5,6,7\n", "line 4: expected 2 values, as in the header, found 3"),
        ("latin.csv", b"a,b\n1,2\nM\xfcller,4\n", "line 3: the file is not UTF-8"),
        ("latin header.csv", b"a,b\xfc\n1,2\n3,4\n", "line 1: the file is not UTF-8"),
        ("utf16 without its mark.csv", "a,b\n1,2\n3,4\n".encode("utf-16-le"), "seems to be UTF-16 without its mark"),
        ("book.csv", b"PK\x03\x04" + b"x" * 50, "is a spreadsheet or a zip archive, not a CSV file"),
        ("old book.csv", b"\xd0\xcf\x11\xe0" + b"x" * 50, "is an old Excel file"),
        ("packed.csv", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0), "is a gzip file: let its name end in .csv.gz"),
        ("parquet.csv", b"PAR1xxxx", "is a Parquet file"),
        ("open.csv", b'a,b\n1,"2\n3,4\n', "line 2: a quotation mark is never closed"),
        ("ends.csv", b"a,b\r\n1,2\n3,4\r\n", "lines end in different ways"),
        ("blank.csv", b"a,,c,\n1,2,3,4\n5,6,7,8\n", "column 2 has no name in the header\nblank.csv: column 4 has no name"),
        ("twice.csv", b"a,b,a\n1,2,3\n4,5,6\n", "more than once, for the columns 1, 3"),
        ("cut.csv.gz", BIG[: len(BIG) // 2], "the gzip file is damaged or cut short"),
        ("nearly.csv.gz", BIG[:-1], "the gzip file is damaged or cut short"),
        ("head.csv.gz", BIG[:12], "the gzip file is damaged or cut short"),
        ("torn.csv.gz", BIG[:20] + b"\xff\x00\xff" + BIG[23:], "the gzip file is damaged or cut short"),
        ("flipped.csv.gz", FLIPPED, "the gzip file is damaged or cut short"),
        ("plain.csv.gz", b"a,b\n1,2\n3,4\n", "the gzip file is damaged or cut short, or is not gzip"),
        ("no.parquet", b"a,b\n1,2\n3,4\n", "is not a readable Parquet file"),
        ("table.xlsx", b"a,b\n1,2\n3,4\n", "cannot recognize the format of 'table.xlsx'; expected .csv, .csv.gz or .parquet"),
        ("table", b"a,b\n1,2\n3,4\n", "cannot recognize the format"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, data, reason):
    with pytest.raises(InputError) as caught:
        io.read(file_of(tmp_path, name, data))
    assert reason in str(caught.value)
    assert str(caught.value).startswith((name, "file: "))


@pytest.mark.parametrize("data", [b"a,b\n", b"a,b\n1,2\n", b"a,a\n1,2\n3,4\n", b"a,\n1,2\n3,4\n", b"a,b\n1\n2,3\n"])
def test_what_cannot_be_read_cannot_be_drafted_either(tmp_path, data):
    path = file_of(tmp_path, "t.csv", data)
    with pytest.raises(InputError) as read:
        io.read(path)
    with pytest.raises(InputError) as drafted:
        io.draft(path)
    assert str(drafted.value) == str(read.value)


def test_a_line_far_down_is_named_by_its_number(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(200_000))
    with pytest.raises(InputError, match="line 200002: expected 2 values, as in the header, found 3"):
        io.read(file_of(tmp_path, "t.csv", f"a,b\n{rows}1,2,3\n{rows}"))


def test_a_file_that_is_a_folder_or_is_not_there_is_named(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv: is a folder, not a file"):
        io.read(tmp_path / "folder.csv")
    with pytest.raises(InputError, match=r"nowhere\.csv: the file does not exist"):
        io.read(tmp_path / "nowhere.csv")


def test_bytes_of_zero_are_kept_as_part_of_a_text(tmp_path):
    table = io.read(file_of(tmp_path, "t.csv", b"a,b\nx\x00y,1\nz,2\n"), Schema.parse("columns: {a: text, b: integer}"))
    assert content(table)["a"] == ["x\x00y", "z"]


def test_a_very_long_text_is_read_whole(tmp_path):
    table = io.read(file_of(tmp_path, "t.csv", 'a,b\n1,"' + "é\n" * 700_000 + 'x"\n2,y\n'), Schema.parse("columns: {b: text}"))
    assert len(table.strings("b")[0]) == 1_400_001


def test_a_column_the_schema_names_must_be_there_and_others_are_left_out(tmp_path):
    path = file_of(tmp_path, "t.csv", "a,b,c\n1,2,3\n4,5,6\n")
    table = io.read(path, Schema.parse("columns: {c: integer, a: integer}"))
    assert table.schema.names == ("c", "a")
    assert table.ignored == ("b",)
    with pytest.raises(InputError) as caught:
        io.read(path, Schema.parse("columns: {a: integer, x: integer, y: integer}"))
    assert str(caught.value).splitlines() == [
        "t.csv, column x: named by the schema, but the table has no such column; it has a, b, c",
        "t.csv, column y: named by the schema, but the table has no such column; it has a, b, c",
    ]


def test_a_schema_may_be_given_by_its_file(tmp_path):
    file_of(tmp_path, "s.yaml", "columns: {b: integer}")
    assert io.read(file_of(tmp_path, "t.csv", "a,b\n1,2\n3,4\n"), str(tmp_path / "s.yaml")).schema.names == ("b",)


def test_a_table_is_read_as_itself(small):
    assert io.read(small) is small


def test_a_table_is_read_again_under_another_schema(small):
    name = next(c.name for c in small.schema if c.kind is Kind.INTEGER)
    narrow = replace(small.schema[name], domain=Bounds(small[name].min(), small[name].max() - 1), required=False)
    with pytest.raises(InputError, match=f"column {name}: values outside the declared domain"):
        io.read(small, small.schema.with_columns(narrow))
    assert io.read(small, small.schema.select([name])).schema.names == (name,)
