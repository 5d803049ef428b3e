"""Membership inference from one release: one score per person, high where the person seems to have been in the table.

Scores are built from the release, and some from a reference: real rows that the attacker has anyway, for which a random half of
the control people stands in. Nobody in the reference is tested. Everybody else is: all training people, and all control people,
or the other half where there is a reference. Who holds several rows scores as high as the highest of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.audits.density import Density, Kernels, Map
from hushtable.evidence import roc
from hushtable.evidence.attack import LEVEL, Scenario, judge
from hushtable.evidence.confidence import clopper_pearson
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace, uncomputed
from hushtable.evidence.looks import Look, Nearest
from hushtable.evidence.neighbours.search import Neighbours, search
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

HALF = "half of the control people were the attacker's reference, the other half were tested"


@dataclass(frozen=True, eq=False)
class Scores:
    """The score that an attack gives every row it is tried on: the higher, the more surely in the table."""

    name: str
    """To follow "membership by"."""
    knows: str
    """To follow "an attacker who"."""
    train: Floats
    control: Floats
    persons: Integers
    """The training row of each score of ``train``."""
    control_persons: Integers
    released: Integers
    """For each of ``train`` the nearest released row: what an attacker would point at."""
    whom: str = "people"
    """Who is tried on both sides: everybody, or a part chosen by one rule that does not know the sides."""
    remark: str = ""
    scope: str = ""
    """The column that the scores are about; empty where it is all of them."""
    detail: dict[str, Any] = field(default_factory=dict)

    def by_person(self, case: Case) -> Scores:
        """One score for each person: the highest of their rows that were tried."""
        ours, others = case.sides
        at = ours.among(self.persons).strongest(self.train)
        other = others.among(self.control_persons).strongest(self.control)
        return replace(
            self, train=self.train[at], control=self.control[other], persons=ours.standing_for(self.persons[at]),
            control_persons=others.standing_for(self.control_persons[other]), released=self.released[at],
        )  # fmt: skip

    def among(self, ours: Mask, others: Mask, whom: str, **detail: float) -> Scores:
        """The scores of a part of the people."""
        return replace(
            self, train=self.train[ours], control=self.control[others], persons=self.persons[ours],
            control_persons=self.control_persons[others], released=self.released[ours], whom=whom, detail=detail,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ScoreAttack(Audit):
    """An attack that orders people by a score. It writes the scores; the judging is done here, and is the same for all.

    For each false-alarm rate the control sets the threshold, and the residual risk (r - c)/(1 - c) of claiming membership
    above it is reported with Clopper-Pearson intervals of both rates beside it (Carlini et al. 2022: what counts is
    how many are recognized almost surely). The test is exact although the control set the threshold
    (``roc.Threshold.p``). A rate of less than one control row is left out; where all are, one finding is about those who score
    above all control rows. The area under the ROC curve, which averages over everybody and so misses a small leak, stands
    beside it.
    """

    rates: tuple[float, ...] = (0.001, 0.01)
    """The shares of control rows that may be taken for members."""
    level: float = LEVEL
    """Confidence of the intervals."""

    def __post_init__(self) -> None:
        """Shares are shares."""
        check_knobs(
            self,
            rates=(all(0 < rate < 1 for rate in self.rates), "must lie between 0 and 1"),
            level=(0 < self.level < 1, "must lie between 0 and 1"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """For each attack one finding for each rate, and one for the area under the curve."""
        return [finding for scores in self.scores(case, rng) for finding in self._judged(case, scores)]

    @abstractmethod
    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """The scores of each attack; a finding in place of them says why there are none."""

    def _judged(self, case: Case, scores: Scores | Finding) -> list[Finding]:
        if isinstance(scores, Finding):
            return [scores]
        scores = scores.by_person(case)
        if not len(scores.train) or not len(scores.control):
            return [_none(scores.name, 0, f"there are no {scores.whom} in the table, or none outside it", _scope(scores))]
        return [*(self._at(scores, rate) for rate in self._resolvable(len(scores.control))), self._area(scores)]

    def _resolvable(self, rows: int) -> tuple[float, ...]:
        """The rates that allow at least one of so many control rows; the largest rate where none does."""
        return tuple(rate for rate in self.rates if roc.allowed(rate, rows)) or tuple(sorted(self.rates)[-1:])

    def _at(self, scores: Scores, rate: float) -> Finding:
        threshold = roc.Threshold.at(scores.control, rate)
        where, limit = f"at {100 * rate:g} % false alarms", f"at most {100 * rate:g} % false alarms"
        if not threshold.allowed:
            where, limit = "above all control rows", f"above all {threshold.rows} control people"
        ours, others = scores.train > threshold.score, scores.control > threshold.score
        trace = Trace(ours, others, scores.persons, scores.control_persons, np.where(ours, scores.released, -1))
        return judge(
            trace,
            Scenario(
                name=f"membership by {scores.name} {where}",
                scope=_scope(scores),
                risk=Risk.SINGLING_OUT,
                knows=scores.knows,
                does=f"claims membership ({limit})",
                whom=scores.whom,
            ),
            naive=threshold.chance,
            p=threshold.p(scores.train),
            level=self.level,
        )

    def _area(self, scores: Scores) -> Finding:
        n, m = len(scores.train), len(scores.control)
        area = roc.auc(scores.train, scores.control, self.level)
        note = f"of two {scores.whom}, one in the table and one not, an attacker who {scores.knows} picks the right one in "
        note += f"{100 * area.value:.3g} of 100 cases (50 by tossing a coin)"
        return Finding(
            name=f"membership AUC by {scores.name}", scope=_scope(scores), value=area.value, low=area.low, high=area.high,
            baseline=0.5, better=Better.LOWER, subject=Subject.PRIVACY, n=n, p=roc.auc_p(area.value, n, m),
            note=f"{note}; {scores.remark}" if scores.remark else note,
            detail={
                "roc": roc.curve(scores.train, scores.control), "control": m,
                "tpr": {f"{rate:g}": self._recognized(scores, rate) for rate in self._resolvable(m)}, **scores.detail,
            },
        )  # fmt: skip

    def _recognized(self, scores: Scores, rate: float) -> list[float]:
        """The share of training rows above the threshold, with its exact interval."""
        hits = int((scores.train > roc.Threshold.at(scores.control, rate).score).sum())
        share = clopper_pearson(hits, len(scores.train), self.level)
        return [share.value, share.low, share.high]


@dataclass(frozen=True, eq=False)
class Halves:
    """The control people cut in two at random: rows an attacker has anyway, and rows that are tested."""

    case: Case
    reference: Integers
    tested: Integers
    k: int

    @classmethod
    def of(cls, case: Case, rng: np.random.Generator, k: int = 5) -> Halves:
        """Of the control of this case; ``k`` released rows are searched for each person, if there are so many."""
        people = case.people("control")
        order, half = rng.permutation(people.count), people.count // 2
        reference, tested = (np.sort(people.rows_of(part)) for part in (order[:half], order[half:]))
        return cls(case, reference, tested, min(k, case.totals["release"]))

    def near(self, which: str) -> Neighbours:
        """The released rows nearest to each training or control row."""
        return self.case.nearest(which, "release", self.k)

    @cached_property
    def far(self) -> tuple[Floats, Floats]:
        """How far training rows and tested control rows are from the reference."""
        encoding = self.case.encoding()
        real, tested = (encoding.points(self.case.control.take(rows)) for rows in (self.reference, self.tested))
        ours, others = (search(points, real, encoding, 1).distance[:, 0] for points in (self.case.points("train"), tested))
        return ours, others

    def scores(self, name: str, knows: str, train: Floats, control: Floats) -> Scores:
        """Of all training rows and of the tested control rows."""
        persons, released = np.arange(len(train)), self.near("train").index[:, 0]
        return Scores(name, knows, train, control, persons, self.tested, released, remark=HALF)


@dataclass(frozen=True, eq=False)
class Clouds:
    """The four tables as points on principal axes of release and reference."""

    release: Floats
    reference: Floats
    train: Floats
    tested: Floats

    @classmethod
    def of(cls, halves: Halves, dimensions: int) -> Clouds:
        """Generalized cells are read as values drawn from them."""
        case = halves.case.read_as_values()
        reference, tested = (case.control.take(rows) for rows in (halves.reference, halves.tested))
        axes = Map.fit([case.release, reference], case.train, case.columns, dimensions=dimensions)
        return cls(*(axes.points(table) for table in (case.release, reference, case.train, tested)))

    @property
    def flat(self) -> bool:
        """Whether nothing varies, so that there is no density."""
        return bool(self.release.shape[1] == 0)


@dataclass(frozen=True, kw_only=True)
class Membership(ScoreAttack):
    """Five attacks on membership that need nothing but the release and some real rows.

    Nearest distance (GAN-Leaks, Chen et al. 2020) and its mean over several neighbours; the same calibrated by the distance
    to a reference; the number of released rows around a person (Hilprecht et al. 2019); and DOMIAS, the ratio of the
    density of the release to that of the reference (van Breugel et al. 2023), here with kernels on principal axes.

    DOMIAS is also tried on outliers: the people of both sides who are farthest from the reference. The published evaluation
    takes outliers among the training rows only and sets them against random controls: two kinds of people, whom a
    score can distinguish without any leak. That number stands in the detail as ``published_auc``, for comparison only.
    """

    by_knowledge = True

    neighbours: int = 5
    """How many released rows the mean distance is taken over."""
    outliers: float = 0.1
    """The share of people who count as outliers."""
    dimensions: int = 8
    """Principal axes on which densities are estimated."""

    def __post_init__(self) -> None:
        """Counts are positive, shares are shares."""
        super().__post_init__()
        check_knobs(
            self,
            neighbours=(self.neighbours >= 1, "must be at least 1"),
            outliers=(0 < self.outliers < 1, "must lie between 0 and 1"),
            dimensions=(self.dimensions >= 1, "must be at least 1"),
        )

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The nearest rows of everybody."""
        return [Nearest(case.columns, min(self.neighbours, case.totals["release"]))]

    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """All of them, on one choice of the reference; without densities where the release is larger than memory."""
        halves = Halves.of(case, rng, self.neighbours)
        ours, others = halves.near("train"), halves.near("control")
        everybody = np.arange(case.train.rows), np.arange(case.control.rows)
        records = case.holding if case.limited else "whole records"
        near = Scores(
            "nearest distance", f"knows {records} and measures how near the release comes to each",
            -ours.distance[:, 0], -others.distance[:, 0], *everybody, ours.index[:, 0],
        )  # fmt: skip
        yield near
        if halves.k > 1:
            yield replace(
                near, name="mean distance",
                knows=f"knows {records} and measures how near {halves.k} released rows come to each",
                train=-ours.distance.mean(axis=1), control=-others.distance.mean(axis=1),
            )  # fmt: skip
        yield _calibrated(halves)
        if case.limited or case.shortlist is not None:
            # Densities of a few columns say what distances in them say; and they are of all released rows.
            return
        clouds = Clouds.of(halves, self.dimensions)
        if clouds.flat:
            yield flat("density", case)
            return
        yield _around(halves, clouds)
        yield from domias(halves, clouds, Kernels(), rng, outliers=self.outliers)


def domias(
    halves: Halves,
    clouds: Clouds,
    density: Density,
    rng: np.random.Generator,
    *,
    outliers: float = 0.1,
    name: str = "density ratio",
) -> Iterator[Scores | Finding]:
    """The ratio of the density of the release to that of the reference at each person, on everybody and on outliers.

    ``density`` is fitted to both. The clouds must not be ``flat``.
    """
    theirs, usual = density.fit(clouds.release, rng), density.fit(clouds.reference, rng)
    ratio = halves.scores(
        name, "knows whole records, has real rows of others, and compares how densely both lie around each",
        *(theirs.logpdf(side) - usual.logpdf(side) for side in (clouds.train, clouds.tested)),
    )  # fmt: skip
    yield ratio
    # One cut for both sides, from both sides together: it cannot know who is in the table.
    cut = np.quantile(np.concatenate(halves.far), 1 - outliers, method="higher")
    ours, others = (far >= cut for far in halves.far)
    if ours.all() and others.all():
        yield _none(name, len(ours), "everybody is equally far from the reference", "outliers")
        return
    published = roc.auc(ratio.train[ours], ratio.control).value if ours.any() else 0.5
    yield replace(ratio, remark=f"outliers of both sides by one rule; {HALF}").among(
        ours, others, "outliers", published_auc=published
    )


def _calibrated(halves: Halves) -> Scores:
    """Distance to the reference over distance to the release; a little is added to both, so that no distance is zero."""
    little = 0.01 * float(np.median(np.concatenate(halves.far))) or 1.0
    near = halves.near("train").distance[:, 0], halves.near("control").distance[halves.tested, 0]
    records = halves.case.holding if halves.case.limited else "whole records"
    return halves.scores(
        "calibrated distance", f"knows {records}, has real rows of others, and compares which come nearer to each",
        *((far + little) / (distance + little) for far, distance in zip(halves.far, near, strict=True)),
    )  # fmt: skip


def _around(halves: Halves, clouds: Clouds) -> Scores:
    """How many released points lie within the median distance from a reference point to the nearest released one."""
    from scipy.spatial import KDTree

    tree = KDTree(clouds.release)
    radius = float(np.median(tree.query(clouds.reference)[0]))
    counts = (tree.query_ball_point(side, radius, return_length=True) for side in (clouds.train, clouds.tested))
    return halves.scores(
        "rows around", "knows whole records and counts the released rows around each",
        *(np.asarray(count, dtype=np.float64) for count in counts),
    )  # fmt: skip


def flat(name: str, case: Case) -> Finding:
    """The finding where there is no density."""
    return _none(name, case.train.rows, "no column of the release or of the reference varies")


def _none(name: str, rows: int, why: str, scope: str = "") -> Finding:
    return uncomputed(f"membership by {name}", rows, why, scope=scope, risk=Risk.SINGLING_OUT)


def _scope(scores: Scores) -> str:
    return ", ".join(part for part in (scores.scope, scores.whom) if part not in ("", "people"))
