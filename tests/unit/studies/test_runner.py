"""The runner of studies: it goes on where it was stopped, says what was refused, and shows every number in four forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import hushtable as ht
from hushtable.data.datasets import schema_of
from hushtable.errors import InputError
from hushtable.evidence.finding import Better
from hushtable.studies import runner
from hushtable.studies import tables as studies
from hushtable.studies.report import Number, over_runs
from hushtable.studies.show import letter
from hushtable.studies.study import slug
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.studies import toy


@pytest.fixture(autouse=True)
def known(monkeypatch):
    named = "tests.unit.studies.toy:STUDY"
    monkeypatch.setattr(runner, "STUDIES", {"toy": named, "other": named})
    toy.MADE.clear()


def test_a_study_that_was_stopped_goes_on_and_more_runs_use_what_is_there(tmp_path):
    def stop(what, done):
        if what == "toy: works, run 1" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ht.study("toy", folder=tmp_path / "out", progress=stop)
    assert toy.MADE == ["works-0", "works-1"]
    assert not (tmp_path / "out" / "study.html").exists()
    whole = ht.study("toy", folder=tmp_path / "out").text()
    assert toy.MADE[2:] == ["works-2", *(f"{n}-{r}" for n in ("refused", "broken") for r in range(3))]
    del toy.MADE[:]
    assert ht.study("toy", folder=tmp_path / "out").text() == whole
    assert toy.MADE == ["broken-0", "broken-1", "broken-2"], "only what failed by accident is tried again"
    del toy.MADE[:]
    ht.study("toy", folder=tmp_path / "out", runs=4)
    assert [name for name in toy.MADE if not name.startswith("broken")] == ["works-3", "refused-3"]
    with pytest.raises(InputError, match="other"):
        ht.study("toy", folder=tmp_path / "out", quick=True)


def test_every_number_is_shown_as_published_ours_interval_and_whether_they_compare(tmp_path):
    repeated = ht.study("toy", folder=tmp_path / "out")
    text, markdown, page = repeated.text(), repeated.markdown("figures/"), repeated.page()
    rows = {tuple(line.split()[:3]): line.split()[3:] for line in text.splitlines() if line.startswith(("Adult", "RNA"))}
    ours, low, high = over_runs([toy.made("works", run)["auc"] for run in range(3)])
    assert rows["Adult", "works", "AUC"] == ["0.795", f"{ours:.3f}", f"{low:.3f}", "to", f"{high:.3f}", "yes"]
    assert rows["Adult", "works", "FID"][-2:] == ["no", "(a)"]
    assert rows["RNA", "absent", "FID"] == ["−4.05", "–", "–", "no", "(b)"]
    assert rows["Adult", "new", "AUC"] == ["–", "0.9", "–", "only", "ours"]
    for form in (text, markdown, page):
        assert "The scale is not given." in form
        assert "Read with care." in form
        assert "has no rows" in form, "what was refused is said"
        assert "ValueError: an error that was not foreseen" in form
        assert "secret of a row" not in form
    assert "Two methods \\| one \\<table\\>." in markdown
    assert "![Figure 1](figures/curve.svg)" in markdown
    assert "one &lt;table&gt;" in page
    assert page.count("<figure>") == 2, "two numbers of one measure can be compared, and are drawn; and the figure"
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"study.txt", "study.json", "study.md", "study.html", "curve.svg", "cells"}
    saved = json.loads((tmp_path / "out" / "study.json").read_text())
    assert saved == json.loads(json.dumps(repeated.to_json()))
    numbers = saved["studies"]["toy"]["sections"][0]["parts"][0]["numbers"]
    assert [one["comparable"] for one in numbers] == [True, True, False, False, False]
    assert (tmp_path / "out" / "curve.svg").read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')


def test_all_studies_end_in_one_page(tmp_path):
    repeated = ht.study("all", folder=tmp_path / "out", quick=True)
    assert repeated.title == "What the sources report and what we measure"
    assert "quick run" in repeated.lead
    assert (tmp_path / "out" / "other" / "curve.svg").exists()
    assert "![Figure 1](toy/curve.svg)" in repeated.markdown()
    lines = [line.split("  ") for line in repeated.text().splitlines()[:4]]
    assert [part.strip() for part in lines[2] if part.strip()] == ["toy", "T. Oy", "4", "2", "–", "2 of 2", "1 confirmed"]
    assert "1 confirmed" in (tmp_path / "out" / "study.html").read_text()


def test_several_workers_give_what_one_gives(tmp_path):
    assert ht.study("toy", workers=2).reports["toy"].numbers == ht.study("toy").reports["toy"].numbers


def test_what_is_not_there_is_refused_by_name():
    with pytest.raises(InputError, match="did you mean 'toy'"):
        ht.study("tyo")
    with pytest.raises(InputError, match="at least one"):
        ht.study("toy", runs=0)


def test_the_interval_over_runs_is_students_and_one_run_has_none():
    values = np.random.default_rng(0).normal(3, 1, 5)
    expected = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    assert over_runs(list(values))[1:] == pytest.approx(expected)
    assert over_runs([2.0]) == (2.0, None, None)
    assert over_runs([]) == over_runs([float("nan")]) == (None, None, None)


def test_numbers_agree_where_the_published_one_lies_in_our_interval():
    same = {"data": "a", "method": "b", "measure": "c", "ours": 0.5, "low": 0.4, "high": 0.6}
    assert Number(published=0.45, **same).agrees is True
    assert Number(published=0.7, **same).agrees is False
    assert Number(published=0.45, why_not="another scale", **same).agrees is None
    assert Number(published=0.7, better=Better.HIGHER, **same).as_good is False
    assert Number(published=0.7, better=Better.LOWER, **same).as_good is True
    assert (letter(1), letter(27)) == ("b", "bb")


def test_every_open_bound_is_declared():
    for name in ("credit_approval", "credit_card_default"):
        schema = schema_of(name)
        opened = {c.name for c in schema if c.numeric and c.domain is None}
        assert opened == set(studies.ROUND[name])


def test_open_bounds_become_round_ones_and_missing_values_stay():
    kinds = {"A2": Kind.REAL, "A11": Kind.INTEGER}
    schema = Schema(tuple(Column(name=n, kind=k, domain=Bounds(0, 500, True)) for n, k in kinds.items()))
    values = {n: schema[n].from_floats(np.array([np.nan, 7.0, 500.0])) for n in kinds}
    result = studies.declared("credit_approval", Table(schema, values))
    assert not any(column.observed for column in result.schema)
    for name in kinds:
        assert np.isnan(result.floats(name)[0])
        assert result.floats(name)[1:].tolist() == [7, 100]


def test_names_become_parts_of_file_names():
    assert slug("clustmix, averages (codes)") == "clustmix__averages__codes_"
    assert slug("dp-merf") == "dp-merf"
