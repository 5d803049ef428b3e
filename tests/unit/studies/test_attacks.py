"""The study of contrastive attacks: every task is small and can be sent, published numbers stand beside ours, refusals are said."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from hushtable.audits.neural.encoder import Training
from hushtable.evidence.confidence import Rate
from hushtable.studies import attacks as study
from hushtable.studies import attacks_report, attacks_statements, plasencia
from hushtable.studies import tables as studies
from hushtable.studies.releases import Method
from hushtable.studies.report import Grid, Number, Verdict
from hushtable.studies.study import Scope
from tests.unit.studies.plasencia_tables import only_adult

pytestmark = pytest.mark.neural
TINY = replace(
    study.QUICK, rows=240, encoder=Training(width=8, batch=32, steps=2), iterations=2, noisy=("leaky",)
)  # fmt: skip
METHODS = (
    Method(name="CTGAN", recipe="sequential", knobs={"refine": 0}),
    Method(name="RTF", recipe="argn", knobs={"refine": 0, "hidden": 4, "embedding": 2, "epochs": 1}),
)


@pytest.fixture(scope="module")
def made():
    """The study of two runs, and the results of all tasks but overfitting, as they come back from another process and a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "QUICK", TINY)
        patch.setattr(study, "METHODS", METHODS)
        patch.setattr(studies, "load", only_adult)
        plasencia.loaded.cache_clear()
        works = [study.STUDY.plan(Scope(quick=True, runs=runs)) for runs in (1, 2)]
        assert [len(work.tasks) for work in works] == [4, 8]
        assert len({task.name for task in works[1].tasks}) == 8
        tasks = [task for task in works[1].tasks if "overfit" not in task.name]
        results = {task.name: json.loads(json.dumps(pickle.loads(pickle.dumps(task.make))())) for task in tasks}
    plasencia.loaded.cache_clear()
    return *works, results


def number(report, method: str, measure: str, data: str = "Adult") -> Number:
    return next(n for n in report.numbers if (n.data, n.method, n.measure) == (data, method, measure))


def test_published_numbers_stand_beside_ours_and_say_why_they_cannot_be_compared(made):
    work, _, results = made
    report = work.report(results)
    one = number(report, "CTGAN", "singling out")
    assert one.published == 0.12431
    assert one.low <= one.ours <= one.high
    assert not one.comparable
    assert "quick" in one.why_not
    assert "REaLTabFormer" in number(report, "RTF", "contrastive inference").why_not
    absent = number(report, "RTF", "DCR", "Census")
    assert (absent.published, absent.ours) == (0.01882, None)
    assert "1940" in absent.why_not
    (grid,) = (part for part in report.parts if isinstance(part, Grid))
    assert grid.rows[0][:2] == ("singling out", "2843")
    assert [figure.name for figure in report.figures] == ["adult-leaky-0"]
    assert any("texas_inpatient" in line for line in report.skipped)
    assert json.dumps(report.to_json())
    # In the full scope the same number could be compared.
    full = attacks_report.report(results, {"Adult": "adult"}, METHODS, runs=1, skipped=(), quick="")
    assert full.numbers[0].comparable


def test_leaks_are_noticed_and_judged(made):
    work, _, results = made
    report = work.report(results)
    rise = next(one for one in report.statements if "rise with the leak" in one.says)
    assert rise.verdict in (Verdict.CONFIRMED, Verdict.UNDECIDED)
    assert "singling out: " in rise.because
    assert all(one.because for one in report.statements)


def test_what_is_refused_is_said_and_has_no_number(made):
    work, _, results = made
    report = work.report(results | {"adult-CTGAN-0": {"title": "Adult: CTGAN", "refused": "no bounds"}})
    assert "Adult: CTGAN: no bounds" in report.skipped
    one = number(report, "CTGAN", "singling out")
    assert one.ours is None
    assert one.why_not


def test_runs_are_put_together(made):
    *works, results = made
    alone, both = (number(work.report(results), "CTGAN", "contrastive DCR") for work in works)
    first, second = (results[f"adult-CTGAN-{run}"]["found"]["contrastive DCR"][0] for run in range(2))
    assert alone.ours == first
    assert both.ours == pytest.approx((first + second) / 2)
    assert both.low <= min(first, second) <= max(first, second) <= both.high


def test_every_generator_is_a_recipe_we_have_and_what_is_trained_too_far_can_be():
    for method in study.METHODS:
        assert method.turned(quick=True)
        assert method.turned(quick=False)
    assert [method.proven for method in study.METHODS] == [False, False, True, False]
    for quick in (True, False):
        assert hasattr(plasencia.climbing(quick=quick).steps[-1], "overfitted")


def test_verdicts_can_go_either_way():
    def found(plain: float, contrastive: float) -> dict:
        metrics = {metric: [Rate(plain, plain - 0.01, plain + 0.01)] for metric in ("singling out", "linkability", "inference")}
        metrics |= {f"contrastive {metric}": [Rate(contrastive, contrastive - 0.01, contrastive + 0.01)] for metric in metrics}
        return {"Adult": dict.fromkeys(("CTGAN", "DPCTGAN", "RTF"), metrics), "Texas": {"RTF": metrics}}

    lower, higher = (attacks_statements.about_releases(found(*pair)) for pair in ((0.3, 0.1), (0.1, 0.3)))
    assert [one.verdict for one in (lower[0], higher[0])] == [Verdict.CONTRADICTED, Verdict.CONFIRMED]
    assert higher[1].verdict is Verdict.CONTRADICTED
    assert [one.verdict for one in (lower[4], higher[4])] == [Verdict.CONTRADICTED] * 2
    alike = attacks_statements.about_releases(found(0.1, 0.1))
    assert alike[4].verdict is Verdict.CONFIRMED
    slow = attacks_statements.about_seconds({"Adult": {"singling out": 1.0, "contrastive singling out": 2.0}})
    assert [one.verdict for one in slow] == [Verdict.CONTRADICTED]
