"""The study of hybrids: the printed configurations beside ours, one grid of many tasks, and what the source says of it."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.hybrid.grid import Stage
from hushtable.checks import example
from hushtable.pipeline import hybrid as hybrids
from hushtable.studies import hybrid as study
from hushtable.studies import hybrid_report
from hushtable.studies.hybrid_report import CONFIGURATIONS, Configuration, merged
from hushtable.studies.report import Verdict
from hushtable.studies.study import Scope


@pytest.fixture
def small(monkeypatch):
    table = example(240, seed=1)
    monkeypatch.setattr(study, "loaded", lambda *where: table)
    monkeypatch.setattr(study, "tables", lambda folder, rows: ({"Adult": "adult"}, ["Census: is not to be had"]))
    extent = study.Extent(rows=240, k=(2, 4), beta=(1.0,), generators=("sequential",))
    monkeypatch.setattr(study, "QUICK", extent)
    monkeypatch.setattr(study, "ATTACKS", ("near-matches",))
    one = Configuration("Table A.9", 3, "pre", "uniform", "random", 0.5, "sequential", (1.0, 2.0, 3.0, 4.0, 5.0))
    for module in (study, hybrid_report):
        monkeypatch.setattr(module, "CONFIGURATIONS", (one,))


@pytest.mark.slow
def test_tasks_become_one_grid_and_the_printed_numbers_stand_beside_ours(small, tmp_path):
    repeated = ht.study("hybrid", quick=True, folder=tmp_path / "out")
    report = repeated.reports["hybrid"]
    assert report.skipped == ("Census: is not to be had",)
    assert [one.published for one in report.numbers] == [1.0, 2.0, 3.0, 4.0, 5.0]
    tvd = report.numbers[3]
    assert tvd.ours is not None
    assert not tvd.comparable
    assert "few epochs" in tvd.why_not
    assert len(study.plan(Scope(quick=True)).tasks) == 3
    assert {one.verdict for one in report.statements} <= set(Verdict)
    assert any("k hardly matters" in one.says for one in report.statements)
    text = repeated.text()
    assert "Means by transition" in text
    assert "From the original to the hybrid" in text


def test_the_configurations_are_as_printed_and_can_be_composed():
    assert [one.printed[0] for one in CONFIGURATIONS] == [48.3, 61.5, 18.8, -42.8]
    assert [one.printed[-1] for one in CONFIGURATIONS] == [-204.4, -412.6, -293.3, 46.9]
    for one in CONFIGURATIONS:
        assert one.generator in hybrids.generators()
        made = hybrids.Hybrid(
            generator=one.generator, order=one.order, k=one.k, beta=one.beta, sampling=one.sampling, transition=one.transition
        )
        assert made.recipe.steps


def test_what_several_tasks_hold_alike_counts_once():
    table = example(200, seed=2)
    options = {"beta": 1.0, "transition": "uniform", "order": "pre", "generators": "sequential", "only": ["near-matches"]}
    results = {f"grid-{k}": ht.hybrid(table, k=k, **options).to_json() for k in (2, 3)}
    whole = merged(results | {"other": {"refused": "no"}})
    assert sorted(cell.place.k for cell in whole.hybrids) == [2, 3]
    assert len(whole.select(Stage.ORIGINAL)) == len(whole.select(Stage.GENERATED)) == 1
    assert np.isfinite(whole.hybrids[0].value("tvd"))
    assert merged({"other": {"refused": "no"}}) is None
