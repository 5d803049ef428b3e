"""Files without a header: noticed, refused without a value, and read with the names that somebody gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.header import FirstLine, judge
from hushtable.table.layout import Layout, read_names

ROWS = 60
CITIES = ["Bern", "Basel", "Chur", "Genf"]


def lines(make, rows=ROWS):
    return "\n".join(",".join(make(i)) for i in range(rows)) + "\n"


def person(i):
    return [str(20 + i * 7 % 50), CITIES[i % 4], str(1000 + i * 37 % 911), f"2024-0{i % 9 + 1}-11"]


def file_of(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


HEADERLESS = {
    "mixed": lines(person),
    "numbers": lines(lambda i: [str(3 + i * 7 % 50), str(i * 13 % 90)]),
    "words": lines(lambda i: [CITIES[i % 4], "yn"[i % 2]]),
    "one column": lines(lambda i: [str(20 + i % 30)]),
    "dates": lines(lambda i: [f"2024-01-{i % 28 + 1:02d}", f"key{i}"]),
    "decimal commas": lines(lambda i: [f'"{i},5"', f'"{i * 3},25"']),
    "binary": lines(lambda i: [str(i % 2), str((i + 1) % 2)]),
}
HONEST = {
    "words above numbers": "age,city,pay,day\n" + lines(person),
    "years": "country,2019,2020\n" + lines(lambda i: [f"c{i}", str(10**6 + i * 997), str(10**6 + i * 991)]),
    "numbered by pandas": "0,1,2,3\n" + lines(lambda i: [str(i / 7), str(i % 3), str(i % 2), str(i % 5)]),
    "one hot": "0,1,2,3\n" + lines(lambda i: [str(int(i % 4 == j)) for j in range(4)]),
    "one column": "age\n" + lines(lambda i: [str(20 + i % 30)]),
    "words that repeat": "name,city\n" + lines(lambda i: [f"n{i}", CITIES[i % 4]]),
    "one year": "country,2020\n" + lines(lambda i: [f"c{i}", f"{i}.75"]),
}


@pytest.mark.parametrize("text", HEADERLESS.values(), ids=HEADERLESS)
def test_a_first_line_that_looks_like_data_is_refused_without_a_value(tmp_path, text):
    path = file_of(tmp_path, text)
    for door in (io.draft, io.read):
        with pytest.raises(InputError) as caught:
            door(path)
        told = str(caught.value)
        assert "--no-header" in told
        assert "--names" in told
        assert not any(cell in told.replace("column_1, column_2", "") for cell in ("Bern", "2024-01", "1000", "3,25"))
    table = io.read(path, header=False)
    assert table.rows == ROWS
    assert table.schema.names == tuple(f"column_{i}" for i in range(1, len(table.schema) + 1))


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_an_honest_header_is_not_refused(tmp_path, text):
    path = file_of(tmp_path, text)
    assert io.draft(path).names == tuple(text.splitlines()[0].split(","))
    assert io.read(path).rows == ROWS


def test_where_it_cannot_be_told_the_draft_says_so(tmp_path):
    schema = io.draft(file_of(tmp_path, "\n".join(f"{a}{a},{a}x" for a in "abcdefgh")))
    assert any("could not be told" in note and "--no-header" in note for note in schema.notes)
    assert not any("could not be told" in note for note in io.draft(file_of(tmp_path, HONEST["years"])).notes)


def test_names_given_in_a_list_or_a_file_take_the_place_of_a_header(tmp_path):
    path = file_of(tmp_path, HEADERLESS["mixed"])
    names = ["age", "city", "pay", "day"]
    for content in ("age\ncity\npay\nday\n", "age,city,pay,day\n", '["age", "city", "pay", "day"]', "age;city;pay;day"):
        assert read_names(file_of(tmp_path, content, "names.txt")) == names
        assert io.read(path, names=tmp_path / "names.txt").schema.names == tuple(names)
    table = io.read(path, names=names)
    assert table.rows == ROWS
    assert io.read(path, table.schema, names=names).rows == ROWS
    with pytest.raises(InputError, match="has 4 columns, but 2 names were given"):
        io.read(path, names=["a", "b"])
    with pytest.raises(InputError, match="'a' stands more than once"):
        io.read(path, names=["a", "a", "b", "c"])


def test_names_for_a_file_that_has_a_header_need_a_word(tmp_path):
    path = file_of(tmp_path, HONEST["words above numbers"])
    with pytest.raises(InputError, match="looks like column names: add --header"):
        io.draft(path, names=list("abcd"))
    assert io.read(path, names=list("abcd"), header=True).rows == ROWS
    assert io.read(path, names=list("abcd"), header=False).rows == ROWS + 1


def test_a_header_is_trusted_where_somebody_says_so(tmp_path):
    assert io.read(file_of(tmp_path, HEADERLESS["numbers"]), header=True).rows == ROWS - 1


def test_a_schema_that_knows_none_of_the_names_points_to_the_options(tmp_path):
    path = file_of(tmp_path, HEADERLESS["mixed"])
    with pytest.raises(InputError, match="--no-header") as caught:
        io.read(path, io.draft(pd.DataFrame({"a": ["1", "2", "3"], "b": ["x", "y", "x"]})))
    assert "Bern" not in str(caught.value)


def test_names_that_stand_again_among_the_rows_are_said(tmp_path):
    text = HONEST["words above numbers"] + "age,city,pay,day\n" + lines(person)
    with pytest.raises(InputError, match="stand again among the rows"):
        io.draft(file_of(tmp_path, text))


def test_a_frame_and_a_parquet_file_have_names_of_their_own(tmp_path):
    frame = pd.DataFrame({"1": [1, 2, 3], "2": [1, 2, 3]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert io.draft(frame).names == io.draft(tmp_path / "t.parquet").names == ("1", "2")
    for source in (frame, tmp_path / "t.parquet"):
        with pytest.raises(InputError, match="for text files"):
            io.read(source, header=False)


def test_the_verdicts():
    def column(*words):
        return words, np.full(len(words), 5)

    assert judge(["age"], [column("1", "2", "3")]) is FirstLine.NAMES
    assert judge(["2"], [column("1", "2", "3")]) is FirstLine.DATA
    assert judge(["0", "1"], [column("0", "1"), column("0", "1")]) is FirstLine.DATA
    assert judge(["a"], [((), np.zeros(0, int))]) is FirstLine.UNKNOWN


def test_a_layout_is_checked():
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        Layout(encoding="klingon")
    with pytest.raises(InputError, match="name 2 is empty"):
        Layout(names=("a", ""))
    assert Layout.of(**Layout(False, ("a",), "cp1252").to_json()) == Layout(False, ("a",), "cp1252")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le"])
def test_other_encodings_are_read_and_named_where_they_are_needed(tmp_path, encoding):
    text = "größe,ort\n" + lines(lambda i: [str(i % 9 * 3), ["Köln", "München"][i % 2]])
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    table = io.read(tmp_path / "t.csv", encoding=encoding)
    assert table.schema["ort"].levels == ("Köln", "München")
    if encoding == "utf-16":
        assert io.read(tmp_path / "t.csv").schema == table.schema
    else:
        with pytest.raises(InputError, match=f"--encoding {'utf-16-le' if encoding == 'utf-16-le' else 'cp1252'}"):
            io.read(tmp_path / "t.csv")


def test_a_wrong_encoding_is_said(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n\x81\x82,1\n\x81,2\n")
    with pytest.raises(InputError, match="the file is not cp1252"):
        io.read(tmp_path / "t.csv", encoding="cp1252")


@pytest.mark.parametrize("start", ["sep=;\n", '"sep=;"\r\n', "\ufeffsep=;\n"])
def test_the_line_in_which_a_spreadsheet_names_its_separator_is_no_header(tmp_path, start):
    end = "\r\n" if "\r" in start else "\n"
    text = start + "betrag;ort\n".replace("\n", end) + "".join(f"{i},5;{CITIES[i % 4]}{end}" for i in range(ROWS))
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = io.read(tmp_path / "t.csv")
    assert table.schema.names == ("betrag", "ort")
    assert table["betrag"].max() == ROWS - 0.5


def test_between_tabs_a_quotation_mark_may_stand_alone(tmp_path):
    rows = "".join(f'{i % 3}\t"five inches of {i} are 5" long\n' for i in range(ROWS))
    assert io.read(file_of(tmp_path, "label\ttext\n" + rows, "t.tsv")).rows == ROWS
