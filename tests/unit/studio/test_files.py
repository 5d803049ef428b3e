"""Only what lies below the start folder is opened, however it is asked for."""

from __future__ import annotations

import pytest

from hushtable.errors import InputError
from hushtable.studio.files import DICTIONARIES, Files


@pytest.fixture
def files(town):
    root = town / "below"
    (town / "secret.csv").write_text("a,b\n1,2\n")
    return Files(root, lambda text: text[::-1])


def names(files, folder=None):
    return [entry.name for entry in files.listing(folder or files.root)[0]]


def test_tables_and_folders_are_listed_and_nothing_else(town):
    files = Files(town, lambda text: text[::-1])
    (town / ".hidden.csv").write_text("a\n1\n")
    (town / "people.studio").mkdir()
    assert names(files) == ["below", "people.csv"]


def test_a_table_is_opened_by_its_id(files):
    (entry,), more = files.listing(files.root)
    assert files.file(entry.id) == files.root / "deeper.csv.gz"
    assert not more


@pytest.mark.parametrize("id_", ["", "unknown", "../secret.csv", "/etc/passwd", "deeper.csv.gz"])
def test_nothing_is_opened_by_its_path(files, id_):
    with pytest.raises(InputError):
        files.file(id_)


def test_an_id_of_a_path_outside_opens_nothing(files, town):
    for path in (town / "secret.csv", files.root / ".." / "secret.csv"):
        with pytest.raises(InputError):
            files.file(files.id(path))


def test_a_link_out_of_the_start_folder_is_neither_listed_nor_opened(files, town):
    link = files.root / "link.csv"
    link.symlink_to(town / "secret.csv")
    assert "link.csv" not in names(files)
    with pytest.raises(InputError):
        files.file(files.id(link))


def test_a_folder_that_leads_out_is_neither_listed_nor_opened(files, town):
    (files.root / "out").symlink_to(town)
    assert "out" not in names(files)
    with pytest.raises(InputError):
        files.folder(files.id(files.root / "out"))
    with pytest.raises(InputError):
        files.file(files.id(files.root / "out" / "secret.csv"))


def test_a_link_that_is_turned_after_it_was_listed_opens_nothing(files, town):
    link = files.root / "link.csv"
    (files.root / "inside.csv").write_text("a,b\n1,2\n")
    link.symlink_to(files.root / "inside.csv")
    own = files.id(link)
    assert files.file(own) == link
    link.unlink()
    link.symlink_to(town / "secret.csv")
    with pytest.raises(InputError):
        files.file(own)


def test_a_link_cannot_give_a_file_the_ending_of_a_table(files):
    (files.root / "notes.pdf").write_text("no table")
    link = files.root / "notes.csv"
    link.symlink_to(files.root / "notes.pdf")
    with pytest.raises(InputError):
        files.file(files.id(link))


def test_only_known_endings_are_opened(files):
    (files.root / "codes.json").write_text("{}")
    own = files.id(files.root / "codes.json")
    with pytest.raises(InputError):
        files.file(own)
    assert files.file(own, DICTIONARIES).name == "codes.json"


def test_a_start_folder_may_itself_be_a_link(town, tmp_path):
    link = tmp_path / "start"
    link.symlink_to(town / "below")
    assert names(Files(link, lambda text: text)) == ["deeper.csv.gz"]


def test_a_link_in_a_circle_is_left_out(files):
    (files.root / "circle.csv").symlink_to(files.root / "circle.csv")
    assert names(files) == ["deeper.csv.gz"]
