"""The study of risk metrics: table 4.3 beside ours, curves, and verdicts on what the thesis says."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from hushtable.api.certificate import Correlation, Curve, Expect, Line
from hushtable.errors import HushError
from hushtable.evidence.confidence import Rate
from hushtable.studies import risk_metrics as study
from hushtable.studies import risk_metrics_statements as statements
from hushtable.studies.plasencia_metrics import DCR, GTCAP, IMS, RADIUS, RISKS
from hushtable.studies.releases import Method
from hushtable.studies.report import Verdict
from hushtable.studies.risk_metrics_published import LEAKY, OVERFIT, PRIVATE
from hushtable.studies.study import Scope
from tests.unit.studies.plasencia_tables import adult_only

__all__ = ["adult_only"]
TINY = replace(study.QUICK, rows=240, epsilons={"AIM": (1.0, 100.0)})


@pytest.fixture
def tiny(adult_only, monkeypatch):
    monkeypatch.setattr(study, "QUICK", TINY)
    monkeypatch.setattr(study, "PRIVATE", {"AIM": "independent"})
    monkeypatch.setattr(study, "GENERATORS", (Method(name="synthpop", recipe="sequential", knobs={"refine": 0}),))


def made(work, *wanted: str) -> dict:
    results = {}
    for task in work.tasks:
        if any(one in task.name for one in wanted):
            try:
                results[task.name] = json.loads(json.dumps(pickle.loads(pickle.dumps(task.make))()))
            except HushError as error:
                results[task.name] = {"title": task.title, "refused": str(error)}
    return results


def test_table_4_3_stands_beside_ours(tiny):
    work = study.STUDY.plan(Scope(quick=True))
    assert len({task.name for task in work.tasks}) == len(work.tasks)
    report = work.report(made(work, "leaky", "private", "seconds", "likeness"))
    leaked = {n.measure: n for n in report.numbers if (n.data, n.method) == ("Adult", LEAKY)}
    assert len(leaked) == 2 * len(RISKS)
    assert leaked["IMS, most risk"].published == leaked["IMS, most risk"].ours == 1.0
    assert leaked["DCR, no risk"].published == 0.0011
    assert abs(leaked["DCR, no risk"].ours) < 0.2
    private = {n.measure: n for n in report.numbers if (n.data, n.method) == ("Adult", PRIVATE)}
    assert private["IMS, most risk"].ours == 0
    # What was not run is not made up.
    overfit = {n.measure: n for n in report.numbers if (n.data, n.method) == ("Adult", OVERFIT)}
    assert overfit["GTCAP, most risk"].published == 0.5094
    assert overfit["GTCAP, most risk"].ours is None
    assert overfit["GTCAP, most risk"].why_not
    census = [n for n in report.numbers if n.data == "Census"]
    assert all(n.published is not None and n.ours is None for n in census)
    verdicts = {one.says: one.verdict for one in report.statements}
    assert verdicts["IMS rises with the share of leaked rows (leaky)."] is Verdict.CONFIRMED
    assert {figure.name for figure in report.figures} >= {"adult-leaky", "adult-leaky-neighbours"}
    assert any("outliers removed for REaLTabFormer" in line for line in report.skipped)
    assert json.dumps(report.to_json())


def test_a_ladder_of_trees_and_outliers_removed(tiny):
    work = study.STUDY.plan(Scope(quick=True))
    report = work.report(made(work, "synthpop"))
    assert {figure.name for figure in report.figures} >= {"adult-overfit__synthpop", "adult-outliers__synthpop__ratio_1_6"}
    assert any("Removing outliers" in one.says for one in report.statements)


def test_refusals_are_said(tiny, monkeypatch):
    monkeypatch.setattr(study, "PRIVATE", {"AIM": "aim"})
    table = study.loaded("adult", None, TINY.rows)
    monkeypatch.setattr(study, "loaded", lambda *_: table.under(table.schema.with_columns(_open(table))))
    work = study.STUDY.plan(Scope(quick=True))
    report = work.report(made(work, "private"))
    assert any(line.startswith("Adult: private AIM: ") for line in report.skipped)


def _open(table):
    column = table.schema["wage"]
    return replace(column, domain=replace(column.domain, observed=True))


def curve(lines, scopes=()) -> Curve:
    names = [line.name for line in lines]
    values = np.array([line.values for line in lines])
    rising = bool((values.std(axis=1) > 0).all()) and len(lines) > 1
    matrix = np.corrcoef(values).tolist() if rising else [[None] * len(lines)] * len(lines)
    return Curve("m", "m", "x", Expect.RISE, list(lines), list(scopes), Correlation(names, matrix))


def line(name: str, *values: float, spread: float = 0.01, scope: str = "") -> Line:
    low, high = [v - spread for v in values], [v + spread for v in values]
    return Line("a", name, scope, 1, [float(i) for i in range(len(values))], list(values), low, high, False, "", None)


class Found:
    seconds = dict.fromkeys(RISKS, 0.1) | {GTCAP: 2.0}

    def __init__(self, **curves: Curve) -> None:
        self.curves = {{"leaky": LEAKY, "overfit": OVERFIT, "private": PRIVATE}.get(k, k): c for k, c in curves.items()}

    def likeness(self, generator: str) -> list[Rate]:
        return {"RTF": [Rate(0.55, 0.5, 0.6)], "AIM": [Rate(0.8, 0.75, 0.85)]}.get(generator, [])


def verdicts(found: Found, title: str = "Adult") -> dict[str, Verdict]:
    return {one.says: one.verdict for one in statements.about(title, found)}


def test_verdicts_follow_the_curves():
    rising, flat = [line(m, 0.0, 0.5, 1.0) for m in RISKS], [line(m, 0.0, 0.0, 0.01) for m in RISKS]
    said = verdicts(Found(leaky=curve(rising), overfit=curve([line(m, 0.0, 0.3, 0.5) for m in RISKS]), private=curve(flat)))
    assert said["DCR rises with the overfit ratio (overfit, RTF)."] is Verdict.CONFIRMED
    assert said["At the largest overfit ratio risks are about half as large as when all rows are leaked."] is Verdict.CONFIRMED
    assert said["The metrics hardly answer to epsilon (AIM)."] is Verdict.CONFIRMED
    assert said["Rows of private generators are less like real ones than those of the others."] is Verdict.CONFIRMED
    assert said["IMS and the distance are fast; GTCAP and distance inference take longest."] is Verdict.CONFIRMED
    # The same statements on metrics that do the opposite.
    said = verdicts(Found(leaky=curve(flat), private=curve(rising)))
    assert said["IMS rises with the share of leaked rows (leaky)."] is Verdict.UNDECIDED
    assert said["The metrics hardly answer to epsilon (AIM)."] is Verdict.CONTRADICTED


def test_sizes_outliers_and_radii_are_judged():
    drifting = curve([line(DCR, 0.0, 0.5), line(GTCAP, 0.1, 0.1), line("linkability", 0.1, 0.1)])
    said = verdicts(Found(size=drifting))
    assert said["The distance rises sharply with the number of released rows."] is Verdict.CONFIRMED
    assert said["GTCAP and linkability do not depend on the number of released rows."] is Verdict.CONFIRMED
    plain, over = curve([line(DCR, 0.0, 0.0), line(IMS, 0.2, 0.2)]), curve([line(DCR, 0.3, 0.3), line(IMS, 0.5, 0.1)])
    said = verdicts(Found(**{"outliers, RTF, ratio 1": plain, "outliers, RTF, ratio 1.6": over}))
    assert said["Removing outliers does not lower the risk of RTF."] is Verdict.CONFIRMED
    assert said["Removing outliers does not lower the risk of an overfitted RTF."] is Verdict.CONTRADICTED
    assert said["The distance is higher for an overfitted RTF whatever share of outliers is removed."] is Verdict.CONFIRMED
    for values, verdict in (((0.2, 0.4), Verdict.CONFIRMED), ((0.4, 0.4), Verdict.CONTRADICTED)):
        scopes = [line(RADIUS, value, value, scope=f"radius {i}") for i, value in enumerate(values)]
        said = verdicts(Found(overfit=curve([line(DCR, 0.0, 0.5)], scopes)))
        assert said["A larger radius gives a higher GTCAP."] is verdict


def test_every_private_generator_is_a_recipe_we_have():
    for method in (*study.GENERATORS, *(Method(name=n, recipe=r) for n, r in study.PRIVATE.items())):
        assert method.turned(quick=True)
