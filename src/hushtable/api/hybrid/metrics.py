"""The numbers of a hybrid.

Those that its source reports (singling out, inference, linkability, discriminator, TVD, Wasserstein), the worst attack, the score.
An attack counts by what it gains (r - c), the mean over its attempts in all its ways: how many columns are described, which columns
are joined, which column is guessed. A gain may be negative by chance, so that chance averages out over cells; the worst is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import Estimate
from hushtable.api.compare.observation import Observation
from hushtable.api.compare.summary import worst_gain
from hushtable.evidence.finding import Better, Finding
from hushtable.measures import catalogue

Read = Callable[[Sequence[Finding], Axis], Estimate | None]


class Aspect(StrEnum):
    """What a metric is about."""

    PRIVACY = "privacy"
    UTILITY = "utility"
    FIDELITY = "fidelity"


@dataclass(frozen=True)
class Metric:
    """A number of every cell."""

    name: str
    label: str
    meaning: str
    aspect: Aspect
    read: Read
    better: Better = Better.LOWER

    @property
    def people(self) -> bool:
        """Whether it is a share of people, shown as so many of 100."""
        return self.aspect is Aspect.PRIVACY

    def gained(self, before: float, after: float) -> float:
        """How much better the second value is, in its own unit."""
        return after - before if self.better is Better.HIGHER else before - after


def _attack(audit: str, findings: Sequence[Finding], axis: Axis) -> Estimate | None:
    """The mean gain over the attempts of an attack; its interval as if all ways erred together, which is the widest."""
    known = [(f.gain, max(f.n, 1)) for f in findings if f.audit == audit and f.gain is not None]
    if not known:
        return None
    gains, attempts = zip(*known, strict=True)
    ends = (np.average([getattr(gain, end) for gain in gains], weights=attempts) for end in ("value", "low", "high"))
    return Estimate(*map(float, ends))


def _worst(findings: Sequence[Finding], axis: Axis) -> Estimate | None:
    worst = worst_gain(findings)
    return None if worst is None else Estimate(worst.value, worst.low, worst.high)


def _measure(name: str, findings: Sequence[Finding], axis: Axis) -> Estimate | None:
    found = next((f for f in findings if f.name == name and not f.scope and f.value is not None), None)
    return None if found is None or found.value is None else Estimate(found.value, found.low, found.high)


def _score(findings: Sequence[Finding], axis: Axis) -> Estimate | None:
    found = axis.finding(findings)
    if found is None or found.value is None:
        return None
    ends = sorted(axis.read(end) for end in (found.low, found.high) if end is not None)
    return Estimate(axis.read(found.value), *(ends if len(ends) == 2 else (None, None)))


SINGLING_OUT = Metric(
    "singling-out",
    "singling out",
    "what describing one released row alone gains, mean over one to twelve columns",
    Aspect.PRIVACY,
    partial(_attack, "singling-out"),
)
INFERENCE = Metric(
    "inference",
    "inference",
    "what guessing a column from the nearest released row gains, mean over the columns",
    Aspect.PRIVACY,
    partial(_attack, "inference"),
)
LINKABILITY = Metric(
    "linkability",
    "linkability",
    "what joining two sources through the release gains, mean over splits of the columns",
    Aspect.PRIVACY,
    partial(_attack, "linkability"),
)
WORST = Metric("gain", "worst attack", "what the worst of all attacks gains", Aspect.PRIVACY, _worst)
SCORE = Metric("score", "score", "the measure that releases are ranked by", Aspect.UTILITY, _score, Better.HIGHER)
DISCRIMINATOR = Metric(
    "discriminator",
    "discriminator AUC",
    "how well a model distinguishes released rows from real ones; 0.5 is best (the source calls it ML efficacy)",
    Aspect.UTILITY,
    partial(_measure, catalogue.DISCRIMINATOR.name),
)
TVD = Metric(
    "tvd", "mean TVD", catalogue.MEAN_TVD.meaning, Aspect.FIDELITY, partial(_measure, catalogue.MEAN_TVD.name)
)  # fmt: skip
WASSERSTEIN = Metric(
    "wasserstein",
    "mean Wasserstein",
    catalogue.MEAN_WASSERSTEIN.meaning,
    Aspect.FIDELITY,
    partial(_measure, catalogue.MEAN_WASSERSTEIN.name),
)
METRICS: Mapping[str, Metric] = {
    one.name: one for one in (SINGLING_OUT, INFERENCE, LINKABILITY, WORST, SCORE, DISCRIMINATOR, TVD, WASSERSTEIN)
}
"""By name, in the order in which they are shown."""


def measured(runs: Sequence[Observation], axis: Axis) -> dict[str, Estimate]:
    """The metrics of a cell, each the mean over its runs; none of them if a run failed."""
    if not runs or any(run.failed for run in runs):
        return {}
    values = {name: [metric.read(run.findings, axis) for run in runs] for name, metric in METRICS.items()}
    return {name: _mean(known) for name, each in values.items() if len(known := [one for one in each if one]) == len(each)}


def _mean(each: Sequence[Estimate]) -> Estimate:
    bounded = all(one.low is not None and one.high is not None for one in each)
    ends = (float(np.mean([one.lower for one in each])), float(np.mean([one.upper for one in each]))) if bounded else (None, None)
    return Estimate(float(np.mean([one.value for one in each])), *ends)


def change(metric: Metric, value: Estimate | None, alone: Estimate | None) -> float | None:
    """How much better a cell is than its generator alone, in percent of that; positive is better, whatever the metric.

    The source's formula (5.3), (pipeline - alone) / alone, is negative where a risk falls, and its tables print it positive: here
    the sign follows from which way is better. None where the generator alone has nothing that could be a whole: no gain, or one
    that chance explains.
    """
    if value is None or alone is None or alone.value == 0 or (metric.people and alone.lower <= 0):
        return None
    return 100 * metric.gained(alone.value, value.value) / abs(alone.value)
