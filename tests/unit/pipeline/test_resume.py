"""The folder that a stopped run goes on from: private, of one run, and never where a release is."""

from __future__ import annotations

import json
import stat

import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.resume import FILE, resumable
from hushtable.synthesize.sequential.sequential import Sequential


@pytest.fixture
def folders(monkeypatch):
    """The folders that a fit was given."""
    seen = []
    fit = Sequential.fit

    def watched(self, vault, rng):
        seen.append(vault.work)
        return fit(self, vault, rng)

    monkeypatch.setattr(Sequential, "fit", watched)
    return seen


def test_without_a_folder_nothing_changes():
    options = ReleaseOptions(seed=None)
    assert resumable(options) is options


def test_it_is_made_for_its_owner_alone(tmp_path):
    folder = tmp_path / "work"
    resumable(ReleaseOptions(resume=folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600


def test_an_empty_folder_is_taken_and_closed_to_others(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir(mode=0o755)
    resumable(ReleaseOptions(resume=folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_seed_is_drawn_once_and_kept(tmp_path):
    first, second = (resumable(ReleaseOptions(resume=tmp_path / "work")).seed for _ in range(2))
    other = resumable(ReleaseOptions(resume=tmp_path / "other")).seed
    assert first == second != other
    assert json.loads((tmp_path / "work" / FILE).read_text())["seed"] == first


def test_a_seed_that_is_given_stays(tmp_path):
    assert resumable(ReleaseOptions(resume=tmp_path / "work", seed=3)).seed == 3


def test_the_same_command_makes_the_same_release_without_a_seed(small, tmp_path, folders):
    one, two = (ht.release(small, "sequential", resume=tmp_path / "work", allow_copies="a test").table.frame() for _ in range(2))
    assert one.equals(two)
    assert folders == [tmp_path / "work"] * 2


def test_a_text_is_a_folder_too(small, tmp_path, folders):
    ht.release(small, "sequential", resume=str(tmp_path / "work"), seed=1, allow_copies="a test")
    assert folders == [tmp_path / "work"]


def test_a_file_and_a_folder_of_something_else_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    for name in ("file", "full"):
        with pytest.raises(InputError, match="holds no run to resume"):
            resumable(ReleaseOptions(resume=tmp_path / name))
    assert sorted(path.name for path in (tmp_path / "full").iterdir()) == ["thesis.txt"]


def test_a_broken_note_is_named(tmp_path):
    folder = tmp_path / "work"
    resumable(ReleaseOptions(resume=folder))
    (folder / FILE).write_text("{}")
    with pytest.raises(InputError, match="holds no seed"):
        resumable(ReleaseOptions(resume=folder))


@pytest.mark.parametrize("place", ["", "work", "a/b"])
def test_never_inside_a_release(small, tmp_path, place):
    ht.save(ht.release(small, "mdav", k=4, seed=1), tmp_path / "release")
    with pytest.raises(InputError, match="inside a release"):
        resumable(ReleaseOptions(resume=tmp_path / "release" / place))


def test_a_budget_is_not_resumed(tmp_path):
    with pytest.raises(InputError, match="starts anew"):
        ReleaseOptions(epsilon=1.0, resume=tmp_path)


def test_it_is_in_no_file(tmp_path):
    options = ReleaseOptions(resume=tmp_path / "work")
    assert "resume" not in options.to_json()
    with pytest.raises(InputError, match="no option resume"):
        ReleaseOptions.from_json({"resume": "work"})
