"""What a release costs in accuracy: which of its findings stands for it, and how it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import Tone, verdict
from hushtable.measures.catalogue import AUC, MODEL_SCORES, R2, main_model

OVERALL = ("mean pair TVD", "mean TVD", "association difference", "real or released: AUC")
"""What stands for the cost where nothing is predicted, the first that was measured."""
GUESSING = {AUC.name: 0.55, R2.name: 0.05}
"""Scores of a model that learnt from the real rows up to which the target cannot be predicted, whatever one learns from."""
MISSING = "columns missing"


@dataclass(frozen=True)
class Cost:
    """The finding that stands for the cost, with what must be said beside it."""

    finding: Finding | None
    """None where nothing about utility was measured."""
    tone: Tone
    by_model: bool = False
    """Whether it is the score of a model that learnt from the release, beside one that learnt from the real rows."""
    unpredictable: bool = False
    """Whether the target cannot be predicted from the real rows either, so that the score says little."""
    missing: Finding | None = None
    """The share of the columns that the release lacks, if any is missing."""
    untested: str = ""
    """Why no model was tested, where one should have been."""


def cost(findings: Sequence[Finding]) -> Cost:
    """The score of the main model; where nothing is predicted, how far the tables lie apart."""
    missing = next((f for f in findings if f.name == MISSING and f.value), None)
    model = next((f for f in findings if main_model(f) and f.value is not None), None)
    if model is not None and model.baseline is not None:
        hopeless = model.name in GUESSING and model.baseline <= GUESSING[model.name]
        return Cost(model, verdict(model).tone, by_model=True, unpredictable=hopeless, missing=missing)
    overall = next((f for name in OVERALL for f in findings if f.name == name and not f.scope and f.value is not None), None)
    if overall is None:
        return Cost(None, Tone.OPEN, missing=missing)
    tone = verdict(overall).tone
    if missing is not None and tone is Tone.CALM:
        # What is left may be as real as can be: a column that is gone is a loss all the same.
        tone = Tone.WATCH
    untested = next((f.note for f in findings if f.name in MODEL_SCORES and f.value is None), "")
    return Cost(overall, tone, missing=missing, untested=untested)
