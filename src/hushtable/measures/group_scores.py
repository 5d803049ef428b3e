"""How well models trained on the release predict each group of people, beside models trained on the real rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.finding import Finding
from hushtable.measures.catalogue import GROUP_SCORE
from hushtable.measures.downstream import fitted
from hushtable.measures.jackknife import LOTS, jackknife
from hushtable.measures.partition import Partition
from hushtable.measures.prediction_scores import Predictions, scores_of
from hushtable.table.arrays import Floats, Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

RAREST = 5
"""A group is scored if so many of its control rows are not of its commonest class."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How well models predict the control rows of each group; NaN where it is not known."""

    release: Floats
    train: Floats
    spread: Floats
    """Half the width of the interval of their difference."""
    rows: Floats
    """Control rows of the group with a known target."""
    name: str = ""
    reason: str = ""

    @classmethod
    def nothing(cls, partitions: Sequence[Partition], reason: str) -> Scores:
        """No scores, and why."""
        none = np.full(sum(len(p.labels) for p in partitions), np.nan)
        return cls(none, none, none, none, reason=reason)

    @classmethod
    def of(cls, case: Case, target: str, partitions: Sequence[Partition], rng: np.random.Generator) -> Scores:
        """AUC or R2 of the model that learnt from the release and of the one that learnt from the training rows."""
        models = fitted(case, target)
        task = models.task
        if task.reason:
            return cls.nothing(partitions, task.reason)
        name = "AUC" if task.shape.classes else "R2"
        scored = []
        for partition in partitions:
            groups = partition.groups["control"][task.control]
            for group in range(len(partition.labels)):
                rows = np.flatnonzero(groups == group)
                scored.append((*_scored(task.truth[rows], models.predictions, rows, name, rng), len(rows)))
        release, train, spread, count = np.array(scored).T
        known = ~np.isnan(release)
        reason = "" if known.any() else f"{target}: no group has enough control rows of more than one value to score a model on"
        return cls(release, train, spread, count, f"{name} for {target}", reason)

    def findings(self, labels: Sequence[str], most: int) -> tuple[Finding, list[Finding]]:
        """The mean over groups, and the groups that surely lose most."""
        if self.reason:
            return GROUP_SCORE.finding(None, n=0, note=self.reason), []
        known = np.flatnonzero(~np.isnan(self.release))
        # R2 has no lower bound: a model that is worse than knowing the mean has lost all there is to lose.
        low, loss, high = (np.clip(self.train - self.release + side * self.spread, -1.0, 1.0) for side in (-1, 0, 1))
        worst = [at for at in known[np.argsort(-low[known], kind="stable")].tolist() if loss[at] > 0][:most]
        each = [
            GROUP_SCORE.finding(
                float(loss[at]), n=int(self.rows[at]), interval=(float(low[at]), float(high[at])), scope=labels[at],
                note=f"{self.name}: {self.release[at]:.3f} trained on the release, {self.train[at]:.3f} on the real rows",
            )
            for at in worst
        ]  # fmt: skip
        surest = f"the surest loss is that of {each[0].scope}; {each[0].note}" if each else "none of them loses"
        return GROUP_SCORE.finding(float(loss[known].mean()), n=len(known), note=f"mean over {len(known)} groups; {surest}"), each


def _scored(
    truth: Floats, predictions: Mapping[str, Predictions], rows: Integers, name: str, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The score of both models on some rows, and half the interval of their difference."""
    values, counts = np.unique(truth, return_counts=True)
    if len(values) < 2 or len(truth) - counts.max() < RAREST:
        return np.nan, np.nan, np.nan
    score = {
        side: scores_of(truth, {label: p[rows] for label, p in predictions[side].items()}, classes=name == "AUC")[name]
        for side in ("release", "train")
    }
    release, train = (score[side](np.ones(len(truth))) for side in ("release", "train"))
    lots = rng.permutation(len(truth)) % LOTS
    left = [(lots != lot).astype(np.float64) for lot in range(LOTS)]
    gaps = [train - release, *(score["train"](weights) - score["release"](weights) for weights in left)]
    return release, train, jackknife(np.array(gaps))
