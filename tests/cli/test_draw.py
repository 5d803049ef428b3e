"""Saved models on the command line: where they may lie, what is said of them, and what is drawn from them."""

from __future__ import annotations

import json
import stat
from zipfile import ZipFile

import pytest


@pytest.fixture
def release(hush, town, tmp_path):
    """Release the town with a model beside it; what ``hush`` gives."""

    def run(model, *words, recipe="independent", out="out"):
        private = ["--epsilon", 1] if recipe == "independent" else []
        files = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--out", tmp_path / out]
        return hush(*files, "--recipe", recipe, *private, "--save-model", tmp_path / model, *words)

    return run


def test_a_model_is_saved_and_drawn_from(hush, release, tmp_path):
    code, said, _ = release("it.model")
    assert code == 0
    assert "as private as the rows" not in " ".join(said.split())
    with ZipFile(tmp_path / "it.model") as archive:
        assert "README.txt" not in archive.namelist()
    code, said, _ = hush("draw", tmp_path / "it.model", "--rows", 30, "--given", "sex=female", "--out", tmp_path / "more", "--json")
    assert code == 0
    card = json.loads(said)
    assert (card["rows"], card["guarantee"]["assurance"]) == (30, "proven")
    assert hush("verify", tmp_path / "more")[0] == 0


def test_a_model_without_a_proof_is_its_owners_alone_and_says_so(release, tmp_path):
    code, said, _ = release("it.model", recipe="gaussian-copula")
    assert code == 0
    assert "keep it as private as the rows" in " ".join(said.split())
    assert stat.S_IMODE((tmp_path / "it.model").stat().st_mode) == 0o600
    with ZipFile(tmp_path / "it.model") as archive:
        assert b"as private as the rows" in archive.read("README.txt")


@pytest.mark.parametrize("model", ["out", "out/it.model", "out.private", "out.private/it.model", "nowhere/it.model", "."])
def test_a_model_takes_the_place_of_nothing_else(release, tmp_path, model):
    """Refused before a row is read: else the budget is spent, and the release or the control rows are lost."""
    code, _, said = release(model, "--hold-out", 0.2)
    assert code == 2
    assert "spent" not in said
    assert not any(tmp_path.iterdir())


def test_no_model_is_put_into_a_release(hush, release, tmp_path):
    assert release("first.model")[0] == 0
    code, _, said = release("out/it.model", out="second")
    assert code == 2
    assert "inside a release" in " ".join(said.split())
    assert not (tmp_path / "second").exists()
    assert hush("verify", tmp_path / "out")[0] == 0
