"""What a budget bought: texts of the adapted model beside those of the untouched one. Both are public, so nothing is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

FOLDS = 5
SHOWN = 3
"""Texts of each side that a card shows."""
NOTHING = "the private rows changed nothing that can be seen: the texts are those of the public model"


def bought(untouched: Mapping[str, Sequence[str | None]], adapted: Mapping[str, Sequence[str | None]]) -> dict[str, Any]:
    """For each column how well the two sides can be distinguished, with examples; and a note where they cannot."""
    return {name: _column(*([text for text in side[name] if text] for side in (untouched, adapted))) for name in untouched}


def _column(untouched: list[str], adapted: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"untouched": untouched[:SHOWN], "adapted": adapted[:SHOWN]}
    if min(len(untouched), len(adapted)) < 2 * FOLDS:
        return found
    area, error = _apart(untouched, adapted)
    found["distinguished (AUC)"] = round(area, 3)
    return found if area - 2 * error > 0.5 else {**found, "note": NOTHING}


def _apart(one: list[str], other: list[str]) -> tuple[float, float]:
    """The area under the curve of a linear classifier of words, each text judged by one that has not seen it; its error."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import cross_val_predict

    texts = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), max_features=20_000).fit_transform([*one, *other])
    side = np.repeat([0, 1], [len(one), len(other)])
    scores = cross_val_predict(LogisticRegression(C=10.0, max_iter=1000), texts, side, cv=FOLDS, method="decision_function")
    area = float(roc_auc_score(side, scores))
    return area, float(np.sqrt(area * (1 - area) / min(len(one), len(other)) + 1e-9))
