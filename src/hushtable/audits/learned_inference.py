"""Attribute inference by a trained model: gradient boosting fitted to the release guesses a secret from all other columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.inference_targets import Secret, knowledge, secrets
from hushtable.evidence.attack import Attack, Strike, Way
from hushtable.evidence.confidence import Rate, bootstrap
from hushtable.evidence.finding import Better, Finding, Risk, Subject, uncomputed
from hushtable.evidence.persons import People
from hushtable.evidence.reading import floats_like
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Array, Floats, Mask
from hushtable.table.columns import CODED

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Guesses = dict[str, Floats]
LEAST = 20
"""Released rows with a value of the secret that a model needs."""
BINS = 254
"""Levels that the boosting distinguishes; a column of more is read as a number."""


@dataclass(frozen=True, kw_only=True)
class LearnedInference(Attack):
    """A model trained on the release guesses the secret of people in the table and of others.

    Mostly it measures what the release teaches about everybody, which is its purpose; only the excess on training rows is a
    leak. Levels: the likeliest class. Numbers and dates: the released value nearest to the predicted median, right within the
    tolerance of ``inference``; and 1 - RMSE/range of the predicted mean, the range being that of all people's values, in a
    finding of its own. A missing secret is never guessed.
    """

    by_knowledge = True

    secrets: tuple[str, ...] = ()
    """The columns to guess; secrets and targets when empty, else the last column."""
    iterations: int = 40
    """Rounds of boosting."""
    classes: int = 20
    """The commonest classes that are learnt, a tree for each in every round; the others are never guessed."""
    tolerance: float = 0.05
    """A guessed number is right within this share of the true one."""

    def __post_init__(self) -> None:
        """Counts and a share."""
        check_knobs(
            self, iterations=(self.iterations >= 1, "must be at least 1"), classes=(self.classes >= 2, "must be at least 2"),
            tolerance=(0 <= self.tolerance < 1, "must lie in [0, 1)"),
        )  # fmt: skip

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """One for each secret, and the regression's score where it is a number."""
        named, refused = secrets(case, self.secrets, "learned inference")
        # Once is enough: who holds fewer columns cannot guess it either.
        yield from () if case.limited else refused
        for name in named:
            held = next(iter(knowledge(case, name)), None)
            if held is None:
                continue
            secret = Secret.of(case, name, self.tolerance)
            most = self.classes if case.train.schema[name].kind in CODED else None
            learnt = learnable(secret.offered, np.isnan(secret.offered), most)
            # What became a star everywhere has no value to learn from either.
            known = [n for n in held.columns if not np.isnan(floats_like(case.ordinary(), n, case.train)[learnt]).all()]
            reason = _unfit(secret, secret.offered[learnt], known)
            if reason and case.limited:
                continue
            if reason:
                yield uncomputed("learned inference", case.train.rows, f"{name}: {reason}", scope=name, risk=Risk.INFERENCE)
                continue
            guesses, means = self._guesses(case, secret, known, learnt, rng)

            def strike(which: str, secret: Secret = secret, guesses: Guesses = guesses) -> Strike:
                return Strike(secret.hits(which, guesses[which]))

            yield Way(
                "learned inference", Risk.INFERENCE, f"{held.phrase} and trains a model on the release",
                f"guesses {name} correctly", strike, secret.blind("train"), held.scope, None,
                {"best_constant": secret.best_constant(), "secret": name}, held.known,
            )  # fmt: skip
            if means is not None:
                yield _regression(case, secret, means, rng)

    def _guesses(
        self, case: Case, secret: Secret, known: list[str], learnt: Mask, rng: np.random.Generator
    ) -> tuple[Guesses, Guesses | None]:
        """For train and control: the guesses to be scored one by one, and for numbers the predicted means."""
        schema = case.train.schema
        tables = {"train": case.train, "control": case.control, "release": case.ordinary()}
        data = {w: np.stack([floats_like(t, name, case.train) for name in known], axis=1) for w, t in tables.items()}
        levels = [schema[name].coded and len(schema[name].levels) <= BINS for name in known]
        fit = partial(self._predictions, data, learnt, levels, int(rng.integers(2**31)))
        offered = secret.offered[learnt]
        if schema[secret.name].kind in CODED:
            return fit(offered, "log_loss"), None
        # Where the median is shared by many, no tree gets ahead: their errors of 0 all count as errors of one sign.
        apart = offered + 1e-6 * np.ptp(offered) * rng.uniform(-1, 1, len(offered))
        medians, values = fit(apart, "absolute_error"), np.unique(offered)
        guesses = {which: _snapped(guess, values) for which, guess in medians.items()}
        # The score of the means is about the model as such, and is asked for once.
        return guesses, None if case.limited else fit(offered, "squared_error")

    def _predictions(self, data: Guesses, learnt: Mask, levels: list[bool], seed: int, values: Floats, loss: str) -> Guesses:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        kind = HistGradientBoostingClassifier if loss == "log_loss" else HistGradientBoostingRegressor
        model = kind(
            loss=loss, categorical_features=levels, random_state=seed,
            max_iter=self.iterations, learning_rate=0.2, early_stopping=False,
        )  # fmt: skip
        # Sums over several threads differ in the last bit from those over another number of them.
        with threadpool_limits(1, "openmp"):
            model.fit(data["release"][learnt], values)
            return {which: model.predict(data[which]).astype(np.float64) for which in ("train", "control")}


def _snapped(guess: Floats, values: Floats) -> Floats:
    """Each guess moved to the nearest of these values: a guess of 0.3 children, or of an income of 12, is wrong for sure."""
    after = np.clip(np.searchsorted(values, guess), 1, len(values) - 1)
    below, above = values[after - 1], values[after]
    return np.where(guess - below <= above - guess, below, above)


def learnable(offered: Array, missing: Mask, most: int | None) -> Mask:
    """The released rows to learn from: those with a value, of the commonest classes."""
    values, counts = np.unique(offered[~missing], return_counts=True)
    return np.isin(offered, values[np.argsort(-counts, kind="stable")[:most]])


def _unfit(secret: Secret, offered: Floats, known: list[str]) -> str:
    if not known:
        return "no other column of the release has a value to learn it from"
    if secret.constant:
        return "all people have the same value, so there is nothing to guess"
    if len(offered) < LEAST:
        return f"only {len(offered)} released rows have a value to learn from"
    if len(np.unique(offered)) < 2:
        return "all released rows have the same value, so there is nothing to learn"
    return ""


def _regression(case: Case, secret: Secret, guesses: Guesses, rng: np.random.Generator) -> Finding:
    """1 - RMSE/range of the guesses, on training people and, as the baseline, on control people, each counting once."""
    truth = np.concatenate(list(secret.truth.values()))
    width = float(np.nanmax(truth) - np.nanmin(truth))
    ours, others = (_score((guesses[w] - secret.truth[w]) / width, case.people(w), rng) for w in ("train", "control"))
    name = "learned inference NRMSE"
    if ours is None or others is None:
        return uncomputed(
            name,
            len(guesses["train"]),
            f"{secret.name} is missing for all people in the table, or for all outside it",
            scope=secret.name,
        )
    return Finding(
        name=name, scope=secret.name, value=ours.value, low=ours.low, high=ours.high,
        baseline=others.value, baseline_bad=others.high, better=Better.LOWER, subject=Subject.PRIVACY, n=len(guesses["train"]),
        note=f"a model trained on the release predicts {secret.name} with an error of {100 * (1 - ours.value):.3g} % of its range "
        f"for people in the table, and of {100 * (1 - others.value):.3g} % for people who are not in it (root mean square)",
    )  # fmt: skip


def _score(errors: Floats, people: People, rng: np.random.Generator) -> Rate | None:
    present = ~np.isnan(errors)
    if not present.any():
        return None
    squares = people.among(present).mean(errors[present] ** 2)
    estimate = bootstrap(lambda rows: 1 - float(np.sqrt(squares[rows].mean())), len(squares), rng, times=200)
    return Rate(estimate.value, min(estimate.low, estimate.value), max(estimate.high, estimate.value))
