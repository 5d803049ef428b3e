"""Near matches: whether people of the training table have a released row nearer than people outside have one.

Every person, of the training table or of the control, gets a score from the release alone: the least of their rows. If
training and control people are exchangeable given the release, then, given all the scores, every way to say which of them
belong to training people is equally likely. At a threshold that was chosen without asking who is who (here: quantiles of the
scores of both tables together) the number of training people within it is therefore hypergeometric, and Fisher's test is
exact, whatever the sizes of the three tables; a threshold set where training people lie would find too much. The least of g
such p-values, times g, covers all the thresholds at once (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence import roc
from hushtable.evidence.attack import LEVEL, judge
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, wilson
from hushtable.evidence.finding import Audit, Finding, Risk, Trace, uncomputed
from hushtable.evidence.persons import People
from hushtable.table.arrays import Floats

TAIL = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""The shares of all people, training and control together, at which thresholds are set."""


@dataclass(frozen=True, kw_only=True)
class NearMatches(Audit):
    """People for whom a released row lies suspiciously near: an exact test of training people against control people.

    It finds what identical matches miss: copies with a little noise. The distance is Gower's over all compared columns.
    """

    shares: tuple[float, ...] = TAIL
    """The shares of people, training and control together, at which thresholds are set; rising, inside (0, 1)."""

    def __post_init__(self) -> None:
        """Shares in order."""
        check_shares(self.shares, "NearMatches")

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, at the most telling threshold, and the distributions for a plot."""
        case = case.read_as_values()
        ours, others = (case.nearest(who, "release") for who in ("train", "control"))
        found = excess_of_low(
            case.sides, ours.distance[:, 0], others.distance[:, 0], self.shares, name="near matches", released=ours.index[:, 0],
            knows="knows a person's whole row", does=lambda t: f"finds a released row at a distance of at most {t:.2g}",
            nothing="every person lies equally far from the release: no threshold tells any of them apart",
        )  # fmt: skip
        near = {"train": ours.distance[:, 0], "control": others.distance[:, 0]}
        edges, heights = densities({who: case.people(who).least(distance) for who, distance in near.items()})
        return [replace(found, detail={**found.detail, "edges": edges, **heights})]


@dataclass(frozen=True, kw_only=True)
class DistanceRatio(Audit):
    """Nearest-neighbour distance ratio: the distance to the nearest released row over that to the second nearest.

    A small ratio says that one released row stands out as this person's. Known as NNDR, after D. Lowe, Distinctive image
    features from scale-invariant keypoints, 2004; here people of the training table are tested against people outside.
    Where two released rows are both at distance 0 neither stands out, and the ratio is 1.
    """

    shares: tuple[float, ...] = TAIL
    """As in ``NearMatches``."""

    def __post_init__(self) -> None:
        """Shares in order."""
        check_shares(self.shares, "DistanceRatio")

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding, at the most telling threshold."""
        case = case.read_as_values()
        ours, others = (case.nearest(who, "release", 2) for who in ("train", "control"))
        return [
            excess_of_low(
                case.sides, _ratio(ours.distance), _ratio(others.distance), self.shares, name="distance ratio",
                released=ours.index[:, 0], knows="knows a person's whole row",
                does=lambda t: f"finds one released row that is at most {t:.2g} times as far from it as any other",
                nothing="one released row stands out for everybody alike: no threshold tells any person apart",
            )
        ]  # fmt: skip


def excess_of_low(
    people: tuple[People, People],
    ours: Floats,
    others: Floats,
    shares: Sequence[float],
    *,
    name: str,
    released: NDArray[np.int64],
    knows: str,
    does: Callable[[float], str],
    nothing: str,
) -> Finding:
    """Whether low scores of rows are commoner among training people: the residual risk at the threshold that surely tells most.

    That is the one where the lower bound of the excess is largest, and the least one where there is no excess anywhere. Value,
    interval and sentence are of that threshold, and hold whichever it is; the p-value and the bands are of the whole curve.
    ``nothing`` is the reason where there is no threshold.
    """
    at = people[0].strongest(-ours)
    ours, others, released = ours[at], people[1].least(others), released[at]
    cuts = thresholds(ours, others, shares)
    if not len(cuts):
        return uncomputed(name, len(ours), nothing, risk=Risk.SINGLING_OUT)
    n, m = len(ours), len(others)
    hits, chance = (np.searchsorted(np.sort(scores), cuts, side="right") for scores in (ours, others))
    level = 1 - (1 - LEVEL) / len(cuts)
    curve = {"thresholds": cuts, **_curve("train", hits, n, level), **_curve("control", chance, m, level)}
    best = int(np.argmax(np.maximum(_surely(curve), 0.0)))
    hit = ours <= cuts[best]
    trace = Trace(
        hit, others <= cuts[best], people[0].first, people[1].first, np.where(hit, released, -1),
        lambda attempt, values: does(float(ours[attempt])),
    )  # fmt: skip
    return judge(
        trace, name=name, risk=Risk.SINGLING_OUT, knows=knows, does=does(float(cuts[best])), naive=None, level=level,
        p=min(1.0, len(cuts) * min(fisher(int(a), n, int(b), m) for a, b in zip(hits, chance, strict=True))),
        detail={
            "threshold": float(cuts[best]), "level": level, "auc": roc.auc(-ours, -others).value,
            "mean": [float(ours.mean()), float(others.mean())], "variance": [float(ours.var()), float(others.var())],
            "curve": {key: values.tolist() for key, values in curve.items()},
        },
    )  # fmt: skip


def _curve(who: str, hits: NDArray[np.int64], n: int, level: float) -> dict[str, Floats]:
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
    cuts = np.unique(everyone[places])
    return cuts[cuts < everyone[-1]]


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
