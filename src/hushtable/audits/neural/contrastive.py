"""Attacks in the space of a contrastive encoder: linkability, inference, and the distance to the closest record.

Each follows its published form (Giomi et al. 2023 with the nearest neighbour in the embedding). The source reports little
gain over the plain distance for these three; they are here to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.indicators import ClosestRecord, Distances, worth
from hushtable.audits.inference_targets import EVERYTHING, Knowledge, Secret, listed, secrets
from hushtable.audits.learned_inference import BINS, LearnedInference, learnable
from hushtable.audits.linkability import Linkability, meeting_chance
from hushtable.audits.neural.encoder import ABSENT, FIRST, Encoder, Training, nearest
from hushtable.evidence.attack import Attack, Strike, Way
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.table.arrays import Floats

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

TOO_FEW = "a contrastive encoder compares records of which some columns are hidden: it takes at least two columns"


@dataclass(frozen=True, kw_only=True)
class ContrastiveLinkability(Training, Attack):
    """Two sources that know different columns of a person, joined where both lead to one released row.

    For each half of the columns the person and the released rows are embedded with the other half masked, and the released row
    nearest on the sphere is found; the halves are linked if it is the same one.
    """

    costly: ClassVar[bool] = True
    random: int = 1
    """Random splits of the columns, beside the fixed ones of the plain attack."""
    known: tuple[str, ...] = ()
    """Splits to try instead: age+sex (against the rest), or age+sex|income+job."""

    def __post_init__(self) -> None:
        """As in the plain attack."""
        super().__post_init__()
        Linkability(random=self.random, known=self.known)

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """One for each split."""
        case = case.read_as_values()
        if len(case.columns) < 2:
            yield uncomputed("contrastive linkability", case.train.rows, TOO_FEW)
            return
        encoder = self.encoder(case)
        for label, split in Linkability(random=self.random, known=self.known)._splits(case, rng).items():
            halves = [encoder.points([case.columns.index(name) for name in half]) for half in split]
            yield Way(
                "contrastive linkability", Risk.LINKABILITY,
                f"holds {listed(split[0])} in one source and {listed(split[1])} in another", "links the two",
                partial(_link, halves), meeting_chance(1, case.release.rows), label,
            )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ContrastiveInference(Training, Attack):
    """A secret guessed twice, and the better guess chosen by the encoder.

    The first guess is the secret of the released row that is nearest when the secret is masked in the person's record and
    in the released ones (so that a copy is at distance 0; the source masks only the person's). The second is what a
    gradient boosting model, trained on the release, says for *that released row*, as published, and not for the person. Each is
    embedded as a record of which nothing else is known; the one with the larger cosine to the person's record is taken.
    """

    costly: ClassVar[bool] = True
    secrets: tuple[str, ...] = ()
    """The columns to guess; secrets and targets of the schema when empty, or else the last column."""
    tolerance: float = 0.05
    """A guessed number is right within this share of the true one."""
    iterations: int = 40
    """Rounds of boosting."""
    classes: int = 20
    """The commonest levels that the boosting learns; it never guesses another."""

    def __post_init__(self) -> None:
        """As in the plain attack by a learnt model."""
        super().__post_init__()
        LearnedInference(tolerance=self.tolerance, iterations=self.iterations, classes=self.classes)

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """One for each secret."""
        case = case.read_as_values()
        named, refused = secrets(case, self.secrets, "contrastive inference")
        yield from refused
        for name in named:
            secret = Secret.of(case, name, self.tolerance)
            reason = TOO_FEW if len(case.columns) < 2 else ""
            reason = f"{name}: all people have the same value, so there is nothing to guess" if secret.constant else reason
            if reason:
                yield uncomputed("contrastive inference", case.train.rows, reason, scope=name)
            else:
                yield self._guess(case, secret, int(rng.integers(2**31)))

    def _guess(self, case: Case, secret: Secret, seed: int) -> Way:
        encoder, column = self.encoder(case), case.columns.index(secret.name)
        rest = [at for at in range(len(case.columns)) if at != column]
        points, own = encoder.points(rest), encoder.points([column])["release"]
        guess, theirs = self._modelled(encoder, column, secret.offered, seed)
        step = case.train.schema[secret.name].step
        guess = np.round(guess / step) * step if encoder.records.numeric[column] and step else guess
        known = Knowledge(secret.name, EVERYTHING, ())

        def strike(which: str) -> Strike:
            rows, _ = nearest(points[which], points["release"])
            modelled = (points[which] * (theirs - own)[rows]).sum(axis=1) > 0
            return Strike(secret.hits(which, np.where(modelled, guess[rows], secret.offered[rows])), rows)

        return Way(
            "contrastive inference", Risk.INFERENCE, known.phrase, f"guesses {secret.name} correctly", strike,
            secret.blind("train"), known.scope, detail={"best_constant": secret.best_constant()},
        )  # fmt: skip

    def _modelled(self, encoder: Encoder, column: int, offered: Floats, seed: int) -> tuple[Floats, Floats]:
        """For each released row the model's guess of the secret, and the point of a record of which only that is known."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        records, numeric = encoder.records, bool(encoder.records.numeric[column])
        rows = records.rows["release"]
        codes, values = records.codes[rows], records.values[rows].astype(np.float64)
        learnt = learnable(codes[:, column], codes[:, column] == ABSENT, None if numeric else self.classes)
        target = values[:, column] if numeric else codes[:, column]
        predictors = np.flatnonzero((codes[learnt] != ABSENT).any(axis=0) & (np.arange(codes.shape[1]) != column))
        if len(np.unique(target[learnt])) < 2 or not len(predictors):
            return offered, encoder.points([column])["release"]
        features = np.where(records.numeric, np.where(codes == ABSENT, np.nan, values), codes)[:, predictors]
        levels = (~records.numeric & (records.sizes <= BINS))[predictors]
        kind = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
        model = kind(
            max_iter=self.iterations, learning_rate=0.2, early_stopping=False, categorical_features=levels, random_state=seed
        )
        # Sums over several threads differ in the last bit from those over another number of them.
        with threadpool_limits(1, "openmp"):
            guess = model.fit(features[learnt], target[learnt]).predict(features)
        if numeric:
            mean, spread = records.scales[column]
            return guess * spread + mean, encoder.single(column, np.full(len(guess), FIRST), guess)
        _, first = np.unique(codes[:, column], return_index=True)
        at = first[np.searchsorted(codes[first, column], guess)]
        return offered[at], encoder.points([column])["release"][at]


@dataclass(frozen=True, kw_only=True)
class ContrastiveClosestRecord(Training, ClosestRecord):
    """The closest record score with the search on the sphere: whether released rows crowd around training rows there.

    All columns are known. Distances on the sphere are chords: cosines in another form.
    """

    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """The knobs of both."""
        Training.__post_init__(self)
        ClosestRecord.__post_init__(self)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, and the distributions for a plot."""
        name, plain = "contrastive closest record score", case.read_as_values()
        if len(case.columns) < 2:
            return [uncomputed(name, case.release.rows, TOO_FEW)]
        points = self.encoder(plain).points(range(len(case.columns)))
        sides = (("release", "train"), ("control", "train"), ("train", "control"))
        distances = Distances(*(nearest(points[queries], points[targets])[1] for queries, targets in sides))
        return [replace(self._score(1, distances, worth(case), case.generalized, rng), name=name)]


def _link(halves: list[dict[str, Floats]], which: str) -> Strike:
    one, other = (nearest(points[which], points["release"])[0] for points in halves)
    return Strike(one == other, np.where(one == other, one, -1))
