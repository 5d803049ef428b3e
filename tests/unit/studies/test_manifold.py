"""The study of manifold anonymization: every method in both questions, published numbers beside ours, and what is not here."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.studies import manifold, manifold_rows
from hushtable.studies.manifold import OTHER, PRINTED, STUDY
from hushtable.studies.manifold_rows import METHODS, PUBLISHED, RAW, REAL
from hushtable.studies.report import Grid, Verdict
from hushtable.studies.study import Scope


@pytest.fixture
def madelon(tmp_path, monkeypatch):
    """Six classes of 90 rows, by the name of a published set, and one classifier that takes no time."""
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    labels = np.arange(90) % 6
    values = rng.normal(size=(90, 4)) + labels[:, None]
    lines = [f"{','.join(map(str, v))},{label}" for v, label in zip(values, labels, strict=True)]
    (tmp_path / "small.csv").write_text("a,b,c,d,target\n" + "\n".join(lines) + "\n", encoding="utf-8")
    files = {"madelon": (("small.csv",), "target", ()), "isolet": (("absent.csv",), "target", ())}
    monkeypatch.setattr(manifold_rows, "FILES", files)
    monkeypatch.setattr(manifold, "NAMES", ("madelon", "isolet"))
    monkeypatch.setattr(manifold_rows, "_classifiers", lambda classes: iter([("naive Bayes", GaussianNB())]))
    return Scope(data=tmp_path)


def test_every_method_in_both_questions_and_published_numbers_beside_ours(madelon):
    work = STUDY.plan(madelon)
    assert len(work.tasks) == 1 + 2 * len(METHODS)
    assert all(pickle.loads(pickle.dumps(task)).name == task.name for task in work.tasks)
    results = {task.name: task.make() for task in work.tasks}
    assert all(0 <= one["right"] <= one["tested"] for one in results.values())
    scaled = [one for one in results.values() if "stress" in one]
    assert len(scaled) == len(METHODS)
    assert all(one["stress_scaled"] <= min(1, one["stress"] + 1e-9) for one in scaled)
    report = work.report(results)
    numbers = {(one.method, one.measure): one for one in report.numbers}
    ours = numbers["M-ISOMDAV", "K-Stress"]
    assert (ours.published, ours.comparable) == (PRINTED["Madelon"]["M-ISOMDAV"][3], True)
    assert numbers["M-MDAV", "accuracy, %"].published == 60.38
    assert numbers["M-MDAV, tested on real rows", "accuracy, %"].published is None
    raw = numbers["real rows", "accuracy, %"]
    assert raw.low < raw.ours < raw.high
    assert raw.ours > 30
    (grid,) = [part for part in report.parts if isinstance(part, Grid)]
    assert len(grid.rows) == len(work.tasks)
    assert any("isolet" in line for line in report.skipped)


def test_a_set_of_the_same_kind_is_not_compared():
    one = {"right": 9, "tested": 10, "precision": 0.9, "recall": 0.9, "stress": 0.4, "stress_scaled": 0.3}
    other = {number.measure: number for number in manifold._numbers("digits", "M-MDAV", one, PRINTED["Gisette"]["M-MDAV"])}
    assert other["accuracy, %"].why_not == OTHER
    assert not other["accuracy, %"].comparable
    same = {number.measure: number for number in manifold._numbers("madelon", "M-MDAV", one, PRINTED["Madelon"]["M-MDAV"])}
    assert same["accuracy, %"].as_good
    assert same["K-Stress"].published is None


@pytest.mark.parametrize(("plain", "verdict"), [(10, Verdict.CONFIRMED), (99, Verdict.CONTRADICTED), (55, Verdict.UNDECIDED)])
def test_whether_to_embed_first_is_decided_by_intervals(plain, verdict):
    rights = {"M-MDAV": plain, "M-ISOMDAV": 60, "M-LLEMDAV": 30}
    found = {("digits", method, PUBLISHED): {"right": right, "tested": 100} for method, right in rights.items()}
    (said,) = manifold._said(found, ["digits"]).statements
    assert said.verdict is verdict
    assert manifold._said(found, ["madelon"]) is None


def test_what_was_refused_is_named_and_left_out(madelon):
    work = STUDY.plan(madelon)
    report = work.report({task.name: {"title": task.title, "refused": "too small"} for task in work.tasks})
    assert not report.numbers
    assert any("too small" in line for line in report.skipped)


def test_without_data_it_says_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setattr(manifold, "NAMES", ("madelon",))
    with pytest.raises(InputError, match="HUSHTABLE_DATA"):
        STUDY.plan(Scope(data=tmp_path))
    with pytest.raises(InputError, match="HUSHTABLE_DATA"):
        manifold_rows.load("madelon", tmp_path)


def test_the_questions_are_three():
    assert {asked for _, asked in manifold._asked()} == {RAW, PUBLISHED, REAL}
