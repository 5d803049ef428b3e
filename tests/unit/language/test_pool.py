"""Files of public texts."""

from __future__ import annotations

import gzip

import pytest

from hushtable.errors import InputError
from hushtable.language.pool import public_texts


def test_lines_columns_and_compressed_files_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("one, two\n\n  three \n日本\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text('id,note\n1,"a, b"\n2,\n3,c\n', encoding="utf-8")
    with gzip.open(tmp_path / "c.tsv.gz", "wt", encoding="utf-8") as file:
        file.write('sentence\tlabel\nhe said "no\t1\nyes\t0\n')
    assert public_texts(str(tmp_path / "a.txt"), "note", "it") == ["one, two", "three", "日本"]
    assert public_texts(str(tmp_path / "b.csv"), "note", "it") == ["a, b", "c"]
    assert public_texts(str(tmp_path / "c.tsv.gz"), "note", "it") == ['he said "no', "yes"]


@pytest.mark.parametrize(("content", "word"), [(b"", "no text"), (b"\n \n", "no text"), (b"\xff\xfe\x00", "UTF-8")])
def test_what_cannot_be_read_is_said(tmp_path, content, word):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=word):
        public_texts(str(tmp_path / "a.txt"), "note", "it")
    (tmp_path / "b.csv").write_text("id,other\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="id, other"):
        public_texts(str(tmp_path / "b.csv"), "note", "it")
    with pytest.raises(InputError, match="pool"):
        public_texts("", "note", "it")
