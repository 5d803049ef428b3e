"""Indicators: whether the release repeats, or lies too close to, the rows it was made from.

Each number stands beside the same number for control rows, which the release was not made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hushtable.audits.nearness import densities
from hushtable.errors import InputError
from hushtable.evidence.attack import LEVEL, Scenario, judge
from hushtable.evidence.confidence import Rate, clopper_pearson
from hushtable.evidence.copies import Copies
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace, uncomputed
from hushtable.evidence.known import ALL, QUASI, Known
from hushtable.evidence.looks import Copied, Equal, Look
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Worth = tuple[float, float]


class Distances(NamedTuple):
    """Distances between rows of two tables."""

    release: Floats
    """From each released row to its nearest training rows."""
    control: Floats
    """From each control row to its nearest training rows."""
    real: Floats
    """From each training row to its nearest control rows."""


@dataclass(frozen=True, kw_only=True)
class IdenticalMatches(Audit):
    """Identical match share: released rows that equal a training row, and people who are published verbatim.

    The baseline of the first is the share of control rows that equal a training row: what chance alone repeats. The
    others are attacks: training people of whom a row stands in the release against control people, by Fisher's exact test. They
    are made on whole rows, and on the quasi columns and on the rest where there are both.
    """

    by_knowledge = True

    level: float = LEVEL
    """Confidence of the intervals."""

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """Equal rows: of the people who are asked, and of all."""
        sets = [columns for columns, _ in self._split(case)]
        return [Copied(case.compared), *(Equal(columns) for columns in (*sets, *([] if case.limited else [case.columns])))]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding on the release, one for each set of columns; no distance is computed."""
        if case.limited:
            return list(self._parts(case))
        found, rows = _equal(case), case.totals
        hits = (found.released, rows["release"]), (found.fresh, rows["control"])
        share, fresh = (_share(hit / n, size, self.level) for (hit, n), size in zip(hits, worth(case), strict=True))
        by_rows, fresh_by_rows = (_share(hit / n, n, self.level) for hit, n in hits)
        return [
            Finding(
                name="identical match share",
                value=share.value, low=share.low, high=share.high, baseline=fresh.value, baseline_bad=fresh.high,
                better=Better.LOWER, subject=Subject.PRIVACY, n=rows["release"],
                note=_verdict(
                    share.low > fresh.high,
                    by_rows.low > fresh_by_rows.high,
                    f"{_percent(share.value)} of released rows equal a training row; of control rows {_percent(fresh.value)} do",
                ),
            ),
            self._published(
                case,
                case.columns,
                Scenario(
                    name="published verbatim", risk=Risk.SINGLING_OUT, knows=f"knows {case.holding}",
                    does="finds it unchanged in the release", known=ALL,
                ),
            ),
            *self._all(case),
            *self._parts(case),
        ]  # fmt: skip

    def _all(self, case: Case) -> Iterator[Finding]:
        """The same of all rows, where a part of the people was asked and each row is a person."""
        if case.shortlist is None or case.train.persons is not None:
            return
        found, rows = _equal(case), case.totals
        hits = [np.arange(rows[side]) < hit for side, hit in (("train", found.train), ("control", found.control))]
        nobody = [np.broadcast_to(np.int64(-1), rows[side]) for side in ("train", "control")]
        everybody = Scenario(
            name="published verbatim", scope="all rows", risk=Risk.SINGLING_OUT, knows=f"knows {case.holding}",
            does="finds it unchanged in the release", known=ALL,
        )  # fmt: skip
        yield replace(judge(Trace(hits[0], hits[1], nobody[0], nobody[1]), everybody, level=self.level, naive=None), trace=None)

    def _parts(self, case: Case) -> Iterator[Finding]:
        """Rows copied in part: the quasi-identifiers, and all other columns."""
        for columns, scenario in self._split(case):
            yield self._published(case, columns, scenario)

    def _split(self, case: Case) -> Iterator[tuple[tuple[str, ...], Scenario]]:
        schema, does = case.train.schema, "finds exactly these values in a released row"
        quasi = Known(QUASI, tuple(n for n in case.compared if schema[n].role is Role.QUASI))
        known = case.known if case.limited and case.known else quasi
        rest = tuple(n for n in case.compared if n not in quasi.columns)
        apart = len(quasi.columns) > 1 and len(rest) > 1
        if case.limited or (apart and case.known is None):
            yield (
                known.columns,
                Scenario(
                    name="published in part",
                    scope="quasi columns" if known.label == QUASI else known.label,
                    risk=Risk.SINGLING_OUT,
                    knows=f"knows {known.noun}",
                    does=does,
                    known=known.label,
                ),
            )
        if apart and not case.limited:
            knows = "knows everything about a person but the quasi-identifiers"
            yield (
                rest,
                Scenario(
                    name="published in part",
                    scope="all but quasi columns",
                    risk=Risk.SINGLING_OUT,
                    knows=knows,
                    does=does,
                    known=ALL,
                ),
            )

    def _published(self, case: Case, columns: Sequence[str], scenario: Scenario) -> Finding:
        ids = case.row_ids(columns)
        published, others, released = _copied(ids["train"], ids["control"], ids["release"])
        return judge(
            Trace.of(case, published, others, released),
            scenario,
            level=self.level,
            naive=None,
        )


@dataclass(frozen=True, kw_only=True)
class ClosestRecord(Audit):
    """Distance to the closest record (DCR), as a score from 0 (like control rows) to 1 (every row too close).

    Let t be the alpha-quantile of the distances from control rows to their nearest training row. The score is
    (s - c)/(1 - c), with s the share of released rows, and c that of control rows, within t of a training row. This is
    the percentile form of Lu et al. with two repairs: both sides are searched in the same training rows and counted as
    shares, so the score does not drift with the size of the release or of the control, and rows *at* distance t count on
    both sides, so that it still detects something where many real rows repeat one another. ``detail`` holds the published
    form too, whose threshold is the alpha-quantile from training rows to control rows, and which divides the *number* of
    closer released rows by alpha times the number of training rows: it may be negative, and grows with the release.
    Rows are counted, since it is not known who holds a released one; where people hold several, intervals are those of ``worth``.
    """

    unlisted = "compares every released row with every training row, and near-matches asks the same of people"

    alpha: float = 0.02
    """The quantile that calls a distance suspiciously small."""
    bootstrap: int = 1000
    """Resamples for the interval."""
    level: float = LEVEL
    """Confidence of the interval."""

    def __post_init__(self) -> None:
        """Alpha inside (0, 1)."""
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha lies between 0 and 1, got {self.alpha}", where=type(self).__name__)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, and the distributions for a plot."""
        return self._scores(case, (1,), rng)

    def _scores(self, case: Case, counts: tuple[int, ...], rng: np.random.Generator) -> list[Finding]:
        """A finding for each number of neighbours, over the mean distance to them; one search serves them all."""
        generalized = case.generalized
        # A cell covers many people at distance 0: read as a value drawn from it, it is compared like with like.
        case = case.read_as_values()
        most = max(counts)
        sides = (("release", "train"), ("control", "train"), ("train", "control"))
        distances = [case.nearest(queries, targets, most).distance for queries, targets in sides]
        means = (Distances(*(distance[:, :k].mean(axis=1) for distance in distances)) for k in counts)
        return [self._score(k, mean, worth(case), generalized, rng) for k, mean in zip(counts, means, strict=True)]

    def _score(self, k: int, distances: Distances, worth: Worth, generalized: bool, rng: np.random.Generator) -> Finding:
        release, control, real = distances
        name, scope = ("closest record score", "") if k == 1 else ("k-nearest score", f"{k} nearest")
        place = int(np.ceil(self.alpha * (len(control) - 1)))
        threshold = float(np.partition(control, place)[place])
        close, chance = (float((distance <= threshold).mean()) for distance in (release, control))
        if chance == 1:
            reason = f"every control row lies within {threshold:.3g} of a training row, so no release can lie closer"
            return uncomputed(name, len(release), reason, scope=scope)
        draws = _resampled(release, control, place, worth, self.bootstrap, rng)
        low, high = np.quantile(draws, [(1 - self.level) / 2, (1 + self.level) / 2])
        exact = _share(close, worth[0], self.level)
        excess = (close - chance) / (1 - chance)
        value = max(excess, 0.0)
        # Below zero there is no excess, but the interval still says how much the errors could have hidden, and is never a point.
        hidden = max(float(high) - excess, (exact.high - close) / (1 - chance))
        score = Rate(value, min(max(0.0, float(low)), value), min(1.0, value + hidden))
        edges, heights = densities({"release": release, "control": control})
        reading = "; intervals, sets and * were replaced by values drawn at random from them" if generalized else ""
        verdict = (
            "more released rows than control rows lie very close to a training row"
            if low > 0
            else "no excess of close rows was found, which is no proof that there is none"
        )
        return Finding(
            name=name, scope=scope, value=score.value, low=score.low, high=score.high, baseline=0.0,
            better=Better.LOWER, subject=Subject.PRIVACY, n=len(release),
            note=f"{verdict} (median distance {np.median(release):.3g}, of control rows {np.median(control):.3g}){reading}",
            detail={
                "edges": edges, **heights, "threshold": threshold, "chance": chance,
                "close": close, "close_exact": [exact.low, exact.high], "published": published(release, real, self.alpha),
            },
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KNearest(ClosestRecord):
    """The closest record score over the mean distance to the k nearest training rows in place of the nearest one.

    It detects released rows that crowd around several training rows. The interval is the same; one finding for each k.
    """

    neighbours: tuple[int, ...] = (3, 5)
    """The numbers of neighbours; from 2, as 1 is ``closest-record``."""

    def __post_init__(self) -> None:
        """Two neighbours at least."""
        super().__post_init__()
        if not self.neighbours or min(self.neighbours) < 2 or len(set(self.neighbours)) < len(self.neighbours):
            raise InputError(f"numbers of neighbours are different and from 2, got {self.neighbours}", where="KNearest")

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each number of neighbours; without a value where a table has fewer rows."""
        rows = min(case.train.rows, case.control.rows)
        counts = tuple(k for k in self.neighbours if k <= rows)
        findings = self._scores(case, counts, rng) if counts else []
        reason = f"there are only {rows} rows, fewer than the neighbours asked for"
        n = case.release.rows
        return findings + [
            uncomputed("k-nearest score", n, reason, scope=f"{k} nearest") for k in self.neighbours if k not in counts
        ]


def worth(case: Case) -> Worth:
    """How many independent rows the released and the control rows are worth at least, where people hold several.

    Who holds released rows is not known: they are taken to be held as training rows are.
    """
    ours, others = case.sides
    rows = case.totals
    return rows["release"] * (ours.independent / ours.rows), others.independent * (rows["control"] / others.rows)


def _equal(case: Case) -> Copies:
    """How many rows of each table equal rows of another."""
    if case.shortlist is not None and case.shortlist.copies is not None:
        return case.shortlist.copies
    ids = case.row_ids()
    pairs = (("release", "train"), ("control", "train"), ("train", "release"), ("control", "release"))
    return Copies(*(int(np.isin(ids[one], ids[other]).sum()) for one, other in pairs))


def _share(value: float, worth: float, level: float) -> Rate:
    """A share of rows, with the exact interval of so many independent ones."""
    trials = round(worth)
    exact = clopper_pearson(round(value * trials), trials, level)
    return Rate(value, min(exact.low, value), max(exact.high, value))


def published(release: Floats, real: Floats, alpha: float) -> dict[str, float]:
    """The ratio and the score as published: ``real`` are the distances from training rows to control rows."""
    threshold = float(np.quantile(real, alpha))
    ratio = float((release < threshold).sum()) / (alpha * len(real))
    return {"threshold": threshold, "ratio": ratio, "score": alpha * (ratio - 1) / (1 - alpha)}


def _copied(train: Integers, control: Integers, release: Integers) -> tuple[Mask, Mask, Integers]:
    """Which rows of either table stand in the release, and where the first such row is for those of the training table."""
    rows, first = np.unique(release, return_index=True)
    place = np.minimum(np.searchsorted(rows, train), len(rows) - 1)
    published = rows[place] == train
    return published, np.isin(control, rows), np.where(published, first[place], -1)


def _resampled(release: Floats, control: Floats, place: int, worth: Worth, times: int, rng: np.random.Generator) -> Floats:
    """The score in bootstrap samples of both sides, drawn through their order statistics: no sample is ever laid out.

    Draw ranks as uniform numbers: the threshold of a sample is its order statistic ``place``, whose number is Beta; the
    numbers above it are uniform on the rest, so those that tie with the threshold are binomial, and so is the release.
    Where rows are worth fewer independent ones, so many are drawn.
    """
    ours, fresh = np.sort(release), np.sort(control)
    n, m = len(ours), len(fresh)
    drawn, each = round(worth[0]), worth[1] / m
    u = rng.beta((place + 1) * each, (m - place) * each, times)
    cut = fresh[np.minimum((m * u).astype(np.int64), m - 1)]
    tied = (np.searchsorted(fresh, cut, side="right") / m - u) / np.maximum(1 - u, 1e-300)
    chance = (place + 1 + rng.binomial(round((m - place - 1) * each), np.clip(tied, 0, 1)) / each) / m
    close = rng.binomial(drawn, np.searchsorted(ours, cut, side="right") / n) / drawn
    # A resample in which every fresh row is close says nothing about an excess.
    return np.divide(close - chance, 1 - chance, out=np.zeros(times), where=chance < 1)


def _verdict(excess: bool, by_rows: bool, text: str) -> str:
    """What a share shows: an excess; an excess of rows that too few people hold for a test; or none."""
    if excess:
        return f"{text}: more than chance explains"
    if by_rows:
        return f"{text}: too few people hold these rows for a test, since rows of one person are not independent"
    return f"{text}: no more than chance explains, which is no proof of safety"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
