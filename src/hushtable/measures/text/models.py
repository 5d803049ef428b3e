"""Texts as features of linear models: TF-IDF of words and of two words in a row, and logistic regression on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.similarity import held
from hushtable.table.arrays import Floats, Integers
from hushtable.table.words import text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

FEWEST = 20
"""Texts of each side below which nothing can be learnt."""
WORDS = 2000
"""So many words of a text are read: models of words learn nothing from more."""
NO_TEXT = "no column of free text is in the real rows, in the release and in the control"


def shared_texts(case: Case) -> list[str]:
    """The columns of free text that all three tables have."""
    return [column.name for column in text_columns(case.train.schema, case.release.schema, case.control.schema)]


def read_texts(case: Case, which: str, name: str) -> tuple[Integers, list[str]]:
    """The rows of a table whose text has a word, and their texts."""
    texts = case.tables[which].strings(name)
    rows = np.flatnonzero(held(texts))
    return rows, [str(text) for text in texts[rows]]


def probabilities(learnt: Sequence[str], labels: Floats, tested: Sequence[str]) -> dict[float, Floats]:
    """By class the probability of each tested text, by a model of the texts learnt from; all texts must have a word."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    classes = np.unique(labels)
    if len(classes) == 1:
        return {float(classes[0]): np.ones(len(tested))}
    vectors = TfidfVectorizer(analyzer=_features, sublinear_tf=True)
    x = vectors.fit_transform(learnt)
    model: Any = LogisticRegression(C=10.0, max_iter=2000, tol=1e-3).fit(x, labels)
    found = model.predict_proba(vectors.transform(tested))
    return {float(label): np.asarray(found[:, at], np.float64) for at, label in enumerate(model.classes_)}


def _features(text: str) -> list[str]:
    own = words(text)[:WORDS]
    return own + [f"{one} {two}" for one, two in pairwise(own)]
