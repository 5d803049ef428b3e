"""The page of the sources: one study is put in among the others as a run of all would have it."""

from __future__ import annotations

import json

import pytest

from docs.build import sources
from hushtable.evidence.finding import Better
from hushtable.report.html import Html
from hushtable.studies.report import Figure, Number, Numbers, Report, Section, Statement, Statements, Verdict
from hushtable.studies.show_markdown import markdown_of


def _report(title: str, ours: float) -> Report:
    number = Number(data="a_b", method="m", measure="auc", published=1.0, ours=ours, low=0.5, high=1.5, better=Better.HIGHER)
    parts = (
        Numbers(title="T", numbers=(number,)),
        Statements(title="S", statements=(Statement(says="so", verdict=Verdict.CONFIRMED, because="it is"),)),
        Figure(name="drawn", title="F", caption="c", drawn=Html("<svg/>")),
    )
    return Report(title=title, source="A. Author, thesis", lead="Lead.", sections=(Section(title="Part", parts=parts),))


def _page(**reports: Report) -> str:
    return markdown_of(reports, title="All", lead="This is the quick run.")


def test_one_study_is_put_in_as_a_run_of_all_has_it(tmp_path):
    first, second, third, newer = (_report(title, ours) for title, ours in (("A", 1), ("B", 2), ("C", 3), ("B", 4)))
    run = tmp_path / "run"
    run.mkdir()
    (run / "study.json").write_text(json.dumps({"quick": True, "studies": {"two": newer.to_json()}}))
    (run / "study.md").write_text(markdown_of({"two": newer}, title="B", lead="This is the quick run."))
    (run / "drawn.svg").write_text("<svg/>")
    wanted = _page(one=first, three=third, two=newer)
    for before in (_page(one=first, three=third), _page(one=first, three=third, two=second)):
        place = tmp_path / "site"
        place.mkdir(exist_ok=True)
        (place / "index.md").write_text(before)
        assert sources.put_one(run, "two", place) == 1
        assert (place / "index.md").read_text() == wanted
        assert (place / "two" / "drawn.svg").exists()
    (run / "study.json").write_text(json.dumps({"quick": False, "studies": {"two": newer.to_json()}}))
    with pytest.raises(ValueError, match="quick"):
        sources.put_one(run, "two", place)
