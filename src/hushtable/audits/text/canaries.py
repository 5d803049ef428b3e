"""What a generator of texts memorizes: canaries whose end was drawn by lot, beside twins with another end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.regenerate import not_regenerated
from hushtable.audits.text.planting import Planting
from hushtable.errors import HushError
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import binomial_tail
from hushtable.evidence.finding import Finding, Risk, Trace
from hushtable.pipeline.step import check_knobs

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

NAME = "text canaries"


@dataclass(frozen=True, kw_only=True)
class TextCanaries(Planting):
    """Texts with an end of random words, the generator run again on them, and the end guessed among two.

    A canary begins as a real text does and ends in words drawn at random, which are unlikely together (Meeus et al. 2025). For
    each of them two ends are drawn, and a coin decides which is planted. The attacker fits a model of words to the new release and
    takes the likelier text for the planted one. If nothing is remembered, each of the two is equally likely to win, whatever the
    model: the test is exact, and ties say nothing.
    """

    canaries: int = 100
    """Canaries in each training; fewer where they would be over a tenth of the rows."""
    trainings: int = 2
    """How often the generator is trained again, each time with new canaries."""

    def __post_init__(self) -> None:
        """Numbers that make sense."""
        check_knobs(self, trainings=(self.trainings >= 1, "must be at least 1"))
        super().__post_init__()

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        ground = self.ground(case, NAME)
        if isinstance(ground, Finding):
            return [ground]
        won, lost = [], []
        try:
            for _ in range(self.trainings):
                planted, scorer = self.trained(case, ground, 2, rng)
                scores = planted.scores(scorer)
                won.append(scores[:, 0] > scores[:, 1])
                lost.append(scores[:, 0] < scores[:, 1])
        except HushError as error:
            return [not_regenerated(NAME, ground.count, error, ground.column)]
        hits, missed = np.concatenate(won), np.concatenate(lost)
        nobody = np.full(len(hits), -1)
        return [
            judge(
                Trace(hits, missed, nobody, nobody),
                Scenario(
                    name=NAME,
                    scope=ground.column,
                    risk=Risk.SINGLING_OUT,
                    knows=f"knows two ends of a {ground.column}, one of which was planted by a coin",
                    does="finds the planted one likelier to a model of the release",
                    whom="canaries",
                ),
                naive=None,
                p=binomial_tail(int(hits.sum()), int(hits.sum() + missed.sum())),
            )
        ]
