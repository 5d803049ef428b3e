"""The study of private classifiers of text: what is impossible is marked, and ours stands beside what was published."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from hushtable.studies import language as study
from hushtable.studies.language_published import COLA, MRPC, SST2, TABLES, below_majority, impossible_f1, impossible_perplexity
from hushtable.studies.study import Scope, slug
from tests.language_models import sentence, tiny_encoder

SMALL = study.Size(80, 20, 0.5, 1, 1, 1)


def test_what_cannot_be_is_marked_and_what_can_is_not():
    assert "below 1" in impossible_perplexity(6.29e-3)
    assert "vocabulary" in impossible_perplexity(6.32e5)
    assert impossible_perplexity(48.7) == ""
    assert impossible_f1(0.3694, 0.3690, 0.3702)
    assert impossible_f1(0.3701, 0.3698, 0.3697) == ""
    assert "is that of the majority class" in below_majority(COLA, 69.12)
    assert "is below" in below_majority(MRPC, 63.33)
    assert below_majority(SST2, 92.31) == ""


def test_every_published_line_has_a_number_for_each_task_and_every_line_of_ours_its_place():
    assert all(len(values) == len(tasks) for tasks, lines in TABLES.values() for values in lines.values())
    published = {method for _, lines in TABLES.values() for method in lines}
    assert {method for line in study.LINES for method in line.beside} <= published


def test_without_rows_or_encoder_only_the_published_numbers_are_judged(tmp_path, monkeypatch):
    monkeypatch.delenv("HUSHTABLE_DATA", raising=False)
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path))
    work = study.plan(Scope(quick=True))
    assert not work.tasks
    report = work.report({})
    assert sum("not at hand" in reason for reason in report.skipped) == 2
    assert all(number.ours is None and number.why_not for number in report.numbers)
    assert [number for number in report.numbers if "majority" in number.data]


@pytest.mark.neural
def test_a_cell_is_run_and_stands_in_the_report(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="language models need transformers")
    tiny_encoder(tmp_path / "models" / "minilm")
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path / "models"))
    folder = tmp_path / "data" / "glue_sst2"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for part, count in (("train", 150), ("dev", 40)):
        lines = [f"{sentence(rng, bool(number % 2))}\t{number % 2}" for number in range(count)]
        with gzip.open(folder / f"sst2_{part}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["sentence\tlabel", *lines]))
    assert len(study.plan(Scope(quick=True, data=tmp_path / "data")).tasks) == len(study.LINES)
    chosen = [line for line in study.LINES if line.name in ("dp-lora", "three layers without privacy")]
    results = {f"{slug(line.name)}-0": study.cell(str(folder), SMALL, line, 0) for line in chosen}
    report = study.report(results, SMALL, ())
    ours = [number for number in report.numbers if number.ours is not None]
    assert {number.method for number in ours} == {"dp-lora", "BERT-base, DP", "BERT-tiny, no DP", "three layers without privacy"}
    assert all(number.low <= number.ours <= number.high for number in ours)
