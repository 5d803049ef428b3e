"""What a generator of texts memorizes: canaries whose end was drawn by lot, beside twins with another end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.regenerate import no_generator, not_regenerated
from hushtable.audits.text.planting import FEWEST, column_to_plant, model_of_release, plant, vocabulary
from hushtable.errors import HushError
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import binomial_tail
from hushtable.evidence.finding import Audit, Finding, Risk, Trace, uncomputed
from hushtable.pipeline.step import check_knobs

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

NAME = "text canaries"


@dataclass(frozen=True, kw_only=True)
class TextCanaries(Audit):
    """Texts with an end of random words, the generator run again on them, and the end guessed among two.

    A canary begins as a real text does and ends in words drawn at random, which are unlikely together (Meeus et al. 2025). For
    each of them two ends are drawn, and a coin decides which is planted. The attacker fits a model of words to the new release and
    takes the likelier text for the planted one. If nothing is remembered, each of the two is equally likely to win, whatever the
    model: the test is exact, and ties say nothing.
    """

    costly: ClassVar[bool] = True

    canaries: int = 100
    """Canaries in each training; fewer where they would be over a tenth of the rows."""
    trainings: int = 2
    """How often the generator is trained again, each time with new canaries."""
    before: int = 5
    """Words of a real text that a canary begins with."""
    after: int = 10
    """Words drawn by lot that it ends in."""
    order: int = 3
    """Words that the model of the release looks at."""
    column: str = ""
    """The column of free text; the first when empty."""

    def __post_init__(self) -> None:
        """Numbers that make sense."""
        check_knobs(
            self,
            canaries=(self.canaries >= 1, "must be at least 1"),
            trainings=(self.trainings >= 1, "must be at least 1"),
            before=(self.before >= 0, "must not be negative"),
            after=(self.after >= 1, "must be at least 1"),
            order=(1 <= self.order <= 8, "must lie between 1 and 8"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        if case.generator is None:
            return [no_generator(NAME)]
        column = column_to_plant(case, self.column)
        if column is None:
            return [uncomputed(NAME, 0, "the training table has no such column of free text")]
        known, count = vocabulary(case, column), min(self.canaries, max(1, case.train.rows // 10))
        if len(known) < FEWEST:
            return [uncomputed(NAME, 0, f"{column} has fewer than {FEWEST} different words to draw from", scope=column)]
        won, lost = [], []
        try:
            for _ in range(self.trainings):
                changed, planted = plant(case.train, column, 2, count, (self.before, self.after), known, rng)
                scorer = model_of_release(case, changed, column, self.order, int(rng.integers(2**31)))
                scores = planted.scores(scorer)
                won.append(scores[:, 0] > scores[:, 1])
                lost.append(scores[:, 0] < scores[:, 1])
        except HushError as error:
            return [not_regenerated(NAME, count, error, column)]
        hits, missed = np.concatenate(won), np.concatenate(lost)
        nobody = np.full(len(hits), -1)
        return [
            judge(
                Trace(hits, missed, nobody, nobody),
                Scenario(
                    name=NAME,
                    scope=column,
                    risk=Risk.SINGLING_OUT,
                    knows=f"knows two ends of a {column}, one of which was planted by a coin",
                    does="finds the planted one likelier to a model of the release",
                    whom="canaries",
                ),
                naive=None,
                p=binomial_tail(int(hits.sum()), int(hits.sum() + missed.sum())),
            )
        ]
