"""Train on released texts, test on those of real people: what models of words lose."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.evidence.reading import floats_like
from hushtable.measures import catalogue
from hushtable.measures.prediction_scores import Predictions
from hushtable.measures.score_intervals import ScoreEstimate, score_estimates
from hushtable.measures.text.models import FEWEST, NO_TEXT, probabilities, read_texts, shared_texts
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import CODED, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

MEASURES: Mapping[str, Measure] = {
    "AUC": catalogue.TEXT_AUC, "accuracy": catalogue.TEXT_ACCURACY, "F1": catalogue.TEXT_F1,
}  # fmt: skip
LEVELS = 50
"""A column of more levels is no label."""
SIDES = ("release", "train")


@dataclass(frozen=True, kw_only=True)
class TextDownstream(Utility):
    """Logistic regression on the words of a text (TF-IDF), learnt from the release and from the training rows.

    It predicts a column of levels; all are tested on the control rows. AUC, accuracy and macro F1, each beside the model of the
    training rows; the share of the commonest class, which a model that learnt nothing has as its accuracy, stands in the note.
    The interval is of the tested rows.
    """

    target: str = ""
    """The column to predict; when empty every column of 2 to 50 levels, targets and secrets first."""
    columns: int = 4
    """So many columns are predicted at most."""
    rows: int = 10_000
    """Rows that a model learns from at most, and is tested on."""
    bootstrap: int = 200
    """Resamples of the control rows for the interval."""

    def __post_init__(self) -> None:
        """Numbers that can be counted."""
        check_knobs(
            self,
            columns=(self.columns >= 1, "must be at least 1"),
            rows=(self.rows >= FEWEST, f"must be at least {FEWEST}"),
            bootstrap=(self.bootstrap >= 1, "must be at least 1"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Three findings for each text and each column."""
        names = shared_texts(case)
        if not names:
            return [catalogue.TEXT_AUC.finding(None, n=case.control.rows, note=NO_TEXT)]
        labels = [self.target] if self.target else _labels(case)[: self.columns]
        if not labels:
            return [catalogue.TEXT_AUC.finding(None, n=case.control.rows, note="there is no column of 2 to 50 levels to predict")]
        return [finding for name in names for label in labels for finding in self._scores(case, name, label, rng)]

    def _scores(self, case: Case, name: str, label: str, rng: np.random.Generator) -> list[Finding]:
        scope = f"{label}, by {name}"
        if label not in case.columns or case.train.schema[label].kind not in CODED:
            return [catalogue.TEXT_AUC.finding(None, n=0, note=f"{label}: is no released column of levels", scope=scope)]
        rows: dict[str, tuple[Integers, list[str], Floats]] = {}
        for which, table in case.tables.items():
            at, texts = read_texts(case, which, name)
            truth = floats_like(table, label, case.train)[at]
            kept = np.flatnonzero(np.isfinite(truth))
            kept = np.sort(rng.permutation(kept)[: self.rows])
            rows[which] = (at[kept], [texts[row] for row in kept], truth[kept])
        for which, (at, _, truth) in rows.items():
            if len(at) < FEWEST or len(np.unique(truth)) < 2:
                note = f"{label}: {which} has fewer than {FEWEST} texts with a class, or only one class"
                return [catalogue.TEXT_AUC.finding(None, n=len(at), note=note, scope=scope)]
        _, tested, truth = rows["control"]
        whole: dict[Hashable, Predictions] = {side: probabilities(rows[side][1], rows[side][2], tested) for side in SIDES}
        found = score_estimates(
            truth, whole, {side: [] for side in SIDES}, dict.fromkeys(SIDES, 1.0), classes=True, times=self.bootstrap, rng=rng
        )
        commonest = float(np.unique(truth, return_counts=True)[1].max() / len(truth))
        return [
            _finding(MEASURES[score], found["release"][score], found["train"][score], label, name, commonest, len(truth))
            for score in MEASURES
        ]


def _labels(case: Case) -> list[str]:
    """Columns that a text may say something about."""
    schema = case.train.schema
    some = [name for name in case.columns if schema[name].kind in CODED and 2 <= len(schema[name].levels) <= LEVELS]
    return sorted(
        some,
        key=lambda name: (Role.TARGET, Role.SECRET).index(role) if (role := schema[name].role) in (Role.TARGET, Role.SECRET) else 2,
    )


def _finding(
    measure: Measure, release: ScoreEstimate, real: ScoreEstimate, label: str, name: str, commonest: float, n: int
) -> Finding:
    low, high = release.interval
    note = (
        f"a model of the words of {name} predicts {label} of {n:,} real people: {release.value:.3f} if it learnt from the release, "
        f"{real.value:.3f} from the real rows; the commonest class alone is {100 * commonest:.3g} of 100"
    )
    return measure.finding(
        release.value, baseline=real.value, n=n, note=note, scope=f"{label}, by {name}",
        interval=(min(release.value, max(0.0, low)), max(release.value, min(1.0, high))),
        detail={"majority": commonest, "column": label, "text": name},
    )  # fmt: skip
