"""``hush study``: the scope of the study of generators, and clear words for what it cannot do."""

from __future__ import annotations

from hushtable.bench import generator_study


def test_the_study_of_generators_is_told_its_scope(hush, monkeypatch, tmp_path):
    asked = {}

    def run(folder, progress, **knobs):
        asked.update(knobs, folder=folder)
        return "all numbers"

    monkeypatch.setattr(generator_study, "run", run)
    folder = tmp_path / "out"
    folder.mkdir()  # a study that was stopped: it is not refused
    code, told, _ = hush("study", "generators", "--quick", "--runs", 2, "--out", folder, "--data", tmp_path)
    assert code == 0
    assert "all numbers" in told
    assert (asked["scope"].runs, asked["scope"].rows, asked["folder"], asked["data"]) == (2, 2000, folder, tmp_path)
    hush("study", "generators")
    assert asked["scope"] == generator_study.FULL


def test_other_studies_have_no_runs_and_there_are_no_others(hush):
    code, _, told = hush("study", "manifold", "--runs", 2)
    assert code != 0
    assert "--runs" in told
    code, _, told = hush("study", "weather")
    assert code != 0
    assert "generators" in told
