"""Can a model distinguish released rows from real ones? The less it can, the more alike are the two tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence import roc
from hushtable.evidence.confidence import NORMAL, Rate
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.catalogue import DISCRIMINATOR, PROPENSITY
from hushtable.measures.features import Features, Points, alike, features
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

FEWEST = 20
"""Rows of each side below which nothing can be learnt."""
LEAF = 20
"""The fewest rows in a leaf of the trees."""
ASKED = 4000
"""Held-out rows on which columns are shuffled one by one."""
BATCH = 40_000
"""Shuffled rows that are judged at a time."""
NAMED = 0.005
"""What a column must add to the AUC to be named."""

BELOW = (
    "below one half is no merit: released rows lie closer to the rows they were made from than fresh rows do, as near-copies would"
)
"""What is noted where chance does not explain an AUC below one half."""


@dataclass(frozen=True, kw_only=True)
class Discriminator(Utility):
    """Gradient boosting that distinguishes released rows from as many training rows, each judged by a model that did not see it.

    The first number is its AUC (DeLong's interval), the second the mean square by which its belief differs from one half
    (pMSE; Snoke et al. 2018, there in sample; cross-fitted here, so that guessing costs little). The same is done for control rows
    against training rows: the baselines.

    Fresh rows of the same kind give an AUC of one half, up to chance. Well below it the model is wrong more often than right: what
    it learnt from some real rows (here they are dense) holds for the released rows that were made from them, and the opposite for
    the real rows that it did not see. So the release follows these very rows more closely than fresh rows would: by near-copies,
    or by counts that it reproduces more exactly than chance does. That is no merit, and is judged as a distance from one half too.

    Equal rows go to one fold together, whichever table they stand in: else a copied row would be judged by a model that was shown
    its twin under the opposite label (an AUC below one half), and the copies of a group's centre by a model that learnt them by
    heart. Rows that more than a leaf's worth of others equal are spread over the folds: there the combination is part of the
    distribution, and in a table of few columns nothing else could be learnt. Rows that were changed a little still have a near twin
    among the training rows, which lowers the AUC.
    """

    most: int = 20_000
    """Rows of each side; beyond this number they are sampled."""
    folds: int = 2
    """Parts of the rows, each judged by a model that learnt from the others."""
    rounds: int = 40
    """Trees of a model; one for every hundred rows that it learns from is enough, though never fewer than ten: more would learn
    what chance did in a small table, and believe it."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        check_knobs(
            self,
            most=(self.most >= FEWEST, f"must be at least {FEWEST}"),
            folds=(self.folds >= 2, "must be at least 2"),
            rounds=(self.rounds >= 1, "must be at least 1"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """AUC and propensity error, with the columns that distinguish the release most."""
        from threadpoolctl import threadpool_limits

        seen = features(case)
        few = [f"{which} has {len(seen.points[which])}" for which in ("train", "release") if len(seen.points[which]) < FEWEST]
        if few:
            note = f"a model needs at least {FEWEST} rows of each table to learn from; {' and '.join(few)}"
            return [measure.finding(None, n=len(seen.points["release"]), note=note) for measure in (DISCRIMINATOR, PROPENSITY)]
        enough = len(seen.points["control"]) >= FEWEST
        # Sums over several threads differ in the last bit from those over another number of them, and on a busy machine they wait.
        with threadpool_limits(1, "openmp"):
            result = self._discrimination(seen, "release", self.most, rng, columns=True)
            fresh = self._discrimination(seen, "control", self.most, rng) if enough else None
            # A model of fewer rows believes more by chance: the errors of both are those of as many rows.
            like = result if fresh is None or fresh.n >= result.n else self._discrimination(seen, "release", fresh.n, rng)
        beside = f"control rows: {fresh.auc.value:.3f}" if fresh else f"the control has only {len(seen.points['control'])} rows"
        columns = sorted(result.importance, key=lambda name: -result.importance[name])
        named = [name for name in columns if result.importance[name] > NAMED][:3] if result.auc.low > 0.5 else []
        away = f"the columns that distinguish them most: {', '.join(named)}" if named else "no single column distinguishes them"
        if result.auc.high < 0.5:
            away = BELOW
        return [
            DISCRIMINATOR.finding(
                result.auc.value,
                baseline=fresh.auc.value if fresh else None,
                interval=(result.auc.low, result.auc.high),
                n=result.n,
                note=f"a model trained on {result.n:,} released rows and as many real ones; {beside}; {away}",
                detail={"columns": columns, "importance": [round(result.importance[name], 4) for name in columns]},
            ),
            PROPENSITY.finding(
                like.error.value,
                baseline=fresh.error.value if fresh else None,
                interval=(like.error.low, like.error.high),
                n=like.n,
                note="mean squared difference of the predicted probability from one half; 0 if the model knows nothing, 0.25 if it "
                "is always certain" + (f"; control rows: {fresh.error.value:.4f}" if fresh else ""),
            ),
        ]

    def _discrimination(
        self, seen: Features, which: str, most: int, rng: np.random.Generator, *, columns: bool = False
    ) -> Discrimination:
        one, other = seen.points[which], seen.points["train"]
        n = min(len(one), len(other), most)
        sides = [_matrix(points, np.sort(rng.choice(len(points), n, replace=False))) for points in (one, other)]
        x, released = np.concatenate(sides), np.arange(2 * n) < n
        categories = [False] * len(seen.scaled) + [True] * len(seen.levelled)
        fold = folds(x, self.folds, rng)
        belief = np.full(2 * n, 0.5)
        importance: dict[str, float] = {}
        for held in range(self.folds):
            out = np.flatnonzero(fold == held)
            model = _fitted(x[fold != held], released[fold != held], categories, self.rounds)
            if model is None or not len(out):
                continue
            belief[out] = model(x[out])
            if columns and not importance:
                some = out if len(out) <= ASKED else rng.choice(out, ASKED, replace=False)
                lost = _importance(model, x[some], released[some], rng)
                importance = dict(zip((*seen.scaled, *seen.levelled), lost, strict=True))
        return Discrimination(auc(belief, released, fold), mean_square(belief - 0.5), n, importance)


@dataclass(frozen=True)
class Discrimination:
    """How well one model distinguishes released rows from real ones."""

    auc: Rate
    error: Rate
    n: int
    importance: dict[str, float]
    """By column: what of the AUC is lost when its values are shuffled among held-out rows."""


def folds(x: Floats, count: int, rng: np.random.Generator) -> Integers:
    """A fold for each row: one for all equal rows, unless more of them are equal than a leaf of a tree needs."""
    same, sizes = alike(x)
    together = rng.permutation(len(sizes)) % count
    apart = rng.permutation(len(x)) % count
    return np.where(sizes[same] > LEAF, apart, together[same])


def auc(score: Floats, positive: Mask, fold: Integers | None = None) -> Rate:
    """The area under the ROC curve, ties half, with the interval of DeLong et al. (1988).

    With folds it is the mean of their areas by their rows: scores of different models are not compared. A fold with rows of one
    side only does not count. Errors of the folds are put together by variance estimates recovery (Donner and Zou 2012).
    """
    parts = [np.arange(len(score))] if fold is None else [np.flatnonzero(fold == one) for one in np.unique(fold)]
    usable = [rows for rows in parts if 0 < positive[rows].sum() < len(rows)]
    if not usable:
        return Rate(0.5, 0.0, 1.0)
    areas = [roc.auc(score[rows][positive[rows]], score[rows][~positive[rows]]) for rows in usable]
    weights = np.array([len(rows) for rows in usable]) / sum(map(len, usable))
    values, lows, highs = (np.array([getattr(area, key) for area in areas]) for key in ("value", "low", "high"))
    value = float(weights @ values)
    down, up = (float(np.linalg.norm(weights * reach)) for reach in (values - lows, highs - values))
    return Rate(value, max(0.0, value - down), min(1.0, value + up))


def mean_square(gaps: Floats) -> Rate:
    """The mean of the squares and its normal interval."""
    squares = gaps**2
    value, radius = float(squares.mean()), NORMAL * float(squares.std(ddof=1)) / math.sqrt(len(squares))
    return Rate(value, max(0.0, value - radius), min(0.25, value + radius))


def _matrix(points: Points, rows: Integers) -> Floats:
    return np.concatenate([points.numbers[rows].astype(np.float64), points.codes[rows].astype(np.float64)], axis=1)


def _fitted(x: Floats, released: Mask, categories: list[bool], rounds: int):  # type: ignore[no-untyped-def]
    """The belief that a row is released, learnt from these; None if they are all of one table."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if released.all() or not released.any():
        return None
    model = HistGradientBoostingClassifier(
        categorical_features=categories,
        random_state=0,
        max_iter=min(rounds, max(10, len(x) // 100)),
        learning_rate=0.15,
        min_samples_leaf=LEAF,
        early_stopping=False,
    )
    model.fit(x, released)
    return lambda rows: np.asarray(model.predict_proba(rows)[:, 1])


def _importance(model, x: Floats, released: Mask, rng: np.random.Generator) -> list[float]:  # type: ignore[no-untyped-def]
    """For each column what of the AUC is lost when its values are shuffled (Breiman 2001); a gain counts as nothing."""
    if released.all() or not released.any():
        return [0.0] * x.shape[1]
    whole, lost = auc(model(x), released).value, []
    together = max(1, BATCH // len(x))
    for first in range(0, x.shape[1], together):
        columns = range(first, min(first + together, x.shape[1]))
        mixed = np.repeat(x[None], len(columns), axis=0)
        for at, column in enumerate(columns):
            mixed[at, :, column] = x[rng.permutation(len(x)), column]
        scores = model(mixed.reshape(-1, x.shape[1])).reshape(len(columns), -1)
        lost += [max(0.0, whole - auc(score, released).value) for score in scores]
    return lost
