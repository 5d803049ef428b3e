"""``hush study``: one study or all, as text or JSON, kept in a folder, and clear words for what cannot be done."""

from __future__ import annotations

import json

import pytest

from hushtable.cli.study import study
from hushtable.studies import runner
from hushtable.studies.study import Study
from tests.unit.studies import toy


@pytest.fixture
def toys(monkeypatch):
    named = "tests.unit.studies.toy:STUDY"
    monkeypatch.setattr(runner, "STUDIES", {"toy": named, "other": named})
    toy.MADE.clear()


def test_a_study_is_printed_kept_and_goes_on(hush, toys, tmp_path):
    folder = tmp_path / "out"
    code, out, _ = hush("study", "toy", "--quick", "--runs", 2, "--out", folder, "--workers", 1)
    assert code == 0
    assert "published | ours | interval" in out
    assert "study.html" in out
    assert (folder / "study.html").exists()
    made = len(toy.MADE)
    assert hush("study", "toy", "--quick", "--runs", 2, "--out", folder, "--workers", 1)[0] == 0
    assert len(toy.MADE) == made + 2, "only what failed by accident is tried again"
    code, _, err = hush("study", "toy", "--out", folder, "--workers", 1)
    assert code == 2
    assert "other rows, audits or settings" in err


def test_all_studies_as_json(hush, toys):
    code, out, _ = hush("study", "all", "--quick", "--json", "--workers", 1)
    assert code == 0
    assert list(json.loads(out)["studies"]) == ["toy", "other"]


def test_a_study_that_does_not_exist_is_refused_with_those_that_do(hush):
    code, _, err = hush("study", "weather")
    assert code == 2
    assert "generators" in err
    assert "all" in err


@pytest.mark.parametrize("name", runner.STUDIES)
def test_every_study_is_listed_under_its_name_and_cites_its_source(name):
    one = runner.load(name)
    assert isinstance(one, Study)
    assert one.name == name
    assert any(year in one.source for year in map(str, range(2000, 2027)))
    assert name in study.__annotations__["name"], "the help names it"
