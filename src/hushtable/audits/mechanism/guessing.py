"""From releases in two worlds to lower bounds: a guesser is picked on one half of the runs and judged on the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.audits.mechanism import bounds
from hushtable.audits.mechanism.lines import Bound, Bounds, Guess
from hushtable.audits.mechanism.scores import TRANSCRIPT, Features
from hushtable.numerics.fitting import fit
from hushtable.table.arrays import Floats

LEARNED = "learned likelihood ratio"
SCREENED, FOLDS, THRESHOLDS = 24, 5, 48
ENOUGH = 20
"""With fewer runs nothing can be learnt."""

Limits = Callable[[Floats, Floats], Floats]
"""From upper limits of false positives and of false negatives to a lower bound of a parameter."""


@dataclass(frozen=True)
class Guesser:
    """Says that the canary is in where a score reaches a threshold, or where it does not."""

    score: str
    threshold: float
    above: bool

    def errors(self, within: Floats, without: Floats) -> tuple[int, int]:
        """False positives and false negatives."""
        false, missed = int((without >= self.threshold).sum()), int((within < self.threshold).sum())
        return (false, missed) if self.above else (len(without) - false, len(within) - missed)


def judge(within: Sequence[Features], without: Sequence[Features], *, delta: float, tail: float, also: str | None) -> Bounds:
    """Lower bounds from equally many runs in each world, on epsilon and ``also`` on rho or mu.

    A limit fails with probability ``tail``. One guesser is picked for each bound and judged once, on runs that it has not seen, so
    no correction is needed for the many that were tried. Where the noisy answers were observed, rho and mu are bounded by whether
    they are likelier with the canary: that guesser was fixed before any run, so all runs judge it.
    """
    names, one, other = _matrices(within, without)
    half = len(one) // 2
    pick, test = (one[:half], other[:half]), (one[half : 2 * half], other[half : 2 * half])
    tried, judged = _candidates(names, pick, test)

    def by_epsilon(false: Floats, missed: Floats) -> Floats:
        return bounds.epsilon_bound(false, missed, delta)

    ceiling = bounds.ceiling(half, delta, tail)
    epsilon = _judged(_picked(tried, by_epsilon, tail), judged, by_epsilon, tail, ceiling)
    if also is None:
        return Bounds(epsilon=epsilon, evaluated=half, tail=tail)
    bound: Limits = {"rho": bounds.rho_bound, "mu": bounds.mu_bound}[also]
    best, runs = _picked(tried, bound, tail), half
    if TRANSCRIPT in names:
        at, runs = names.index(TRANSCRIPT), len(one)
        best, judged = Guesser(TRANSCRIPT, 0.0, True), {TRANSCRIPT: (_untied(one[:, at]), _untied(other[:, at]))}
    limit = bounds.upper(0, runs, tail)
    return Bounds(
        epsilon=epsilon, evaluated=half, tail=tail, other=(also, _judged(best, judged, bound, tail, float(bound(limit, limit))))
    )


def _untied(ratios: Floats) -> Floats:
    """Where neither world is likelier, every second run is guessed to be with the canary."""
    return np.where(ratios == 0, np.where(np.arange(len(ratios)) % 2, 1.0, -1.0), ratios)


def _judged(best: Guesser | None, judged: dict[str, tuple[Floats, Floats]], bound: Limits, tail: float, ceiling: float) -> Bound:
    if best is None:
        return Bound(0.0, ceiling)
    within, without = judged[best.score]
    false, missed = best.errors(within, without)
    a, b = (bounds.upper(hits, len(within), tail) for hits in (false, missed))
    return Bound(float(bound(a, b)), ceiling, Guess(best.score, best.threshold, best.above, false, missed))


def _picked(tried: dict[str, tuple[Floats, Floats]], bound: Limits, tail: float) -> Guesser | None:
    """The guesser with the best bound on the first half; single scores are many, so each needs a better one to be believed."""
    best, reached = None, 0.0
    for score, (within, without) in tried.items():
        careful = tail if score in (LEARNED, TRANSCRIPT) else tail / max(len(tried), 1)
        cuts = _cuts(np.concatenate([within, without]))
        if not len(cuts):
            continue
        false = (without[:, None] >= cuts).sum(0)
        missed = (within[:, None] < cuts).sum(0)
        runs = len(within)
        for above, wrong in ((True, (false, missed)), (False, (runs - false, runs - missed))):
            limits = bound(*(bounds.upper(hits, runs, careful) for hits in wrong))
            at = int(np.argmax(limits))
            if limits[at] > reached:
                best, reached = Guesser(score, float(cuts[at]), above), float(limits[at])
    return best


def _cuts(values: Floats) -> Floats:
    """Thresholds between the values that occur."""
    seen = np.unique(values)
    cuts = (seen[1:] + seen[:-1]) / 2
    return cuts if len(cuts) <= THRESHOLDS else cuts[np.unique(np.linspace(0, len(cuts) - 1, THRESHOLDS).astype(int))]


def _matrices(within: Sequence[Features], without: Sequence[Features]) -> tuple[list[str], Floats, Floats]:
    """A row for each run, a column for each score that varies at all."""
    names = sorted({name for run in (*within, *without) for name in run})
    if not names:
        return [], np.zeros((len(within), 0)), np.zeros((len(without), 0))
    both = np.array([[run.get(name, 0.0) for name in names] for run in (*within, *without)], np.float64)
    moving = np.ptp(both, axis=0) > 0
    return [n for n, m in zip(names, moving, strict=True) if m], both[: len(within), moving], both[len(within) :, moving]


def _candidates(
    names: list[str], pick: tuple[Floats, Floats], test: tuple[Floats, Floats]
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, tuple[Floats, Floats]]]:
    """Every score on both halves; the learned one is made on the first half, and cross-fitted there."""
    tried = {name: (pick[0][:, j], pick[1][:, j]) for j, name in enumerate(names)}
    judged = {name: (test[0][:, j], test[1][:, j]) for j, name in enumerate(names)}
    runs = len(pick[0])
    if runs < ENOUGH or not names:
        return tried, judged
    fold = np.arange(runs) % FOLDS
    crossed = np.empty(runs), np.empty(runs)
    for number in range(FOLDS):
        score = _learned(pick[0][fold != number], pick[1][fold != number])
        for world in (0, 1):
            crossed[world][fold == number] = score(pick[world][fold == number])
    whole = _learned(*pick)
    return tried | {LEARNED: crossed}, judged | {LEARNED: (whole(test[0]), whole(test[1]))}


def _learned(within: Floats, without: Floats) -> Callable[[Floats], Floats]:
    """A logistic regression on the scores whose means differ most, each in units of its own spread."""
    from sklearn.linear_model import LogisticRegression

    both = np.concatenate([within, without])
    spread = both.std(axis=0)
    spread[spread == 0] = 1.0
    centre = both.mean(axis=0)
    apart = np.abs(within.mean(axis=0) - without.mean(axis=0)) / spread
    selected = np.sort(np.argsort(-apart, kind="stable")[:SCREENED])

    def scaled(values: Floats) -> Floats:
        return np.asarray(np.clip((values[:, selected] - centre[selected]) / spread[selected], -6, 6), np.float64)

    truth = np.repeat([1, 0], [len(within), len(without)])
    model = LogisticRegression(C=0.1, max_iter=2000)
    fit(model, scaled(both), truth)
    return lambda values: np.asarray(model.decision_function(scaled(values)))
