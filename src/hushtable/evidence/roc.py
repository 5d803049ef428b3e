"""Scores of people, those in the table against those not in it: ROC curve, its area, and exact tests that ties cannot fool.

Both tests hold for any number of rows, under one assumption: given the release, training and control rows are alike, so
that every way to share out the two labels over the pooled scores is equally likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, ndtri

from hushtable.evidence.confidence import Rate, fisher
from hushtable.table.arrays import Floats


@dataclass(frozen=True)
class Threshold:
    """The score above which an attacker claims membership, set by the control so that few of its rows lie above it."""

    score: float
    allowed: int
    """How many control rows may lie above: floor(rate x rows)."""
    rows: int
    """How many control rows there are."""

    @classmethod
    def at(cls, control: Floats, rate: float) -> Threshold:
        """The score of the control row with ``floor(rate x rows)`` rows ranked before it."""
        above = allowed(rate, len(control))
        place = len(control) - 1 - above
        return cls(float(np.partition(control, place)[place]), above, len(control))

    @property
    def chance(self) -> float:
        """The share of training rows expected above if they are like the control: (allowed + 1)/(rows + 1)."""
        return (self.allowed + 1) / (self.rows + 1)

    def p(self, train: Floats) -> float:
        """Exact one-sided test of the number of training rows above, although the control itself set the threshold.

        Let x training rows rank before the control row number a + 1, a = ``allowed``. At least x do so exactly if
        at most a controls are among the first x + a of all rows: this is hypergeometric, and the same tail as Fisher's
        test of x against a. Rows that tie with the threshold do not count, which can only make x smaller than under
        any breaking of ties: the test then errs on the side of no alarm.
        """
        return fisher(int((train > self.score).sum()), len(train), self.allowed, self.rows)


def allowed(rate: float, rows: int) -> int:
    """How many of so many control rows may lie above a threshold; never all of them."""
    # A product such as 0.1 x 30 may fall short of the whole number that it is.
    return min(math.floor(rate * rows + 1e-9), rows - 1)


def curve(train: Floats, control: Floats, points: int = 100) -> dict[str, list[float]]:
    """The ROC curve at false-alarm rates evenly spaced on a logarithmic scale, from one control row to all of them."""
    allowed = np.unique(np.geomspace(1, len(control), points).round().astype(np.int64)) - 1
    thresholds = np.sort(control)[::-1][allowed]
    above = len(train) - np.searchsorted(np.sort(train), thresholds, side="right")
    return {"fpr": (allowed / len(control)).tolist(), "tpr": (above / len(train)).tolist()}


def auc(train: Floats, control: Floats, level: float = 0.95) -> Rate:
    """The chance that a training row scores above a control row, a tie counting half, with DeLong's interval.

    Each side gets one more row above and one below all others before the variance is taken: without them a perfect
    separation would have an interval of no width.
    """
    value = float(_placements(train, control).mean())
    ends = np.array([-np.inf, np.inf])
    train, control = np.append(train, ends), np.append(control, ends)
    ours, theirs = _placements(train, control), 1 - _placements(control, train)
    spread = math.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs)) * float(ndtri((1 + level) / 2))
    centre = float(ours.mean())
    return Rate(value, max(0.0, min(value, centre - spread)), min(1.0, max(value, centre + spread)))


def auc_p(area: float, n: int, m: int) -> float:
    """An upper bound on the chance of an area this large or larger if both sides are alike; valid at any size.

    Chernoff's bound exp(-t u) M(t) on the Mann-Whitney statistic u = area x n x m, with its exact moment generating function
    M(t) = prod_i (e^(t(n+i)) - 1)/(e^(ti) - 1) / C(n+m, m), i = 1..m (Mann and Whitney 1947: the Gaussian binomial
    coefficient). With ties, u in midranks is the mean of u over all breakings of ties, and by Jensen's inequality
    the bound still holds. It is larger than the p-value itself by a factor of about 2.5 standard scores.
    """
    if area <= 0.5 or n * m == 0:
        return 1.0
    n, m = max(n, m), min(n, m)
    i = np.arange(1, m + 1, dtype=np.float64)
    ways = float(gammaln(n + m + 1) - gammaln(n + 1) - gammaln(m + 1))

    def log_bound(log_t: float) -> float:
        t = math.exp(log_t)
        # log((e^(t(n+i)) - 1)/(e^(ti) - 1)) = t n + log((1 - e^(-t(n+i)))/(1 - e^(-ti)))
        moment = m * t * n + float((np.log(-np.expm1(-t * (n + i))) - np.log(-np.expm1(-t * i))).sum()) - ways
        return moment - t * area * n * m

    # Any t gives a valid bound, so the search need not be exact. The best one is near the normal one, or large at the very end.
    normal = 12 * (area - 0.5) / (n + m + 1)
    best = minimize_scalar(log_bound, bounds=(math.log(normal) - 2, math.log(normal) + 12), method="bounded")
    return float(math.exp(min(0.0, best.fun)))


def _placements(ours: Floats, theirs: Floats) -> Floats:
    """For each of ours the share of theirs that it beats, ties counting half."""
    theirs = np.sort(theirs)
    return (np.searchsorted(theirs, ours, "left") + np.searchsorted(theirs, ours, "right")) / (2 * len(theirs))
