"""texts: what released texts teach a classifier, beside the real ones and those of the untouched model.

A logistic regression on TF-IDF learns labels from written texts and is tested on real ones that nobody learnt from. Needs an
installed model (``hush model add smollm2``) and the short messages and film reviews of the test data; says so where they are
missing. About two hours of CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import hushtable as ht
from hushtable.data.datasets import data_folder
from hushtable.errors import InputError
from hushtable.language.models import Sort, checkpoint
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MODEL, DELTA, UNTOUCHED = "smollm2", 1e-6, 1000


@dataclass(frozen=True)
class Texts:
    """Texts with two labels, some of which are held out."""

    name: str
    train: Table
    test: Table
    knobs: dict[str, object]
    """Of the recipe, beside the model."""
    rows: int | None
    """How many texts are written; as many as the noisy table has where nothing is said."""


def schema(levels: tuple[str, str], size: int | None) -> Schema:
    label = Column(name="label", kind=Kind.CATEGORY, domain=Levels(levels), role=Role.TARGET, required=True)
    return Schema((label, Column(name="text", kind=Kind.TEXT)), size=size)


def messages(folder: Path) -> Texts:
    frame = pd.read_csv(folder / "sms_spam" / "sms_spam.tsv.gz", sep="\t", quoting=3, keep_default_na=False)[["label", "text"]]
    frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))].reset_index(drop=True)
    cut, own = int(0.8 * len(frame)), schema(("ham", "spam"), None)
    return Texts("SMS", io.read(frame[:cut], own), io.read(frame[cut:].reset_index(drop=True), own), {}, None)


def reviews(folder: Path) -> Texts:
    own = schema(("0", "1"), 67_000)
    parts = []
    for part in ("train", "dev"):
        frame = pd.read_csv(folder / "glue_sst2" / f"sst2_{part}.tsv.gz", sep="\t", quoting=3, keep_default_na=False)
        parts.append(io.read(frame.rename(columns={"sentence": "text"})[["label", "text"]].astype(str), own))
    return Texts("SST-2", *parts, {"write-text.length": 48, "steps": 6}, 4000)


def learnt(texts: Sequence[str | None], labels: np.ndarray, test: Table) -> tuple[float, float, float]:
    """The area under the curve, macro F1 and accuracy on real texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    vectors = TfidfVectorizer()
    model = LogisticRegression(max_iter=2000).fit(vectors.fit_transform([text or "" for text in texts]), labels)
    chances = model.predict_proba(vectors.transform([text or "" for text in test.strings("text")]))[:, 1]
    said = chances > 0.5
    return (
        float(roc_auc_score(test["label"], chances)),
        float(f1_score(test["label"], said, average="macro")),
        float(accuracy_score(test["label"], said)),
    )


def line(name: str, texts: Sequence[str | None], labels: np.ndarray, test: Table, seconds: float) -> None:
    area, f1, accuracy = learnt(texts, labels, test)
    repeats = 1 - len(set(texts)) / len(texts)
    print(
        f"{name:<34}{len(texts):>8,}{area:>8.3f}{f1:>10.3f}{accuracy:>10.3f}{repeats:>9.1%}{labels.mean():>8.3f}{seconds:>8.0f}",
        flush=True,
    )


def compare(given: Texts) -> None:
    print(f"\ntexts: {given.name}, {given.train.rows:,} rows, {MODEL}, tested on {given.test.rows:,} real texts")
    print(f"{'learnt from':<34}{'texts':>8}{'AUC':>8}{'macro F1':>10}{'accuracy':>10}{'repeats':>9}{'label':>8}{'CPU s':>8}")
    line("real rows", given.train.strings("text"), given.train["label"], given.test, 0.0)
    for epsilon in (8.0, 1.0):
        start = time.process_time()
        release = ht.release(
            given.train, "dp-text", epsilon=epsilon, delta=DELTA, rows=given.rows, settings={"model": MODEL, **given.knobs}
        )
        seconds = time.process_time() - start
        line(f"dp-text, epsilon {epsilon:g}", release.table.strings("text"), release.table["label"], given.test, seconds)
    from hushtable.language.writing_net import loaded

    start = time.process_time()
    written = release.fitted.model
    few = written.conditions.some(UNTOUCHED, np.random.default_rng(0))
    texts = few.texts(loaded(checkpoint(MODEL, Sort.CAUSAL, "texts")), np.random.default_rng(1))["text"]
    line("the untouched model", texts, few.table["label"], given.test, time.process_time() - start)


def main(folder: Path) -> None:
    data = data_folder()
    if data is None or not (data / "sms_spam").is_dir() or not (data / "glue_sst2").is_dir():
        print("\ntexts: left out, the test data are not at hand (set HUSHTABLE_DATA)")
        return
    try:
        checkpoint(MODEL, Sort.CAUSAL, "texts")
    except InputError as error:
        print(f"\ntexts: left out, {error}")
        return
    compare(messages(data))
    compare(reviews(data))
