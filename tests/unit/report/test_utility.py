"""Pages of utility, driven by the catalogue: each number with its meaning, range and baseline; drawings only from whole details."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hushtable.api.audit_report import AuditReport
from hushtable.checks import example
from hushtable.cli import audit, console
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Better, Finding
from hushtable.evidence.measure import Page
from hushtable.measures.catalogue import MEASURES, main_model
from hushtable.measures.downstream import TrainOnRelease
from hushtable.report.audit import audit_page, key_figures
from hushtable.report.charts import associations, drawings
from hushtable.report.decision import accuracy
from hushtable.report.findings import amount
from hushtable.report.utility import PAGES
from hushtable.table.table import Table
from tests.unit.report import samples
from tests.unit.report.documents import Reader

ROWS = {"train": 1000, "release": 900, "control": 500}
QUERIES = {"selectivity": [0.001, 0.01, 0.2], "relative": [0.8, 0.3, 0.05], "baseline": [0.4, 0.1, 0.01]}
GROUPS = {
    "groups": ["sex = f", "sex = m", "age = old"],
    "rows": [40, 900, 200],
    "distance": [0.3, 0.1, 0.2],
    "baseline": [0.2, 0.05, None],
}
IMPORTANCE = {"columns": ["age", "sex"], "importance": [0.2, -0.01]}


def finding(name: str, value: float = 0.4, **more: Any) -> dict[str, Any]:
    measure = MEASURES[name]
    return measure.finding(value, n=10, note="a note", baseline=0.1, **more).to_json()


def page(findings: list[dict[str, Any]]) -> Reader:
    return Reader(audit_page(samples.report(findings, None, rows=ROWS)))


def learnt(target: str) -> list[Finding]:
    """What two families that learnt to predict the column ``sick`` under another name found."""

    def renamed(seed: int) -> Table:
        table = example(200, seed).select(["age", "town", "sick"])
        return table.with_column(replace(table.schema["sick"], name=target), table["sick"]).select(["age", "town", target])

    audit = TrainOnRelease(target=target, models=("tree", "bayes"), seeds=2, bootstrap=10)
    return audit.run(Case(*map(renamed, (1, 2, 3))), np.random.default_rng(0))


def inside(reader: Reader, section: str, name: str) -> list[str]:
    return [" ".join(e.text.split()) for e in reader.all(name) if any(p.attributes.get("id") == section for p in e.parents)]


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_of_the_catalogue_stands_on_its_page_with_its_meaning(name: str) -> None:
    measure = MEASURES[name]
    reader = page([finding(name), finding(name, scope="income")])
    text = " ".join(inside(reader, PAGES[measure.page].anchor, "section") or [reader.text])
    anchors = [e.attributes["id"] for e in reader.all("section")]
    assert PAGES[measure.page].anchor in anchors
    assert measure.meaning[1:20] in text
    best = f"{measure.better} is better" if measure.ideal is None else f"{measure.ideal} is best"
    assert best in text.lower()
    if measure.low is not None and measure.high is not None:
        shown = Finding.from_json(finding(name))
        assert f"{amount(shown, measure.low)} to {amount(shown, measure.high)}" in text


def test_pages_come_in_the_order_of_the_catalogue_and_only_if_they_have_a_number() -> None:
    collected = [finding(name) for name in reversed(MEASURES)]
    ids = [e.attributes["id"] for e in page(collected).all("section")]
    wanted = [PAGES[p].anchor for p in Page]
    assert [i for i in ids if i in wanted] == wanted
    nothing = [MEASURES["MMD"].finding(None, n=0, note="too few rows").to_json()]
    assert "joint" not in [e.attributes["id"] for e in page(nothing).all("section")]
    assert "Too few rows." in page(nothing).text


def test_columns_have_one_row_each_with_all_their_measures() -> None:
    collected = [finding(m, v, scope=c) for c, v in (("age", 0.3), ("sex", 0.2)) for m in ("TVD", "Jensen-Shannon")]
    collected += [finding("KS", 0.25, scope="age")]
    reader = page(collected)
    (table,) = [e for e in reader.all("table") if e.has("pivot")]
    cells = [e for e in reader.all("td") if table in e.parents]
    assert [c.text for c in cells] == ["age", "0.3 0.1", "0.3 0.1", "0.25 0.1", "sex", "0.2 0.1", "0.2 0.1", "–"]
    assert cells[1].attributes["data-sort"] == "0.3"
    assert cells[-1].attributes["data-sort"] == ""


def test_models_stand_beside_those_that_learnt_from_the_real_rows() -> None:
    result = learnt("sick")
    for one in result:
        assert 0 <= one.detail["baseline_low"] <= one.baseline <= one.detail["baseline_high"] <= 1
    reader = page([one.to_json() for one in result])
    bars = [e for e in reader.all("rect") if any(p.attributes.get("id") == "downstream" for p in e.parents)]
    assert [b.attributes["class"] for b in bars] == ["release", "real"] * len(result)
    lines = [e for e in reader.all("line", "over") if any(p.attributes.get("id") == "downstream" for p in e.parents)]
    assert len(lines) == 2 * len(result), "an interval for the release and one for the real rows"
    assert all(float(e.attributes[end] or 0) <= 400 for e in lines for end in ("x1", "x2")), "inside the drawing"


def test_a_target_may_be_called_what_it_likes() -> None:
    target = "spend, by card"
    result = learnt(target)
    assert {(f.scope, main_model(f)) for f in result} == {(target, True), (f"{target}, by naive Bayes", False)}
    assert f"predicts {target} of real people" in accuracy(result).text
    assert [f.scope for f in key_figures(result)] == [target]
    assert key_figures(result[::-1])[0].scope == target
    with console.out.capture() as printed:
        audit.show_audit(AuditReport(findings=result, rows={"release": 200}), "folder")
    assert printed.get().count("train on release") == 1, "one score of the main model, and no other"
    assert "Bayes" not in printed.get()


def test_a_score_in_a_unit_of_its_own_is_no_key_figure() -> None:
    scores = [("R2", 0.5, "higher", 0.6), ("RMSE", 900.0, "lower", 500.0)]
    collected = [
        samples.finding(f"train on release, test on real: {name}", value, baseline=base, better=Better(better), scope="pay")
        for name, value, better, base in scores
    ]
    assert [r.name.rpartition(": ")[2] for r in key_figures([Finding.from_json(f) for f in collected])] == ["R2"]


@pytest.mark.parametrize(
    ("draw", "detail"), [(drawings.queries, QUERIES), (drawings.groups, GROUPS), (drawings.importance, IMPORTANCE)]
)
def test_drawings_need_all_they_are_made_of(draw: Any, detail: dict[str, Any]) -> None:
    def drawn(detail: dict[str, Any]) -> Any:
        return draw(Finding.from_json({"name": "x", "value": 0.1, "detail": detail}))

    assert "<svg" in drawn(detail)
    needed = [key for key in detail if draw is not drawings.groups or key != "baseline"]
    for key in needed:
        assert drawn({k: v for k, v in detail.items() if k != key}) is None or key == "baseline", key
        for spoilt in (None, "text", [], [None] * len(detail[key]), [float("nan")] * 2):
            result = drawn(detail | {key: spoilt})
            assert result is None or '="nan"' not in result, (key, spoilt)


def test_maps_of_one_and_of_two_matrices_and_of_signs() -> None:
    columns = ["a", "b"]
    for train, words in (
        ([[1, 0.2], [0.2, 1]], "Colour key: Cramer&#x27;s V from 0 to 1"),
        ([[1, -0.2], [-0.2, 1]], "from −1 to 1"),
    ):
        detail = {"columns": columns, "train": train, "release": [[1, 0.9], [0.9, 1]]}
        result = associations.maps(Finding.from_json({"name": "association difference", "value": 0.1, "detail": detail}))
        assert result is not None
        assert result.count("<svg") == 6
        assert words in result
    alone = associations.maps(
        Finding.from_json({"name": "mean pair TVD", "value": 0.1, "detail": {"columns": columns, "distance": [[0, 0.3], [0.3, 0]]}})
    )
    assert alone is not None
    assert "0.30" in alone
    assert associations.maps(Finding.from_json({"name": "x", "value": 0.1, "detail": {"columns": columns, "distance": 3}})) is None


def test_strengths_before_and_after_are_counted() -> None:
    detail = {"levels": ["low", "weak"], "counts": [[3, 1], [2, 4]]}
    result = associations.levels(Finding.from_json({"name": "association levels kept", "value": 0.7, "detail": detail}))
    assert result is not None
    assert "weak in the release" in result
    assert (
        associations.levels(Finding.from_json({"name": "x", "value": 1, "detail": {"levels": ["low"], "counts": [[1, 2]]}})) is None
    )


def test_what_is_not_in_the_catalogue_stands_apart() -> None:
    reader = page([finding("mean TVD"), samples.finding("plugin metric", 3.0, baseline=2.0)])
    ids = [e.attributes["id"] for e in reader.all("section")]
    assert "others" in ids
