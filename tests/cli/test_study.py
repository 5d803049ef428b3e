"""``hush study``: the scope of the studies that go on when they were stopped, and clear words for what cannot be done."""

from __future__ import annotations

import pytest

from hushtable.studies import generators as generator_study


@pytest.mark.parametrize(("name", "module", "rows"), [("generators", generator_study, 2000)])
def test_a_study_is_given_its_scope(hush, monkeypatch, tmp_path, name, module, rows):
    asked = {}

    class Resumable:
        def run(self, folder, progress):
            asked["folder"] = folder
            return "all numbers"

    def resumable(data, scope):
        asked.update(data=data, scope=scope)
        return Resumable()

    monkeypatch.setattr(module, "resumable", resumable)
    folder = tmp_path / "out"
    folder.mkdir()  # a study that was stopped: it is not refused
    code, out, _ = hush("study", name, "--quick", "--runs", 2, "--out", folder, "--data", tmp_path)
    assert code == 0
    assert "all numbers" in out
    assert (asked["scope"].runs, asked["scope"].rows, asked["folder"], asked["data"]) == (2, rows, folder, tmp_path)
    hush("study", name)
    assert asked["scope"] == module.FULL


def test_other_studies_have_no_runs_and_there_are_no_others(hush):
    code, _, err = hush("study", "manifold", "--runs", 2)
    assert code != 0
    assert "--runs" in err
    code, _, err = hush("study", "weather")
    assert code != 0
    assert "generators" in err
