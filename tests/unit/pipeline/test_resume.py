"""The folder that a stopped run goes on from: private, of one run, and never where a release is."""

from __future__ import annotations

import json
import stat

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.resume import FILE, resumable
from hushtable.privacy import vault as vaults
from hushtable.privacy.journal import Journal
from hushtable.privacy.vault import Vault
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


class Stopped(Exception):
    """What a run is stopped with here."""


def stopped_after(answers, monkeypatch):
    """Let a run end with an error once so many answers were kept."""
    answer = Journal.answer

    def counted(self, question, make):
        if self.asked >= answers:
            raise Stopped
        return answer(self, question, make)

    monkeypatch.setattr(Journal, "answer", counted)


@pytest.mark.parametrize("answers", [1, 5, 9])
def test_what_was_paid_for_is_not_asked_again(small, tmp_path, monkeypatch, answers):
    options = {"epsilon": 2.0, "delta": 1e-5, "resume": tmp_path / "work"}
    declared = small.declared(by="a test")
    with monkeypatch.context() as patched:
        stopped_after(answers, patched)
        with pytest.raises(Stopped):
            ht.release(declared, "mst", **options)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*")}
    assert len(kept) == answers
    with monkeypatch.context() as patched:
        asked = []
        noise = vaults.discrete_gaussian
        patched.setattr(vaults, "discrete_gaussian", lambda *given: asked.append(1) or noise(*given))
        released = ht.release(declared, "mst", **options)
    total = len(list((tmp_path / "work").glob("answer-*")))
    assert kept.items() <= {path.name: path.read_bytes() for path in (tmp_path / "work").glob("answer-*")}.items()
    assert len(asked) <= total - answers
    assert len([entry for entry in released.guarantee.ledger if entry.event.cost().rho > 0]) >= total
    assert released.guarantee.epsilon() <= 2.0 + 1e-9
    again = ht.release(declared, "mst", **options)
    assert again.table.frame().equals(released.table.frame())


def test_answers_of_other_rows_or_of_another_budget_are_refused(small, tmp_path):
    declared = small.declared(by="a test")
    ht.release(declared, "mst", epsilon=2.0, delta=1e-5, resume=tmp_path / "work")
    fewer = declared.take(np.arange(declared.rows - 1))
    with pytest.raises(InputError, match="another run"):
        ht.release(fewer, "mst", epsilon=2.0, delta=1e-5, resume=tmp_path / "work")
    with pytest.raises(InputError, match="another run"):
        ht.release(declared, "mst", epsilon=3.0, delta=1e-5, resume=tmp_path / "work")
    damaged = sorted((tmp_path / "work").glob("answer-*"))[0]
    damaged.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read"):
        ht.release(declared, "mst", epsilon=2.0, delta=1e-5, resume=tmp_path / "work")


def test_a_step_that_would_pay_again_is_refused(small, tmp_path):
    with pytest.raises(PlanError, match="--resume"):
        ht.release(small.declared(by="a test"), "safe-k", epsilon=2.0, delta=1e-5, resume=tmp_path / "work")


def test_without_a_stop_a_budget_keeps_nothing(small):
    vault = Vault.of(small.declared(by="a test"))
    assert vault.journal is None


def test_it_is_in_no_file(tmp_path):
    options = ReleaseOptions(resume=tmp_path / "work")
    assert "resume" not in options.to_json()
    with pytest.raises(InputError, match="no option resume"):
        ReleaseOptions.from_json({"resume": "work"})
