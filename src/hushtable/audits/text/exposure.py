"""Exposure: how far up a planted text ranks among texts that were not planted, in bits (Carlini et al. 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from hushtable.audits.regenerate import not_regenerated
from hushtable.audits.text.planting import Planted, Planting, Scorer
from hushtable.errors import HushError
from hushtable.evidence.finding import Better, Finding, Subject
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

NAME = "exposure"
CHANCE = math.log2(math.e)
"""The mean exposure by chance, were there endlessly many others: -log2 of a uniform number."""


def exposures(scores: Floats) -> Floats:
    """Of canaries x ends, the planted one first: log2 of the number of ends less log2 of its rank, the highest score first.

    Of ends that tie the planted one ranks last, so a model that knows nothing shows nothing.
    """
    ranks = (scores[:, 1:] >= scores[:, :1]).sum(axis=1) + 1
    return np.asarray(np.log2(scores.shape[1]) - np.log2(ranks), np.float64)


def exposure_p(found: Floats) -> float:
    """How likely exposures so large together are by chance.

    If each rank is uniform, minus twice the sum of the logarithms of rank over number is below a chi-square variable of two degrees
    for each (Fisher's method); ranks are discrete, which errs on the side of no alarm.
    """
    return float(chi2.sf(2 * math.log(2) * float(found.sum()), 2 * len(found))) if len(found) else 1.0


def exposure_finding(planted: Planted, scorer: Scorer, column: str) -> Finding:
    """The mean exposure of planted texts to any scorer: a model of a release, or the model itself that was trained on them."""
    found = exposures(planted.scores(scorer))
    n, ends = len(found), len(planted.texts[0])
    spread = float(found.std(ddof=1)) / math.sqrt(n) * 1.96 if n > 1 else 0.0
    mean, most = float(found.mean()), math.log2(ends)
    note = f"planted words rank {mean:.3g} of {most:.3g} bits up among {ends:,} ends drawn alike, on average over {n:,} canaries "
    note += f"({CHANCE:.3g} by chance); {100 * float((found >= most - 1e-9).mean()):.3g} of 100 rank first"
    return Finding(
        name=NAME, scope=column, value=mean, low=max(0.0, mean - spread), high=min(most, mean + spread), baseline=CHANCE,
        better=Better.LOWER, subject=Subject.PRIVACY, n=n, p=exposure_p(found), note=note, span=(0.0, most),
        detail={"ends": ends, "quantiles": np.quantile(found, [0, 0.25, 0.5, 0.75, 1]).tolist()},
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Exposure(Planting):
    """Exposure of texts with an end of random words, to a model of what the generator releases when it is run on them again.

    Who has the trained model scores by it instead: ``exposure_finding`` takes any scorer. Random ends are alike before one is
    planted, so by chance every rank is equally likely, whatever scores them, and the test is exact.
    """

    ends: int = 1024
    """Ends that are ranked for each canary, the planted one among them."""

    def __post_init__(self) -> None:
        """Numbers that make sense."""
        check_knobs(self, ends=(self.ends >= 2, "must be at least 2"))
        super().__post_init__()

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        ground = self.ground(case, NAME)
        if isinstance(ground, Finding):
            return [ground]
        try:
            planted, scorer = self.trained(case, ground, self.ends, rng)
        except HushError as error:
            return [not_regenerated(NAME, ground.count, error, ground.column)]
        return [exposure_finding(planted, scorer, ground.column)]
