"""Near matches: whether a released row lies nearer to people in the training table than to people outside it.

Every person, of the training table or of the control, gets a score from the release alone: the least of their rows. If
training and control people are exchangeable given the release, then, given all the scores, every way to say which of them
belong to training people is equally likely. At a threshold that was chosen without knowing who is who (here: quantiles of the
scores of both tables together) the number of training people within it is therefore hypergeometric, and Fisher's test is
exact, whatever the sizes of the three tables; a threshold set where training people lie would find too much. The least of g
such p-values, times g, covers all the thresholds at once (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence import roc
from hushtable.evidence.attack import LEVEL, Scenario, judge
from hushtable.evidence.confidence import fisher, wilson
from hushtable.evidence.finding import Audit, Finding, Risk, Trace, uncomputed
from hushtable.evidence.looks import Look, Nearest
from hushtable.evidence.persons import People
from hushtable.table.arrays import Floats, Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

TAIL = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The shares of all people, training and control together, at which thresholds are set."""
EQUALLY_FAR = "all people lie equally far from the release, so no threshold separates any of them"


@dataclass(frozen=True, kw_only=True)
class NearMatches(Audit):
    """People for whom a released row lies suspiciously near: an exact test of training people against control people.

    It finds what identical matches miss: copies with a little noise. The distance is Gower's, over what the attacker holds.
    """

    by_knowledge = True

    shares: tuple[float, ...] = TAIL
    """The shares of people, training and control together, at which thresholds are set; rising, inside (0, 1)."""

    def __post_init__(self) -> None:
        """Shares in order."""
        check_shares(self.shares, "NearMatches")

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The nearest row of everybody."""
        return [Nearest(case.columns, values=True)]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, at the threshold with the surest excess, and the distributions for a plot."""
        case = case.read_as_values()
        attack = LowScoreAttack(
            "near matches",
            f"knows {case.holding}",
            lambda t: f"finds a released row within a distance of {t:.2g}",
            EQUALLY_FAR,
        )
        finding = excess_of_low(nearest_distances(case), self.shares, attack)
        edges, heights = densities(
            {who: case.people(who).least(case.nearest(who, "release").distance[:, 0]) for who in ("train", "control")}
        )
        return [replace(finding, detail={**finding.detail, "edges": edges, **heights})]


@dataclass(frozen=True, kw_only=True)
class DistanceRatio(Audit):
    """Nearest-neighbour distance ratio: the distance to the nearest released row over that to the second nearest.

    A small ratio says that one released row stands out as this person's. Known as NNDR, after D. Lowe, Distinctive image
    features from scale-invariant keypoints, 2004; here people of the training table are tested against people outside.
    Where two released rows are both at distance 0 neither stands out, and the ratio is 1.
    """

    by_knowledge = True

    shares: tuple[float, ...] = TAIL
    """As in ``NearMatches``."""

    def __post_init__(self) -> None:
        """Shares in order."""
        check_shares(self.shares, "DistanceRatio")

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The two nearest rows of everybody."""
        return [Nearest(case.columns, 2, values=True)]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, at the threshold with the surest excess."""
        case = case.read_as_values()
        ours, others = (case.nearest(who, "release", 2) for who in ("train", "control"))
        scores = RowScores(case.sides, _ratio(ours.distance), _ratio(others.distance), ours.index[:, 0])
        attack = LowScoreAttack(
            "distance ratio", f"knows {case.holding}",
            lambda t: f"finds one released row that is at most {t:.2g} times as far from it as any other",
            "the distance ratio is the same for all people, so no threshold separates any of them",
        )  # fmt: skip
        return [excess_of_low(scores, self.shares, attack)]


@dataclass(frozen=True, eq=False)
class RowScores:
    """A score of every training and control row, low where a released row lies near."""

    people: tuple[People, People]
    """Who holds the training rows, and who the control rows."""
    train: Floats
    control: Floats
    released: Integers
    """The released row behind the score of each training row."""


@dataclass(frozen=True)
class LowScoreAttack:
    """The attack of which a low score is the success, in words."""

    name: str
    knows: str
    """As in ``Way``."""
    does: Callable[[float], str]
    """What is achieved at a threshold."""
    no_threshold: str
    """The reason where no threshold separates anybody."""


def excess_of_low(scores: RowScores, shares: Sequence[float], attack: LowScoreAttack) -> Finding:
    """Whether low scores are commoner among training people: the residual risk at the threshold with the surest excess.

    That is the one where the lower bound of the excess is largest, and the least one where there is no excess anywhere. Value,
    interval and sentence are of that threshold, and hold whichever it is; the p-value and the bands are of the whole curve.
    """
    people = scores.people
    at = people[0].strongest(-scores.train)
    ours, others, released = scores.train[at], people[1].least(scores.control), scores.released[at]
    cuts = thresholds(ours, others, shares)
    if not len(cuts):
        return uncomputed(attack.name, len(ours), attack.no_threshold, risk=Risk.SINGLING_OUT)
    n, m = len(ours), len(others)
    hits, chance = (np.searchsorted(np.sort(side), cuts, side="right") for side in (ours, others))
    level = 1 - (1 - LEVEL) / len(cuts)
    curve = {"thresholds": cuts, **_curve("train", hits, n, level), **_curve("control", chance, m, level)}
    best = int(np.argmax(np.maximum(_surely(curve), 0.0)))
    hit = ours <= cuts[best]
    trace = Trace(
        hit, others <= cuts[best], people[0].first, people[1].first, np.where(hit, released, -1),
        lambda attempt, values: attack.does(float(ours[attempt])),
    )  # fmt: skip
    return judge(
        trace,
        Scenario(name=attack.name, risk=Risk.SINGLING_OUT, knows=attack.knows, does=attack.does(float(cuts[best]))),
        naive=None,
        level=level,
        p=min(1.0, len(cuts) * min(fisher(int(a), n, int(b), m) for a, b in zip(hits, chance, strict=True))),
        detail={
            "threshold": float(cuts[best]),
            "level": level,
            "auc": roc.auc(-ours, -others).value,
            "mean": [float(ours.mean()), float(others.mean())],
            "variance": [float(ours.var()), float(others.var())],
            "curve": {key: values.tolist() for key, values in curve.items()},
        },
    )


def nearest_distances(case: Case) -> RowScores:
    """The distance from every row to the nearest released row."""
    ours, others = (case.nearest(who, "release") for who in ("train", "control"))
    return RowScores(case.sides, ours.distance[:, 0], others.distance[:, 0], ours.index[:, 0])


def _curve(who: str, hits: Integers, n: int, level: float) -> dict[str, Floats]:
    """Shares within each threshold, with Wilson's bands."""
    bands = np.array([(rate.low, rate.high) for rate in (wilson(int(h), n, level) for h in hits)])
    return {who: hits / n, f"{who}_low": bands[:, 0], f"{who}_high": bands[:, 1]}


def _surely(curve: dict[str, Floats]) -> Floats:
    """The least that the excess of one curve over the other may be (R. Newcombe, Statistics in Medicine 17, 1998, method 10)."""
    ours, low, others, high = (curve[key] for key in ("train", "train_low", "control", "control_high"))
    return ours - others - np.hypot(ours - low, high - others)


def thresholds(ours: Floats, others: Floats, shares: Sequence[float]) -> Floats:
    """The different quantiles of all scores together; none that everybody lies within."""
    everyone = np.sort(np.concatenate([ours, others]))
    places = np.maximum(np.ceil(np.asarray(shares) * len(everyone)).astype(np.int64), 1) - 1
    cuts: Floats = np.unique(everyone[places])
    return np.asarray(cuts[cuts < everyone[-1]], np.float64)


def check_shares(shares: Sequence[float], where: str) -> None:
    """Refuse shares that are not inside (0, 1) and rising."""
    if not shares or not all(0 < a < b for a, b in zip(shares, (*shares[1:], 1.0), strict=True)):
        raise InputError(f"shares rise and lie between 0 and 1, got {shares}", where=where)


def densities(samples: dict[str, Floats], bins: int = 40) -> tuple[list[float], dict[str, list[float]]]:
    """Shares of each sample in common bins; the far tail goes into the last one."""
    top = max(float(np.quantile(v, 0.995)) for v in samples.values()) or 1.0
    edges = np.linspace(0, top, bins + 1)
    return edges.tolist(), {n: (np.histogram(np.minimum(v, top), edges)[0] / len(v)).tolist() for n, v in samples.items()}


def _ratio(distance: Floats) -> Floats:
    first, second = distance[:, 0], distance[:, 1]
    return np.divide(first, second, out=np.ones(len(first)), where=second > 0)
