"""Data reconstruction: to how many people a released row comes near, at every distance, and who is paired with one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.nearness import EQUALLY_FAR, LowScoreAttack, check_shares, excess_of_low, nearest_distances
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.finding import Audit, Finding, Risk, Trace
from hushtable.evidence.looks import Look, Nearest
from hushtable.evidence.neighbours.search import search
from hushtable.table.arrays import Floats, Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

CURVE = (0.001, 0.002, 0.005, 0.01, 0.02, *(round(0.05 * i, 2) for i in range(1, 20)))


@dataclass(frozen=True, kw_only=True)
class Reconstruction(Audit):
    """A released row taken for the row of the person nearest to it.

    ``reconstruction`` counts disclosures, people with a released row within a distance, against that distance: the curve of
    training people beside that of people outside. Value and sentence are those of the distance at which the first surely
    exceeds the second most; interval, bands and test hold for the whole curve (see ``nearness``).
    ``mutual nearest`` counts pairs: a person and their nearest released row, to which nobody else, in the table or outside,
    is nearer. Both ask every person the same question, so they need no tables of one size. The means and variances of the
    distances from released rows to training rows, and the number of released rows within the threshold, are in ``detail``
    where the whole release is in memory.
    """

    by_knowledge = True

    shares: tuple[float, ...] = CURVE
    """The shares of all people, training and control together, at which the thresholds of the curve are set."""

    def __post_init__(self) -> None:
        """Shares in order."""
        check_shares(self.shares, "Reconstruction")

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The nearest row of everybody: only such a row can be a partner."""
        return [Nearest(case.columns, values=True)]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Two findings."""
        case = case.read_as_values()
        return [self._curve(case), self._pairs(case)]

    def _curve(self, case: Case) -> Finding:
        limited = f"knows {case.holding} and " if case.limited else ""
        attack = LowScoreAttack(
            "reconstruction", f"{limited}takes a released row for the row of the person nearest to it",
            lambda t: f"is at most {t:.2g} from the truth", EQUALLY_FAR,
        )  # fmt: skip
        finding = excess_of_low(nearest_distances(case), self.shares, attack)
        if finding.value is None:
            return finding
        detail = {**{key: value for key, value in finding.detail.items() if key != "curve"}, **finding.detail["curve"]}
        if case.shortlist is None:
            back = case.nearest("release", "train").distance[:, 0]
            detail |= {
                "released_mean": float(back.mean()), "released_variance": float(back.var()),
                "released_within": int((back <= finding.detail["threshold"]).sum()),
            }  # fmt: skip
        return replace(finding, detail=detail)

    def _pairs(self, case: Case) -> Finding:
        """Nearest to one another. Whether a person is paired off does not depend on which table they stand in."""
        ours, others = (case.nearest(who, "release") for who in ("train", "control"))
        nearest = _nearest_person(case, np.unique(np.concatenate([ours.index, others.index])))
        paired, control_paired = (near.distance[:, 0] == nearest[near.index[:, 0]] for near in (ours, others))
        trace = Trace.of(case, paired, control_paired, np.where(paired, ours.index[:, 0], -1))
        limited = f"knows {case.holding} and " if case.limited else ""
        linked = len(np.unique(ours.index[paired, 0]))
        return judge(
            trace,
            Scenario(
                name="mutual nearest",
                risk=Risk.LINKABILITY,
                knows=f"{limited}pairs people and released rows that are nearest to one another",
                does="finds a partner",
            ),
            naive=None,
            detail={"released_rows": linked},
        )


def _nearest_person(case: Case, rows: Integers) -> Floats:
    """For each of these released rows how near anybody is to it; of other rows, of a release larger than memory, nothing."""
    if case.shortlist is None:
        return np.minimum(*(case.nearest("release", who).distance[:, 0] for who in ("train", "control")))
    nearest, encoding = np.full(case.release.rows, np.inf), case.encoding()
    released = encoding.points(case.release.take(rows))
    nearest[rows] = np.minimum(*(search(released, case.points(who), encoding, 1).distance[:, 0] for who in ("train", "control")))
    return nearest
