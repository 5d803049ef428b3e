"""Singling out by outliers of the contrastive embedding: descriptions of the most outlying released rows, by all columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.neural.contrastive import TOO_FEW
from hushtable.audits.neural.encoder import ABSENT, Records, Training
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Audit, Finding, Risk, Trace, uncomputed
from hushtable.evidence.persons import People
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

NAME = "contrastive singling out"
SIDES = ("train", "control")


@dataclass(frozen=True, kw_only=True)
class ContrastiveSinglingOut(Training, Audit):
    """Whether descriptions of outlying released rows single out one person, more often than among people not in the table.

    Released rows are embedded and ranked by their local outlier factor (Breunig et al. 2000). Each of the most outlying
    is described by all its columns: its level, or the bin of the column's released range that holds its number, or "is missing".
    The source selects the descriptions that single out a training row and measures them on the training rows, which cannot
    fail; here those are selected that fit exactly one released row, which is all that an attacker can see. A description
    succeeds on a table if exactly one of its people fits; where training and control people are not equally many, it is
    tried on as many of each, drawn at random.

    The test is that of plain singling out: the people who are alone in a described cell among training and control people together
    are as likely of either table if the two are exchangeable, so their number is hypergeometric.
    """

    costly: ClassVar[bool] = True
    share: float = 0.1
    """Of the released rows, the most outlying, that are described."""
    neighbours: int = 20
    """Of the local outlier factor."""
    bins: int = 10
    """Of equal width over the released range of a number."""

    def __post_init__(self) -> None:
        """A share, and at least one of each."""
        super().__post_init__()
        counts = {name: (getattr(self, name) >= 1, "must be at least 1") for name in ("neighbours", "bins")}
        check_knobs(self, share=(0 < self.share <= 1, "must lie in (0, 1]"), **counts)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        if len(case.columns) < 2:
            return [uncomputed(NAME, case.release.rows, TOO_FEW, risk=Risk.SINGLING_OUT)]
        encoder = self.encoder(case.read_as_values())
        records = encoder.records
        cells = records.codes + _bins(records, self.bins)
        blind = rng.permuted(cells[records.rows["release"]], axis=0)
        _, kind = np.unique(np.concatenate([cells, blind]), axis=0, return_inverse=True)
        kinds = {name: kind.ravel()[rows] for name, rows in records.rows.items()}
        alone = np.flatnonzero(np.bincount(kinds["release"])[kinds["release"]] == 1)
        factors = outlier_factors(encoder.points(range(len(case.columns)))["release"], self.neighbours)
        described = np.argsort(-factors, kind="stable")[: math.ceil(self.share * len(factors))]
        sources = described[np.isin(described, alone)]
        if not len(sources):
            reason = "every description of an outlying released row matches several rows, so there is none to try on people"
            return [uncomputed(NAME, case.release.rows, reason, risk=Risk.SINGLING_OUT)]
        crowd = _Crowd.among(kinds, {which: case.people(which) for which in SIDES}, rng)
        guessed = crowd.singled("train", kind.ravel()[len(cells) :][: len(sources)])[0]
        return [self._judged(case, crowd, kinds["release"][sources], sources, float(guessed.mean()))]

    def _judged(self, case: Case, crowd: _Crowd, described: Integers, sources: Integers, naive: float) -> Finding:
        ours, others = crowd.singled("train", described), crowd.singled("control", described)
        lone, counts = crowd.lone(described), {which: own.count for which, own in crowd.people.items()}
        trace = Trace(
            ours[0], others[0], ours[1], others[1], released=sources,
            describe=lambda at, values: "all columns of an outlying released row, numbers by their bins",
        )  # fmt: skip
        part = "" if counts["train"] == crowd.common else f"{crowd.common:,} of "
        return judge(
            trace,
            Scenario(
                name=NAME,
                risk=Risk.SINGLING_OUT,
                knows="takes from the release descriptions by all columns of the most outlying rows",
                does="singles out exactly one person",
                whom=f"descriptions, tried on {part}the people",
            ),
            naive=naive,
            p=fisher(lone["train"], counts["train"], lone["control"], counts["control"]),
            detail={"people": crowd.common, "lone": lone["train"], "control_lone": lone["control"]},
        )


def outlier_factors(points: Floats, neighbours: int) -> Floats:
    """The local outlier factor of each point: the density around its neighbours over that around itself; copies count once."""
    from sklearn.neighbors import LocalOutlierFactor

    distinct, of_row = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) < 3:
        return np.ones(len(points))
    model = LocalOutlierFactor(n_neighbors=min(neighbours, len(distinct) - 1)).fit(distinct)
    return np.asarray(-model.negative_outlier_factor_[of_row.ravel()], np.float64)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """In which cells of the table everybody is; cells do not overlap, but who holds several rows may be in several."""

    kinds: dict[str, Integers]
    """The cell of each row."""
    people: dict[str, People]
    chosen: dict[str, Integers]
    """One row in each of their cells, of as many people of either table: what the rates are measured on."""
    common: int

    @classmethod
    def among(cls, kinds: dict[str, Integers], people: dict[str, People], rng: np.random.Generator) -> _Crowd:
        common = min(own.count for own in people.values())
        chosen = {}
        for which, own in people.items():
            persons = rng.choice(own.count, common, replace=False) if own.count > common else np.arange(common)
            rows = _once(kinds[which], own)
            chosen[which] = rows[np.isin(own.who[rows], persons)]
        return cls(kinds, people, chosen, common)

    def singled(self, which: str, described: Integers) -> tuple[Mask, Integers]:
        """Which of the described cells hold exactly one of the chosen people, and whom."""
        cells, first, counts = np.unique(self.kinds[which][self.chosen[which]], return_index=True, return_counts=True)
        at = np.minimum(np.searchsorted(cells, described), len(cells) - 1)
        hit = (cells[at] == described) & (counts[at] == 1)
        return hit, self.people[which].standing_for(np.where(hit, self.chosen[which][first[at]], -1))

    def lone(self, described: Integers) -> dict[str, int]:
        """How many of all people of either table are the only one of both tables in a described cell."""
        held = [self.kinds[which][_once(self.kinds[which], own)] for which, own in self.people.items()]
        cells, counts = np.unique(np.concatenate(held), return_counts=True)
        single = np.intersect1d(cells[counts == 1], described)
        return {which: int(own.any(np.isin(self.kinds[which], single)).sum()) for which, own in self.people.items()}


def _once(kinds: Integers, people: People) -> Integers:
    """The first row of each person in each cell."""
    pairs = kinds * people.count + people.who
    return np.sort(np.unique(pairs, return_index=True)[1])


def _bins(records: Records, bins: int) -> Integers:
    """What to add to the code of a number for its bin; numbers outside the released range have bins of their own."""
    values = records.values.astype(np.float64)
    released = np.where(records.codes == ABSENT, np.nan, values)[records.rows["release"]]
    added = np.zeros(values.shape, np.int64)
    for at in np.flatnonzero(records.numeric & ~np.isnan(released).all(axis=0)):
        low, high = np.nanmin(released[:, at]), np.nanmax(released[:, at])
        edges = np.append(np.linspace(low, high, bins + 1)[:-1], np.nextafter(high, np.inf))
        added[:, at] = np.where(records.codes[:, at] == ABSENT, 0, np.searchsorted(edges, values[:, at], side="right"))
    return added
