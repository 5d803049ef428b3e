"""What a generator memorizes of single rows: canaries with random secrets, and injected points that belong to nobody (C7, C9).

Both change the training rows and run the generator again. A value that was drawn at random and is released nevertheless cannot
have been learnt from people in general: there was nothing to learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from hushtable.audits.inference_targets import column_to_guess
from hushtable.audits.regenerate import no_generator, not_regenerated, regenerate
from hushtable.errors import HushError
from hushtable.evidence.attack import LEVEL, Scenario, judge, of_hundred
from hushtable.evidence.confidence import Rate, binomial_tail, clopper_pearson, gain, observed, residual_risk, wilson
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace, uncomputed
from hushtable.evidence.neighbours import search as neighbours
from hushtable.evidence.reading import floats_like
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import CODED, NUMBERS, Column
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class Canaries(Audit):
    """Canary records: training rows whose secret is drawn at random, the generator trained again, and the secret guessed.

    Following Sundaram et al., with several canaries in each of a few trainings. The guess is the secret of the released row
    that is nearest in all other columns. A lot is right by chance with a known probability, so the test is exact: binomial
    against one over the number of levels, or for a number against the largest share of its range within the tolerance.
    The copy test asks how many canaries come back whole, against the same rows with another lot that nobody trained on; if
    nothing is remembered, each of the two is equally likely to be the one that comes back.
    """

    costly: ClassVar[bool] = True

    canaries: int = 100
    """Records with a random secret, in all trainings together; fewer where they would be over a tenth of the rows."""
    trainings: int = 4
    """How often the generator is trained again, each time with its share of the canaries."""
    secret: str = ""
    """The column; when empty the first that is declared a secret, else a target, else the last."""
    tolerance: float = 0.05
    """How far a guessed number may be off, as a share of the range."""

    def __post_init__(self) -> None:
        """Enough canaries for the trainings."""
        check_knobs(
            self,
            canaries=(self.canaries >= 1, "must be at least 1"),
            trainings=(1 <= self.trainings <= max(1, self.canaries), "must be at least 1 and at most the number of canaries"),
            tolerance=(0 < self.tolerance < 0.5, "must lie between 0 and 1/2"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """What is remembered of the secret, and what comes back whole."""
        name = "canary secrets"
        if case.generator is None:
            return [no_generator(name)]
        secret = column_to_guess(case, self.secret, CODED | NUMBERS)
        known = tuple(column for column in case.columns if column != secret)
        if secret is None or not known:
            return [uncomputed(name, 0, "needs a column whose value can vary, and another column to find the row by")]
        # More would blur what the rows say about everybody.
        count = min(self.canaries, self.trainings * max(1, case.train.rows // 10), case.train.rows)
        persons = rng.choice(case.train.rows, count, replace=False)
        try:
            parts = [self._trained(case, secret, known, part, rng) for part in np.array_split(persons, self.trainings) if len(part)]
        except HushError as error:
            return [not_regenerated(name, len(persons), error, secret)]
        hits, missed, copied, twins = (np.concatenate(bits) for bits in zip(*parts, strict=True))
        # Nobody's record: what is remembered of a lot was never about the person who lent the other columns.
        nobody = np.full(len(persons), -1)
        return [
            self._guessed(case, secret, known, Trace(hits, missed, nobody, nobody)),
            _copies(Trace(copied, twins, nobody, nobody), secret),
        ]

    def _trained(
        self, case: Case, secret: str, known: tuple[str, ...], rows: Integers, rng: np.random.Generator
    ) -> tuple[Mask, ...]:
        """One training: whether the secret is guessed and whether the canary comes back whole, each beside its untrained twin."""
        column = case.train.schema[secret]
        lots, others = rng.choice(_choices(column), (2, len(rows)))
        array = case.train[secret].copy()
        array[rows] = lots
        changed = case.train.with_column(column, array)
        release = regenerate(case, changed, int(rng.integers(2**31)))
        canaries = changed.take(rows)
        nearest = neighbours.nearest(canaries, release, columns=known)
        guess = floats_like(release, secret, case.train)[nearest.index[:, 0]]
        pair = canaries, canaries.with_column(column, others)
        hits = (np.abs(guess - floats_like(table, secret, case.train)) <= self._reach(column) for table in pair)
        whole = (neighbours.nearest(table, release, columns=case.columns).distance[:, 0] == 0 for table in pair)
        return *hits, *whole

    def _reach(self, column: Column) -> float:
        """How far off a guess may be; the small extra absorbs rounding."""
        return 0.0 if column.kind in CODED else self.tolerance * (column.bounds.high - column.bounds.low) * (1 + 1e-9)

    def _chance(self, column: Column) -> float:
        """The largest probability with which a lot falls where a guess reaches, whatever the guess."""
        choices = _choices(column).astype(np.float64)
        reached = np.searchsorted(choices, choices + 2 * self._reach(column), side="right") - np.arange(len(choices))
        return float(reached.max() / len(choices))

    def _guessed(self, case: Case, secret: str, known: tuple[str, ...], trace: Trace) -> Finding:
        column = case.train.schema[secret]
        right, n, chance = int(trace.train.sum()), len(trace.train), self._chance(column)
        blind = Rate(chance, chance, chance)
        left = residual_risk(wilson(right, n, LEVEL), blind)
        plain = case.read_as_values()
        nearest = plain.nearest("train", "release", 1, known).index[:, 0]
        guess, truth = (floats_like(table, secret, plain.train) for table in (plain.release, plain.train))
        real = float(np.mean(np.abs(guess[nearest] - truth) <= self._reach(column)))
        # Remembered with probability x, a value is guessed surely, else as well as anybody's: real = x + (1 - x) e.
        about = max(0.0, real - max(0.0, (right / n - chance) / (1 - chance)))
        achieved = f"where {secret} was drawn at random, an attacker who knows all other columns guesses it correctly for "
        achieved += f"{of_hundred(right / n)} records, against {of_hundred(chance)} by chance"
        return Finding(
            name="canary secrets", scope=secret, value=left.value, low=left.low, high=left.high, baseline=0.0,
            better=Better.LOWER, subject=Subject.PRIVACY, n=n, risk=Risk.INFERENCE,
            gain=gain(observed(right, n, LEVEL), blind),
            p=binomial_tail(right, n, chance),
            note=f"{achieved}; of the {100 * real:.3g} of 100 real values that are guessed correctly, about {100 * about:.3g} are "
            "due to what the release says about people in general",
            detail={
                "hits": right, "attempts": n, "chance": chance, "real": real, "everybody": about,
                "exact": [clopper_pearson(right, n, LEVEL).low, clopper_pearson(right, n, LEVEL).high],
            },
            trace=trace,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class InjectedPoints(Audit):
    """Memorization of injected points: invented rows are added to the table, the generator is run again, and they are searched for.

    A point takes each column from another training row; of many, those farthest from all real rows are kept. For each a fair
    coin decides whether it is injected. It comes back if a released row is nearer than ``within`` of its distance to the
    nearest real row. The points that stayed out are the baseline: if the generator does not remember, each point that comes
    back was injected with probability 1/2, so the test is exact.
    """

    costly: ClassVar[bool] = True

    points: int = 100
    """Points in each training; about half of them are injected."""
    trainings: int = 2
    """How often the generator is trained again, each time with new points."""
    within: float = 0.5
    """How near a released row must come, as a share of the way to the nearest real row."""

    def __post_init__(self) -> None:
        """Numbers that make sense."""
        check_knobs(
            self,
            points=(self.points >= 2, "must be at least 2"),
            trainings=(self.trainings >= 1, "must be at least 1"),
            within=(0 <= self.within < 1, "must lie in [0, 1)"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, with the count at other distances in the detail."""
        name = "injected points"
        if case.generator is None:
            return [no_generator(name)]
        try:
            parts = [self._trained(case, rng) for _ in range(self.trainings)]
        except HushError as error:
            return [not_regenerated(name, self.points, error)]
        inside, near = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if not len(near):
            return [uncomputed(name, 0, "every combination of values is already in the table")]
        back = near <= self.within
        came = int((back & inside).sum())
        shares = np.linspace(0, 1, 21)
        nobody, neither = (np.full(int((inside == side).sum()), -1) for side in (True, False))
        return [
            judge(
                Trace(back[inside], back[~inside], nobody, neither),
                Scenario(
                    name=name,
                    risk=Risk.SINGLING_OUT,
                    knows="invents rows that belong to nobody",
                    does="finds them in the release",
                    whom="invented rows",
                ),
                naive=None,
                p=binomial_tail(came, int(back.sum())),
                detail={
                    "within": shares.tolist(),
                    "injected": [int((near[inside] <= share).sum()) for share in shares],
                    "left_out": [int((near[~inside] <= share).sum()) for share in shares],
                },
            )
        ]

    def _trained(self, case: Case, rng: np.random.Generator) -> tuple[Mask, Floats]:
        """Which points were injected, and how near each came back, as a share of the way to the nearest real row."""
        points, apart = self.invented(case, rng)
        inside = rng.random(points.rows) < 0.5
        if not points.rows:
            return inside, apart
        release = regenerate(case, Table.concat([case.train, points.take(inside)]), int(rng.integers(2**31)))
        return inside, neighbours.nearest(points, release, columns=case.columns).distance[:, 0] / apart

    def invented(self, case: Case, rng: np.random.Generator) -> tuple[Table, Floats]:
        """Rows that mix the values of others and are farthest from every real row, with that distance, which is never zero."""
        drawn = {name: array[rng.integers(0, case.train.rows, 10 * self.points)] for name, array in case.train.arrays.items()}
        mixed = Table(case.train.schema, drawn, case.train.texts)
        apart = neighbours.nearest(mixed, case.train, columns=case.columns).distance[:, 0]
        farthest = np.argsort(-apart, kind="stable")[: self.points]
        farthest = farthest[apart[farthest] > 0]
        return mixed.take(farthest), apart[farthest]


def _copies(trace: Trace, secret: str) -> Finding:
    """Canaries that come back whole; a tie between a canary and its twin says nothing, so the sign test leaves it out."""
    only, either = int((trace.train & ~trace.control).sum()), int((trace.train ^ trace.control).sum())
    return judge(
        trace,
        Scenario(
            name="canaries copied",
            scope=secret,
            risk=Risk.SINGLING_OUT,
            knows="knows a record whose secret was drawn at random",
            does="finds it whole in the release",
            whom="canaries",
        ),
        naive=None,
        p=binomial_tail(only, either),
    )


def _choices(column: Column) -> NDArray[np.generic]:
    """The values that a lot may give, in order: all levels, or a thousand values evenly over the range, on the column's grid."""
    if column.kind in CODED:
        return np.arange(len(column.levels), dtype=column.dtype)
    return np.unique(column.from_floats(np.linspace(column.bounds.low, column.bounds.high, 1000)))
