"""Intervals of model scores: how far a score depends on who was tested, and on which rows the model learnt from.

Who was tested: a bootstrap over the tested rows. Which rows were learnt from: models of random halves. The mean of a random half,
given all rows, varies exactly as much as the mean of all rows does between tables, and so does what is a mean to first order; of
a part of r from n rows it is n - r over r times as much, which is divided out (the delete-d jackknife: J. Shao, C. F. J. Wu, A
general theory for jackknife variance estimation, Annals of Statistics 17, 1989). Halves learn a little worse than the whole, so
only their spread counts, not their level. It is known from few models: Student's quantile allows for that. Both are put together
by the method of variance estimates recovery (A. Donner, G. Y. Zou, Statistical Methods in Medical Research 21, 2012), which keeps
a lopsided interval lopsided.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
from scipy.special import stdtrit

from hushtable.evidence.finding import Better
from hushtable.measures.prediction_scores import Predictions, scores_of
from hushtable.table.arrays import Floats

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class ScoreEstimate:
    """One score of one model."""

    value: float
    draws: Floats
    """The score on resamples of the tested rows; the same resamples for all models."""
    learnt: float
    """How far it reaches either way by the rows that were learnt from; 0 if that is not known."""

    @property
    def tested(self) -> tuple[float, float]:
        """How far it reaches down and up by the rows that were tested."""
        # Of few draws the usual quantiles lie too far inside: one more draw would fall beyond them more often than is said.
        low, high = np.quantile(self.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="weibull")
        return max(0.0, self.value - float(low)), max(0.0, float(high) - self.value)

    @property
    def interval(self) -> tuple[float, float]:
        """Both together, around the value."""
        down, up = self.tested
        return self.value - hypot(down, self.learnt), self.value + hypot(up, self.learnt)

    def loss(self, real: ScoreEstimate, better: Better) -> ScoreEstimate:
        """How much worse it is than another model's; the interval is of the same resamples, so what both share drops out."""
        sign = -1 if better is Better.HIGHER else 1
        return ScoreEstimate(sign * (self.value - real.value), sign * (self.draws - real.draws), hypot(self.learnt, real.learnt))


def score_estimates(
    truth: Floats,
    whole: Mapping[Hashable, Predictions],
    parts: Mapping[Hashable, Sequence[Predictions]],
    shares: Mapping[Hashable, float],
    *,
    classes: bool,
    times: int,
    rng: np.random.Generator,
) -> dict[Hashable, dict[str, ScoreEstimate]]:
    """By model, then by name of the score.

    ``whole`` is what each model predicts, ``parts`` what models of parts of its rows predict, and ``shares`` how many rows are
    in such a part for each that is not: 1 for halves.
    """
    rows = len(truth)
    everyone = np.ones(rows)
    scores = {key: scores_of(truth, predicted, classes=classes) for key, predicted in whole.items()}
    draws: dict[Hashable, dict[str, list[float]]] = {key: {name: [] for name in own} for key, own in scores.items()}
    for _ in range(times):
        weights = np.bincount(rng.integers(0, rows, rows), minlength=rows).astype(np.float64)
        for key, own in scores.items():
            for name, score in own.items():
                draws[key][name].append(score(weights))
    estimates: dict[Hashable, dict[str, ScoreEstimate]] = {}
    for key, own in scores.items():
        others = [scores_of(truth, predicted, classes=classes) for predicted in parts[key]]
        estimates[key] = {
            name: ScoreEstimate(
                score(everyone), np.array(draws[key][name]), half_width([o[name](everyone) for o in others], shares[key])
            )
            for name, score in own.items()
        }
    return estimates


def half_width(values: Sequence[float], share: float) -> float:
    """Half the width of the interval by what was learnt from, from the scores of models of parts; 0 of fewer than two."""
    if len(values) < 2:
        return 0.0
    return float(stdtrit(len(values) - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) * np.sqrt(share))
