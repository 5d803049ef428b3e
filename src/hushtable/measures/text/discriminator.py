"""How well a model of their words distinguishes released texts from real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence import roc
from hushtable.evidence.confidence import Rate
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.catalogue import TEXT_DISCRIMINATOR
from hushtable.measures.text.models import FEWEST, NO_TEXT, probabilities, read_texts, shared_texts
from hushtable.pipeline.step import check_knobs

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class TextDiscriminator(Utility):
    """Logistic regression that distinguishes released texts from as many training texts, each judged by one that did not see it.

    Its AUC, with DeLong's interval. The same is done for control texts: the baseline. Equal texts are judged by one model,
    whichever table they stand in; else a copy would be judged by a model that was shown its twin under the opposite label.
    """

    folds: int = 4
    """Parts of the texts, each judged by a model that learnt from the others."""
    most: int = 5_000
    """Texts of each side; beyond this number they are sampled."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        check_knobs(self, folds=(self.folds >= 2, "must be at least 2"), most=(self.most >= FEWEST, f"must be at least {FEWEST}"))

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each column of free text."""
        names = shared_texts(case)
        if not names:
            return [TEXT_DISCRIMINATOR.finding(None, n=case.release.rows, note=NO_TEXT)]
        return [self._of(case, name, rng) for name in names]

    def _of(self, case: Case, name: str, rng: np.random.Generator) -> Finding:
        texts = {which: read_texts(case, which, name)[1] for which in case.tables}
        few = [which for which in ("train", "release") if len(texts[which]) < FEWEST]
        if few:
            note = f"a model needs at least {FEWEST} texts of each table; {' and '.join(few)} has fewer"
            return TEXT_DISCRIMINATOR.finding(None, n=len(texts["release"]), note=note, scope=name)
        area, size = self._area(texts["train"], texts["release"], rng)
        fresh = self._area(texts["train"], texts["control"], rng)[0].value if len(texts["control"]) >= FEWEST else None
        beside = f"; control texts: {fresh:.3f}" if fresh is not None else "; the control has too few texts"
        return TEXT_DISCRIMINATOR.finding(
            area.value, interval=(area.low, area.high), baseline=fresh, n=size, scope=name,
            note=f"a model of the words of {size:,} released texts and as many real ones{beside}",
        )  # fmt: skip

    def _area(self, real: list[str], released: list[str], rng: np.random.Generator) -> tuple[Rate, int]:
        size = min(len(real), len(released), self.most)
        sides = [[side[at] for at in np.sort(rng.permutation(len(side))[:size])] for side in (real, released)]
        texts, labels = [*sides[0], *sides[1]], np.repeat([0.0, 1.0], size)
        distinct = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        fold = rng.integers(0, self.folds, len(distinct))[[distinct[text] for text in texts]]
        score = np.full(len(texts), 0.5)
        for part in range(self.folds):
            own = fold == part
            if own.any() and not own.all():
                learnt, tested = ([texts[at] for at in np.flatnonzero(some)] for some in (~own, own))
                score[own] = probabilities(learnt, labels[~own], tested).get(1.0, np.zeros(int(own.sum())))
        return roc.auc(score[labels == 1], score[labels == 0]), size
