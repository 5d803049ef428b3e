"""Shadow models: the attacker runs the generator on tables of their own, with and without a person, and learns the difference.

Stadler et al. 2022 train 2k generators for every target. Here the same shadow tables serve all targets: in each of them a
fair coin decides for every target alone whether it is in (as in Carlini et al. 2022). The attacker's guess about a
table comes from a classifier fitted to earlier tables only, so that, if the generator does not depend on who is in, every guess is
right with probability 1/2 whatever happened before, and the number of right guesses is exactly binomial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.audits.inference_targets import column_to_guess
from hushtable.audits.regenerate import no_generator, not_regenerated
from hushtable.audits.shadow_tables import Game, Shadowing, fitted, inside_of, standard
from hushtable.errors import HushError
from hushtable.evidence import roc
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import binomial_tail, clopper_pearson
from hushtable.evidence.finding import Better, Finding, Risk, Subject, Trace, uncomputed
from hushtable.evidence.persons import People
from hushtable.evidence.reading import floats_like
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import CODED
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class ShadowMembership(Shadowing):
    """Whether somebody who can run the generator can infer from a released table that a certain person was in the training rows.

    Promises an exact test at any number of tables: the hits are binomial if the generator does not depend on who is in.
    """

    targets: int = 8
    """People who are asked about: half of them those farthest from all others, half drawn at random."""

    def __post_init__(self) -> None:
        """At least one target."""
        super().__post_init__()
        check_knobs(self, targets=(self.targets >= 1, "must be at least 1"))

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for all targets together, one for the area under the curve; each target in the detail."""
        name = "shadow membership"
        if case.generator is None:
            return [no_generator(name)]
        key = int(rng.integers(2**62))
        rows, outlying = self._targets(case, rng)
        try:
            game = _game(case, case.train.take(rows), rows, np.arange(0), lambda rng: np.flatnonzero(rng.random(len(rows)) < 0.5))
            _, features = self.features(case, game, key, rng)
        except HushError as error:
            return [not_regenerated(name, len(rows), error)]
        inside = inside_of(game, key, features)
        return self._judged(name, case.people("train"), rows, outlying, _guesses(standard(features), inside), inside)

    def _targets(self, case: Case, rng: np.random.Generator) -> tuple[Integers, int]:
        """A training row of each, the outlying ones first, and how many of those there are."""
        people = case.people("train")
        count = max(1, min(self.targets, people.count // 4))
        distance = case.nearest("train", "train").distance[:, 0]
        apart = np.argsort(-people.most(distance), kind="stable")[: -(-count // 2)]
        others = rng.choice(np.setdiff1d(np.arange(people.count), apart), count - len(apart), replace=False)
        return people.strongest(distance)[np.concatenate([apart, others])], len(apart)

    def _judged(self, name: str, people: People, rows: Integers, outlying: int, scores: Floats, inside: Mask) -> list[Finding]:
        tables_note, inside, guesses = self.note(len(inside)), inside[-len(scores) :], scores > 0
        right = int((guesses == inside).sum())
        persons = np.broadcast_to(people.standing_for(rows), inside.shape)
        trace = Trace(guesses[inside], guesses[~inside], persons[inside], np.full(int((~inside).sum()), -1))
        each = [_each(guesses[:, t], inside[:, t], t < outlying) for t in range(len(rows))]
        finding = judge(
            trace,
            Scenario(
                name=name,
                risk=Risk.SINGLING_OUT,
                knows="can run the generator",
                does="claims membership",
                whom="trials with people",
            ),
            naive=None,
            p=binomial_tail(right, inside.size),
            detail={"right": right, "trials": inside.size, "targets": each},
        )
        if not inside.any() or inside.all():
            return [replace(finding, note=finding.note + tables_note)]
        area = roc.auc(scores[inside], scores[~inside])
        return [
            replace(finding, note=finding.note + tables_note),
            Finding(
                name=f"{name} AUC", value=area.value, low=area.low, high=area.high, baseline=0.5, better=Better.LOWER,
                subject=Subject.PRIVACY, n=inside.size, detail={"roc": roc.curve(scores[inside], scores[~inside])},
                note=f"of two tables, one with a person and one without, an attacker who can run the generator picks the "
                f"right one in {100 * area.value:.3g} of 100 cases (50 by tossing a coin){tables_note}",
            ),
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ShadowInference(Shadowing):
    """Attribute inference by membership: the value of the secret with which the person most resembles a member is guessed.

    In shadow tables each target is out, or in with a secret drawn by lot; one classifier learns from all of them the
    features of a table around a record that is in. Then every value is tried on the release itself. How frequent a value is plays
    no part: it would raise both sides and hide what is remembered. Targets are training rows and, as the baseline,
    control rows, all drawn at random, of each person at most one, so Fisher's test is exact.
    """

    targets: int = 40
    """People asked about on each side."""
    secret: str = ""
    """The category to guess; when empty the first that is declared a secret, else a target, else the last."""

    def __post_init__(self) -> None:
        """At least one target."""
        super().__post_init__()
        check_knobs(self, targets=(self.targets >= 1, "must be at least 1"))

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        name = "shadow inference"
        if case.generator is None:
            return [no_generator(name)]
        secret = column_to_guess(case, self.secret, CODED)
        if secret is None:
            return [uncomputed(name, 0, "there is no category with two levels or more whose value could be guessed")]
        key, levels = int(rng.integers(2**62)), len(case.train.schema[secret].levels)
        count = min(self.targets, case.people("train").count // 4, case.people("control").count // 2)
        if not count:
            return [uncomputed(name, 0, "there are too few people to take some of them as targets", scope=secret)]
        ours, others = (np.sort(side.first[rng.choice(side.count, count, replace=False)]) for side in case.sides)
        try:
            records = _every_value(case, secret, ours, others)
            game = _game(case, records, ours, others, _lots(2 * count, levels))
            release, features = self.features(case, game, key, rng)
        except HushError as error:
            return [not_regenerated(name, count, error, secret)]
        seen = standard(np.concatenate([features, release[None]]))
        odds = fitted(seen[:-1], inside_of(game, key, features))(seen[-1]).reshape(2 * count, levels)
        guesses = odds.argmax(axis=1)
        truth = np.concatenate(
            [floats_like(t.take(rows), secret, case.train) for t, rows in ((case.train, ours), (case.control, others))]
        )
        hits = guesses == truth
        finding = judge(
            Trace(hits[:count], hits[count:], ours, others),
            Scenario(
                name=name,
                scope=secret,
                risk=Risk.INFERENCE,
                knows="can run the generator and knows all other columns",
                does=f"guesses {secret} correctly",
            ),
            naive=1 / levels,
        )
        return [replace(finding, note=finding.note + self.note(len(features)))]


def _game(case: Case, records: Table, ours: Integers, others: Integers, choose: Callable[[np.random.Generator], Integers]) -> Game:
    """The attacker's rows are those of everybody but the targets, of whom no other row is in any shadow table."""
    names = [name for name in case.train.schema.names if name in case.control.schema]
    sides = zip((case.train, case.control), case.sides, (ours, others), strict=True)
    rest = [table.take(~np.isin(people.who, people.who[gone])).select(names) for table, people, gone in sides]
    return Game(records.select(names), Table.concat(rest), case.train.rows, choose)


def _lots(targets: int, levels: int) -> Callable[[np.random.Generator], Integers]:
    """A coin whether a target is in, and a lot for its secret."""

    def choose(rng: np.random.Generator) -> Integers:
        held, value = rng.random(targets) < 0.5, rng.integers(0, levels, targets)
        return (np.arange(targets) * levels + value)[held]

    return choose


def _every_value(case: Case, secret: str, ours: Integers, others: Integers) -> Table:
    """Each target once with every level of its secret, in order."""
    names = [name for name in case.train.schema.names if name in case.control.schema]
    people = Table.concat([case.train.take(ours).select(names), case.control.take(others).select(names)])
    column = case.train.schema[secret]
    repeated = people.take(np.repeat(np.arange(people.rows), len(column.levels)))
    return repeated.with_column(column, np.tile(np.arange(len(column.levels), dtype=np.int32), people.rows))


def _guesses(features: Floats, inside: Mask) -> Floats:
    """For each table of the second half the log-odds of each record, from a classifier fitted to the tables before it."""
    return np.stack([fitted(features[:j], inside[:j])(features[j]) for j in range(len(features) // 2, len(features))])


def _each(guesses: Mask, inside: Mask, outlying: bool) -> dict[str, Any]:
    """The rates for one target; which target it is, only the trace knows."""
    hit, out = clopper_pearson(int((guesses & inside).sum()), int(inside.sum())), int((~inside).sum())
    false = clopper_pearson(int((guesses & ~inside).sum()), out)
    return {"outlying": outlying, "tpr": [hit.value, hit.low, hit.high], "fpr": [false.value, false.low, false.high]}
